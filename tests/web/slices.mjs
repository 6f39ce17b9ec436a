// A slice: hovering, clicking, its panel, the arrow to what belongs to it, and measuring.
import { check, scenario } from "./support.mjs";

const grouped = (/** @type {number} */ ns) => ns.toLocaleString("en-US");

/** The second kernel of that name, with its call, as SQL has it. @param {any} sonde @param {string} report */
function kernelOf(sonde, report) {
  const [[start, end, x, y, z, registers, callStart, callEnd]] = sonde.numbers(report, `
    select k.start, k."end", k.gridX, k.gridY, k.gridZ, k.registersPerThread, r.start, r."end"
    from CUPTI_ACTIVITY_KIND_KERNEL k join CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId
    and r.globalTid / 0x1000000 = k.globalPid / 0x1000000 where k.start = 360100`);
  return { start, end, grid: `${x} x ${y} x ${z}`, registers, callStart, callEnd };
}

/** @param {any} viewer */
async function rowsOf(viewer) {
  const { rows } = await viewer.ask("/api/rows?report=0");
  const thread = rows.find((row) => row.kind === "thread");
  return {
    stream: rows.find((row) => row.kind === "stream" && row.label === "stream 7"),
    calls: rows.find((row) => row.kind === "cuda-api" && row.parent === thread.id),
    ranges: rows.find((row) => row.kind === "nvtx" && row.parent === thread.id),
  };
}

/** @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function clicks({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  const kernel = kernelOf(sonde, report);
  const { stream, calls } = await rowsOf(viewer);
  await viewer.bring(calls.id);
  await viewer.bring(stream.id);
  const at = await viewer.spot(stream.id, 0, (kernel.start + kernel.end) / 2);
  await viewer.mouse.move(at.x, at.y);
  await viewer.until(() => !document.getElementById("tooltip").hidden);
  await viewer.idle();
  const tip = await viewer.text("#tooltip");
  check("the tooltip: name and duration to the nanosecond",
    [tip.includes("gemm"), tip.includes(`${grouped(kernel.end - kernel.start)} ns`)], [true, true]);
  await viewer.until((/** @type {string} */ grid) => document.getElementById("tooltip").innerText.replaceAll("×", "x").includes(grid),
    kernel.grid);
  check("the tooltip: grid, a moment later", true, true);
  await viewer.picture("tooltip");
  await viewer.mouse.click(at.x, at.y);
  const details = await viewer.detailsOf(kernel.start);
  check("a click picks it, times as in SQL", [details.start, details.end], [kernel.start, kernel.end]);
  const side = await viewer.text("#side");
  check("the panel: duration", side.includes(`${grouped(kernel.end - kernel.start)} ns`), true);
  check("the panel: grid and registers", [side.replaceAll("×", "x").includes(kernel.grid), side.includes(String(kernel.registers))],
    [true, true]);
  check("the panel: the call and the ranges around it", ["cudaLaunchKernel", "backward", "step"].every((name) => side.includes(name)),
    true);
  const [[count]] =
    sonde.numbers(report,
      "select count(*), 0 from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName where s.value = 'gemm'");
  check("the panel: all of that name", [details.statistics.count, side.includes(`${count}`)], [count, true]);
  check("where this one lies is marked",
    await viewer.tell(() => document.querySelectorAll("#side .histogram .here, #side .histogram [aria-current]").length), 1);
  check("the line that would profile it", /sonde kernel .*-k .*gemm/.test(side), true);
  await viewer.picture("slice");
  // The n-th of its name is the n-th that starts.
  for (const [key, want] of [["]", 625000], ["[", 360100]]) {
    await viewer.keyboard.press(key);
    check(`${key} goes to the neighbour of that name`, (await viewer.detailsOf(want)).start, want);
  }
  await viewer.close();
}

