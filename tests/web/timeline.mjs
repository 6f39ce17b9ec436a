// Opening, rows, the ruler, zooming, panning, searching, the address and the history.
import { check, contrast, scenario } from "./support.mjs";

/** @typedef {import("./support.mjs").ViewerPage} ViewerPage */

/**
 * Rows of the report that are drawn have something drawn in them: pixels that are not the row's ground.
 * @param {ViewerPage} viewer @param {any[]} rows
 */
async function emptyRows(viewer, rows) {
  const empty = [];
  for (const row of rows) {
    await viewer.bring(row.id);
    const colours = await viewer.tell((id) => {
      const { rows: all, timeline } = window.sonde;
      const found = all.find(0, id);
      const ratio = devicePixelRatio;
      const top = Math.max(0, timeline.yOf(found) + 1);
      const { data } = timeline.canvas.getContext("2d")
        .getImageData(0, Math.round(top * ratio), timeline.canvas.width, Math.max(1, Math.round((Math.min(found.height, 60) - 3) * ratio)));
      return new Set(new Uint32Array(data.buffer)).size;
    }, row.id);
    if (colours < 2)
      empty.push(row.label);
  }
  return empty;
}

/** @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function opens({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  check("title", await viewer.page.title(), "cuda.sonde - Sonde");
  check("all of the recording is in view", await viewer.tell(() => window.sonde.view.from <= 0 && window.sonde.view.to >= 1000000), true);
  const { rows } = await viewer.ask("/api/rows?report=0");
  await viewer.picture("open");
  await viewer.openAll();
  check("all rows the server lists, in its order",
    await viewer.tell(() => window.sonde.rows.shown.filter((row) => row.id >= 0).map((row) => row.id)), rows.map((row) => row.id));
  const shown = await viewer.tell(() => [...document.querySelectorAll("#labels [data-key] .name")].map((label) => label.textContent));
  check("labels at the left are those of the rows", shown.every((label) => rows.some((row) => row.label === label)) && shown.length > 5,
    true);
  check("every row with events has something in it", await emptyRows(viewer, rows.filter((row) => row.count > 0 && row.draw !== "group")),
    []);
  const [[events]] = sonde.numbers(report, "select count(*), 0 from CUPTI_ACTIVITY_KIND_KERNEL");
  check("as many kernels as SQL has", rows.filter((row) => row.kind === "stream" && row.draw === "slices")
    .reduce((sum, row) => sum + row.count, 0) >= events, true);
  await viewer.close();
}

/** A time the ruler tells: "0.0002 s", "200 us", "1,200.5 ms". @param {string} text */
function timeOf(text) {
  const found = /^[+]?(-?[\d,.]+)\s*(ns|us|µs|ms|s)$/.exec(text.trim());
  const size = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };
  return found ? Number(found[1].replaceAll(",", "")) * size[found[2]] : NaN;
}

/**
 * Times told by the ruler stand where these times are: within two pixels, whatever the distance from mark to text is.
 * @param {ViewerPage} viewer @param {string} name
 */
async function rulerIsRight(viewer, name) {
  const texts = await viewer.drawn("ruler");
  const [from, to] = await viewer.seen();
  const place = await viewer.tell(() => {
    const { timeline } = window.sonde;
    return { left: timeline.canvas.getBoundingClientRect().left - timeline.ruler.getBoundingClientRect().left,
      width: timeline.canvas.getBoundingClientRect().width };
  });
  const marks = texts.filter(({ text, x }) => x >= place.left && !Number.isNaN(timeOf(text)));
  const errors = marks.map(({ text, x }) => x - place.left - ((timeOf(text) - from) / (to - from)) * place.width);
  const spread = Math.max(...errors) - Math.min(...errors);
  check(`the ruler: ${name}`, [marks.length >= 3, spread < 2, Math.abs(errors[0]) < 60], [true, true, true]);
}

