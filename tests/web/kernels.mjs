// kernels.mjs CONFIGURATION: the page of kernels in headless Chromium, with reports whose every value was planted
// (tests/e2e/kernel_truth.py). Prints a line for each check.
import { readFileSync } from "node:fs";
import { Browser, Sonde, check, finish, scenarios } from "./support.mjs";

const configuration = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { truth, before } = configuration;
const sonde = new Sonde(configuration.sonde, configuration.webFolder);
const browser = new Browser(configuration.chromium, configuration.artefacts);
const HASH = "#view=kernels&baseline=none";
const DURATION = "gpu__time_duration.sum";

/** Columns and rows that ncu's tables have on 9.0. @type {Array<[string, string[], string[]]>} */
const TABLES = [
  ["Shared Memory", ["Instructions", "Wavefronts", "% Peak", "Bank Conflicts"],
    ["Shared Load", "Shared Load Matrix", "Shared Store", "Shared Store From Global Load", "Shared Atomic", "Other", "Total"]],
  ["L1/TEX Cache",
    ["Instructions", "Requests", "Wavefronts", "Wavefront % Peak", "Sectors", "Sectors/Req", "Hit Rate", "Bytes", "Sector Misses to L2",
      "% Peak to L2", "Returns to SM", "% Peak to SM"],
    ["Global Load", "Global Store", "Local Load", "Local Store", "Global Atomic", "Global Reduction", "Texture", "Surface Load",
      "Surface Store", "TMA Load", "TMA Store", "Loads", "Stores", "Total"]],
  ["L2 Cache", ["Requests", "Sectors", "Sectors/Req", "% Peak", "Hit Rate", "Bytes", "Throughput", "Sector Misses to Device",
    "Sector Misses to System", "Sector Misses to Peer"],
    ["L1/TEX Load", "L1/TEX Store", "L1/TEX Atomic ALU", "L1/TEX Reduction", "L1/TEX Total", "ECC Total", "L2 Fabric Total", "GPU Total"]],
  ["L2 Cache Eviction Policies", ["First", "Last", "Normal", "Normal Demote", "Hit Rate"],
    ["L1/TEX Load", "L1/TEX Store", "L1/TEX Total", "GPU Total"]],
  ["Device Memory", ["Sectors", "% Peak", "Bytes", "Throughput"], ["Load", "Store", "Total"]],
];

/** All values that the page has, by card and metric. @param {any} viewer */
const valuesOf = (viewer) => viewer.tell(() => [...document.querySelectorAll("#kernel-pages [data-metric][data-value]")].map((element) => ({
  card: element.closest(".card")?.id ?? "", metric: element.dataset.metric, value: Number(element.dataset.value),
    before: element.dataset.before === undefined ? null : Number(element.dataset.before), link: element.dataset.link ?? null,
    label: element.querySelector(".bar-label, dt")?.textContent ?? "",
})));

/** @param {number} a @param {number} b */
const alike = (a, b) => a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

/**
 * Values on the page that are not those planted; formulas are left out: their metric is only the first of several.
 * @param {any[]} values @param {Record<string, number>} planted
 */
const wrongOf = (values, planted) =>
  values.filter(({ metric, value, link, card }) => metric in planted && !link && card !== "card-memory" && card !== "card-source" &&
    !alike(value, planted[metric])).map(({ card, metric, value }) => `${card} ${metric} ${value}`).slice(0, 5);

