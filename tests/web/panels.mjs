// The panels: each says what the command line says of the same report.
import { check, scenario } from "./support.mjs";

/** A table of the page, texts by heading. @param {any} viewer @param {string} selector */
async function tableOf(viewer, selector) {
  const [columns, ...rows] =
    await viewer.tell((where) =>
      [...document.querySelector(where).querySelectorAll("tr")].map((row) =>
        [...row.querySelectorAll("th, td")].map((cell) => cell.innerText.trim())), selector);
  return rows.map((/** @type {string[]} */ row) => Object.fromEntries(row.map((cell, i) => [columns[i].replace(/\s*[▲▼↑↓]$/, ""), cell])));
}

const numberOf = (/** @type {string} */ text) => Number(text.replaceAll(",", "").replace(/[^\d.eE+-].*$/, ""));

/** Numbers of two tables that may be rounded to a tenth; names as they are. @param {any} a @param {any} b */
const alike = (a, b) => (String(a) === String(b) || (b === "" && a === null) || Math.abs(Number(a) - Number(b)) <= 0.051);

/** @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function statistics({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  await viewer.panel("statistics");
  const truth = sonde.stats(report, "cuda_gpu_kern_sum");
  const shown = await tableOf(viewer, "#panel table");
  const numeric = truth.columns.filter((/** @type {string} */ column) => column !== "Name" && column in (shown[0] || {}));
  check("statistics: at first the kernels", [shown.length, numeric.length], [truth.rows.length, truth.columns.length - 1]);
  const wrong = truth.rows.flatMap((/** @type {string[]} */ row, /** @type {number} */ i) =>
    numeric.filter((/** @type {string} */ column) =>
    Math.abs(numberOf(shown[i][column]) - Number(row[truth.columns.indexOf(column)])) > 0.051)
      .map((/** @type {string} */ column) => `${column}: ${shown[i][column]}`));
  check("statistics: the numbers of `sonde stats`", wrong, []);
  await viewer.picture("statistics");
  const { reports } = await viewer.ask("/api/stats?report=0");
  const offered =
    await viewer.tell(() =>
      [...document.querySelectorAll("#panel [aria-label=Report] option:not([disabled])")].map((option) => option.value));
  check("statistics: only what this recording can have is offered", [
    offered.filter((/** @type {string} */ name) =>
      /^(dx1|wddm|vulkan|opengl|mpi|torch|sched|osrt|cpu_sample|kernel_metric|syscall)/.test(name)),
    ["cuda_gpu_kern_sum", "cuda_api_sum", "nvtx_sum", "cuda_gpu_mem_time_sum", "diagnostics"].filter((name) => !offered.includes(name)),
  ], [[], []]);
  const withData = reports.filter((/** @type {any} */ one) => sonde.stats(report, one.name).rows.length)
    .map((/** @type {any} */ one) => one.name);
  check("statistics: and all that has data", withData.filter((/** @type {string} */ name) => !offered.includes(name)), []);
  check("statistics: how many more there are is said",
    await viewer.tell(() => document.querySelector("#panel [aria-label=Report] option[disabled]").textContent),
    `${reports.length - offered.length} others without data in this recording`);
  const different = [];
  let compared = 0;
  for (const { name } of reports) {
    const answer = await viewer.ask(`/api/stats?report=0&name=${name}`);
    if (answer.skipped)
      continue;
    const { columns, rows } = sonde.stats(report, name);
    const same = rows.length === answer.rows.length &&
      rows.every((/** @type {string[]} */ row, /** @type {number} */ i) => row.every((cell, c) => alike(answer.rows[i][c], cell)));
    compared += rows.length ? 1 : 0;
    if (!same || JSON.stringify(columns) !== JSON.stringify(answer.columns.map((/** @type {any} */ column) => column.name)))
      different.push(`${name}: ${rows.length} lines, the page has ${answer.rows.length}`);
  }
  check("statistics: every report as the command line has it", [different, compared > 8], [[], true]);
  await viewer.close();
}

