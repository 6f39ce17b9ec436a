// node tests/web/pictures.mjs [FOLDER]: the pictures of README.md, in docs/images unless another folder is named. A training step traced on
// an H200
// (tests/e2e/traces) and a run of the demo are opened in Chromium; needs a build and what tools/install_deps test installs.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, Sonde } from "./support.mjs";

const source = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..");
const build = resolve(process.env.BUILD ?? join(source, "build"));
const folder = resolve(process.argv[2] ?? join(source, "docs", "images"));
const work = mkdtempSync(join(tmpdir(), "sonde-pictures-"));
const SIZE = { width: 1440, height: 810 };

/**
 * A page with these rows open and all others that could be closed.
 * @param {Browser} browser @param {any} server @param {"dark" | "light"} scheme @param {(row: any) => boolean} isOpen
 */
async function opened(browser, server, scheme, isOpen) {
  const viewer = await browser.open(server, { ...SIZE, scheme });
  const { rows } = await viewer.ask("/api/rows?report=0");
  await openOnly(viewer, rows.filter(isOpen));
  return { viewer, rows };
}

/** @param {any} viewer @param {any[]} rows */
async function openOnly(viewer, rows) {
  await viewer.tell((/** @type {number[]} */ ids) => {
    const { rows: all, timeline } = window.sonde;
    for (const row of all.byKey.values())
      row.open = ids.includes(row.id) || row.draw !== "group";
    all.lay();
    timeline.scroll.scrollTop = 0;
    timeline.redraw();
  }, rows.map((row) => row.id));
  await viewer.idle();
}

/** @param {Browser} browser @param {Sonde} sonde @param {string} report */
async function training(browser, sonde, report) {
  const server = await sonde.view(report);
  const HEADINGS = ["gpu", "compute", "copies", "process"];
  const { viewer, rows } = await opened(browser, server, "light", (row) => HEADINGS.includes(row.kind));
  const threads = rows.filter((/** @type {any} */ row) => row.kind === "thread")
    .sort((/** @type {any} */ a, /** @type {any} */ b) => b.share - a.share);
  const headings = rows.filter((/** @type {any} */ row) => HEADINGS.includes(row.kind) && row.label !== "process");
  await openOnly(viewer, [...headings, threads[0]]);
  const [[last]] = sonde.numbers(report, "select max(\"end\"), 0 from CUPTI_ACTIVITY_KIND_KERNEL");
  await viewer.show(0, last * 1.05);
  await viewer.panel("statistics");
  await viewer.picture("view-run");
  await kernel(viewer, sonde, report, rows, [...headings.filter((/** @type {any} */ row) => row.kind !== "copies"), threads[1]]);
  await viewer.close();
  await server.end();
}

/**
 * The longest kernel with the call that launched it.
 * @param {any} viewer @param {Sonde} sonde @param {string} report @param {any[]} rows @param {any[]} open
 */
async function kernel(viewer, sonde, report, rows, open) {
  await openOnly(viewer, open);
  const [[start, end, correlation]] =
    sonde.numbers(report, "select start, \"end\", correlationId from CUPTI_ACTIVITY_KIND_KERNEL order by \"end\" - start desc limit 1");
  const [[call]] = sonde.numbers(report, `select min(start), 0 from CUPTI_ACTIVITY_KIND_RUNTIME where correlationId = ${correlation}`);
  const stream = rows.find((row) => row.kind === "stream" && row.draw === "slices");
  const room = Math.max(end - call, 100000) * 0.6;
  await viewer.show(call - room, end + room);
  const at = await viewer.spot(stream.id, 0, (start + end) / 2);
  await viewer.mouse.click(at.x, at.y);
  await viewer.detailsOf(start);
  await viewer.panel("tree");
  await viewer.mouse.move(5, 5);
  await viewer.picture("view-kernel");
}

/** @param {Browser} browser @param {Sonde} sonde @param {string} report */
async function pipeline(browser, sonde, report) {
  const server = await sonde.view(report);
  const { viewer } = await opened(browser, server, "dark", () => true);
  const { events } = await viewer.ask("/api/find?report=0&text=transform&limit=2000");
  const longest = events.sort((/** @type {any} */ a, /** @type {any} */ b) => b.end - b.start - a.end + a.start)[0];
  await viewer.tell((event) => window.sonde.pick({ report: 0, row: event.row, lane: event.lane, index: event.index }), longest);
  await viewer.detailsOf(longest.start);
  await viewer.panel("flame");
  await viewer.mouse.move(5, 5);
  await viewer.picture("view-flame");
  await viewer.close();
  await server.end();
}

/** Counters of kernels on an H200: a table of ncu's. @param {Browser} browser @param {Sonde} sonde */
async function counters(browser, sonde) {
  const report = join(work, "kernels.sonde");
  sonde.run(["import", "-o", report, join(source, "tests", "fixtures", "ncu-raw-h200-four-kernels.csv")]);
  const server = await sonde.view(report);
  const viewer = await browser.open(server, { width: 1920, height: 1400, scheme: "light", hash: "#view=kernels&kernel=2&filter=matmul" });
  await viewer.mouse.move(5, 5);
  await viewer.picture("view-counters");
  await viewer.close();
  await server.end();
}

mkdirSync(folder, { recursive: true });
const sonde = new Sonde(join(build, "sonde"), process.env.WEB_FOLDER);
const browser =
  new Browser(execFileSync("sh", ["-c", "command -v chromium || command -v google-chrome"], { encoding: "utf8" }).trim(), folder);
await browser.start();
sonde.run(["import", "-o", join(work, "training.sonde"), join(source, "tests", "e2e", "traces", "transformer.json.gz")]);
await training(browser, sonde, join(work, "training.sonde"));
sonde.run(["profile", "-t", "nvtx,osrt", "-o", join(work, "pipeline.sonde"), join(build, "demo-pipeline")]);
await pipeline(browser, sonde, join(work, "pipeline.sonde"));
await counters(browser, sonde);
await browser.end();
rmSync(work, { recursive: true });
