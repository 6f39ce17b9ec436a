// node --test: the page's modules that need no browser, against values worked out by hand.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readState, writeState } from "../../web/address.js";
import { clockOffsets, fromZero } from "../../web/timeline/align.js";
import { luminance, byClass, byName, byRow } from "../../web/timeline/colours.js";
import * as format from "../../web/format.js";
import { cardsOf } from "../../web/kernel/cards.js";
import { partName, sentence } from "../../web/kernel/light.js";
import { curveBarsHtml, timelinesHtml } from "../../web/kernel/lines.js";
import { occupancyHtml } from "../../web/kernel/occupancy.js";
import { changeText, percent, tableHtml } from "../../web/kernel/parts.js";
import { rooflineHtml } from "../../web/kernel/roofline.js";
import { instructionRows } from "../../web/kernel/source_rows.js";
import { COLUMNS, reportName } from "../../web/kernel/summary.js";
import { missingSources } from "../../web/side/missing.js";
import { hasFunctions, nameIn, shortName } from "../../web/names.js";
import { byFunction, heaviestPath, treeLines } from "../../web/panels/call_table.js";
import { comparedColumns, difference } from "../../web/panels/difference.js";
import { sorted, tableHtml as statisticsHtml } from "../../web/panels/table.js";
import { axisEnds, valueAt } from "../../web/timeline/plot.js";
import { Rows } from "../../web/timeline/rows.js";
import { rulerBase, rulerStep } from "../../web/timeline/ruler.js";
import { fillBars, fillShades, resample } from "../../web/timeline/strips.js";
import { Tiles, levelFor, readTiles, tileSpan } from "../../web/timeline/tiles.js";
import { View } from "../../web/view.js";

test("an address says what is looked at, and is read again", () => {
  const state = {
    window: [10, 2000], span: [20, 30], picked: { report: 1, row: 7, lane: 0, index: 12 }, opened: ["0/3"], closed: ["1/4", "0/-10"],
      pinned: ["0/2"], colour: "name", panel: "flame",
    search: "a&b=c#d", filter: "stream 7", align: "range", offsets: [0, -5],
  };
  assert.deepEqual(readState(`#${writeState(state)}`), state);
});

test("hostile addresses are as none", () => {
  const nothing = { opened: [], closed: [], pinned: [] };
  for (const hash of ["", "#", "#from=5", "#from=9&to=3", "#from=1e400&to=2e400", "#from=NaN&to=x", "#event=1.2.3", "#event=1.-2.3.4",
    "#span=5", "#pinned=<b>,../..,1", "#offsets=1,x", "#%zz=%"])
    assert.deepEqual(readState(hash), nothing, hash);
});

test("times of day beyond 2^53 are told apart to the nanosecond", () => {
  assert.deepEqual(clockOffsets(["1763200000000000001", "1763200000000000004"]), [0, 3]);
  assert.equal(clockOffsets(["1763200000000000001", null]), null);
  assert.deepEqual(fromZero([-5, -9]), [4, 0]);
});

test("the roofline that is shown first is the one whose work is nearest to its peak", () => {
  const chart = (title, achieved, peak) =>
    ({ title, rows: [{ name: title, achieved, peak, traffic: false }, { name: "DRAM", achieved: 1e12, peak: 4e12, traffic: true }] });
  const shown = (...charts) => /<option selected>([^<]*)</.exec(rooflineHtml(charts, "", {}))[1];
  assert.equal(shown(chart("Single", 1e12, 66e12), chart("Tensor", 3e12, 1000e12)), "Single");
  assert.equal(shown(chart("Single", 1e12, 66e12), chart("Tensor", 300e12, 1000e12)), "Tensor");
  // A fused multiply-add in single precision, and a constant loaded by one in half precision: the same number of instructions.
  assert.equal(shown(chart("Half Precision", 1.34e12, 133e12), chart("Single Precision", 0.67e12, 66.5e12)), "Single Precision");
  assert.equal(shown(chart("Half Precision", 80e12, 133e12), chart("Single Precision", 0.67e12, 66.5e12)), "Half Precision");
});