/** @param {{ browser: any, server: any }} with_ */
async function zoomsAndPans({ browser, server }) {
  const viewer = await browser.open(server);
  const { rows } = await viewer.ask("/api/rows?report=0");
  const stream = rows.find((row) => row.kind === "stream" && row.label === "stream 7");
  await viewer.bring(stream.id);
  await rulerIsRight(viewer, "everything");
  const at = await viewer.spot(stream.id, 0, 410000);
  at.x = Math.round(at.x);
  await viewer.mouse.move(at.x, at.y);
  const timeUnder = () => viewer.tell((x) => window.sonde.timeline.timeAt(x), at.x);
  const before = await timeUnder();
  const whole = await viewer.seen();
  await viewer.keyboard.down("Control");
  for (let i = 0; i < 5; i++)
    await viewer.mouse.wheel(0, -120);
  await viewer.keyboard.up("Control");
  await viewer.idle();
  let [from, to] = await viewer.seen();
  check("ctrl + wheel shows less", to - from < (whole[1] - whole[0]) / 2, true);
  const pixel = (whole[1] - whole[0]) / 500;
  check("at the pointer", Math.abs((await timeUnder()) - before) < pixel, true);
  await rulerIsRight(viewer, "after zooming");
  let width = to - from;
  await viewer.press("w");
  [from, to] = await viewer.seen();
  check("w shows less, at the pointer", [to - from < width * 0.9, Math.abs((await timeUnder()) - before) < pixel], [true, true]);
  await viewer.press("s");
  [from, to] = await viewer.seen();
  check("s shows as much more", Math.abs(to - from - width) < width / 1000, true);
  for (const [key, sign] of [["a", -1], ["d", 1], ["ArrowLeft", -1], ["ArrowRight", 1]]) {
    const was = await viewer.seen();
    await viewer.press(key);
    const now = await viewer.seen();
    check(`${key} moves`, [Math.sign(now[0] - was[0]), Math.abs(now[1] - now[0] - (was[1] - was[0])) < 1], [sign, true]);
  }
  const was = await viewer.seen();
  await viewer.drag({ x: at.x, y: at.y }, { x: at.x - 100, y: at.y });
  await viewer.idle();
  const now = await viewer.seen();
  const perPixel = await viewer.tell(() => window.sonde.timeline.perPixel);
  check("dragging moves by as many pixels", Math.abs((now[0] - was[0]) / perPixel - 100) < 1, true);
  await viewer.show(130000, 130400);
  await rulerIsRight(viewer, "some nanoseconds");
  await viewer.picture("zoomed");
  await viewer.close();
}

/** @param {{ browser: any, sonde: any, server: any, report: string }} with_ */
async function searches({ browser, sonde, server, report }) {
  const viewer = await browser.open(server);
  const starts = sonde.numbers(report,
    "select k.start from CUPTI_ACTIVITY_KIND_KERNEL k join StringIds s on s.id = k.shortName where s.value = 'gemm' order by 1")
    .map((row) => row[0]);
  await viewer.press("/");
  check("/ leads to the field", await viewer.tell(() => document.activeElement.id), "search");
  await viewer.keyboard.type("gemm");
  await viewer.keyboard.press("Enter");
  await viewer.detailsOf(starts[0]);
  check("as many as SQL finds", await viewer.tell(() => window.sonde.search.total), starts.length);
  check("and they are told", (await viewer.tell(() => document.body.innerText + document.getElementById("search").title))
    .includes(`${starts.length} `), true);
  await viewer.picture("search");
  await viewer.press("Escape");
  check("escape leaves the field and keeps what was found",
    await viewer.tell(() => [document.activeElement.id !== "search", window.sonde.search.total]), [true, starts.length]);
  const visited = [starts[0]];
  for (const start of [...starts.slice(1), starts[0]]) {
    await viewer.keyboard.press("n");
    visited.push((await viewer.detailsOf(start)).start);
  }
  check("n steps through all of them and begins again", visited, [...starts, starts[0]]);
  await viewer.keyboard.press("Shift+N");
  check("N steps back", (await viewer.detailsOf(starts[starts.length - 1])).start, starts[starts.length - 1]);
  await viewer.close();
}