async function summary() {
  const viewer = await browser.open(server, { hash: "#baseline=none" });
  check("kernels: a report of kernels opens on them",
    await viewer.tell(() =>
      [document.body.dataset.view, getComputedStyle(document.querySelector("#timeline")).visibility !== "hidden" &&
        document.querySelector("#main").offsetHeight]), ["kernels", 0]);
  const lines = () =>
    viewer.tell(() =>
      [...document.querySelectorAll(".summary-table tbody tr")].map((row) =>
        Object.fromEntries([...row.querySelectorAll("td")].map((cell) => [cell.dataset.column, cell.dataset.value]))));
  const shown = await lines();
  check("summary: a line for each kernel with its numbers",
    shown.map((/** @type {any} */ row) =>
      [row.id, row.function, Number(row.duration), Number(row.compute), Number(row.memory), Number(row.registers), Number(row.cycles)]),
    truth.map((/** @type {any} */ t, /** @type {number} */ i) =>
      [String(i), ["scale", "reduce"][i], t[DURATION], t["sm__throughput.avg.pct_of_peak_sustained_elapsed"],
        t["gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"], 40, t["gpc__cycles_elapsed.max"]]));
  check("summary: GPU, compute capability and clocks above", await viewer.text("#kernel-gpus"),
    "GPU 0: NVIDIA H200, cc 9.0, 132 SMs, SM 1.95 GHz, DRAM 3.1 GHz");
  const printed = JSON.parse(sonde.run(["kernel", "-i", configuration.kernels, "--json"])).kernels;
  check("summary: verdict and estimate of the command line", shown.map((/** @type {any} */ row) => [row.verdict, Number(row.gain)]),
    printed.map((/** @type {any} */ k) =>
      [k.verdict ?? "",
        Math.max(0, ...k.rules.filter((/** @type {any} */ r) => r.speedup_type === "global").map((/** @type {any} */ r) => r.speedup))]));
  await viewer.page.click("[data-sort='5']");
  check("summary: the longest first", (await lines()).map((/** @type {any} */ row) => row.id), ["1", "0"]);
  await viewer.page.click("[data-sort='5']");
  check("summary: and the other way round", (await lines()).map((/** @type {any} */ row) => row.id), ["0", "1"]);
  await viewer.page.fill("#kernel-filter", "REDUCE");
  check("summary: filtered", [(await lines()).map((/** @type {any} */ row) => row.id), await viewer.text("#kernel-count")],
    [["1"], "1 of 2 launches"]);
  await viewer.page.fill("#kernel-filter", "");
  check("summary: the chosen one has its bars, too",
    await viewer.tell(() => getComputedStyle(document.querySelector(".summary-table tr.chosen .share-cell")).backgroundImage !== "none"),
    true);
  await viewer.page.click(".summary-table tr[data-place='1'] td");
  await viewer.idle();
  check("summary: a click chooses", [await viewer.text("#kernel-title h2"), await viewer.tell(() => location.hash.includes("kernel=1"))],
    ["reduce", true]);
  await viewer.page.goBack();
  await viewer.until(() => document.querySelector("#kernel-title h2").textContent === "scale");
  check("summary: back undoes it", true, true);
  await viewer.idle();
  await viewer.page.focus("#kernel-summary");
  await viewer.press("ArrowDown");
  check("summary: the keyboard chooses", await viewer.text("#kernel-title h2"), "reduce");
  await viewer.press("3");
  check("keys: 3 is the raw page", await viewer.tell(() => !document.querySelector("#kernel-raw").hidden), true);
  await viewer.press("?");
  check("keys: the help tells of them", (await viewer.text("#keys")).includes("previous, next kernel"), true);
  await viewer.close();
}

