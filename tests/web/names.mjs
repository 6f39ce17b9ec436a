// What things are called: what people wrote stands as they wrote it, C++ names are told short.
import { check, scenario } from "./support.mjs";

/** @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function asWritten({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.written);
  const viewer = await browser.open(server, { width: 1920, height: 1080 });
  const { rows } = await viewer.ask("/api/rows?report=0");
  const [range, slice] = configuration.texts;
  for (const [kind, text] of [["nvtx", range], ["generic", slice]]) {
    const { events } = await viewer.ask(`/api/find?report=0&text=${encodeURIComponent(text)}`);
    const row = rows.find((/** @type {any} */ each) => each.kind === kind &&
      each.id === events.find((/** @type {any} */ event) => event.row === each.id)?.row);
    await viewer.bring(row.id);
    check(`${kind}: the text in the slice`, (await viewer.drawn("canvas")).some((/** @type {any} */ drawn) => drawn.text === text), true);
    const at = await viewer.spot(row.id, 0, 500000);
    await viewer.mouse.click(at.x, at.y);
    await viewer.detailsOf(100000);
    check(`${kind}: in the panel`,
      [await viewer.text("#side h2.event"), await viewer.tell(() => document.querySelectorAll("#side .whole").length)], [text, 0]);
    const span = await viewer.measure(await viewer.spot(row.id, 0, 150000), await viewer.spot(row.id, 0, 800000));
    await viewer.until((/** @type {string} */ wanted) =>
      [...document.querySelectorAll("#side td button")].some((link) => link.textContent === wanted), text);
    check(`${kind}: in the sums of a span`, span[1] > span[0], true);
    await viewer.press("Escape");
    await viewer.press("/");
    await viewer.keyboard.type(text);
    // Letter by letter: what is found of the first ones is not it.
    await viewer.until((/** @type {string} */ wanted) => window.sonde.search.text === wanted.toLowerCase() && window.sonde.search.total,
      text);
    check(`${kind}: among what a search found`,
      await viewer.tell(() => [...document.querySelectorAll("#side .matches button")].map((link) => link.textContent)), [text]);
    await viewer.tell(() => document.activeElement.blur());
    await viewer.press("Escape");
  }
  const cells = () => viewer.tell(() => [...document.querySelectorAll("#panel tbody td:last-child")].map((cell) => cell.textContent));
  await viewer.panel("statistics");
  check("statistics: kernels are told short", (await cells()).sort(), ["add", "gemm", "reduce", "triton_poi_fused_0"]);
  await viewer.page.selectOption("#panel [aria-label=Report]", "nvtx_sum");
  await viewer.until((/** @type {string} */ wanted) =>
    [...document.querySelectorAll("#panel tbody td:last-child")].some((cell) => cell.textContent === `:${wanted}`), range);
  check("statistics: ranges as they were written", true, true);
  await viewer.close();
  await server.end();
}

/** @param {any} with_ */
export async function names(with_) {
  await scenario("names as they were written", () => asWritten(with_));
}
