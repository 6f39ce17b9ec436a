// data.mjs CONFIGURATION: what the page draws and says of reports whose truth is known (e2e/t_view_data writes them).
import { readFileSync } from "node:fs";
import { Browser, Sonde, check, finish, scenarios } from "./support.mjs";

const configuration = JSON.parse(readFileSync(process.argv[2], "utf8"));
const sonde = new Sonde(configuration.sonde, configuration.webFolder);
const browser = new Browser(configuration.chromium, configuration.artefacts);

/** @param {string} report @param {(viewer: any) => Promise<void>} look @param {object} [how] */
async function opened(report, look, how) {
  const server = await sonde.view(report);
  const viewer = await browser.open(server, how);
  await look(viewer);
  await viewer.close();
  await server.end();
}

/** Three devices, one of which is told to be a GPU. */
async function gpus() {
  await opened(configuration.gpus, async (viewer) => {
    const labels = await viewer.tell(() => window.sonde.rows.shown.filter((row) => row.kind === "gpu").map((row) => row.label));
    check("GPUs: the page has a row each", labels, ["GPU 4", "GPU 0", "GPU 2"]);
    const { rows } = await viewer.ask("/api/rows?report=0");
    for (const [label, start] of [["GPU 4", 200000], ["GPU 0", 100000], ["GPU 2", 300000]]) {
      const gpu = rows.find((/** @type {any} */ row) => row.label === label);
      const compute = rows.find((/** @type {any} */ row) => row.kind === "compute" && row.parent === gpu.id);
      const stream = rows.find((/** @type {any} */ row) => row.kind === "stream" && row.parent === compute.id);
      await viewer.bring(stream.id);
      const at = await viewer.spot(stream.id, 0, start + 25000);
      await viewer.mouse.click(at.x, at.y);
      check(`GPUs: ${label} has its kernel`, (await viewer.detailsOf(start)).end, start + 50000);
    }
  });
}

/**
 * Whether the area below a plot's line, which is at half of its height, is filled at these parts of the window.
 * @param {any} viewer @param {number} row @param {number[]} parts
 */
function filledAt(viewer, row, parts) {
  return viewer.tell(([id, list]) => {
    const { timeline, rows } = window.sonde;
    const found = rows.find(0, id);
    const pixel = (/** @type {number} */ part, /** @type {number} */ height) => timeline.canvas.getContext("2d")
      .getImageData(Math.round(part * timeline.canvas.width), Math.round((timeline.yOf(found) + height * found.height) * devicePixelRatio),
        1, 1).data.join();
    return list.map((/** @type {number} */ part) => pixel(part, 0.25) !== pixel(part, 0.75));
  }, [row, parts]);
}

/** Between two values the line goes on, however far one zooms in; behind the last there is none. */
async function counters() {
  await opened(configuration.counter, async (viewer) => {
    const { rows } = await viewer.ask("/api/rows?report=0");
    const { id } = rows.find((/** @type {any} */ row) => row.draw === "plot");
    await viewer.bring(id);
    for (const [from, to, wanted] of [
      [42e6, 44e6, true], [45e6, 45e6 + 200, true], [49.9e6, 50.1e6, true], [48e6, 63e6, true], [80.5e6, 89.9e6, true], [92e6, 95e6, false],
        [1e6, 9e6, false]]) {
      await viewer.show(from, to);
      check(`counters: ${from / 1e6} to ${to / 1e6} ms`, await filledAt(viewer, id, [0.02, 0.3, 0.5, 0.7, 0.98]), Array(5).fill(wanted));
    }
    await viewer.show(45e6, 45e6 + 200);
    const at = await viewer.spot(id, 0, 45e6 + 100);
    await viewer.mouse.move(at.x, at.y);
    await viewer.until(() => !document.getElementById("tooltip").hidden);
    const tip = (await viewer.text("#tooltip")).replace(/\s+/g, " ");
    check("counters: the value that holds there", tip.startsWith("load 50 the last one before") ? "50" : tip, "50");
  });
}

