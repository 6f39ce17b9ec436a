// page.mjs CONFIGURATION: the viewer's page in headless Chromium, with reports whose truth is known. Prints a line for each check.
import { readFileSync } from "node:fs";
import { Browser, Sonde, check, finish } from "./support.mjs";
import { density } from "./density.mjs";
import { keys } from "./keys.mjs";
import { looks } from "./looks.mjs";
import { panels } from "./panels.mjs";
import { reports } from "./reports.mjs";
import { names } from "./names.mjs";
import { slices } from "./slices.mjs";
import { timeline } from "./timeline.mjs";

const configuration = JSON.parse(readFileSync(process.argv[2], "utf8"));
const sonde = new Sonde(configuration.sonde, configuration.webFolder);
const browser = new Browser(configuration.chromium, configuration.artefacts);
await browser.startOrSkip();
const server = await sonde.view(configuration.cuda);
const with_ = { browser, sonde, server, report: configuration.cuda, configuration };
const parts = Object.entries({ timeline, slices, panels, looks, reports, density, names, keys })
  .filter(([name]) => !configuration.only || configuration.only.includes(name));
// Beside each other: most of the time a page waits.
await Promise.all(parts.map(([, part]) => part(with_)));
check("nothing went wrong, nothing was asked elsewhere", [...new Set(browser.trouble)], []);
await server.end();
await browser.end();
finish();
