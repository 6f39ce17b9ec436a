// kernel_lists.mjs CONFIGURATION: launches beside each other in headless Chromium: variation, sums, warm caches, ten thousand of them.
// Prints a line for each check.
import { readFileSync } from "node:fs";
import { Browser, Sonde, check, finish, scenarios } from "./support.mjs";

const configuration = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { wanted, launches, times, names, truth, before } = configuration;
const sonde = new Sonde(configuration.sonde, configuration.webFolder);
const browser = new Browser(configuration.chromium, configuration.artefacts);
const DURATION = "gpu__time_duration.sum";

/** @param {number} a @param {number} b */
const alike = (a, b) => a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));

/** Lines of the upper table. @param {any} viewer @returns {Promise<Array<Record<string, string>>>} */
const linesOf = (viewer) =>
  viewer.tell(() =>
    [...document.querySelectorAll("#kernel-summary tbody tr")].map((row) =>
      Object.fromEntries([...row.querySelectorAll("td")].map((cell) => [cell.dataset.column, cell.dataset.value]))));

/**
 * What a button copies. Pages share one clipboard, and are tried at the same time: each listens for itself.
 * @param {any} viewer @param {string} button @returns {Promise<string>}
 */
async function copied(viewer, button) {
  await viewer.tell(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; });
  await viewer.page.click(button);
  return viewer.tell(() => window.copied);
}

async function sums() {
  const server = await sonde.view(configuration.steps);
  const viewer = await browser.open(server);
  check("sums: launches, and what they can be summed up by",
    await viewer.tell(() =>
      [...document.querySelectorAll("#kernel-ways button")].map((button) => [button.textContent, button.getAttribute("aria-selected")])),
    [["Launches", "true"], ["Kernels", "false"], ["NVTX ranges", "false"], ["Operators", "false"]]);
  await viewer.page.click("[data-way=operator]");
  await viewer.idle();
  const shown = await linesOf(viewer);
  const all = times.reduce((/** @type {number} */ sum, /** @type {number} */ time) => sum + time, 0);
  check("sums by operator: names, the longest first", shown.map((row) => row.name),
    Object.keys(wanted.operator).sort((a, b) => wanted.operator[b].time - wanted.operator[a].time));
  const wrong = shown.flatMap((row) =>
    ["launches", "time", "least", "median", "most", "spread", "compute", "memory", "dram_read",
      "instructions"].filter((key) => !alike(Number(row[key]), wanted.operator[row.name][key])).map((key) => [row.name, key, row[key]]));
  check("sums by operator: numbers", [wrong, shown.map((row) => alike(Number(row.share), (100 * wanted.operator[row.name].time) / all))],
    [[], shown.map(() => true)]);
  await viewer.page.click("[data-order='2']");
  const counts = (await linesOf(viewer)).map((row) => Number(row.launches));
  check("sums: sorted by a column", [counts, await viewer.tell(() => location.hash.includes("order=-2"))],
    [[...counts].sort((a, b) => b - a), true]);
  await viewer.page.click("[data-group='aten::mm']");
  await viewer.idle();
  check("sums: a click lists the launches of a group",
    [(await linesOf(viewer)).map((row) => Number(row.id)), await viewer.text("#kernel-count"), await viewer.text("#kernel-group")],
    [wanted.operator["aten::mm"].places, "5 of 9 launches", "operator: aten::mm ✕"]);
  const other = await browser.open(server, { hash: await viewer.tell(() => location.hash) });
  check("sums: the address has the group", (await linesOf(other)).map((row) => Number(row.id)), wanted.operator["aten::mm"].places);
  await other.close();
  await viewer.page.goBack();
  await viewer.until(() => document.querySelector("#kernel-summary [data-group]"));
  check("sums: back is the table of sums", (await linesOf(viewer)).length, Object.keys(wanted.operator).length);
  await viewer.page.click("[data-way=nvtx]");
  await viewer.idle();
  await viewer.page.fill("#kernel-filter", "relu");
  check("sums by range: filtered", [(await linesOf(viewer)).map((row) => row.name), await viewer.text("#kernel-count")],
    [Object.keys(wanted.nvtx).filter((name) => name.includes("relu")).sort(), "2 ranges"]);
  await viewer.page.fill("#kernel-filter", "");
  check("sums: copied as they are shown", (await copied(viewer, "#kernel-copy")).split("\n").length, Object.keys(wanted.nvtx).length + 1);
  await viewer.page.focus("#kernel-summary tbody button");
  await viewer.press("Enter");
  check("sums: by the keyboard", await viewer.tell(() => !document.querySelector("#kernel-group").hidden), true);
  await viewer.page.click("#kernel-group");
  await viewer.idle();
  check("sums: and all launches again", (await linesOf(viewer)).length, times.length);
  await viewer.tell(() => { location.hash = "#view=kernels&by=operator&baseline=0.1"; });
  await viewer.until(() => document.querySelector("#kernel-summary .change"));
  check("sums: beside a baseline",
    await viewer.tell(() =>
      [...document.querySelectorAll("#kernel-summary td[data-column=time]")].map((cell) =>
        [Number(cell.querySelector(".change").dataset.before), cell.querySelector(".change").textContent])),
    [[50000, "11.22 x"], [20000, "+10 %"], [20000, "−50 %"]]);
  for (const hash of ["#view=kernels&by=none&group=x", "#view=kernels&by=nvtx&group=%3Cb%3E&order=99",
    "#view=kernels&tab=variation&metric=%3Cb%3E"]) {
    await viewer.tell((text) => { location.hash = text; }, hash);
    await viewer.idle();
    check(`hostile address ${hash}`, (await linesOf(viewer)).length >= times.length, true);
  }
  await viewer.close();
  await server.end();
}