/** Records of two threads' buffers: where nothing overlaps is one line, else two; a click picks what is there. */
async function streams() {
  for (const [report, lines] of [[configuration.inOrder, 1], [configuration.overlapping, 2]])
    await opened(report, async (viewer) => {
      const { rows } = await viewer.ask("/api/rows?report=0");
      const { id } = rows.find((/** @type {any} */ row) => row.kind === "stream");
      await viewer.until(([row, count]) => window.sonde.rows.find(0, row).lanes === count, [id, lines]);
      check(`streams: ${lines} drawn`, await viewer.tell((/** @type {number} */ row) => window.sonde.rows.find(0, row).lanes, id), lines);
      await viewer.bring(id);
      await viewer.show(140e3, 160e3);
      // Kernel 49 is in the first track, 50 in the second; where they overlap it is below.
      for (const [number, line] of [[49, 0], [50, lines - 1], [51, 0]]) {
        const start = 3000 * number + (number % 2 ? 137 : 0) - (lines === 2 && number === 50 ? 1500 : 0);
        const at = await viewer.spot(id, line, start + 1800);
        await viewer.mouse.click(at.x, at.y);
        const details = await viewer.detailsOf(start);
        check(`streams: of ${lines}, kernel ${number}`, [details.end, details.lane], [start + 2000, line]);
      }
      await viewer.picture(`stream-${lines}`);
    });
}

/** Beside a row's name: its share and what that is of. @param {any} viewer @param {number} row */
async function shareShown(viewer, row) {
  const key = await viewer.tell((/** @type {number} */ id) =>
    [...window.sonde.rows.byKey.entries()].find(([, each]) => each.id === id)[0], row);
  const label = `#labels [data-key="${key}"]`;
  return [Number.parseFloat(await viewer.text(`${label} .sum`)), (await viewer.page.getAttribute(label, "title")).replaceAll("\n", " ")];
}

/** A second of work behind five of nothing: 40 %, then 80 % busy. */
async function shares() {
  await opened(configuration.idle, async (viewer) => {
    const { rows } = await viewer.ask("/api/rows?report=0");
    const { id } = rows.find((/** @type {any} */ row) => row.kind === "nvtx");
    await viewer.bring(id);
    for (const [from, to, want, of] of [[5e9, 6e9, 60, "999.8"], [5e9, 5.5e9, 40, "500"], [5.5e9, 5.9e9, 80, "400"],
      [5.6e9, 5.600008e9, 100, "8.00"]]) {
      await viewer.show(from, to);
      const [share, title] = await shareShown(viewer, id);
      check(`shares: ${from / 1e9} to ${to / 1e9} s`,
        [Math.abs(share - want) <= 1 ? want : share, title.includes("of the window") && title.includes(of) ? "" : title], [want, ""]);
    }
    await viewer.show(5e9, 6e9);
    const names = async () => (await viewer.text("#side")).replaceAll(/\s+/g, " ");
    check("shares: what took the time, in the window", [(await names()).includes("in the window: 1"), (await names()).includes("66.7")],
      [true, true]);
    await viewer.show(5e9, 5.4e9);
    check("shares: and in another", [(await names()).includes("in the window: 400"), (await names()).includes("second")], [true, false]);
    await viewer.tell(() => window.sonde.showAll());
    await viewer.idle();
    check("shares: and in all of it", (await names()).includes("in the whole recording"), true);
    const [share, title] = await shareShown(viewer, id);
    check("shares: of all of it", [Math.abs(share - 10) <= 1, title.includes("of the window")], [true, true]);
    await viewer.show(5e9, 6e9);
    await viewer.tell(() => window.sonde.view.select([5.2e9, 5.4e9]));
    await viewer.idle();
    const [ofSpan, said] = await shareShown(viewer, id);
    check("shares: of a measured span", [Math.abs(ofSpan - 40) <= 1 ? 40 : ofSpan, said.includes("of the measured span")], [40, true]);
  });
}

/** Ten shells that did next to nothing, and the one that worked. */
async function overview() {
  await opened(configuration.launcher, async (viewer) => {
    const shown = await viewer.tell(() => window.sonde.overview.rows().map((row) => row.label));
    check("overview: who did most is in it", [shown.length, shown.includes("python3")], [8, true]);
    await viewer.show(0, 1e6);
    const filled = await viewer.tell(() => {
      const { picture } = window.sonde.overview;
      const { data } = picture.getContext("2d").getImageData(Math.round(picture.width / 2), 0, 1, picture.height);
      return [...data].filter((_, i) => i % 4 === 3).some((alpha) => alpha > 0);
    });
    check("overview: its work can be seen", filled, true);
  });
}

await browser.startOrSkip();
await scenarios("data", { gpus, counters, streams, shares, overview });
check("nothing went wrong, nothing was asked elsewhere", [...new Set(browser.trouble)], []);
await browser.end();
finish();