async function details() {
  const viewer = await browser.open(server, { hash: HASH });
  const cards = await viewer.tell(() => [...document.querySelectorAll(".card")].map((card) => card.id));
  check("details: every section has its card",
    ["light", "roofline", "memory", "compute", "scheduler", "warps", "instructions", "occupancy", "launch", "distribution", "sampling",
      "source"].filter((id) => !cards.includes(`card-${id}`)), []);
  const values = await valuesOf(viewer);
  check("details: values on the page are those planted", [wrongOf(values, truth[0]), values.length > 200], [[], true]);
  check("speed of light: the limiter in a sentence", await viewer.text(".sentence"),
    "Limited by memory: the memory system works at 88.5 % of its peak, the multiprocessors at 41.25 %.");
  const links = Object.fromEntries(values.filter((/** @type {any} */ v) => v.link).map((/** @type {any} */ v) => [v.link, v.value]));
  const t = truth[0];
  check("memory chart: traffic on the links",
    [links["L2 > L1/TEX"], links["Device Memory > L2"], links["L2 > Device Memory"], links["Kernel > Global"]],
    [t["l1tex__m_xbar2l1tex_read_bytes.sum"], t["dram__bytes_read.sum"], t["dram__bytes_write.sum"],
      t["smsp__sass_inst_executed_op_global_ld.sum"] + t["smsp__sass_inst_executed_op_global_st.sum"]]);
  check("memory chart: the colour of how busy a link is",
    await viewer.tell(() =>
      ["L2 > L1/TEX", "Device Memory > L2",
        "Kernel > Global"].map((name) =>
          [...document.querySelector(`[data-link="${name}"]`).classList].find((one) => one.startsWith("heat-")))),
    ["heat-high", "heat-least", "heat-none"]);
  check("memory tables: all four levels",
    await viewer.tell(() => [...document.querySelectorAll("#card-memory h4")].map((title) => title.textContent)),
    ["Shared Memory", "L1/TEX Cache", "L2 Cache", "L2 Cache Eviction Policies", "Device Memory"]);
  const table = (/** @type {string} */ title) => viewer.tell((/** @type {string} */ wanted) => {
    const found = [...document.querySelectorAll("#card-memory h4")].find((one) => one.textContent === wanted).nextElementSibling;
    return [[...found.querySelectorAll("thead th")].slice(1).map((cell) => cell.firstChild.textContent),
      [...found.querySelectorAll("tbody th")].map((cell) => cell.textContent)];
  }, title);
  const missing = (/** @type {string[]} */ all, /** @type {string[]} */ some) => some.filter((one) => !all.includes(one));
  for (const [title, columns, rows] of TABLES) {
    const [heads, lines] = await table(title);
    check(`memory tables: columns and rows of ${title}`, [missing(heads, columns), missing(lines, rows)], [[], []]);
  }
  check("memory tables: nothing is cut off, and no heading says a unit twice",
    await viewer.tell(() =>
      [[...document.querySelectorAll("#card-memory .wide")].filter((box) => box.scrollWidth > box.clientWidth).length,
        [...document.querySelectorAll("#card-memory thead .unit")].map((unit) => unit.parentElement.textContent)
          .filter((text) => /Sectors|Bytes|Instructions|Misses/.test(text))]), [0, []]);
  check("memory tables: a bar lies below its own value",
    await viewer.tell(() => getComputedStyle(document.querySelector("#card-memory .share-cell")).backgroundOrigin), "content-box");
  const stalls = await viewer.tell(() =>
    [...document.querySelectorAll("#card-warps .bar-line")].map((line) => [line.dataset.metric, Number(line.dataset.value)]));
  const wanted = Object.entries(t).filter(([name, value]) => /warps_issue_stalled_.*_per_issue_active/.test(name) && Number(value) > 0)
    .sort((a, b) => Number(b[1]) - Number(a[1]));
  check("warp states: every stall, the longest first", stalls.map(([, value]) => value), wanted.map(([, value]) => value));
  const latency = t["smsp__average_warp_latency_per_inst_issued.ratio"];
  const share = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 }).format((100 * stalls[0][1]) / latency);
  const beginning = `Of ${latency.toFixed(2)} cycles between two instructions of a warp, ${share} % are `;
  check("warp states: parts of the cycles that were counted between instructions",
    (await viewer.text("#card-warps .kernel-note")).startsWith(beginning), true);
  check("warp states: in cycles",
    await viewer.tell(() => [...new Set([...document.querySelectorAll("#card-warps .bar-line .unit")].map((unit) => unit.textContent))]),
    ["cycle"]);
  check("instructions: the mix, the most first",
    await viewer.tell(() =>
      [...document.querySelectorAll("#card-instructions .bar-line")].map((line) =>
        [line.querySelector(".bar-label").textContent, Number(line.dataset.value)])), Object.entries(configuration.opcodes));
  check("over time: names have room", await viewer.tell(async () => {
    const { timelinesHtml } = await import("/kernel/lines.js");
    const card = document.querySelector("#card-sampling .body");
    const labels = ["DRAM Write Throughput", "L2 Throughput to DRAM", "Stall Math Pipe Throttle"];
    const rows = labels.map((label) => ({ label, metric: "", unit: "%", points: [{ number: 0, label: "", value: 1 }] }));
    card.insertAdjacentHTML("beforeend", `<div id="tried">${timelinesHtml([{ kind: "timeline", title: "", rows }])}</div>`);
    const cut = [...document.querySelectorAll("#tried .box-name")].filter((name) => name.getBoundingClientRect().left < name.closest("svg")
      .getBoundingClientRect().left).map((name) => name.textContent);
    document.querySelector("#tried").remove();
    return cut;
  }), []);
  check("over time: a line with a point for each sample",
    await viewer.tell(() =>
      [...document.querySelectorAll(".timeline-chart")].map((chart) =>
        [Number(chart.dataset.points), chart.querySelector(".line").getAttribute("d").split(/[ML]/).length - 1])),
    [[configuration.samples.length, configuration.samples.length]]);
  check("distribution: from the least to the most",
    await viewer.tell(() => [...document.querySelectorAll(".range")].slice(0, 1)
      .map((range) => [range.dataset.least, range.dataset.mean, range.dataset.most].map(Number))),
    [["min", "avg", "max"].map((how) => t[`sm__cycles_active.${how}`])]);
  check("launch: NVTX ranges around it",
    await viewer.tell(() => [...document.querySelectorAll("[data-place-of=ranges] li")].map((line) => line.textContent)),
    ["step 3", "<forward>", "loadingio"]);
  await viewer.picture("kernels-details");
  await charts(viewer);
  await viewer.close();
}

