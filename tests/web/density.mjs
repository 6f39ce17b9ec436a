// Many short slices: how dark a pixel is says how much of its time was busy; nothing vanishes, nothing flickers.
import { check, scenario } from "./support.mjs";

/** The row's line of pixels in the middle of a lane: how much of the way from the ground to the colour each is. @param {any} viewer @param {number} row */
function shades(viewer, row) {
  return viewer.tell((id) => {
    const { timeline, rows } = window.sonde;
    const { canvas } = timeline;
    const y = Math.round((timeline.yOf(rows.find(0, id)) + 11) * devicePixelRatio);
    const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
    return Array.from({ length: canvas.width }, (_, x) => [...data.slice(4 * x, 4 * x + 3)]);
  }, row);
}

/** @param {number[]} pixel @param {number[]} ground @param {number[]} colour */
function shareOf(pixel, ground, colour) {
  const widest = [0, 1, 2].sort((a, b) => Math.abs(colour[b] - ground[b]) - Math.abs(colour[a] - ground[a]))[0];
  return (pixel[widest] - ground[widest]) / (colour[widest] - ground[widest]);
}

/** tests/e2e/t_view_page writes it: from 10 ms on a quarter busy, from 20 ms half, from 30 ms all of it, and 5 ns alone at 45 ms. @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function shadesAreTrue({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.dense);
  const viewer = await browser.open(server);
  const { rows } = await viewer.ask("/api/rows?report=0");
  const { id } = rows.find((/** @type {any} */ row) => row.kind === "nvtx");
  await viewer.bring(id);
  const pixels = await shades(viewer, id);
  const at = (/** @type {number} */ ms) => viewer.tell((/** @type {number} */ time) => Math.floor(window.sonde.timeline.xOf(time) * devicePixelRatio), ms * 1e6);
  const [ground, colour] = [pixels[await at(5)], pixels[await at(35)]];
  for (const [from, to, want] of [[10, 20, 0.25], [20, 30, 0.5], [30, 40, 1], [41, 44, 0]]) {
    const part = pixels.slice((await at(from)) + 2, (await at(to)) - 2).map((/** @type {number[]} */ pixel) => shareOf(pixel, ground, colour));
    const mean = part.reduce((/** @type {number} */ sum, /** @type {number} */ share) => sum + share, 0) / part.length;
    // A pixel has some nine slices; one more or less of them may begin in it.
    const worst = Math.max(...part.map((/** @type {number} */ share) => Math.abs(share - want)));
    check(`busy ${want} from ${from} to ${to} ms`, [part.length > 30, Math.abs(mean - want) <= 2 / 255 ? true : mean, worst <= 0.06 ? true : worst], [true, true, true]);
  }
  const lonely = await at(45);
  const seen = pixels.slice(lonely - 1, lonely + 2).map((/** @type {number[]} */ pixel) => shareOf(pixel, ground, colour));
  check("5 ns alone can be seen", Math.max(...seen) > 0.1, true);
  check("at one place only", seen.filter((/** @type {number} */ share) => share > 0.1).length <= 2, true);
  await viewer.picture("density");
  await doesNotFlicker(viewer, id);
  await viewer.close();
  await server.end();
}

/** Panned by whole pixels the picture is the same, only elsewhere. @param {any} viewer @param {number} row */
async function doesNotFlicker(viewer, row) {
  await viewer.show(12e6, 42e6);
  const before = await shades(viewer, row);
  const spot = await viewer.spot(row, 0, 27e6);
  const from = { x: Math.round(spot.x), y: Math.round(spot.y) };
  await viewer.drag(from, { x: from.x - 37, y: from.y });
  await viewer.idle();
  const after = await shades(viewer, row);
  const different = before.slice(40, -5).filter((/** @type {number[]} */ pixel, /** @type {number} */ x) => pixel.some((value, i) => Math.abs(value - after[x + 40 - 37][i]) > 1)).length;
  check("panning moves the picture and changes nothing in it", different, 0);
}

/** @param {any} with_ */
export async function density(with_) {
  await scenario("shades are true", () => shadesAreTrue(with_));
}
