// Two reports, one that is still being written, hostile ones and hostile addresses.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { check, scenario } from "./support.mjs";

/** The second is the first with a kernel that takes 50 us less. @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function twoReports({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.cuda, configuration.faster);
  const viewer = await browser.open(server, { width: 1600, height: 900 });
  const title = await viewer.page.title();
  check("two reports: both named", ["cuda.sonde", "faster.sonde"].filter((name) => !title.includes(name)), []);
  const counts = await viewer.tell(() =>
    [0, 1].map((report) => [...window.sonde.rows.byKey.values()].filter((row) => row.report === report && row.id >= 0).length));
  const { rows } = await viewer.ask("/api/rows?report=1");
  check("two reports: rows of both", counts, [rows.length, rows.length]);
  const stream = rows.find((/** @type {any} */ row) => row.kind === "stream" && row.label === "stream 7");
  await viewer.bring(stream.id, 1);
  const at = await viewer.spot(stream.id, 0, 380000, 1);
  await viewer.mouse.click(at.x, at.y);
  const details = await viewer.detailsOf(360100);
  check("two reports: a click picks the second's", [details.start, details.end, await viewer.tell(() => window.sonde.view.picked.report)],
    [360100, 410100, 1]);
  await viewer.press("Escape");
  await viewer.panel("statistics");
  const text = (await viewer.text("#panel")).replaceAll(",", "");
  check("two reports: statistics of both and their difference",
    ["270000", "220000", /[-−–]\s?50000/].map((part) => (typeof part === "string" ? text.includes(part) : part.test(text))),
    [true, true, true]);
  check("two reports: which differences have a colour is said", await viewer.text("#panel .tables > p.faint"),
    "Coloured: differences of more than 5 %.");
  check("two reports: 0.1 % more has none",
    await viewer.tell(() =>
      [...document.querySelectorAll("#panel tbody tr")].map((row) => [...row.cells].slice(2, 4)
        .map((cell) => [cell.textContent, cell.className]).flat())),
    [["-50,000", "number less", "-18.5", "number less"], ["+3,006", "number more", "+6", "number more"],
      ["+40", "number", "+0.1", "number"], ["0", "number", "0", "number"]]);
  await viewer.picture("two-reports");
  await viewer.close();
  await server.end();
}

/**
 * A report of `sonde kernel` beside a timeline: a kernel's panel has its counters, of the launch of the same shape.
 * @param {{ browser: any, sonde: any, configuration: any }} with_
 */
async function counters({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.cuda, configuration.counters);
  const viewer = await browser.open(server);
  const { rows } = await viewer.ask("/api/rows?report=0");
  const stream = rows.find((/** @type {any} */ row) => row.kind === "stream" && row.label === "stream 7");
  await viewer.bring(stream.id);
  const at = await viewer.spot(stream.id, 0, 380000);
  await viewer.mouse.click(at.x, at.y);
  await viewer.detailsOf(360100);
  await viewer.until(() => document.getElementById("side").innerText.includes("Counters"));
  const side = (await viewer.text("#side")).replaceAll(",", "");
  check("counters: of the same launch, with where they are from",
    ["2222 byte", "87.5 %", "counters.sonde", "launch 5"].filter((part) => !side.includes(part)), []);
  check("counters: not of another", side.includes("1111"), false);
  await viewer.picture("counters");
  await viewer.page.click("#side button:text('All of its counters')");
  await viewer.until(() => document.body.dataset.view === "kernels" &&
    document.querySelector(".summary-table tr.chosen td")?.textContent === "5");
  check("counters: and from there to all of them", await viewer.tell(() => location.hash.includes("view=kernels")), true);
  await viewer.page.goBack();
  await viewer.page.goBack();
  await viewer.until(() => document.body.dataset.view === "timeline");
  check("counters: and back", true, true);
  await viewer.close();
  await server.end();
}

/** @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function stillRecording({ browser, sonde, configuration }) {
  const report = `${configuration.work}/growing.sonde`;
  const recording =
    spawn(sonde.binary,
      ["profile", "-t", "nvtx", "-s", "none", "--cpuctxsw", "none", "-o", report, configuration.steady, `${configuration.work}/log`, "60",
        "2"], { stdio: "ignore" });
  try {
    while (!existsSync(`${report}.part`))
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    const server = await openPart(sonde, `${report}.part`);
    const viewer = await browser.open(server);
    check("a .part: it is said", await viewer.tell(() => window.sonde.loaded[0].facts.partial), true);
    const first = await viewer.tell(() => window.sonde.loaded[0].length);
    await viewer.until((/** @type {number} */ was) => window.sonde.loaded[0].length > was + 1e9, first);
    await viewer.until(() => [...window.sonde.rows.byKey.values()].some((row) => row.kind === "nvtx"));
    check("a .part: it grows while one looks", true, true);
    check("a .part: the end stays in view", await viewer.tell(() => window.sonde.view.to >= window.sonde.loaded[0].length * 0.9), true);
    await viewer.picture("growing");
    await viewer.close();
    await server.end();
  } finally {
    recording.kill("SIGINT");
    await new Promise((resolve) => { recording.on("exit", resolve); });
  }
}