/** Roofs and points of a kernel at three levels. */
const ROOFS = { title: "Single",
  rows: [{ name: "Single", achieved: 1e12, peak: 66e12, traffic: false },
    ...[["DRAM", 2.0e12], ["L2", 2.01e12], ["L1", 2.02e12]].map(([name, achieved]) => ({ name, achieved, peak: 9e12, traffic: true }))] };

test("points of levels that lie on each other can all be seen", () => {
  const sizes = [...rooflineHtml([ROOFS], "", {}).matchAll(/data-point="Single\/(\w+)"/g)].map(([, level]) => level);
  const widths = [...rooflineHtml([ROOFS], "", {}).matchAll(/class="point level-\w+" d="M[\d.]+,[\d.]+a([\d.]+),/g)].map(([, radius]) =>
    Number(radius));
  assert.deepEqual(sizes, ["DRAM", "L2", "L1"], "the first is drawn first");
  assert.ok(widths[0] - widths[1] >= 1.5 && widths[1] - widths[2] >= 1.5, String(widths));
});

test("roofs at the highest clocks: of what has a clock that is known, and told below the chart", () => {
  const dashed = (clocks) =>
    [...rooflineHtml([ROOFS], "", clocks).matchAll(/theoretical" d="[^"]*" data-roof="(\w+)"/g)].map(([, name]) => name);
  const clocks = { sm: 1.5e9, sm_most: 2e9, dram: 3e9, dram_most: 3.2e9 };
  assert.deepEqual(dashed(clocks), ["DRAM", "L1", "Single"]);
  const [, from, dashedFrom] =
    /data-roof="L1".*?d="M[\d.,]+L([\d.]+),[^>]*data-roof="L1".*?class="roof work theoretical" d="M([\d.]+),/.exec(rooflineHtml([{ ...ROOFS,
      rows: ROOFS.rows.map((row) => (row.name === "L1" ? { ...row, peak: 30e12 } : row)) }], "", clocks));
  assert.equal(Number(from).toFixed(3), Number(dashedFrom).toFixed(3), "the dashed roof begins where its slope ends");
  assert.match(rooflineHtml([ROOFS], "", clocks), /roof at the clocks measured<.*at the highest clocks</);
  assert.deepEqual(dashed({ ...clocks, sm: 2e9, dram: 3.2e9 }), []);
  assert.match(rooflineHtml([ROOFS], "", { ...clocks, sm: 2e9, dram: 3.2e9 }), /roof at the clocks measured, the highest of this GPU</);
  assert.match(rooflineHtml([ROOFS], "", { sm: 2e9, dram: 3.2e9 }), /roof at the clocks measured</, "nothing is said of what is not known");
});

test("samples: what stayed at nothing is named, not drawn", () => {
  const curve = (label, value, before) =>
    ({ label, metric: "m", unit: "%", points: [{ number: 0, label: "", value }],
      ...(before === undefined ? {} : { before: [{ number: 0, label: "", value: before }] }) });
  const html = timelinesHtml([{ kind: "timeline", title: "SM", rows: [curve("FMA", 3), curve("FP64", 0), curve("XU", 0, 2)] }]);
  assert.deepEqual([...html.matchAll(/aria-label="(\w+) over time"/g)].map(([, name]) => name), ["FMA", "XU"]);
  assert.match(html, /0 all the time: <span[^>]*data-explain="m">FP64</);
  assert.match(html, /class="rule old"><.i>baseline/);
});

test("numbers that are names have no bars", () => {
  const curve = (label, ...values) =>
    curveBarsHtml({ label, metric: "numa__id_cpu", unit: "", points: values.map((value, number) => ({ number, label: "", value })) });
  assert.match(curve("NUMA ID of the nearest CPU", 0), /data-explain="numa__id_cpu"><dt>NUMA ID of the nearest CPU<.dt><dd>0<.dd>/);
  assert.match(curve("NUMA ID of the nearest CPU", 0, 1), /<dd>0: 0, 1: 1<.dd>/);
  assert.match(curve("Links", 3), /bar-line/);
});

test("steps of occupancy have no slopes", () => {
  const curve = { by: "registers", at: 32, stretches: [[0, 32, 64, 100], [33, 40, 48, 75], [41, 255, 0, 0]] };
  const [, line] =
    /class="line" d="([^"]*)"/.exec(occupancyHtml({ occupancy: { curves: [curve], most_warps: 64, limits: [], before: null } }, undefined));
  assert.match(line, /^M[\d.]+,[\d.]+(H[\d.]+(V[\d.]+)?)+$/);
});