/** @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function events({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  const { rows } = await viewer.ask("/api/rows?report=0");
  const thread = rows.find((/** @type {any} */ row) => row.kind === "thread");
  const calls = rows.find((/** @type {any} */ row) => row.kind === "cuda-api" && row.parent === thread.id);
  await viewer.bring(calls.id);
  await viewer.panel("events");
  await viewer.page.click(`#labels [data-key="0/${calls.id}"] .name`);
  await viewer.idle();
  const truth = sonde.numbers(report,
    "select start, \"end\" - start from CUPTI_ACTIVITY_KIND_RUNTIME where globalTid & 0xffffff = 1000 order by start");
  await viewer.until((/** @type {number} */ count) => document.querySelector("#panel").innerText.includes(`${count} events`), truth.length);
  check("events: as many as SQL has", true, true);
  const lines = () =>
    viewer.tell(() =>
      [...document.querySelectorAll("#panel [data-line]")].map((line) => [...line.children].slice(0, 2)
        .map((cell) => Number(cell.innerText.replaceAll(",", "")))));
  const first = await lines();
  check("events: the first of them", [first.length > 3, first], [true, truth.slice(0, first.length)]);
  await viewer.page.click("#panel [data-column='1']");
  await viewer.idle();
  await viewer.page.click("#panel [data-column='1']");
  await viewer.idle();
  const byLength = truth.map((/** @type {number[]} */ row) => row[1]).sort((/** @type {number} */ a, /** @type {number} */ b) => b - a);
  check("events: sorted by duration", (await lines()).map((/** @type {number[]} */ line) => line[1]),
    byLength.slice(0, (await lines()).length));
  await viewer.picture("events");
  await viewer.page.dblclick("#panel [data-line='0']");
  const longest = truth.filter((/** @type {number[]} */ row) => row[1] === byLength[0]).map((/** @type {number[]} */ row) => row[0]);
  await viewer.until((/** @type {number[]} */ starts) => starts.includes(window.sonde.details?.start), longest);
  const [from, to] = await viewer.seen();
  const picked = await viewer.tell(() => window.sonde.details.start);
  check("events: double click goes there", from <= picked && picked <= to, true);
  await viewer.page.click("#panel >> text=/TSV/");
  await viewer.idle();
  const copied = (await viewer.tell(() => navigator.clipboard.readText())).split("\n");
  check("events: copied with tabs", [copied.length >= truth.length + 1, copied[1].split("\t").map(numberOf).includes(byLength[0])],
    [true, true]);
  await viewer.page.fill("#panel input[type=search]", "cudaLaunchKernel");
  await viewer.keyboard.press("Enter");
  const [[launches]] = sonde.numbers(report, `select count(*), 0 from CUPTI_ACTIVITY_KIND_RUNTIME r join StringIds s on s.id = r.nameId
    where globalTid & 0xffffff = 1000 and s.value like '%cudaLaunchKernel%'`);
  await viewer.until((/** @type {number} */ count) => document.querySelector("#panel").innerText.includes(`${count} event`), launches);
  check("events: filtered by name", true, true);
  await viewer.close();
}

/** Boxes of a flame graph: name, share of the width. @param {any} viewer */
function boxes(viewer) {
  return viewer.tell(() => {
    const all = [...document.querySelectorAll("#panel [data-node]")];
    const width = Math.max(...all.map((box) => box.getBoundingClientRect().width));
    return all.map((box) =>
      ({ title: box.title || box.getAttribute("aria-label") || box.innerText, share: box.getBoundingClientRect().width / width }));
  });
}

/**
 * The samples of tests/golden/cpu.txt: 21.5 ms, of which 5 ms in hot below walk.
 * @param {{ browser: any, sonde: any, configuration: any }} with_
 */