/** @param {any} viewer */
async function charts(viewer) {
  const t = truth[0];
  const perCycle = (/** @type {string} */ op) => t[`smsp__sass_thread_inst_executed_op_${op}_pred_on.sum.per_cycle_elapsed`];
  const work = (perCycle("fadd") + perCycle("fmul") + 2 * perCycle("ffma")) * t["smsp__cycles_elapsed.avg.per_second"];
  const options =
    await viewer.tell(() => [...document.querySelectorAll("[data-choice=roofline] option")].map((option) => option.textContent));
  check("roofline: a choice of precisions",
    [options.length >= 4, options.some((/** @type {string} */ o) => o.includes("Half")),
      options.some((/** @type {string} */ o) => o.includes("Tensor"))], [true, true, true]);
  await viewer.page.selectOption("[data-choice=roofline]", "Floating Point Operations Roofline (Single Precision)");
  const points = await viewer.tell(() =>
    [...document.querySelectorAll(".roofline .point")].map((point) =>
      [point.dataset.point, Number(point.dataset.x), Number(point.dataset.y)]));
  check("roofline: a point for each level", points.map(([name]) => name),
    ["Single Precision/DRAM", "Single Precision/L2", "Single Precision/L1"]);
  check("roofline: work for each byte, and a second",
    [alike(points[0][1], work / t["dram__bytes.sum.per_second"]), alike(points[0][2], work)], [true, true]);
  const roofs = await viewer.tell(() =>
    [...document.querySelectorAll(".roofline .roof")].map((roof) =>
      [roof.dataset.roof, roof.classList.contains("theoretical"), Number(roof.dataset.peak)]));
  const dram = roofs.filter(([name]) => name === "DRAM");
  check("roofline: roofs at the measured clocks and at the highest",
    [dram.map(([, theoretical]) => theoretical), alike(dram[0][2], 1504 * 3.1e9),
      alike(dram[1][2], 1504 * 3.1e9 * (3201000 * 1000) / 3.1e9)], [[false, true], true, true]);
  const single = roofs.filter(([name]) => name === "Single Precision").map(([, , peak]) => peak);
  check("roofline: the roof of work at the highest clock, not at one more than its own",
    alike(single[1], single[0] * 1.98e9 / t["sm__cycles_elapsed.avg.per_second"]), true);
  check("roofline: points lie where the axes say", await viewer.tell(() => {
    const [a, b] = [...document.querySelectorAll(".roofline .point")].map((point) =>
      ({ x: Math.log10(point.dataset.x), at: point.getBBox() }));
    const ticks = [...document.querySelectorAll(".roofline line.grid")].filter((line) =>
      line.getAttribute("x1") === line.getAttribute("x2")).map((line) => Number(line.getAttribute("x1")));
    return Math.abs((b.at.x + b.at.width / 2 - a.at.x - a.at.width / 2) - (b.x - a.x) * (ticks[1] - ticks[0])) < 0.5;
  }), true);
  check("occupancy: three curves with the kernel's point",
    await viewer.tell(() =>
      [...document.querySelectorAll("[data-curve] .point")].map((point) => [Number(point.dataset.at), Number(point.dataset.warps)])),
    [[256, 48], [40, 48], [4096, 48]]);
  check("compute: pipes in percent of the peak, as long as they say",
    await viewer.tell(() =>
      [...document.querySelectorAll("#card-compute .bar-line")].every((line) =>
        Math.abs(parseFloat(line.querySelector(".fill").style.width) - Number(line.dataset.value)) < 0.01)), true);
  const pipes = () => viewer.tell(() => [...document.querySelectorAll("#card-compute .bar-line")].map((line) => line.dataset.metric));
  const bars = (await viewer.ask("/api/kernel?report=0&kernel=0")).sections.find((/** @type {any} */ one) =>
    one.id === "ComputeWorkloadAnalysis").blocks.filter((/** @type {any} */ block) => block.kind === "bars");
  const of = (/** @type {string} */ cycles) => bars.filter((/** @type {any} */ block) => block.title.includes(cycles))
    .flatMap((/** @type {any} */ block) => block.rows.map((/** @type {any} */ row) => row.metric)).sort();
  check("compute: every pipe at once, of the cycles that the rules speak of", [(await pipes()).sort(), of("active cycles").length > 20],
    [of("active cycles"), true]);
  await viewer.page.selectOption("[data-choice=pipes]", "elapsed cycles");
  check("compute: another measure of the pipes", [(await pipes()).sort(), await viewer.tell(() => location.hash.includes("pipes=elapsed"))],
    [of("elapsed cycles"), true]);
  await viewer.page.hover("#card-warps .bar-line");
  await viewer.until(() => !document.querySelector("#kernel-explained").hidden);
  const label = await viewer.tell(() => document.querySelector("#card-warps .bar-line").dataset.explain);
  const said = sonde.run(["kernel", "--explain", label]).trim().split("\n").map((/** @type {string} */ line) => line.trim());
  const names = await viewer.tell(() =>
    [...new Set([...document.querySelectorAll("#kernel-details [data-explain]")].map((element) => element.dataset.explain)
      .filter(Boolean))]);
  const unknown = await viewer.tell(async (/** @type {string[]} */ list) => {
    const { json } = await import("/api.js");
    return (await Promise.all(list.map(async (name) => ((await json("/api/explain", { name })).known ? "" : name)))).filter(Boolean);
  }, names);
  check("hover: every value and every part of a picture has its words",
    [names.length > 300, unknown,
      await viewer.tell(() =>
        [...document.querySelectorAll("#kernel-details [data-metric]")].filter((element) => element.dataset.explain === undefined).length)],
    [true, [], 0]);
  await reading(viewer);
  check("hover: the words of --explain",
    await viewer.tell(() => [...document.querySelector("#kernel-explained").children].map((line) => line.textContent)),
    [...said, "A value counted by the hardware."]);
}