test("headings of tables say a unit once", () => {
  const cell = (metric, unit, shown) => ({ label: "", metric, computed: false, value: 4e6, unit, text: "4", shown });
  const html = tableHtml({ kind: "table", title: "",
    columns: [["Requests", ""], ["Sectors", "sector"], ["Bytes", "byte"], ["Throughput", "byte/s"],
      ["Average", "cycle"]].map(([title, unit]) => ({ title, unit })),
    rows: [{ label: "Load",
      cells: [cell("a", "request", "request"), cell("b", "sector", "sector"), cell("c", "byte", "Mbyte"), cell("d", "byte/s", "Gbyte/s"),
        cell("e", "cycle", "cycle")] }] });
  assert.deepEqual([...html.matchAll(/<th class="number">(.*?)<.th>/g)].map(([, text]) => text.replace(/<[^>]*>/g, " ").trim()),
    ["Requests", "Sectors", "Bytes", "Throughput byte/s", "Average cycle"]);
  assert.deepEqual([...html.matchAll(/<td .*?>(.*?)<.td>/g)].map(([, text]) => text.replace(/<[^>]*>/g, " ").trim()),
    ["4", "4", "4 Mbyte", "4 Gbyte/s", "4"]);
});

test("functions and parts of the chip as people call them", () => {
  const lines = ["_Z1fv", "_Z1fv",
    "_Z1gv"].map((name, i) => ({ function: name, pc: 16 * i, sass: "NOP", file: null, line: 0, values: [] }));
  assert.deepEqual(instructionRows({ columns: [], lines, files: [], ptx: [] }, (name) => (name === "_Z1fv" ? "f()" : name))
    .filter((row) => row.isHead).map((row) => row.text), ["f()", "_Z1gv"]);
  assert.equal(partName("gpu__compute_memory_access_throughput_internal_activity"), "GPU: compute memory access (internal)");
  assert.equal(partName("sm__inst_executed_pipe_lsu"), "SM: LSU instructions");
});

test("reports of one name are told apart by their folders", () => {
  const reports =
    [{ name: "a.sonde", path: "old/a.sonde" }, { name: "a.sonde", path: "new/a.sonde" }, { name: "b.sonde", path: "new/b.sonde" }];
  assert.deepEqual(reports.map((_, i) => reportName(reports, i)), ["old/a.sonde", "new/a.sonde", "b.sonde"]);
});

test("a graph that was counted as one has no grid, block or occupancy", () => {
  const graph = { registers: null, grid: [1, 1, 1], block: [1, 1, 1], sections: [], rules: [],
    missing: ["Occupancy", "SpeedOfLight"].map((id) => ({ id, title: id, about: "" })), occupancy: null };
  const texts = (kernel) => COLUMNS.filter(({ key }) => key === "grid" || key === "block").map((column) => column.text(kernel));
  assert.deepEqual(texts(graph), ["", ""]);
  assert.deepEqual(texts({ ...graph, registers: 16 }), ["1", "1"]);
  assert.deepEqual(texts({ ...graph, grid: [2, 1, 1] }), ["2", "1"]);
  assert.deepEqual(cardsOf(graph).missing.map((card) => card.id), ["light"]);
  assert.deepEqual(cardsOf({ ...graph, registers: 16 }).missing.map((card) => card.id), ["light", "occupancy"]);
});