async function variation() {
  const server = await sonde.view(configuration.steps);
  const viewer = await browser.open(server, { hash: "#view=kernels&kernel=0" });
  const places = names.flatMap((/** @type {string} */ name, /** @type {number} */ i) => (name === "mm(float*)" ? [i] : []));
  check("list: the launch that took longer than its like",
    await viewer.tell(() => [...document.querySelectorAll(".unusual")].map((mark) => mark.closest("tr")?.dataset.place)), ["4"]);
  await viewer.press("4");
  check("variation: a point for each launch",
    await viewer.tell(() =>
      [...document.querySelectorAll(".variation-chart .launch")].map((point) =>
        [Number(point.dataset.place), Number(point.dataset.value)])), places.map((/** @type {number} */ i) => [i, times[i]]));
  check("variation: the one apart",
    await viewer.tell(() =>
      [...document.querySelectorAll(".variation-chart .outlier")].map((point) => point.querySelector("title").textContent)),
    ["launch 4: 160.0 us, +58.42 % from the median"]);
  check("variation: points are as high as they say", await viewer.tell(() => {
    const [low, high] = [...document.querySelectorAll(".variation-chart line.grid")].map((line) => Number(line.getAttribute("y1")));
    return [...document.querySelectorAll(".variation-chart .launch")].every((point) =>
      Math.abs((low - Number(point.getAttribute("cy"))) / (low - high) - Number(point.dataset.value) / 160000) < 0.002);
  }), true);
  const rows = await viewer.tell(() =>
    [...document.querySelectorAll(".variation-table tbody tr")].map((row) =>
      [row.dataset.metric,
        ...[...row.querySelectorAll("td[data-column]")].map((cell) => [cell.dataset.column, Number(cell.dataset.value)])]));
  const time = Object.fromEntries(rows.find(([metric]) => metric === DURATION).slice(1));
  const group = wanted.kernel["mm(float*)"];
  check("variation: least, median, most and spread", [time.value, time.least, time.median, time.most, alike(time.percent, group.spread)],
    [times[0], group.least, group.median, group.most, true]);
  const spreads = rows.map((/** @type {any[]} */ row) => Object.fromEntries(row.slice(1)).percent);
  check("variation: what differs most first", spreads, [...spreads].sort((a, b) => b - a));
  await viewer.page.click(".variation-table tr[data-metric='dram__bytes_read.sum'] button");
  await viewer.idle();
  check("variation: another metric",
    await viewer.tell(() =>
      [document.querySelector(".variation-chart").dataset.metric, location.hash.includes("metric=dram__bytes_read.sum")]),
    ["dram__bytes_read.sum", true]);
  await viewer.picture("kernels-variation");
  await viewer.page.fill("#variation-filter", "throughput sm__");
  check("variation: filtered",
    await viewer.tell(() => [...document.querySelectorAll(".variation-table tbody tr")].map((row) => row.dataset.metric)),
    ["sm__throughput.avg.pct_of_peak_sustained_elapsed"]);
  await viewer.page.click(".variation-chart .launch[data-place='4']");
  await viewer.idle();
  check("variation: a click chooses the launch",
    await viewer.tell(() =>
      [location.hash.includes("kernel=4"), document.querySelector("tr.chosen").dataset.place,
        document.querySelector("#kernel-title .unusual").textContent]), [true, "4", "58.42 % above the median of 5 launches"]);
  await viewer.page.focus(".variation-chart .launch[data-place='7']");
  await viewer.press("Enter");
  await viewer.idle();
  check("variation: by the keyboard", await viewer.tell(() => location.hash.includes("kernel=7")), true);
  await viewer.page.click("#kernel-summary tr[data-place='8'] td");
  await viewer.idle();
  check("variation: of a single launch", (await viewer.text("#kernel-variation")).includes("launched once"), true);
  await viewer.page.click("#kernel-summary tr[data-place='0'] td");
  await viewer.idle();
  await viewer.page.fill("#variation-filter", "");
  // Any kernel as the baseline: relu's first.
  await viewer.tell(() => { location.hash = "#view=kernels&kernel=0&tab=variation&baseline=0.1"; });
  await viewer.until(() => document.querySelector(".variation-chart line.old"));
  check("variation: the baseline as a line and a column", await viewer.tell(() => {
    const [low, high] = [...document.querySelectorAll(".variation-chart line.grid")].map((line) => Number(line.getAttribute("y1")));
    const row = document.querySelector(".variation-table tr[data-metric='gpu__time_duration.sum'] td[data-column=before]");
    return [Number(document.querySelector("#card-variation [data-before]").dataset.before), Number(row.dataset.value),
      Math.abs((low - Number(document.querySelector(".variation-chart line.old")
        .getAttribute("y1"))) / (low - high) - Number(row.dataset.value) / 160000) < 0.002];
  }), [times[1], times[1], true]);
  await viewer.close();
  await server.end();
}

