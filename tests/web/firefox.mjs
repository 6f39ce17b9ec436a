// firefox.mjs CONFIGURATION: the viewer's page in Firefox: it opens, has its rows, a click picks what SQL says, keys and panels work,
// nothing goes wrong.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Firefox } from "./bidi.mjs";
import { Sonde, check, finish, scenario } from "./support.mjs";

const configuration = JSON.parse(readFileSync(process.argv[2], "utf8"));
const ESCAPE = "\uE00C";
const ENTER = "\uE007";

/** @param {Firefox} firefox @param {string} origin @returns {string[]} filled with what goes wrong */
function watch(firefox, origin) {
  /** @type {string[]} */
  const trouble = [];
  firefox.listeners.push(({ method, params }) => {
    if (method === "log.entryAdded" && ["error", "warn"].includes(params.level))
      trouble.push(params.text);
    if (method === "network.beforeRequestSent" && params.context === firefox.context && !params.request.url.startsWith(`${origin}/`) &&
      !/^(about|blob|data):/.test(params.request.url))
      trouble.push(`asks ${params.request.url}`);
    if (method === "network.responseCompleted" && params.response.status >= 400)
      trouble.push(`${params.response.status} ${params.response.url}`);
  });
  return trouble;
}

/** @param {Firefox} firefox @param {string} name */
async function keep(firefox, name) {
  mkdirSync(configuration.artefacts, { recursive: true });
  writeFileSync(join(configuration.artefacts, `${name}.png`), await firefox.picture());
}

/** @param {Firefox} firefox @param {Sonde} sonde */
async function look(firefox, sonde) {
  const idle = () => firefox.evaluate("window.sonde.idle()");
  await firefox.until("window.sonde && window.sonde.started");
  await idle();
  const { rows } = await firefox.evaluate("import('/api.js').then((api) => api.json('/api/rows?report=0'))");
  check("Firefox: title", await firefox.evaluate("document.title"), "cuda.sonde - Sonde");
  check("Firefox: rows", await firefox.evaluate("window.sonde.rows.byKey.size"), rows.length);
  const stream = rows.find((/** @type {any} */ row) => row.kind === "stream" && row.label === "stream 7");
  await firefox.evaluate(`window.sonde.bringRow(window.sonde.rows.find(0, ${stream.id}))`);
  await idle();
  const at = await firefox.evaluate(`(() => {
    const { timeline, rows } = window.sonde;
    const box = timeline.canvas.getBoundingClientRect();
    return { x: box.left + timeline.xOf(410000), y: box.top + timeline.yOf(rows.find(0, ${stream.id})) + 11 };
  })()`);
  await firefox.pointer(at.x, at.y);
  await firefox.until("!document.getElementById('tooltip').hidden");
  check("Firefox: the tooltip", (await firefox.evaluate("document.getElementById('tooltip').innerText")).includes("100,000 ns"), true);
  await firefox.pointer(at.x, at.y, true);
  await firefox.until("window.sonde.details?.start === 360100");
  await idle();
  const [[end, call]] = sonde.numbers(configuration.cuda, `select k."end", r.start
    from CUPTI_ACTIVITY_KIND_KERNEL k join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId
    and r.globalTid / 0x1000000 = k.globalPid / 0x1000000 where k.start = 360100`);
  check("Firefox: a click picks it, times as in SQL", await firefox.evaluate("window.sonde.details.end"), end);
  await keep(firefox, "firefox-slice");
  await firefox.keys(ENTER);
  await firefox.until(`window.sonde.details?.start === ${call}`);
  check("Firefox: the arrow leads to the call", true, true);
  await firefox.keys(`${ESCAPE}/gemm${ENTER}`);
  await firefox.until("window.sonde.details?.start === 130000");
  check("Firefox: search", await firefox.evaluate("window.sonde.search.total"), 5);
  const before = await firefox.evaluate("window.sonde.view.to - window.sonde.view.from");
  await firefox.keys(`${ESCAPE}w`);
  await firefox.until(`window.sonde.view.to - window.sonde.view.from < ${before} * 0.9`);
  check("Firefox: keys", true, true);
  for (const tab of await firefox.evaluate("[...document.querySelectorAll('[data-tab]')].map((each) => each.dataset.tab)")) {
    await firefox.evaluate(`document.querySelector('[data-tab=${tab}]').click()`);
    await firefox.until("document.getElementById('panel').textContent.trim().length > 10");
    await idle();
  }
  check("Firefox: every panel says something", true, true);
  await keep(firefox, "firefox");
}

const sonde = new Sonde(configuration.sonde, configuration.webFolder);
const server = await sonde.view(configuration.cuda);
const firefox = new Firefox(configuration.firefox);
try {
  await firefox.start();
} catch (error) {
  console.log(`skip the page in Firefox - it does not start here: ${String(error).replaceAll("\n", " ").slice(0, 300)}`);
  await Promise.all([firefox.end(), server.end()]);
  process.exit(0);
}
await scenario("Firefox", async () => {
  const trouble = watch(firefox, server.origin);
  await firefox.resize(1280, 720);
  await firefox.go(server.url);
  await look(firefox, sonde);
  check("Firefox: nothing went wrong, nothing was asked elsewhere", [...new Set(trouble)], []);
});
await scenario("Firefox: kernels", async () => {
  const kernels = await sonde.view(configuration.counters);
  const trouble = watch(firefox, kernels.origin);
  await firefox.go(kernels.url);
  await firefox.until("document.body.dataset.view === 'kernels' && window.sonde.settled");
  check("Firefox: kernels",
    await firefox.evaluate("[...document.querySelectorAll('.summary-table tbody tr')].map((row) => row.children[0].textContent)"),
    ["0", "5"]);
  await firefox.keys("j3");
  await firefox.until("document.querySelectorAll('.raw-table tr').length > 1 && window.sonde.settled");
  check("Firefox: values of the next",
    await firefox.evaluate(`document.querySelector('.raw-table [data-metric="dram__bytes_read.sum"]').dataset.value`), "2222");
  await keep(firefox, "firefox-kernels");
  check("Firefox: nothing went wrong with kernels", [...new Set(trouble)], []);
  await kernels.end();
});
await firefox.end();
await server.end();
finish();
