// page.mjs CHROMIUM FOLDER URL EXPECTED: the viewer's page in a browser, with a report whose truth is known. Prints a line for each check.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [executablePath, folder, url, expectedFile] = process.argv.slice(2);
const { chromium } = createRequire(`${folder}/`)("playwright-core");
const expected = JSON.parse(readFileSync(expectedFile, "utf8"));
let failed = 0;

function check(name, got, want) {
  const same = JSON.stringify(got) === JSON.stringify(want);
  failed += same ? 0 : 1;
  console.log(same ? `ok ${name}` : `not ok ${name} - got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme: "light" });
const trouble = [];
page.on("console", (message) => { if (message.type() === "error") trouble.push(message.text()); });
page.on("pageerror", (error) => trouble.push(error.message));
page.on("response", (response) => { if (response.status() >= 400) trouble.push(`${response.status()} ${response.url()}`); });
page.on("request", (request) => { if (!request.url().startsWith(new URL(url).origin)) trouble.push(`asks ${request.url()}`); });

const settle = () => page.waitForFunction(() => window.sonde && window.sonde.settled, null, { timeout: 30000 });
const state = (what, argument) => page.evaluate(what, argument);

await page.goto(url);
await settle();
check("opens", [await page.title(), (await state(() => window.sonde.rows.shown.length)) > 3], [`${expected.name} - Sonde`, true]);
check("the token leaves the address", page.url().includes("token"), false);

// Searching, going there, and the event exactly as it is in the table.
await page.keyboard.press("/");
await page.keyboard.type(expected.kernel.name);
await page.keyboard.press("Enter");
await page.waitForFunction(() => window.sonde.details !== null, null, { timeout: 10000 });
await settle();
check("search", await state(() => window.sonde.search.total), expected.kernel.count);
check("an event exactly", await state(() => [window.sonde.details.name, window.sonde.details.start, window.sonde.details.end]),
  [expected.kernel.name, expected.kernel.start, expected.kernel.end]);
check("the panel tells its duration", (await page.textContent("#side")).includes(expected.kernel.exact), true);
await page.keyboard.press("Escape");

// The arrow leads to the call that started it, and back.
await page.keyboard.press("Enter");
await page.waitForFunction((start) => window.sonde.details && window.sonde.details.start === start, expected.call.start, { timeout: 10000 });
check("the arrow leads to the call", await state(() => [window.sonde.details.start, window.sonde.details.end]), [expected.call.start, expected.call.end]);
await page.keyboard.press("Enter");
await page.waitForFunction((start) => window.sonde.details && window.sonde.details.start === start, expected.kernel.start, { timeout: 10000 });
check("and back", await state(() => window.sonde.details.end), expected.kernel.end);

// What is drawn can be clicked.
await page.keyboard.press("f");
await settle();
const spot = await state(() => {
  const { view, rows, timeline, details } = window.sonde;
  const row = rows.find(0, view.picked.row);
  const box = timeline.canvas.getBoundingClientRect();
  return { x: box.left + timeline.xOf((details.start + details.end) / 2), y: box.top + row.top - timeline.scroll.scrollTop + 2 + view.picked.lane * 18 + 9 };
});
await page.keyboard.press("Escape");
await page.mouse.click(spot.x, spot.y);
await page.waitForFunction(() => window.sonde.details !== null, null, { timeout: 10000 });
check("a click picks it", await state(() => window.sonde.details.start), expected.kernel.start);

// Zoom and pan.
const width = () => state(() => window.sonde.view.to - window.sonde.view.from);
const before = await width();
await page.mouse.move(spot.x, spot.y);
await page.keyboard.press("s");
check("s shows more", (await width()) > before * 1.2, true);
await page.keyboard.press("w");
await page.keyboard.press("w");
check("w shows less", (await width()) < before, true);
await page.keyboard.press("0");
await settle();
check("0 shows everything", await state(() => window.sonde.view.from <= 0 && window.sonde.view.to >= window.sonde.loaded[0].length), true);
await page.goBack();
check("the back button undoes a jump", (await width()) < before * 2, true);

// A span's sums are SQL's.
await state((span) => { window.sonde.view.select(span); window.sonde.spanChosen(); }, expected.span.range);
await page.waitForSelector("#side h3");
const sums = await state((span) => fetch(`/api/sums?report=0&from=${span[0]}&to=${span[1]}`).then((answer) => answer.json()), expected.span.range);
const found = sums.names.find((name) => name.name === expected.kernel.name);
check("sums of a span", [found.total, found.count], [expected.span.total, expected.span.count]);
check("the panel tells them", (await page.textContent("#side")).includes("By name"), true);

// Every panel has something to say.
for (const tab of ["events", "statistics", "flame", "tree", "diagnostics", "session"]) {
  await page.click(`[data-tab=${tab}]`);
  await page.waitForFunction(() => document.querySelector("#panel").textContent.trim().length > 10, null, { timeout: 20000 });
  check(`panel: ${tab}`, await page.getAttribute(`[data-tab=${tab}]`, "aria-selected"), "true");
}
await page.keyboard.press("Escape");
await page.click("#theme");
check("dark and light", await state(() => document.documentElement.dataset.theme), "dark");
await page.click("#help");
check("the keys", (await page.textContent("#keys")).includes("zoom"), true);
check("nothing went wrong, nothing was asked elsewhere", trouble, []);
const times = await state(() => window.sonde.timeline.times.slice().sort((a, b) => a - b));
console.log(`# ${times.length} frames, half of them in ${times[times.length >> 1].toFixed(1)} ms`);
await browser.close();
process.exit(failed ? 1 : 0);