async function warm() {
  const server = await sonde.view("--baseline", configuration.baseline, configuration.warm);
  const viewer = await browser.open(server);
  const values = await viewer.tell(() =>
    [...document.querySelectorAll("#kernel-details [data-metric][data-value]")].map((element) =>
      ({ card: element.closest(".card")?.id, metric: element.dataset.metric, warm: element.dataset.warm === undefined ? null :
        Number(element.dataset.warm), link: element.dataset.link ?? null,
        label: element.querySelector(".bar-label, dt")?.textContent ?? "" })));
  // Formulas are left out: their metric is only the first of several.
  const known = values.filter((/** @type {any} */ v) => `${v.metric}.warm` in truth && !v.link &&
    !["card-memory", "card-source"].includes(v.card));
  check("warm: beside every value",
    [known.length > 100, known.filter((/** @type {any} */ v) => v.warm === null || !alike(v.warm, truth[`${v.metric}.warm`])).slice(0, 5)],
    [true, []]);
  const links = Object.fromEntries(values.filter((/** @type {any} */ v) => v.link).map((/** @type {any} */ v) => [v.link, v.warm]));
  check("warm: on the links of the memory chart", [links["Device Memory > L2"], links["L2 > L1/TEX"]],
    [truth["dram__bytes_read.sum.warm"], truth["l1tex__m_xbar2l1tex_read_bytes.sum.warm"]]);
  check("warm: a second bar as long as it says",
    await viewer.tell(() =>
      [...document.querySelectorAll(".light .bar-line")].map((line) =>
        Math.abs(parseFloat(line.querySelector(".bar-track .warm").style.width) - Number(line.dataset.warm)) < 0.01)),
    [true, true, true, true, true]);
  await viewer.page.selectOption("[data-choice=roofline]", "Floating Point Operations Roofline (Single Precision)");
  check("warm: a point in the roofline for each, and one of the baseline",
    await viewer.tell(() =>
      ["achieved", "achieved_warm",
        "achieved_before"].map((when) => document.querySelectorAll(`.roofline .point[data-when=${when}]`).length)), [3, 3, 3]);
  check("warm: in a sentence", (await viewer.text(".warm-sentence")),
    "With warm caches compute is at 20.63 %, memory at 44.25 % of their peaks, and it takes 1.250 ms.");
  check("warm: in the list",
    await viewer.tell(() => Number(document.querySelector("#kernel-summary td[data-column=duration] .warm").dataset.warm)),
    truth[`${DURATION}.warm`]);
  await viewer.picture("kernels-warm");
  await viewer.press("3");
  await viewer.page.fill("#raw-filter", "dram__bytes_read.sum");
  const [now, heated, old] =
    await viewer.tell(() =>
      { const row = document.querySelector(".raw-table tr[data-metric='dram__bytes_read.sum']");
        return [row.dataset.value, row.dataset.warm, row.dataset.before].map(Number); });
  check("warm: on the raw page, beside value and baseline",
    [now, heated, old,
      await viewer.tell(() =>
        [...document.querySelectorAll(".raw-table tr")].filter((row) => row.dataset.metric.endsWith(".warm")).length)],
    [truth["dram__bytes_read.sum"], truth["dram__bytes_read.sum.warm"], before["dram__bytes_read.sum"], 0]);
  check("warm: copied", (await copied(viewer, "#raw-copy")).split("\n")[0].split("\t"),
    ["metric", "unit", "value", "warm caches", "baseline", "change %"]);
  await viewer.close();
  await server.end();
}