async function flame({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.cpu);
  const viewer = await browser.open(server);
  await viewer.panel("flame");
  await viewer.until(() => document.querySelector("#panel [data-node]"));
  const drawn = await boxes(viewer);
  const shareOf = (/** @type {string} */ name) =>
    Math.max(0, ...drawn.filter((/** @type {any} */ box) => box.title.startsWith(name)).map((/** @type {any} */ box) => box.share));
  const near = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 0.012;
  // main: 10 ms of the first thread, all 7 of the second; walk below it 1 + 1 + 3 + 1 ms.
  check("flame graph: widths are the samples' weights",
    [near(shareOf("main"), 17 / 21.5), near(shareOf("walk"), 6 / 21.5), near(shareOf("hot"), 5 / 21.5), near(shareOf("qsort"), 3 / 21.5)],
    [true, true, true, true]);
  await viewer.picture("flame");
  await viewer.page.selectOption("#panel [aria-label=Order]", "bottom-up");
  await viewer.idle();
  await viewer.until(() =>
    [...document.querySelectorAll("#panel [data-node]")].some((box) => (box.title || box.innerText).startsWith("hot")));
  const up = await boxes(viewer);
  const most = Math.max(...up.filter((/** @type {any} */ box) => box.title.startsWith("hot")).map((/** @type {any} */ box) => box.share));
  // 5 below walk, 4 and 1 in the worker (three functions of that name), 2 whose callers are missing.
  const self = sonde.numbers(configuration.cpu, "select sum(self_time), 0 from stack_stats('samples', 'tree') where name = 'hot'")[0][0];
  check("flame graph: bottom-up", near(most, self / 21.5e6), true);
  await viewer.page.selectOption("#panel [aria-label=Form]", "tree");
  await viewer.idle();
  await viewer.until(() => document.querySelector("#panel table"));
  check("call tree: the whole", (await viewer.text("#panel")).includes("21.50 ms"), true);
  await viewer.picture("call-tree");
  await viewer.close();
  await server.end();
}

/**
 * A recording that no report of statistics has anything of: the names of its slices are summed up.
 * @param {{ browser: any, sonde: any, configuration: any }} with_
 */
async function foreignSlices({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.foreign);
  const viewer = await browser.open(server);
  const lines = await viewer.tell(() => [...document.querySelectorAll("#side table tr")].slice(1)
    .map((row) => [...row.cells].map((cell) => cell.textContent)));
  check("slices of another tool: what took the time", lines,
    [["all of it", "900.0 us", "1", "900.0 us"], ["parse(json)", "150.0 us", "30", "5.000 us"], ["load", "80.00 us", "40", "2.000 us"]]);
  await viewer.picture("foreign-slices");
  await viewer.close();
  await server.end();
}

/** Frames as narrow as two pixels lie within what they are in. @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function narrowFrames({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.narrow);
  const viewer = await browser.open(server);
  await viewer.panel("tree");
  await viewer.until(() => document.querySelectorAll("#panel [data-node]").length > 60);
  const found = await viewer.tell(() => {
    const all = [...document.querySelectorAll("#panel [data-node]")].map((box) =>
      ({ title: box.title, ...box.getBoundingClientRect().toJSON() }));
    const within = (box) =>
      all.find((other) => Math.round(box.top - other.top) === 19 && box.left >= other.left - 0.1 && box.left <= other.right);
    const outer = all.find((box) => box.title.startsWith("outer"));
    const short = all.filter((box) => /^k([2-9]|[1-6]\d)\b/.test(box.title));
    return {
      beyond: all.filter((box) => box.top > all[0].top + 1 && !(box.right <= within(box)?.right + 0.1)).map((box) => box.title),
        short: short.length,
      wrong: short.filter((box) => Math.abs(box.width - (outer.width + 1) * 0.001667 / 1.00002 + 1) > 0.2).map((box) => box.width),
        over: short.filter((box, i) => i && box.left < short[i - 1].right).length,
    };
  });
  check("GPU time by range: no frame is wider than it says, lies on its neighbour, or reaches beyond what it is in", found,
    { beyond: [], short: 60, wrong: [], over: 0 });
  await viewer.picture("gpu-time-narrow");
  await viewer.close();
  await server.end();
}

const WORK = "kind in ('kernel', 'memcpy', 'memset')";
/** What the box of a name should have of all GPU time. @type {Record<string, string>} */
const SHARES = {
  operator: `sum(deviceTime) filter (where name = 'aten::convolution_backward'), sum(duration) filter (where ${WORK}) from torch_ops`,
  module: `sum(duration) filter (where module like 'Sequential_0%'), sum(duration) from torch_ops where ${WORK}`,
};

/**
 * GPU time of a trace of torch.profiler: by the operators, and by the modules that started it.
 * @param {{ browser: any, sonde: any, configuration: any }} with_
 */
