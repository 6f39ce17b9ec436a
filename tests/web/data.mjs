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

await browser.startOrSkip();
await scenarios("data", { gpus });
check("nothing went wrong, nothing was asked elsewhere", [...new Set(browser.trouble)], []);
await browser.end();
finish();