async function many() {
  const server = await sonde.view("--baseline", configuration.steps, configuration.many);
  const viewer = await browser.open(server);
  check("many: all are counted, few are drawn",
    [await viewer.text("#kernel-count"), await viewer.tell(() => document.querySelectorAll("#kernel-summary tbody tr").length < 100)],
    ["10,000 launches", true]);
  const widths = () =>
    viewer.tell(() =>
      [...document.querySelectorAll("#kernel-summary thead th")].map((cell) => Math.round(cell.getBoundingClientRect().width)));
  const first = await widths();
  await viewer.page.focus("#kernel-summary");
  await viewer.press("End");
  const last = await viewer.tell(() =>
    { const box = document.querySelector("#kernel-summary").getBoundingClientRect();
      const row = document.querySelector("#kernel-summary tr.chosen")
        .getBoundingClientRect(); return [document.querySelector("#kernel-summary tr.chosen").dataset.place,
          row.top >= box.top && row.bottom <= box.bottom + 1]; });
  check("many: the keyboard reaches the last, which is seen", last, ["9999", true]);
  check("many: columns stay as wide as they are", await widths(), first);
  await viewer.tell(() => { document.querySelector("#kernel-summary").scrollTop = 5000 * 22; });
  await viewer.until(() => document.querySelector("#kernel-summary tr[data-place='5000']"));
  check("many: lines lie where the scroll bar says",
    await viewer.tell(() =>
      { const head = document.querySelector("#kernel-summary thead th").getBoundingClientRect();
        const row = document.querySelector("#kernel-summary tr[data-place='5000']")
          .getBoundingClientRect(); return [Math.abs(row.top - head.bottom) <= 4,
            Math.abs(head.top - document.querySelector("#kernel-summary").getBoundingClientRect().top) < 1]; }), [true, true]);
  const longest = [...launches].sort((a, b) => b.duration - a.duration || a.place - b.place).slice(0, 5).map((launch) => launch.place);
  const took = await viewer.tell(() =>
    { const begin = performance.now(); document.querySelector("[data-sort='5']").click(); return performance.now() - begin; });
  await viewer.tell(() => { document.querySelector("#kernel-summary").scrollTop = 0; });
  await viewer.until(() => document.querySelector("#kernel-summary tbody tr").getBoundingClientRect().top > 0 &&
    document.querySelector("#kernel-summary").scrollTop === 0);
  await viewer.until((place) => document.querySelector("#kernel-summary tbody tr").dataset.place === String(place), longest[0]);
  check("many: the longest first, within a second", [(await linesOf(viewer)).slice(0, 5).map((row) => Number(row.id)), took < 1000],
    [longest, true]);
  await viewer.page.fill("#kernel-filter", "relu");
  const relus = launches.filter((/** @type {any} */ launch) => launch.function === "relu");
  check("many: filtered", [await viewer.text("#kernel-count"), (await linesOf(viewer)).every((row) => row.function === "relu")],
    [`${new Intl.NumberFormat("en-US").format(relus.length)} of 10,000 launches`, true]);
  check("many: all that are listed are copied", (await copied(viewer, "#kernel-copy")).split("\n").length, relus.length + 1);
  await viewer.page.fill("#kernel-filter", "");
  await viewer.page.click("[data-way=kernel]");
  await viewer.idle();
  const grouped = await linesOf(viewer);
  check("many: summed up by kernel, the longest first",
    [grouped.map((row) => Number(row.launches)).reduce((a, b) => a + b, 0), grouped.map((row) => row.name.split("(")[0])],
    [10000, ["mm", "relu", "copy", "alone"]]);
  await viewer.picture("kernels-many");
  await viewer.close();
  await server.end();
}