test("units and digits", () => {
  assert.equal(format.duration(15800), "15.80 us");
  assert.equal(format.duration(999), "999 ns");
  assert.deepEqual([0, 0.001, 0.005, 12.345, null].map(percent), ["0 %", "< 0.01 %", "0.01 %", "12.35 %", ""]);
  assert.equal(format.exact(1234567), "1,234,567 ns");
  assert.equal(format.inUnit(1500000, ["ms", 1e6], 500000), "1.5 ms");
  assert.equal(format.inUnit(2000000, ["ms", 1e6], 1000000), "2 ms");
  assert.deepEqual([1, 2, 3, 4, 11, 12, 13, 21, 101, 112].map(format.ordinal),
    ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "101st", "112th"]);
  assert.equal(format.some(1, "processes"), "1 process");
  assert.equal(format.escapeHtml(`<a href="x">'&`), "&#60;a href=&#34;x&#34;&#62;&#39;&#38;");
});

test("ruler: steps are 1, 2 or 5, at least 100 pixels apart, and long moments have a base", () => {
  assert.equal(rulerStep(1), 100);
  assert.equal(rulerStep(1.1), 200);
  assert.equal(rulerStep(3), 500);
  assert.equal(rulerBase(0, 1e6, 1e5), 0);
  const base = rulerBase(4123456789, 4123457789, 100);
  assert.ok(base <= 4123456789 && 4123457789 - base < 1e5, String(base));
});

test("changes: in percent, and in times where they are large", () => {
  assert.deepEqual([0, 0.001, 25, -50, -100, 999.99, 1000, 1022, 949_500, 12_345_600].map(changeText),
    ["±0 %", "±0 %", "+25 %", "−50 %", "−100 %", "+999.99 %", "11 x", "11.22 x", "9,496 x", "123,500 x"]);
});

test("names", () => {
  assert.equal(shortName("void at::native::(anonymous namespace)::copy_kernel<float, 4>(float*, int)"), "copy_kernel");
  assert.equal(shortName("void reduce_kernel<512, 1, Op<float>::operator()(int)>(int)"), "reduce_kernel");
  assert.equal(shortName("bool std::operator<(A const&, B const&)"), "bool std::operator<(A const&, B const&)");
  assert.equal(shortName("gemm_128x64"), "gemm_128x64");
  const written = "aten::addmm ... [(150942,0), (0,150943)]";
  assert.deepEqual(["nvtx", "gpu-nvtx", "generic", "marks", undefined].map((kind) => nameIn(kind, written)), Array(5).fill(written));
  assert.equal(nameIn("stream", "void at::native::copy_kernel<float, 4>(float*, int)"), "copy_kernel");
  const columns =
    [["cuda_gpu_kern_sum", "Name"], ["nvtx_kern_sum", "Kernel Name"], ["cpu_sample_sum", "Function"], ["nvtx_sum", "Range"],
      ["torch_op_sum", "Name"], ["cpu_stack_sum", "Stack"]];
  assert.deepEqual(columns.map(([report, column]) => hasFunctions(report, column)), [true, true, true, false, false, false]);
});

test("ink can be read on every colour: at least 4.5 to 1", () => {
  const all = [...Array(11).keys()].flatMap((kind) =>
    ["", "gemm", "ncclDevKernel_AllReduce", "aten::mm", "x", "cudaLaunchKernel"].map((name) => byClass(kind, name)));
  for (const colour of [...all, ...[..."abcdefghijklmnopqrstuvwxyz"].map((c) => byName(c))]) {
    const ground = luminance(colour.r, colour.g, colour.b);
    const ink = colour.ink === "#ffffff" ? 1 : 0;
    const contrast = (Math.max(ground, ink) + 0.05) / (Math.min(ground, ink) + 0.05);
    assert.ok(contrast >= 4.5, `${colour.css} ${colour.ink} ${contrast.toFixed(2)}`);
  }
});