async function torchTrees({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.torch);
  const viewer = await browser.open(server);
  await viewer.panel("tree");
  await viewer.until(() => document.querySelector("#panel [aria-label=By]"));
  for (const [by, name] of [["operator", "aten::convolution_backward"], ["module", "Sequential_0"]]) {
    await viewer.page.selectOption("#panel [aria-label=By]", by);
    await viewer.idle();
    await viewer.until((/** @type {string} */ wanted) => [...document.querySelectorAll("#panel [data-node]")]
      .some((box) => box.title.startsWith(wanted)), name);
    const box = (await boxes(viewer)).find((/** @type {any} */ one) => one.title.startsWith(name));
    const [[part, whole]] = sonde.numbers(configuration.torch, `select ${SHARES[by]}`);
    check(`GPU time by ${by}: the width of ${name}`, [part > 0, Math.abs(box.share - part / whole) < 0.01], [true, true]);
    await viewer.picture(`gpu-time-by-${by}`);
  }
  await viewer.close();
  await server.end();
}

/** @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function theRest({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  await viewer.panel("tree");
  await viewer.until(() => document.querySelector("#panel [data-node]"));
  const drawn = await boxes(viewer);
  const kinds = ["KERNEL", "MEMCPY", "MEMSET"].map((kind) => `select start, "end" from CUPTI_ACTIVITY_KIND_${kind}`);
  const [[work]] = sonde.numbers(report, `select sum("end" - start), 0 from (${kinds.join(" union all ")})`);
  // Of the kernel launched in step, forward, mm: 50 us.
  const mm = drawn.filter((/** @type {any} */ box) => box.title.startsWith("mm"));
  check("GPU time by range: the width of a range", mm.some((/** @type {any} */ box) => Math.abs(box.share - 50000 / work) < 0.01), true);
  await viewer.picture("gpu-time");
  await viewer.panel("diagnostics");
  check("diagnostics", (await viewer.text("#panel")).length > 10, true);
  await viewer.panel("session");
  const session = await viewer.text("#panel");
  check("session: host and trace", ["testhost", "cuda,nvtx"].filter((text) => !session.includes(text)), []);
  await viewer.picture("session");
  check("the side: what took the time, where there are no findings", (await viewer.text("#side")).includes("gemm"), true);
  await viewer.panel("flame");
  check("what is missing is told with the option that records it", /-s |--sample|sonde doctor/.test(await viewer.text("#panel")), true);
  await viewer.close();
}

/**
 * Two findings and a diagnostic that t_view_page puts into the recording.
 * @param {{ browser: any, sonde: any, configuration: any }} with_
 */
async function findings({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.findings);
  const viewer = await browser.open(server);
  await viewer.until(() => document.querySelector("#side").innerText.includes("GPU idle"));
  const side = await viewer.text("#side");
  check("findings at the right, with what they would give back",
    ["GPU idle 41 %", "12.30 us", "Pageable copies"].filter((text) => !side.includes(text)), []);
  await viewer.picture("findings");
  await viewer.page.click("#side >> text=GPU idle");
  await viewer.idle();
  const [from, to] = await viewer.seen();
  check("a finding leads to its place", [from <= 200000 && to >= 300000, to - from < 500000], [true, true]);
  await viewer.panel("findings");
  const text = await viewer.text("#panel");
  check("findings in their panel", ["GPU idle 41 %", "Pageable copies", "idle-host"].filter((part) => !text.includes(part)), []);
  await viewer.panel("diagnostics");
  check("diagnostics as they were written", (await viewer.text("#panel")).includes("the clock of GPU 1 stepped back"), true);
  await viewer.close();
  await server.end();
}

/** @param {any} with_ */
export async function panels(with_) {
  await scenario("statistics", () => statistics(with_));
  await scenario("events", () => events(with_));
  await scenario("flame graph", () => flame(with_));
  await scenario("findings", () => findings(with_));
  await scenario("slices of another tool", () => foreignSlices(with_));
  await scenario("narrow frames", () => narrowFrames(with_));
  await scenario("operators and modules", () => torchTrees(with_));
  await scenario("other panels", () => theRest(with_));
}