/** The first instants of a recording have nothing to open. @param {any} sonde @param {string} path */
async function openPart(sonde, path) {
  for (let attempt = 0; ; attempt++) {
    try {
      return await sonde.view(path);
    } catch (error) {
      if (attempt > 50)
        throw error;
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
  }
}

/** Names that are markup are shown, not obeyed. @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function hostileNames({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.hostile);
  const viewer = await browser.open(server);
  await viewer.openAll();
  const obeyed = () => viewer.tell(() => [window.obeyed ?? null, document.querySelectorAll("img, script:not([src]), iframe").length]);
  await viewer.press("/");
  await viewer.keyboard.type("onerror");
  await viewer.keyboard.press("Enter");
  const details = await viewer.detailsOf(1000);
  check("hostile names: as they are", details.name.startsWith("<img src=x onerror="), true);
  check("hostile names: shown in the panel", (await viewer.text("#side")).includes("<img src=x onerror="), true);
  await viewer.keyboard.press("Escape");
  const at = await viewer.tell(() => ({ row: window.sonde.view.picked?.row ?? 0 }));
  const spot = await viewer.spot(at.row, 0, 30000);
  await viewer.mouse.move(spot.x, spot.y);
  for (const tab of await viewer.tell(() => [...document.querySelectorAll("[data-tab]")].map((each) => each.dataset.tab))) {
    await viewer.page.click(`[data-tab=${tab}]`);
    await viewer.idle();
  }
  check("hostile names: not obeyed", await obeyed(), [null, 0]);
  await viewer.picture("hostile-names");
  await viewer.close();
  await server.end();
}

/** Opened as they are. */
const ADDRESSES =
  ["#from=1e999&to=2e999&span=1e999-1e999&event=1e999.1.1.1", "#event=9.9.9.9&from=NaN&to=Infinity",
    "#panel=../../x&colour=__proto__&opened=__proto__&pinned=-1.0,x", "#<img src=x onerror=window.obeyed=1>"];
/** Gone to from the page, as by a link in it: the same is read. */
const LATER = ["#from=1&to=0", "#from=-1e300&to=1e300", "#from=0&to=0", "#event=0.0.0.-1", "#event=0.2.99.99999999", "#span=5", "#span=9-1",
  "#span=-5--9", "#from=%00&to=%ff", `#${"x".repeat(50000)}`, "#report=7&row=4294967296",
  "#constructor=1&__proto__=2", "#panel=__proto__", "#panel=constructor", "#offsets=1,2,3", "#align=range&search=%00",
    "#from=-9007199254740991&to=9007199254740991"];

/** Whatever stands behind the # shows a page. @param {{ browser: any, server: any }} with_ */
async function hostileAddresses({ browser, server }) {
  const wrong = [];
  const viewer = await browser.open(server, { expectTrouble: true });
  const errors = [];
  viewer.page.on("pageerror", (/** @type {Error} */ error) => errors.push(String(error.stack).slice(0, 200)));
  const look = async (/** @type {string} */ hash) => {
    await viewer.idle();
    const state = await viewer.tell(() =>
      [Number.isFinite(window.sonde.view.from), window.sonde.view.to > window.sonde.view.from, window.sonde.rows.shown.length > 3,
        window.obeyed ?? null]);
    if (JSON.stringify(state) !== "[true,true,true,null]")
      wrong.push(`${hash.slice(0, 60)}: ${JSON.stringify(state)}`);
  };
  for (const hash of ADDRESSES) {
    await viewer.page.goto("about:blank");
    await viewer.page.goto(`${server.origin}/${hash}`);
    await look(hash);
  }
  for (const hash of LATER) {
    await viewer.tell((text) => { location.hash = text; }, hash);
    await look(hash);
  }
  check("hostile addresses show the page", [wrong, errors], [[], []]);
  await viewer.close();
}

/** The server ends while one looks. @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function serverEnds({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.cuda);
  const viewer = await browser.open(server, { expectTrouble: true });
  await viewer.idle();
  await server.end();
  await viewer.keyboard.press("/");
  await viewer.keyboard.type("gemm");
  await viewer.keyboard.press("Enter");
  await viewer.until(() => /sonde view|server/.test(document.getElementById("message").innerText) &&
    !document.getElementById("message").hidden);
  check("the server's end is told", true, true);
  await viewer.picture("server-ended");
  await viewer.close();
}

/** @param {any} with_ */
export async function reports(with_) {
  await scenario("two reports", () => twoReports(with_));
  await scenario("counters", () => counters(with_));
  await scenario("still recording", () => stillRecording(with_));
  await scenario("hostile names", () => hostileNames(with_));
  await scenario("hostile addresses", () => hostileAddresses(with_));
  await scenario("the server ends", () => serverEnds(with_));
}