test("buckets become pixels: the mean of what a pixel spans, and nothing vanishes", () => {
  const buckets = new Uint8Array(4 * 8);
  buckets.set([10, 20, 30, 255], 4 * 1);
  buckets.set([10, 20, 30, 51], 4 * 2);
  buckets.set([200, 0, 0, 1], 4 * 5);
  const [colours, shares] = [new Int32Array(4), new Float32Array(4)];
  resample(buckets, 0, 2, colours, shares, 4);
  assert.equal(colours[0], 10 | (20 << 8) | (30 << 16));
  const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-6, `${a} ${b}`);
  [0.5, 0.1, 1 / 510, 0].forEach((want, x) => near(shares[x], want));
  resample(buckets, 1.5, 1, colours, shares, 1);
  near(shares[0], (1 + 0.2) / 2);
});

test("bars: the least has a cell in full colour, all of it eight; what lies in one line stands on each other", () => {
  const alphas = (image, width, x) => Array.from({ length: image.length / width }, (_, y) => image[y * width + x] >>> 24);
  const some = [0.0001, 0.5, 1, 0];
  const colours = new Int32Array(4).fill(0x0a0b0c);
  const image = new Int32Array(4 * 8);
  fillBars(image, 0, 4, colours, new Float32Array(some), null);
  assert.deepEqual(alphas(image, 4, 0), [0, 0, 0, 0, 0, 0, 0, 255]);
  assert.deepEqual(alphas(image, 4, 1), [0, 0, 0, 128, 255, 255, 255, 255]);
  assert.deepEqual(alphas(image, 4, 2), Array(8).fill(255));
  assert.deepEqual(alphas(image, 4, 3), Array(8).fill(0));
  assert.equal(image[4 * 7 + 1] & 0xffffff, 0x0a0b0c);
  const below = new Float32Array(4);
  const two = new Int32Array(2 * 4 * 8);
  fillBars(two, 0, 4, colours, new Float32Array(some), below);
  fillBars(two, 8, 4, colours, new Float32Array([0.0001, 0.5, 0, 1]), below);
  assert.deepEqual(alphas(two, 4, 0).slice(8), [0, 0, 0, 0, 0, 0, 255, 255], "two of the least are two cells");
  assert.deepEqual(alphas(two, 4, 1).slice(8), Array(8).fill(255));
  assert.deepEqual(alphas(two, 4, 3).slice(8), Array(8).fill(255));
  const shaded = new Int32Array(4);
  fillShades(shaded, 0, 4, colours, new Float32Array([0.001, 0.14, 0.6, 1]));
  assert.deepEqual([...shaded].map((pixel) => pixel >>> 24), [39, 115, 205, 255]);
});