/** @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function followsTheArrow({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  const kernel = kernelOf(sonde, report);
  const { stream } = await rowsOf(viewer);
  await viewer.bring(stream.id);
  const at = await viewer.spot(stream.id, 0, (kernel.start + kernel.end) / 2);
  await viewer.mouse.click(at.x, at.y);
  await viewer.detailsOf(kernel.start);
  await viewer.keyboard.press("Enter");
  const call = await viewer.detailsOf(kernel.callStart);
  check("the arrow leads to the call", [call.start, call.end], [kernel.callStart, kernel.callEnd]);
  const [from, to] = await viewer.seen();
  check("which is in view", [from <= call.start && call.start <= to, await viewer.tell(() => {
    const { rows, timeline, view } = window.sonde;
    const y = timeline.yOf(rows.find(0, view.picked.row));
    return y >= 0 && y < timeline.height;
  })], [true, true]);
  await viewer.picture("arrow");
  await viewer.keyboard.press("Enter");
  check("and back", (await viewer.detailsOf(kernel.start)).end, kernel.end);
  check("by name in the panel, too",
    await viewer.tell(() =>
      [...document.querySelectorAll("#side button, #side a")].some((link) => link.textContent.includes("cudaLaunchKernel"))), true);
  await offScreen(viewer, kernel);
  await viewer.close();
}

/** The call is left of what is shown: a mark at the edge says so, and leads there. @param {any} viewer @param {any} kernel */
async function offScreen(viewer, kernel) {
  await viewer.show(kernel.start + 1000, kernel.start + 50000);
  const mark = (await viewer.drawn("canvas")).find(({ text }) => text.includes("cudaLaunchKernel") && text.includes("before"));
  check("an end that is off screen has a mark at the edge, with how far it is", [mark?.text.includes("30.10 us"), mark && mark.x < 40],
    [true, true]);
  await viewer.picture("edge");
  const box = await viewer.tell(() => window.sonde.timeline.canvas.getBoundingClientRect().toJSON());
  await viewer.mouse.click(box.left + mark.x + 5, box.top + mark.y - 4);
  await viewer.detailsOf(kernel.callStart);
  const [from, to] = await viewer.seen();
  check("a click on it leads there", from <= kernel.callStart && kernel.callStart <= to, true);
}

/** Counters of tests/golden/cuda.txt: 10 at 100 us, 75.6 at 200 us; 310.5 W at 100 us. @param {{ browser: any, server: any }} with_ */
async function plots({ browser, server }) {
  const viewer = await browser.open(server);
  const { rows } = await viewer.ask("/api/rows?report=0");
  for (const [label, time, want] of [["SMs Active", 150000, "10"], ["SMs Active", 200400, "75.6"], ["Power", 300000, "310.5"]]) {
    const row = rows.find((/** @type {any} */ each) => each.draw === "plot" && each.label.startsWith(label));
    const shown = await viewer.tell((/** @type {number} */ id) => {
      const all = [...window.sonde.rows.byKey.values()];
      return (all.find((each) => each.series?.some((/** @type {any} */ one) => one.id === id)) || window.sonde.rows.find(0, id)).id;
    }, row.id);
    await viewer.bring(shown);
    const at = await viewer.spot(shown, 0, time);
    await viewer.mouse.move(5, 5);
    await viewer.mouse.move(at.x, at.y);
    await viewer.until((/** @type {string} */ text) => !document.getElementById("tooltip").hidden &&
      document.getElementById("tooltip").innerText.includes(text), label);
    const tip = await viewer.text("#tooltip");
    check(`${label} at ${time} ns`, tip.includes(`${want} ${row.unit}`) ? want : tip, want);
  }
  await viewer.picture("plots");
  await viewer.close();
}

