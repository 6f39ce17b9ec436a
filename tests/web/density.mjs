// Many short slices: how high a pixel's bar is says how much of its time was busy; nothing vanishes, nothing flickers.
import { check, contrast, scenario } from "./support.mjs";

/** Heights of the first lane of a row that is open, and the share of it that even the least has. */
const LANE = 17;
const LEAST = 1 / 8;

/**
 * The columns of pixels of a row's lane, from the left to the right.
 * @param {any} viewer @param {number} row @param {number} [height] @returns {Promise<number[][][]>}
 */
function columnsOf(viewer, row, height = LANE) {
  return viewer.tell(([id, tall]) => {
    const { timeline, rows } = window.sonde;
    const { canvas } = timeline;
    const found = rows.find(0, id);
    const y = Math.round((timeline.yOf(found) + (found.draw === "group" ? 6 : 2)) * devicePixelRatio);
    const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, tall);
    return Array.from({ length: canvas.width },
      (_, x) => Array.from({ length: tall }, (__, i) => [...data.slice(4 * (i * canvas.width + x), 4 * (i * canvas.width + x) + 3)]));
  }, [row, height]);
}

/** @param {number[]} pixel @param {number[]} ground @param {number[]} colour */
function shareOf(pixel, ground, colour) {
  const widest = [0, 1, 2].sort((a, b) => Math.abs(colour[b] - ground[b]) - Math.abs(colour[a] - ground[a]))[0];
  return (pixel[widest] - ground[widest]) / (colour[widest] - ground[widest]);
}

const mean = (/** @type {number[]} */ list) => list.reduce((sum, value) => sum + value, 0) / list.length;

/** tests/e2e/t_view_page writes it: 10 ms each of a quarter, half, all, nothing (but 5 ns at 45 ms), 0.1 %, 14 % and 60 %. */
const PARTS = [[10, 20, 0.25], [20, 30, 0.5], [30, 40, 1], [41, 44, 0], [50, 60, 0.001], [60, 70, 0.14], [70, 80, 0.6]];

/** @param {any} viewer */
const pixelAt = (viewer) => (/** @type {number} */ ms) =>
  viewer.tell((/** @type {number} */ time) => Math.floor(window.sonde.timeline.xOf(time) * devicePixelRatio), ms * 1e6);

/** @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function barsAreTrue({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.dense);
  const viewer = await browser.open(server);
  const { rows } = await viewer.ask("/api/rows?report=0");
  const { id } = rows.find((/** @type {any} */ row) => row.kind === "nvtx");
  await viewer.bring(id);
  const columns = await columnsOf(viewer, id);
  const at = pixelAt(viewer);
  const [ground, colour] = [columns[await at(5)][0], columns[await at(35)][0]];
  for (const [from, to, share] of PARTS) {
    const want = share ? LEAST + (1 - LEAST) * share : 0;
    const part = columns.slice((await at(from)) + 2, (await at(to)) - 2)
      .map((column) => mean(column.map((pixel) => shareOf(pixel, ground, colour))));
    // A lane's 17 pixels are eight cells, of which one may be three pixels high; and some slices more or less begin in a pixel.
    const worst = Math.max(...part.map((filled) => Math.abs(filled - want)));
    check(`busy ${share} from ${from} to ${to} ms`,
      [part.length > 20, Math.abs(mean(part) - want) <= 0.07 ? true : mean(part), worst <= 0.1 ? true : worst], [true, true, true]);
  }
  const lonely = await at(45);
  const seen = columns.slice(lonely - 1, lonely + 2).map((column) => shareOf(column[LANE - 1], ground, colour));
  check("5 ns alone can be seen, in full colour", Math.max(...seen) > 0.9, true);
  check("at one place only", seen.filter((share) => share > 0.1).length <= 2, true);
  await viewer.picture("density");
  await doesNotFlicker(viewer, id);
  await viewer.close();
  await server.end();
}

/**
 * In both themes: how much is busy can be told by looking, and what is there stands out.
 * @param {{ browser: any, sonde: any, configuration: any }} with_
 */
async function standsOut({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.dense);
  for (const scheme of ["light", "dark"]) {
    const viewer = await browser.open(server, { scheme });
    const { rows } = await viewer.ask("/api/rows?report=0");
    const row = rows.find((/** @type {any} */ each) => each.kind === "nvtx");
    const process = rows.find((/** @type {any} */ each) => each.kind === "process");
    const at = pixelAt(viewer);
    await viewer.bring(row.id);
    for (const [id, name, height] of [[row.id, "a lane", LANE], [process.id, "a heading", 9]]) {
      const columns = await columnsOf(viewer, id, height);
      const ground = columns[await at(5)][0];
      const heights = [];
      for (const ms of [55, 65, 75, 35])
        heights.push(columns[await at(ms)].filter((pixel) => contrast(pixel, ground) >= 3).length);
      check(`${scheme}, ${name}: 0.1 % can be seen, 14 %, 60 % and all of it are each higher`,
        heights[0] >= 1 && heights.every((each, i) => !i || each >= heights[i - 1] + 1) ? true : heights, true);
      check(`${scheme}, ${name}: all of it is full`, heights[3], height);
    }
    await viewer.picture(`density-${scheme}`);
    await viewer.close();
  }
  await server.end();
}

/** Panned by whole pixels the picture is the same, only elsewhere. @param {any} viewer @param {number} row */
async function doesNotFlicker(viewer, row) {
  await viewer.show(12e6, 42e6);
  const before = await columnsOf(viewer, row);
  const spot = await viewer.spot(row, 0, 27e6);
  const from = { x: Math.round(spot.x), y: Math.round(spot.y) };
  await viewer.drag(from, { x: from.x - 37, y: from.y });
  await viewer.idle();
  const after = await columnsOf(viewer, row);
  const different = before.slice(40, -5)
    .filter((column, x) => column.some((pixel, y) => pixel.some((value, i) => Math.abs(value - after[x + 40 - 37][y][i]) > 1))).length;
  check("panning moves the picture and changes nothing in it", different, 0);
}

/** @param {any} with_ */
export async function density(with_) {
  await scenario("bars are true", () => barsAreTrue(with_));
  await scenario("bars stand out", () => standsOut(with_));
}