test("every colour has a contrast of 3 at least with what rows are drawn on, in both themes", () => {
  const style = readFileSync(new URL("../../web/style.css", import.meta.url), "utf8");
  const grounds =
    [...style.matchAll(/--(?:row|groupRow): #(\w\w)(\w\w)(\w\w);/g)].map((found) =>
      luminance(...found.slice(1).map((part) => parseInt(part, 16))));
  assert.equal(grounds.length, 4);
  const names = [..."abcdefghijklmnopqrstuvwxyz"].map((letter) => `kernel_${letter}`);
  for (const colour of [...Array(11).keys()].flatMap((kind) => ["", ...names].map((name) => byClass(kind, name)))
    .concat(names.map(byName), [...Array(12).keys()].map(byRow)))
    for (const ground of grounds) {
      const light = luminance(colour.r, colour.g, colour.b);
      const contrast = (Math.max(ground, light) + 0.05) / (Math.min(ground, light) + 0.05);
      assert.ok(contrast >= 3, `${colour.css} ${contrast.toFixed(2)}`);
    }
});

/** A tile as the server writes it: lanes of [listed, buckets]. */
function tileBytes(row, index, lanes) {
  const parts = [];
  const put = (size, method, value) => parts.push([size, method, value]);
  put(4, "setUint32", row);
  put(4, "setUint32", lanes.length);
  put(8, "setFloat64", index);
  for (const { listed, buckets } of lanes) {
    put(4, "setUint32", listed.length);
    put(4, "setUint32", buckets.length);
    for (const column of [0, 1])
      listed.forEach((event) => put(8, "setFloat64", event[column]));
    for (const column of [2, 3, 4])
      listed.forEach((event) => put(4, "setUint32", event[column]));
    buckets.forEach((bucket) => put(2, "setUint16", bucket[0]));
    parts.push([(4 - ((2 * buckets.length) % 4)) % 4]);
    for (const column of [1, 2]) {
      buckets.forEach((bucket) => put(1, "setUint8", bucket[column]));
      parts.push([(4 - (buckets.length % 4)) % 4]);
    }
    for (const column of [3, 4, 5])
      buckets.forEach((bucket) => put(4, "setUint32", bucket[column]));
  }
  const view = new DataView(new ArrayBuffer(parts.reduce((sum, [size]) => sum + size, 0)));
  let at = 0;
  for (const [size, method, value] of parts) {
    if (method)
      view[method](at, value, true);
    at += size;
  }
  return view.buffer;
}

test("tiles are read as they are written, however they are aligned", () => {
  const lanes = [{ listed: [[5, 9, 3, 0, 1]], buckets: [[1, 255, 1, 4, 7, 2], [9, 1, 2, 1, 8, 6], [200, 3, 2, 5, 8, 7]] },
    { listed: [], buckets: [] }, { listed: [[1, 2, 3, 4, 5], [6, 70, 8, 9, 10]], buckets: [] }];
  const [tile] = readTiles(tileBytes(12, 34, lanes), 3, () => false);
  assert.deepEqual([tile.row, tile.index, tile.lanes.length], [12, 34, 3]);
  assert.deepEqual([[...tile.lanes[0].bucket], [...tile.lanes[0].busy], [...tile.lanes[0].events], [...tile.lanes[0].bucketIndex]],
    [[1, 9, 200], [255, 1, 3], [4, 1, 5], [2, 6, 7]]);
  assert.deepEqual([[...tile.lanes[2].start], [...tile.lanes[2].end], [...tile.lanes[2].flags], tile.lanes[2].longest],
    [[1, 6], [2, 70], [5, 10], 64]);
  assert.equal(tile.lanes[1].start.length, 0);
});

test("a bucket is between half a pixel and a pixel wide", () => {
  for (const perPixel of [1, 1.9, 2, 3, 1000, 123456789])
    assert.ok(2 ** levelFor(perPixel) <= perPixel && 2 ** levelFor(perPixel) > perPixel / 2);
  assert.equal(levelFor(0.01), 0);
  assert.equal(tileSpan(10), 262144);
});

test("tiles kept are bounded, and the coarser one stands in", () => {
  const tiles = new Tiles(0, () => false, () => undefined, () => undefined);
  const make = (row, level, index, bytes) => ({ row, level, index, lanes: [], used: 0, bytes, stale: false });
  tiles.keep(make(1, 5, 0, 100));
  tiles.keep(make(1, 3, 0, 100));
  assert.equal(tiles.instead(1, 4, 10)?.level, 5);
  assert.equal(tiles.instead(1, 6, 10)?.level, 5);
  for (let i = 0; i < 100; i++)
    tiles.keep(make(2, 0, i, 4 << 20));
  assert.ok(tiles.bytes <= 80 << 20);
  assert.equal(tiles.find(1, 3, 0), undefined);
  assert.equal(tiles.find(2, 0, 99)?.index, 99);
});

test("the window stays within the recording, and follows its end", () => {
  const view = new View(0, 1000);
  view.show(-5000, -4000);
  assert.ok(view.from >= -20 && view.to <= 1020);
  view.show(400, 401);
  assert.equal(Math.round(view.to - view.from), 20);
  view.show(900, 1000);
  view.stretch(0, 2000);
  assert.deepEqual([Math.round(view.from), Math.round(view.to)], [1900, 2000]);
  view.show(0, 100);
  view.stretch(0, 3000);
  assert.deepEqual([Math.round(view.from), Math.round(view.to)], [0, 100]);
  view.show(0, 3000);
  view.zoom(0.5, 1000);
  assert.deepEqual([Math.round(view.from), Math.round(view.to)], [500, 2000]);
});

const ROWS = [
  { id: 0, parent: null, kind: "gpu", label: "GPU 0", draw: "group", lanes: 1 },
    { id: 1, parent: 0, kind: "stream", label: "stream 7", draw: "slices", lanes: 2 },
  { id: 2, parent: null, kind: "process", label: "train", draw: "group", lanes: 1 },
    { id: 3, parent: 2, kind: "thread", label: "main", draw: "group", lanes: 1 },
  { id: 4, parent: 3, kind: "nvtx", label: "ranges", draw: "slices", lanes: 3 },
];

test("rows: opened, closed, pinned, moved, filtered", () => {
  const rows = new Rows();
  const shown = () => rows.shown.map((row) => row.label);
  rows.add(0, ROWS);
  assert.deepEqual(shown(), ["GPU 0", "stream 7", "train", "main"]);
  rows.openAsFits(10000);
  assert.deepEqual(shown(), ["GPU 0", "stream 7", "train", "main", "ranges"]);
  assert.equal(rows.find(0, 4).height, 3 * 18 + 4);
  rows.pin(rows.find(0, 1));
  assert.deepEqual([shown(), rows.pins.map((row) => row.label), rows.pinsHeight], [["GPU 0", "train", "main", "ranges"], ["stream 7"], 40]);
  rows.moveTo(rows.find(0, 2), rows.find(0, 0));
  assert.deepEqual(shown(), ["train", "main", "ranges", "GPU 0"]);
  rows.filter = "rang";
  rows.lay();
  assert.deepEqual(shown(), ["train", "main", "ranges"]);
  for (const row of rows.shown)
    assert.equal(rows.at(row.top + 1), row);
});

test("rows: what was opened stays so when more come", () => {
  const rows = new Rows();
  rows.add(0, ROWS);
  rows.toggle(rows.find(0, 0));
  rows.toggle(rows.find(0, 3));
  const more = [{ id: 0, parent: null, kind: "cpus", label: "CPUs", draw: "group", lanes: 1 },
    ...ROWS.map((row) => ({ ...row, id: row.id + 1, parent: row.parent === null ? null : row.parent + 1 })),
      { id: 6, parent: 4, kind: "osrt", label: "OS runtime", draw: "slices", lanes: 1 }];
  assert.deepEqual([...rows.renew(0, more)], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]);
  assert.deepEqual(rows.shown.map((row) => row.label), ["CPUs", "GPU 0", "train", "main", "ranges", "OS runtime"]);
});