/** Until the page scrolls no longer: over several frames, however late these come. @param {any} viewer */
const rested = (viewer) => viewer.tell(() => new Promise((resolve) => {
  const page = document.querySelector("#kernel-details");
  let last = -1;
  let still = 0;
  const look = () => {
    still = page.scrollTop === last ? still + 1 : 0;
    last = page.scrollTop;
    if (still < 10)
      requestAnimationFrame(look);
    else
      resolve(null);
  };
  look();
}));

/** What the pointer reads in pictures. @param {any} viewer */
async function reading(viewer) {
  const { samples } = configuration;
  const chart = viewer.page.locator(".timeline-chart").first();
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  // The plot reaches from 186 to 664 of 760; the third of five samples is in the middle of it.
  await viewer.page.mouse.move(box.x + ((186 + 478 / 2 + 20) / 760) * box.width, box.y + box.height / 2);
  check("over time: the pointer reads the nearest sample",
    await viewer.tell(() =>
      { const group = document.querySelector(".timeline-chart .reading-group");
        return [Number(group.dataset.time), Number(group.dataset.value), group.querySelector(".reading").textContent]; }),
    [4000, samples[2], `${samples[2]} % at 4 us`]);
  await chart.focus();
  await viewer.press("ArrowRight");
  check("over time: and the keyboard",
    await viewer.tell(() => Number(document.querySelector(".timeline-chart .reading-group").dataset.value)), samples[1]);
  const bytes = truth[0]["dram__bytes_read.sum"];
  await viewer.page.hover("[data-link='Device Memory > L2']");
  await viewer.until(() => document.querySelector("#kernel-explained .said")?.textContent.startsWith("Device Memory to L2"));
  check("memory chart: the pointer reads the traffic of a link", await viewer.text("#kernel-explained .said"),
    `Device Memory to L2: ${new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4 }).format(bytes / 1e6)} MB, 12 % of its peak`);
  await viewer.page.focus("#card-warps");
  await viewer.press("ArrowRight");
  await viewer.press("ArrowRight");
  await viewer.until(() => !document.querySelector("#kernel-explained").hidden &&
    document.querySelector("#kernel-explained").textContent.includes("smsp__average_warps_active_per_inst_executed"));
  check("keys: values of a card one after the other, with their words", await viewer.tell(() => document.activeElement.dataset.metric),
    "smsp__average_warps_active_per_inst_executed.ratio");
  await viewer.press("Escape");
  check("keys: back to the card", await viewer.tell(() => [document.activeElement.id, document.querySelector("#kernel-explained").hidden]),
    ["card-warps", true]);
  await rested(viewer);
  await viewer.page.hover("#card-memory td[data-computed='Global Load: Sectors/Req']");
  await viewer.until(() => document.querySelector("#kernel-explained .said")?.textContent.startsWith("Global Load"));
  check("hover: a formula is not called one of its counters",
    await viewer.tell(() =>
      { const lines = [...document.querySelector("#kernel-explained").children].map((line) => line.textContent);
        return [lines[0], lines.at(-1)]; }),
    ["Global Load: Sectors/Req: computed, of this and other counters:", "A value computed from counters."]);
  await viewer.page.hover(".range-line");
  await viewer.until(() => document.querySelector("#kernel-explained .said")?.textContent.startsWith("SM: "));
  check("distribution: the pointer reads it",
    /^SM: [\d,.]+ to [\d,.]+ cycles, mean [\d,.]+$/.test(await viewer.text("#kernel-explained .said")), true);
  await viewer.page.hover("#card-warps .bar-line");
  await viewer.until(() => document.querySelector("#kernel-explained .said") === null &&
    !document.querySelector("#kernel-explained").hidden);
}

async function compared() {
  const viewer = await browser.open(server);
  const values = await valuesOf(viewer);
  const known = values.filter((/** @type {any} */ v) => v.metric in before[0] && !v.link &&
    !["card-memory", "card-source", "card-launch", "card-occupancy"].includes(v.card));
  check("baseline: beside every value of cards with counters",
    [known.length > 100, known.filter((/** @type {any} */ v) => v.before === null || !alike(v.before, before[0][v.metric])).slice(0, 5)],
    [true, []]);
  check("baseline: a second bar",
    await viewer.tell(() => [...document.querySelectorAll(".light .bar-line")].every((line) => line.querySelector(".old"))), true);
  check("baseline: a second point for each",
    await viewer.tell(() =>
      document.querySelectorAll(".roofline .point.old").length === document.querySelectorAll(".roofline .point:not(.old)").length), true);
  check("baseline: in curves, samples and mixes, too",
    await viewer.tell(() =>
      [document.querySelectorAll(".curve .point.old").length, document.querySelectorAll(".timeline-chart .line.old").length,
        document.querySelectorAll("#card-instructions .bar-line .old").length, document.querySelectorAll(".range .mean.old").length]),
    [3, 1, Object.keys(configuration.opcodes).length, 5]);
  check("baseline: the change of the time", (await viewer.text("#kernel-title [data-change=duration]")).replace(/\s+/g, " "),
    "+25 % in time");
  check("baseline: in the summary", await viewer.tell(() => document.querySelectorAll(".summary-table .change").length > 3), true);
  await viewer.page.selectOption("#kernel-baseline", "");
  await viewer.idle();
  check("baseline: none",
    await viewer.tell(() => [document.querySelectorAll(".bar-track .old").length, location.hash.includes("baseline=none")]), [0, true]);
  await viewer.page.click("#kernel-pin");
  await viewer.idle();
  await viewer.press("j");
  const pinned = (await valuesOf(viewer)).find((/** @type {any} */ v) => v.metric === DURATION);
  check("baseline: any kernel", [pinned.value, pinned.before], [truth[1][DURATION], truth[0][DURATION]]);
  await viewer.picture("kernels-baseline");
  const other = await browser.open(server, { hash: await viewer.tell(() => location.hash) });
  const again = (await valuesOf(other)).find((/** @type {any} */ v) => v.metric === DURATION);
  check("address: another window shows the same", [again.value, again.before], [truth[1][DURATION], truth[0][DURATION]]);
  await other.close();
  await viewer.close();
}