/** Of each text that is whole in sight: the colour of its ground, and how it stands out from that. @param {ViewerPage} viewer */
async function textsOnSlices(viewer) {
  const texts = (await viewer.drawn("canvas")).filter(({ text }) => text);
  const boxes = await viewer.tell((/** @type {any[]} */ list) => {
    const { canvas } = window.sonde.timeline;
    const context = canvas.getContext("2d");
    return list.map(({ text, x, y }) => {
      const { data } =
        context.getImageData(Math.round(x * devicePixelRatio), Math.round((y - 9) * devicePixelRatio),
          Math.max(1, Math.floor(context.measureText(text).width * devicePixelRatio)), 12);
      return { text, place: `${text} ${x} ${y}`,
        pixels: Array.from({ length: data.length / 4 }, (_, i) => [...data.slice(4 * i, 4 * i + 4)]) };
    }).filter(({ pixels }) => pixels.every((pixel) => pixel[3] === 255));
  }, texts);
  return boxes.map((/** @type {any} */ { text, place, pixels }) => {
    const counts = new Map();
    for (const pixel of pixels)
      counts.set(String(pixel), (counts.get(String(pixel)) || 0) + 1);
    const ground = [...counts].sort((a, b) => b[1] - a[1])[0][0].split(",").map(Number);
    return { text, place, ground, contrast: Math.max(...pixels.map((/** @type {number[]} */ pixel) => contrast(pixel, ground))) };
  });
}

/** During a search what has another name fades, and can still be read. @param {{ browser: any, server: any }} with_ */
async function fades({ browser, server }) {
  for (const scheme of ["light", "dark"]) {
    const viewer = await browser.open(server, { scheme });
    await viewer.openAll();
    const before = new Map((await textsOnSlices(viewer)).map((/** @type {any} */ one) => [one.place, one]));
    await viewer.press("/");
    await viewer.keyboard.type("gemm");
    await viewer.until(() => window.sonde.search.shade === "gemm");
    await viewer.idle();
    const texts = await textsOnSlices(viewer);
    const others = texts.filter((/** @type {any} */ one) => !one.text.startsWith("gemm") && before.has(one.place));
    check(`${scheme}: texts of what was not searched for can be read`,
      [others.length > 5, others.filter((/** @type {any} */ one) => one.contrast < 4.5)], [true, []]);
    check(`${scheme}: and fade`, others.filter((/** @type {any} */ one) => contrast(one.ground, before.get(one.place).ground) < 1.5), []);
    const found = texts.filter((/** @type {any} */ one) => one.text.startsWith("gemm"));
    check(`${scheme}: what was found does not`,
      [found.length > 0, found.every((/** @type {any} */ one) => String(one.ground) === String(before.get(one.place).ground))],
      [true, true]);
    await viewer.picture(`search-${scheme}`);
    await viewer.close();
  }
}