test("axes begin at 0 unless all values are far from it", () => {
  assert.deepEqual(axisEnds(0, 97), [0, 100]);
  assert.deepEqual(axisEnds(10, 42), [0, 45]);
  const [low, high] = axisEnds(1000, 1010);
  assert.ok(low > 900 && low <= 1000 && high >= 1010);
  const values = [1, 5, 9].map((time) => ({ time, end: time + 1, least: time, most: time, mean: time }));
  assert.equal(valueAt(values, 6).time, 5);
  assert.equal(valueAt(values, 0), undefined);
});

test("two tables become one with their difference", () => {
  const columns =
    [["Time (%)", true], ["Total Time (ns)", true], ["Instances", true], ["Name", false]].map(([name, number]) => ({ name, number }));
  assert.deepEqual(comparedColumns(columns), [1, 2]);
  const table = difference({ columns, rows: [[60, 100, 2, "a"], [40, 50, 1, "b"]] },
    { columns, rows: [[90, 300, 3, "c"], [10, 80, 2, "a"]] });
  assert.deepEqual(table.columns.map((column) => column.name).slice(0, 4),
    ["A Total Time (ns)", "B Total Time (ns)", "B - A Total Time (ns)", "B - A (%)"]);
  assert.deepEqual(table.rows,
    [[null, 300, 300, null, null, 3, 3, null, "c"], [50, null, -50, -100, 1, null, -1, -100, "b"], [100, 80, -20, -20, 2, 2, 0, 0, "a"]]);
  const near = difference({ columns, rows: [[60, 1000, 2, "a"], [40, 50, 1, "b"]] },
    { columns, rows: [[90, 1001, 2, "a"], [10, 40, 1, "b"], [1, 9, 1, "c"]] });
  const coloured = [...statisticsHtml(near, 0).matchAll(/<td class="number (more|less)" title="([^"]*)"/g)].map((found) => found.slice(1));
  assert.deepEqual(coloured, [["less", "-10"], ["less", "-20"], ["more", "9"], ["more", "1"]],
    "a thousandth is noise; what only one has is not");
  assert.deepEqual(sorted(table.rows, -9, table.columns).map((row) => row[8]), ["c", "b", "a"]);
  assert.deepEqual(sorted(table.rows, 2, table.columns).map((row) => row[8]), ["b", "a", "c"]);
});