async function pages() {
  const viewer = await browser.open(server, { hash: `${HASH}&tab=raw` });
  const printed = JSON.parse(sonde.run(["kernel", "-i", configuration.kernels, "--json"])).kernels[0].metrics;
  const rows = await viewer.tell(() =>
    [...document.querySelectorAll(".raw-table tr")].map((row) => [row.dataset.metric, row.dataset.value]));
  const wrong = rows.filter(([metric, value]) => !(metric in printed) ||
    (typeof printed[metric].value === "number" && !alike(Number(value), printed[metric].value)));
  check("raw: every value of sonde kernel --json", [rows.length, wrong.slice(0, 5)], [Object.keys(printed).length, []]);
  check("raw: values and units are within the window, however long a text is",
    await viewer.tell(() =>
      { const page = document.querySelector("#kernel-raw");
        return [page.scrollWidth > page.clientWidth,
          [...document.querySelectorAll(".raw-table td.number")].some((cell) => cell.textContent.length > 200)]; }), [false, true]);
  await viewer.page.fill("#raw-filter", "dram bytes_read");
  const kept = Object.keys(printed).filter((name) => name.includes("dram") && name.includes("bytes_read"));
  check("raw: filtered by words", await viewer.tell(() => [...document.querySelectorAll(".raw-table tr")].map((row) => row.dataset.metric)),
    kept);
  await viewer.page.click("#raw-copy");
  const copied = await viewer.tell(() => navigator.clipboard.readText());
  check("raw: copied as they are shown", copied.split("\n").map((/** @type {string} */ line) => line.split("\t")[0]), ["metric", ...kept]);
  await viewer.page.click("#kernel-copy");
  check("summary: copied as it is shown", (await viewer.tell(() => navigator.clipboard.readText())).split("\n")
    .map((/** @type {string} */ line) => line.split("\t").slice(2, 5)),
    [["Function", "Name", "Duration"], ["scale", "void scale<float>(float*, int)", String(truth[0][DURATION])],
      ["reduce", "reduce(int const*, int*)", String(truth[1][DURATION])]]);
  await viewer.page.click("#kernel-tabs [data-tab=session]");
  await viewer.idle();
  check("session: what the report says of itself", (await viewer.text("#kernel-session")).includes("counted"), true);
  await viewer.close();
}

async function source() {
  const viewer = await browser.open(server, { hash: `${HASH}&tab=source` });
  const shown = () =>
    viewer.tell(() =>
      [...document.querySelectorAll(".source-row:not(.head)")].map((row) =>
        [row.dataset.mark, row.querySelector(".source-text").textContent, Number(row.querySelector(".source-cell").dataset.value)]));
  const hex = (/** @type {number} */ pc) => pc.toString(16).padStart(4, "0");
  check("source: instructions with their samples", await shown(),
    configuration.code.map((/** @type {any[]} */ [pc, sass, , , samples]) => [hex(pc), sass, samples]));
  check("source: what a line waits for", (await viewer.page.getAttribute(".source-row[data-mark='0010']", "title")),
    "/src/scale.cu:4\nstall_long_sb 100 %");
  check("source: the hottest is the reddest",
    await viewer.tell(() => getComputedStyle(document.querySelector(".source-row[data-mark='0010']")).getPropertyValue("--heat")), "1.000");
  await viewer.page.focus("#source-scroll");
  await viewer.press("ArrowDown");
  check("source: lines are scrolled by the arrows, kernels stay", (await viewer.tell(() => location.hash)).includes("kernel=1"), false);
  await viewer.page.click("#source-hottest");
  check("source: jump to the hottest", await viewer.tell(() => document.querySelector(".source-row.chosen").dataset.mark), "0010");
  await viewer.page.click("#source-next");
  check("source: and the next", await viewer.tell(() => document.querySelector(".source-row.chosen").dataset.mark), "0030");
  await viewer.page.check("#source-sort");
  check("source: the most first", (await shown()).map(([mark]) => mark), ["0010", "0030", "0020", "0000"]);
  await viewer.page.uncheck("#source-sort");
  await viewer.page.selectOption("#source-heat", { label: "Instructions Executed" });
  check("source: heat of another column", (await shown()).map(([, , value]) => value),
    configuration.code.map((/** @type {any[]} */ [, , , executed]) => executed));
  await viewer.page.selectOption("#source-mode", "lines");
  const lines = configuration.source.split("\n");
  const sum = (/** @type {number} */ number) => configuration.code.filter((/** @type {any[]} */ one) => one[2] === number)
    .reduce((/** @type {number} */ all, /** @type {any[]} */ one) => all + one[3], 0);
  check("source: lines of the file with the sums of their instructions", await shown(),
    lines.map((/** @type {string} */ text, /** @type {number} */ i) => [String(i + 1), text, sum(i + 1)]));
  await viewer.picture("kernels-source");
  await viewer.close();
}