/** @param {{ browser: any, server: any }} with_ */
async function addresses({ browser, server }) {
  const viewer = await browser.open(server);
  const { rows } = await viewer.ask("/api/rows?report=0");
  const stream = rows.find((row) => row.kind === "stream" && row.label === "stream 7");
  await viewer.bring(stream.id);
  await viewer.show(100000, 300000);
  const at = await viewer.spot(stream.id, 0, 150000);
  await viewer.mouse.click(at.x, at.y);
  await viewer.detailsOf(130000);
  const span = await viewer.measure(await viewer.spot(stream.id, 0, 120000), await viewer.spot(stream.id, 0, 250000));
  await viewer.until((ends) => ends.every((end) => location.hash.includes(end)), span.map((end) => `${Math.round(end)}`));
  const address = new URL(viewer.page.url());
  const state = () =>
    ({ from: Math.round(window.sonde.view.from), to: Math.round(window.sonde.view.to), span: window.sonde.view.span.map(Math.round),
      picked: window.sonde.details?.start });
  const other = await browser.open(server, { hash: address.hash });
  await other.until((start) => window.sonde.details?.start === start, 130000);
  check("the address shows the same to another", await other.tell(state), await viewer.tell(state));
  await other.close();

  const here = await viewer.seen();
  await viewer.press("0");
  check("0 shows everything", await viewer.tell(() => window.sonde.view.from <= 0 && window.sonde.view.to >= 1000000), true);
  await viewer.until(() => !location.hash.includes("from=100000"));
  await viewer.page.goBack();
  await viewer.idle();
  const back = await viewer.seen();
  check("the back button undoes a jump", Math.abs(back[0] - here[0]) + Math.abs(back[1] - here[1]) < 4, true);
  await viewer.page.goForward();
  await viewer.idle();
  check("and forward does it again", await viewer.tell(() => window.sonde.view.from <= 0 && window.sonde.view.to >= 1000000), true);
  await viewer.close();
}

/**
 * As people click: between press and release the page has drawn whatever the press has changed.
 * @param {ViewerPage} viewer @param {string} selector
 */
async function slowClick(viewer, selector) {
  const box = await viewer.page.locator(selector).boundingBox();
  await viewer.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await viewer.mouse.down();
  await viewer.idle();
  await viewer.mouse.up();
  await viewer.idle();
}

/** @param {{ browser: any, server: any }} with_ */
async function handlesRows({ browser, server }) {
  const viewer = await browser.open(server);
  const shown = () => viewer.tell(() => window.sonde.rows.shown.map((row) => row.id));
  const { rows } = await viewer.ask("/api/rows?report=0");
  const gpu = rows.find((row) => row.kind === "gpu");
  const below = (await shown()).length;
  const label = `#labels [data-key="0/${gpu.id}"]`;
  await viewer.page.click(`${label} .name`);
  await viewer.idle();
  const closed = (await shown()).length;
  await viewer.page.click(`${label} .mark`);
  await viewer.idle();
  check("a click closes a row, another opens it", [closed < below, (await shown()).length], [true, below]);
  await viewer.page.fill("#filter", "stream");
  await viewer.until(() => window.sonde.rows.filter === "stream");
  await viewer.idle();
  const found = await viewer.tell(() => window.sonde.rows.shown.filter((row) => !row.children.length)
    .map((row) => `${row.label} ${row.kind}`));
  check("the filter leaves rows with its text", [found.length > 0, found.every((text) => text.includes("stream"))], [true, true]);
  await viewer.page.fill("#filter", "");
  await viewer.until(() => window.sonde.rows.filter === "");
  await viewer.idle();
  check("and gives back the others", (await shown()).length, below);
  const thread = rows.find((row) => row.kind === "process");
  await viewer.bring(thread.id);
  await viewer.page.hover(`#labels [data-key="0/${thread.id}"]`);
  await slowClick(viewer, `#labels [data-key="0/${thread.id}"] .pin`);
  const top = () => viewer.tell(([id]) => window.sonde.timeline.yOf(window.sonde.rows.find(0, id)), [thread.id]);
  check("a pinned row is at the top", await top(), 0);
  await viewer.tell(() => { document.getElementById("scroll").scrollTop = 300; });
  await viewer.idle();
  check("and stays there", await top(), 0);
  await viewer.close();
}

/** @param {any} with_ */
export async function timeline(with_) {
  await scenario("opens", () => opens(with_));
  await scenario("zooms and pans", () => zoomsAndPans(with_));
  await scenario("searches", () => searches(with_));
  await scenario("fades", () => fades(with_));
  await scenario("addresses", () => addresses(with_));
  await scenario("handles rows", () => handlesRows(with_));
}