/** Sums of a measured span are those of SQL over the same span. @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function measures({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  const { stream, ranges } = await rowsOf(viewer);
  await viewer.bring(stream.id);
  const span = (await viewer.measure(await viewer.spot(stream.id, 0, 150000), await viewer.spot(stream.id, 0, 421000))).map(Math.round);
  check("what was dragged over", [Math.abs(span[0] - 150000) < 3000, Math.abs(span[1] - 421000) < 3000], [true, true]);
  await viewer.until(() => document.querySelector("#side").innerText.includes("gemm"));
  const [a, b] = span;
  const sums = await viewer.ask(`/api/sums?report=0&from=${a}&to=${b}`);
  const inside = `sum(min(k."end", ${b}) - max(k.start, ${a})), count(*)
    from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName where k.start < ${b} and k."end" > ${a}`;
  for (const [name, total, count] of sonde.sql(report, `select s.value, ${inside} group by 1 order by 1`)) {
    const found = sums.names.find((/** @type {any} */ each) => each.name === name && each.kind === "stream");
    check(`sums of ${name}`, [found?.total, found?.count], [Number(total), Number(count)]);
  }
  const [[calls, time]] =
    sonde.numbers(report,
      `select count(*), sum(min("end", ${b}) - max(start, ${a})) from NVTX_EVENTS where eventType = 59 and start < ${b} and "end" > ${a}`);
  const told = sums.names.filter((/** @type {any} */ each) => each.kind === "nvtx");
  check("sums of ranges",
    [told.reduce((/** @type {number} */ all, /** @type {any} */ each) => all + each.count, 0) >= calls,
      told.reduce((/** @type {number} */ all, /** @type {any} */ each) => all + each.total, 0) >= time], [true, true]);
  // Kernels of the first process overlap in stream 7: busy is what lies in any of them.
  for (const stream of [7, 13]) {
    const spans = sonde.numbers(report, `select max(start, ${a}), min("end", ${b}) from CUPTI_ACTIVITY_KIND_KERNEL
      where streamId = ${stream} and globalPid = (select min(globalPid) from CUPTI_ACTIVITY_KIND_KERNEL)
      and start < ${b} and "end" > ${a} order by 1`);
    let busy = 0, reached = a;
    for (const [start, end] of spans) {
      busy += Math.max(0, end - Math.max(start, reached));
      reached = Math.max(reached, end);
    }
    const row = sums.busy.find((/** @type {any} */ each) => each.label === `stream ${stream}` && each.count === spans.length);
    check(`busy time of stream ${stream}`, row?.busy, busy);
  }
  const side = await viewer.text("#side");
  const [[gemm]] = sonde.numbers(report, `select ${inside} and s.value = 'gemm'`);
  check("the panel tells them", [side.includes("gemm"), numbersIn(side).some((number) => Math.abs(number - gemm) <= gemm / 1000)],
    [true, true]);
  check("ranges are among them", ranges && side.includes("step"), true);
  await viewer.picture("measure");
  await viewer.press("Escape");
  check("escape forgets the span", await viewer.tell(() => window.sonde.view.span), null);
  await viewer.close();
}

/** Lengths of time in a text, in ns. @param {string} text */
function numbersIn(text) {
  const size = /** @type {Record<string, number>} */ ({ ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 });
  return [...text.matchAll(/([\d,.]+)\s*(ns|us|µs|ms|s)\b/g)].map((found) => Number(found[1].replaceAll(",", "")) * size[found[2]]);
}

/** Drag over nothing but the ruler measures as well, double click fits. @param {{ browser: any, server: any }} with_ */
async function fits({ browser, server }) {
  const viewer = await browser.open(server);
  const { stream } = await rowsOf(viewer);
  await viewer.bring(stream.id);
  const at = await viewer.spot(stream.id, 0, 410000);
  await viewer.mouse.dblclick(at.x, at.y);
  await viewer.idle();
  let [from, to] = await viewer.seen();
  check("double click fits a slice", [from <= 360100 && to >= 460100, to - from < 400000], [true, true]);
  await viewer.press("0");
  await viewer.mouse.click(at.x, at.y);
  await viewer.detailsOf(360100);
  await viewer.press("f");
  [from, to] = await viewer.seen();
  check("f fits what is picked", [from <= 360100 && to >= 460100, to - from < 400000], [true, true]);
  const name = (await viewer.drawn("canvas")).filter(({ text }) => text.startsWith("gemm"));
  const place = await viewer.tell(() => [window.sonde.timeline.xOf(360100), window.sonde.timeline.xOf(460100)]);
  check("its name stands in it", name.some(({ x }) => x >= place[0] - 1 && x <= place[1]), true);
  await viewer.close();
}

/** @param {any} with_ */
export async function slices(with_) {
  await scenario("clicks", () => clicks(with_));
  await scenario("follows the arrow", () => followsTheArrow(with_));
  await scenario("measures", () => measures(with_));
  await scenario("fits", () => fits(with_));
  await scenario("plots", () => plots(with_));
}