/** What people could not make sense of: large changes, levels above the sum of them, roofs, a timeline of nothing. */
async function said() {
  const above = await sonde.view("--baseline", configuration.tiny, configuration.above);
  const viewer = await browser.open(above, { hash: "#view=timeline" });
  check("said: a large change in times", await viewer.text("#kernel-title [data-change=duration]"), "9,506 x in time");
  check("said: why a level is above memory",
    await viewer.tell(() => [...document.querySelectorAll("#card-light [data-above]")].map((note) => note.textContent)),
    ["L2 is at 93.25 %, above the memory throughput of 88.5 %. Its figure is the largest of all its counters; that of memory is the " +
      "largest of the parts listed below, and the busiest of these in L2 is at " +
      `${truth[0]["lts__t_sectors.avg.pct_of_peak_sustained_elapsed"]} % (tag sectors).`]);
  check("said: no view of a timeline that has nothing in it",
    await viewer.tell(() => [document.body.dataset.view, document.querySelector("#views").offsetWidth]), ["kernels", 0]);
  await viewer.tell(() => { location.hash = "#view=timeline&from=1&to=2"; });
  await viewer.idle();
  check("said: nor by the address",
    await viewer.tell(() => [document.body.dataset.view, document.querySelectorAll(".summary-table tbody tr").length]), ["kernels", 2]);
  const roof = () =>
    viewer.tell(() => [...document.querySelectorAll("#card-roofline .legend span")].map((item) => item.textContent)
      .filter((text) => /clocks|highest/.test(text)));
  check("said: that the clocks are the highest, in the sentence of what they are of", await roof(),
    ["roof at the clocks measured, the highest of this GPU"]);
  await viewer.press("j");
  check("said: and not where it is not known", await roof(), ["roof at the clocks measured"]);
  check("said: nothing where no level is above memory",
    await viewer.tell(() =>
      [document.querySelector("#kernel-title h2").textContent, document.querySelectorAll("#card-light [data-above]").length]),
    ["reduce", 0]);
  await viewer.close();
  await above.end();
}

/** The memory card uses the room of a wide window. */
async function wideMemory() {
  for (const [width, beside] of [[1920, ".memory-facts"], [2560, ".memory-tables"]]) {
    const viewer = await browser.open(server, { hash: HASH, width, height: 1440 });
    const found = await viewer.tell((/** @type {string} */ selector) => {
      const box = (/** @type {string} */ what) => document.querySelector(`#card-memory ${what}`).getBoundingClientRect();
      const [chart, other, card] = [box(".memory-chart"), box(selector), document.querySelector("#card-memory").getBoundingClientRect()];
      return { beside: other.left >= chart.right && other.top < chart.bottom, used: (other.right - card.left) / card.width > 0.97,
        gap: other.left - chart.right < 60,
        cut: [...document.querySelectorAll("#card-memory .wide")].filter((table) => table.scrollWidth > table.clientWidth).length };
    }, beside);
    check(`memory card at ${width}: beside the chart is no empty half`, found, { beside: true, used: true, gap: true, cut: 0 });
    await viewer.picture(`kernels-memory-${width}`);
    await viewer.close();
  }
}

