// frames.mjs CONFIGURATION: how fast the viewer's page is with a large report, as JSON: the first picture, drawing per frame, tiles,
// memory.
import { readFileSync } from "node:fs";
import { Browser, Sonde } from "./support.mjs";

const configuration = JSON.parse(readFileSync(process.argv[2], "utf8"));
const FRAMES = configuration.frames ?? 600;
const STEPS = configuration.steps ?? 100;

/** In the page: when all that is in sight was drawn for the first time, ms since 1970. */
function noteFirstPicture() {
  const look = () => {
    if (window.sonde?.started && !window.sonde.timeline.frame && window.sonde.loaded.every((report) => report.tiles.settled))
      window.firstPicture = performance.timeOrigin + performance.now();
    else
      requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/**
 * In the page: moves at every frame, in and out and sideways, all rows by turns; how long drawing took and frames lay apart.
 * @param {number} frames
 */
async function move(frames) {
  const { view, timeline, rows } = window.sonde;
  const drawing = [];
  const apart = [];
  const whole = view.last - view.first;
  view.show(view.first, view.last);
  await window.sonde.idle();
  let last = 0;
  await new Promise((resolve) => {
    let frame = 0;
    const step = (now) => {
      if (frame > 0) {
        drawing.push(window.sonde.frameTimes[window.sonde.frameTimes.length - 1]);
        apart.push(now - last);
      }
      last = now;
      if (frame++ === frames)
        return resolve(undefined);
      const turn = frame % 300;
      const place = view.first + whole * (0.5 + 0.4 * Math.sin(frame / 97));
      if (turn < 120)
        view.zoom(0.94, place);
      else if (turn < 180)
        view.pan((view.to - view.from) * 0.03);
      else
        view.zoom(1 / 0.94, place);
      if (turn % 60 === 0)
        timeline.scroll.scrollTop = (rows.height * (frame % 900)) / 900;
      return requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  return { drawing, apart };
}

/** In the page: jumps anywhere, from all of it to a microsecond; ms until all tiles in sight were there and drawn. @param {number} steps */
async function jump(steps) {
  const { view, timeline, rows, loaded } = window.sonde;
  const times = [];
  let seed = 1;
  const random = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647; };
  for (let i = 0; i < steps; i++) {
    const length = (view.last - view.first) * 10 ** (-6 * random());
    const begin = view.first + (view.last - view.first - length) * random();
    timeline.scroll.scrollTop = rows.height * random();
    await new Promise(requestAnimationFrame);
    const before = performance.now();
    view.show(begin, begin + length);
    do
      await new Promise(requestAnimationFrame);
    while (timeline.frame || !loaded.every((report) => report.tiles.settled));
    times.push(performance.now() - before);
  }
  const requests = performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/api/tiles"))
    .map((entry) => entry.responseEnd - entry.startTime);
  return { times, requests };
}

const sonde = new Sonde(configuration.sonde, configuration.webFolder);
const browser = new Browser(configuration.chromium, configuration.artefacts);
await browser.start();
// A browser that runs already, as a person's does.
const context =
  await browser.chromium.newContext({ viewport: { width: configuration.width ?? 1280, height: configuration.height ?? 720 } });
const page = await context.newPage();
await page.addInitScript(noteFirstPicture);
await page.goto("about:blank");
const processes = await browser.chromium.newBrowserCDPSession();
/** CPU seconds of all the browser's processes. */
const spent = async () =>
  (await processes.send("SystemInfo.getProcessInfo")).processInfo.reduce((/** @type {number} */ sum, /** @type {any} */ each) => sum +
    each.cpuTime, 0);
const before = await spent();
const began = Date.now();
const server = await sonde.view(configuration.report);
await page.goto(server.url);
await page.waitForFunction(() => window.firstPicture, null, { timeout: 60000 });
// Words 14 and 15 behind the name: ticks of a hundredth of a second.
const ticks = readFileSync(`/proc/${server.child.pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ").slice(11, 13).map(Number);
const result = { browserCpu: (await spent()) - before, serverCpu: (ticks[0] + ticks[1]) / 100,
  firstPicture: ((await page.evaluate(() => window.firstPicture)) - began) / 1000 };
if (!configuration.firstOnly) {
  await page.evaluate(() => window.sonde.idle());
  await page.evaluate(() => performance.setResourceTimingBufferSize(100000));
  const session = await context.newCDPSession(page);
  Object.assign(result, await page.evaluate(move, FRAMES), await page.evaluate(jump, STEPS));
  const heap = await session.send("Runtime.getHeapUsage");
  result.heap = (heap.usedSize + (heap.embedderHeapUsedSize ?? 0) + (heap.backingStorageSize ?? 0)) / 1e6;
  await session.send("HeapProfiler.collectGarbage");
  const kept = await session.send("Runtime.getHeapUsage");
  result.kept = (kept.usedSize + (kept.embedderHeapUsedSize ?? 0) + (kept.backingStorageSize ?? 0)) / 1e6;
}
await server.end();
await browser.end();
console.log(JSON.stringify(result));