test("a tree of calls by function: a function that calls itself counts once", () => {
  const leaf = (name, self) => ({ name, value: self, self, children: [] });
  const inner = { name: "f", value: 7, self: 3, children: [leaf("g", 4)] };
  const outer = { name: "f", value: 10, self: 3, children: [inner] };
  const root = { name: "all", value: 12, self: 0, children: [outer, leaf("g", 2)] };
  assert.deepEqual(byFunction(root), [{ name: "f", self: 6, total: 10 }, { name: "g", self: 6, total: 6 }]);
  assert.deepEqual(treeLines(root, heaviestPath(root)).map(({ node, depth }) => `${depth} ${node.name}`),
    ["0 all", "1 f", "2 f", "3 g", "1 g"]);
});

test("what is missing is told with the option that records it, of recordings of ours", () => {
  const rows = [{ kind: "process" }, { kind: "osrt" }, { kind: "samples" }];
  assert.deepEqual(missingSources({ facts: { trace: "nvtx,osrt", version: "0.1.0" } }, rows).map(([what, how]) => `${what}: ${how}`),
    ["GPU work and CUDA calls: -t cuda records them", "NVTX ranges: was recorded, but there was none",
      "when threads ran: --cpuctxsw process-tree records them"]);
  assert.deepEqual(missingSources({ facts: {} }, rows), []);
});

test("what limits a kernel, where the two figures do not show it", () => {
  const said = (verdict, compute, memory) => sentence({ verdict, compute, memory });
  assert.match(said("memory-bound", 41, 88), /the memory system works at 88 % of its peak, the multiprocessors at 41 %/);
  assert.match(said("memory-bound", 73, 20), /loads and stores keep the multiprocessors busy, at 73 %.*beyond them works at 20 %/);
  assert.match(said("memory-bound", 0.5, 1.5), /atomics on the same addresses meet in one slice of L2/);
  assert.match(said("latency-bound", 0.5, 1.5), /Limited by waiting/);
});

test("a command as a shell takes it", () => {
  assert.equal(format.commandLine('["./a b","--x=1","it\'s","$HOME"]'), "'./a b' --x=1 'it'\\''s' '$HOME'");
  assert.equal(format.commandLine("python train.py"), "python train.py");
  assert.equal(format.commandLine(null), "");
});

test("attributes of a tag stand in their order, with nothing in them that ends them; those without a value are left out", () => {
  const html = format.attributesHtml({ class: "a b", title: `"<x>" & 'y'`, "data-count": 0, style: undefined, value: "" });
  assert.equal(html, `class="a b" title="&#34;&#60;x&#62;&#34; &#38; &#39;y&#39;" data-count="0" value=""`);
});