async function states() {
  const none = await sonde.view(configuration.none);
  const timeline = await browser.open(none, { hash: "#view=kernels&kernel=0" });
  await timeline.tell(() => { history.pushState(null, "", "#view=kernels&kernel=1"); history.back(); });
  await timeline.idle();
  check("a report without kernels, at an address of kernels", await timeline.tell(() => document.body.dataset.view), "timeline");
  await timeline.close();
  await none.end();
  const some = await sonde.view(configuration.some);
  let viewer = await browser.open(some);
  const missing = await viewer.text("#card-missing");
  check("not recorded: the option that would",
    ["--section MemoryWorkloadAnalysis", "--section WarpStateStats", "--section ComputeWorkloadAnalysis"].filter((option) =>
      !missing.includes(option)), []);
  await viewer.press("2");
  check("source: the option that would record it", (await viewer.text("#kernel-source")).includes("--section SourceCounters"), true);
  await viewer.close();
  await some.end();
  const hostile = await sonde.view(configuration.hostile);
  viewer = await browser.open(hostile);
  for (const key of ["2", "3", "4", "1", "b"])
    await viewer.press(key);
  check("names are texts, never markup",
    await viewer.tell(() =>
      [window.obeyed ?? null, document.querySelectorAll("img").length,
        document.querySelector(".summary-table td[data-column=name]").textContent.startsWith("<img")]), [null, 0, true]);
  await viewer.close();
  viewer = await browser.open(hostile, { hash: "#view=kernels&kernel=1" });
  check("a kernel that was not counted says why",
    [(await viewer.text("#card-error")).includes(configuration.error),
      await viewer.tell(() => document.querySelectorAll(".summary-table .text-verdict")[1].textContent)], [true, "not counted"]);
  for (const hash of ["#view=kernels&kernel=99&baseline=7.3&tab=none&sort=77&report=-4", "#view=kernels&kernel=-5&baseline=0.999&raw=%00",
    "#view=kernels&roofline=%3Cb%3E&pipes=x"]) {
    await viewer.tell((text) => { location.hash = text; }, hash);
    await viewer.idle();
    check(`hostile address ${hash}`,
      await viewer.tell(() => [document.querySelectorAll(".summary-table tbody tr").length, document.querySelectorAll(".card").length > 0]),
      [2, true]);
  }
  await viewer.close();
  await hostile.end();
}

async function views() {
  const both = await sonde.view(configuration.both);
  const viewer = await browser.open(both);
  check("both: opens on the kernels", await viewer.tell(() => document.body.dataset.view), "kernels");
  await viewer.page.click("#views [data-view=timeline]");
  await viewer.until(() => window.sonde.timelineStarted && window.sonde.rows.shown.length > 5 && window.sonde.settled);
  check("both: the timeline",
    await viewer.tell(() => [document.querySelector("#main").offsetHeight > 100, document.querySelector("#kernels").offsetHeight]),
    [true, 0]);
  await viewer.press("w");
  await viewer.until(() => location.hash.includes("view=timeline"));
  const other = await browser.open(both, { hash: await viewer.tell(() => location.hash) });
  check("both: the address of the timeline", await other.tell(() => document.body.dataset.view), "timeline");
  await other.close();
  await viewer.page.click("#views [data-view=kernels]");
  await viewer.idle();
  check("both: and back",
    await viewer.tell(() => [document.querySelector("#kernels").offsetHeight > 100, location.hash.startsWith("#view=kernels")]),
    [true, true]);
  await viewer.close();
  await both.end();
}

async function looks() {
  const viewer = await browser.open(server, { hash: "#view=kernels" });
  for (const [width, height,
    scheme] of /** @type {Array<[number, number, "dark" | "light"]>} */ ([[1280, 720, "light"], [1280, 720, "dark"], [1920, 1080, "light"],
      [3840, 2160, "dark"]])) {
    await viewer.page.setViewportSize({ width, height });
    await viewer.page.emulateMedia({ colorScheme: scheme });
    await viewer.idle();
    const found = await viewer.tell(() => {
      const small = [];
      const wide = [];
      for (const element of document.querySelectorAll("#kernels *")) {
        const box = element.getBoundingClientRect();
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (own && !(element instanceof SVGElement) && box.width && parseFloat(getComputedStyle(element).fontSize) < 12)
          small.push(element.className || element.tagName);
        if (element.matches(".card, .wide") && element.scrollWidth > element.clientWidth + 1)
          wide.push(element.id || `${element.scrollWidth - element.clientWidth} ${element.textContent.slice(0, 100)}`);
      }
      return { small: [...new Set(small)], wide, page: document.documentElement.scrollWidth > window.innerWidth };
    });
    check(`looks ${width}x${height} ${scheme}: texts of 12 pixels, nothing beyond its card`, found, { small: [], wide: [], page: false });
    await viewer.picture(`kernels-${width}-${scheme}`);
  }
  await viewer.page.setViewportSize({ width: 900, height: 700 });
  await viewer.tell(() => {
    document.querySelector("#kernel-unmatched").textContent = "This kernel is not in the baseline.";
    document.querySelector("#kernel-title .verdict").textContent = "compute- and memory-bound";
  });
  check("looks: texts of a narrow window do not lie on each other",
    await viewer.tell(() =>
      { const box = document.querySelector("#kernel-unmatched").getBoundingClientRect();
        return document.elementsFromPoint(box.left + 2, box.top + box.height / 2)
          .some((element) => element.matches(".verdict, .facts, h2")); }), false);
  await viewer.close();
}

await browser.startOrSkip();
const server = await sonde.view("--baseline", configuration.baseline, configuration.kernels);
await scenarios("kernels", { summary, details, compared, pages, source, said, wideMemory, states, views, looks });
await server.end();
check("nothing went wrong, nothing was asked elsewhere", [...new Set(browser.trouble)], []);
await browser.end();
finish();
