// node tests/web/pictures.mjs [FOLDER]: the pictures of README.md, in docs/images unless another folder is named. A training step traced on an H200
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

/** The whole of it, and the threads that are called so open. @param {Browser} browser @param {any} server @param {string} kind @param {{ scheme?: "dark" | "light" }} how */
async function opened(browser, server, kind, how) {
  const viewer = await browser.open(server, { ...SIZE, ...how });
  const { rows } = await viewer.ask("/api/rows?report=0");
  const busiest = rows.filter((/** @type {any} */ row) => row.kind === kind).sort((/** @type {any} */ a, /** @type {any} */ b) => b.count - a.count)[0];
  await viewer.tell((id) => {
    const { rows: all, timeline } = window.sonde;
    all.find(0, id).open = true;
    all.lay();
    timeline.scroll.scrollTop = 0;
    timeline.redraw();
  }, busiest.id);
  await viewer.idle();
  return { viewer, rows };
}

/** @param {Browser} browser @param {Sonde} sonde @param {string} report */
async function training(browser, sonde, report) {
  const server = await sonde.view(report);
  const { viewer, rows } = await opened(browser, server, "thread", { scheme: "light" });
  await viewer.panel("statistics");
  await viewer.picture("view-run");
  const [[start, end, correlation]] = sonde.numbers(report, "select start, \"end\", correlationId from CUPTI_ACTIVITY_KIND_KERNEL order by \"end\" - start desc limit 1");
  const [[call]] = sonde.numbers(report, `select min(start), 0 from CUPTI_ACTIVITY_KIND_RUNTIME where correlationId = ${correlation}`);
  const stream = rows.find((/** @type {any} */ row) => row.kind === "stream" && row.draw === "slices");
  const room = Math.max(end - call, 100000) * 0.6;
  await viewer.show(call - room, end + room);
  const at = await viewer.spot(stream.id, 0, (start + end) / 2);
  await viewer.mouse.click(at.x, at.y);
  await viewer.detailsOf(start);
  await viewer.panel("tree");
  await viewer.mouse.move(5, 5);
  await viewer.picture("view-kernel");
  await viewer.close();
  await server.end();
}

/** @param {Browser} browser @param {Sonde} sonde @param {string} report */
async function pipeline(browser, sonde, report) {
  const server = await sonde.view(report);
  const { viewer } = await opened(browser, server, "process", { scheme: "dark" });
  await viewer.panel("flame");
  await viewer.mouse.move(5, 5);
  await viewer.picture("view-flame");
  await viewer.close();
  await server.end();
}

mkdirSync(folder, { recursive: true });
const sonde = new Sonde(join(build, "sonde"), process.env.WEB_FOLDER);
const browser = new Browser(execFileSync("sh", ["-c", "command -v chromium || command -v google-chrome"], { encoding: "utf8" }).trim(), folder);
await browser.start();
sonde.run(["import", "-o", join(work, "training.sonde"), join(source, "tests", "e2e", "traces", "transformer.json.gz")]);
await training(browser, sonde, join(work, "training.sonde"));
sonde.run(["profile", "-t", "nvtx,osrt", "-o", join(work, "pipeline.sonde"), join(build, "demo-pipeline")]);
await pipeline(browser, sonde, join(work, "pipeline.sonde"));
await browser.end();
rmSync(work, { recursive: true });