async function looks() {
  const server = await sonde.view("--baseline", configuration.baseline, configuration.warm, configuration.steps);
  for (const [scheme,
    hash] of /** @type {Array<["dark" | "light", string]>} */ ([["light", "#view=kernels"], ["dark", "#view=kernels"],
      ["light", "#view=kernels&report=1&tab=variation"], ["dark", "#view=kernels&report=1&tab=variation&by=operator"]])) {
    const viewer = await browser.open(server, { hash, scheme });
    const found = await viewer.tell(() => {
      /** @param {string} text */
      const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
      /** @param {number[]} colour */
      const light = (colour) =>
        { const [r, g, b] = colour.map((c) => { const v = c / 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      /** @param {Element} element */
      const ground = (element) =>
        { for (let at = element; at; at = at.parentElement) { const c = rgb(getComputedStyle(at).backgroundColor);
          if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
      const faint = [];
      const small = [];
      const parts = "#kernels .warm, #kernels .before, #kernels .unusual, #kernels .varies, #kernels .change, #kernel-ways button, " +
        "#kernel-group, #kernel-summary td, #kernel-variation td, #kernel-variation th";
      for (const element of document.querySelectorAll(parts)) {
        const box = element.getBoundingClientRect();
        if (!box.width || !element.textContent.trim())
          continue;
        const [a, b] = [light(rgb(getComputedStyle(element).color).slice(0, 3)), light(ground(element))].sort((x, y) => y - x);
        if ((a + 0.05) / (b + 0.05) < 4.5)
          faint.push(`${element.className || element.tagName} ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
        if (!(element instanceof SVGElement) && parseFloat(getComputedStyle(element).fontSize) < 12)
          small.push(element.className || element.tagName);
      }
      return { faint: [...new Set(faint)], small: [...new Set(small)], page: document.documentElement.scrollWidth > window.innerWidth };
    });
    check(`looks ${scheme} ${hash}: contrast of 4.5, texts of 12 pixels`, found, { faint: [], small: [], page: false });
    await viewer.picture(`kernels-lists-${scheme}`);
    await viewer.close();
  }
  await server.end();
}

await browser.startOrSkip();
await scenarios("kernel lists", { sums, variation, warm, many, looks });
check("nothing went wrong, nothing was asked elsewhere", [...new Set(browser.trouble)], []);
await browser.end();
finish();
