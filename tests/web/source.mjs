// source.mjs CONFIGURATION: the source page of kernels in headless Chromium, with reports whose counts were planted
// (tests/e2e/t_view_source). Prints a line for each check.
import { readFileSync } from "node:fs";
import { Browser, Sonde, check, finish, scenarios } from "./support.mjs";

const configuration = JSON.parse(readFileSync(process.argv[2], "utf8"));
const sonde = new Sonde(configuration.sonde, configuration.webFolder);
const browser = new Browser(configuration.chromium, configuration.artefacts);
const HASH = "#view=kernels&tab=source&baseline=none";

/** Rows with a value: mark, text, value. @param {any} viewer */
const shown = async (viewer) =>
  (await viewer.tell(() =>
    [...document.querySelectorAll(".source-row:not(.head)")].map((row) =>
      [row.dataset.mark, row.querySelector(".source-text").textContent.trim(), Number(row.querySelector(".source-cell").dataset.value),
        row.querySelector(".source-cell").dataset.before ?? null])))
  .filter((/** @type {any[]} */ [, , value, before]) => value || before !== null);

async function calls() {
  const viewer = await browser.open(server, { hash: HASH });
  check("calls: on hover of an instruction", (await viewer.page.getAttribute(".source-row[data-mark='0010']", "title")),
    "/gone/inlined.cu:4\ndeep(int*, int) called at /gone/inlined.cu:9\nmiddle(int*, int) called at /gone/inlined.cu:16");
  check("calls: nothing to choose for instructions", await viewer.tell(() => document.querySelector("#source-inlining").hidden), true);
  await viewer.page.selectOption("#source-mode", "lines");
  const rows = (await shown(viewer)).map(([mark, text, value]) => [mark, text, value]);
  const text = configuration.source.split("\n");
  check("calls: below the line that was inlined", rows,
    [["4", text[3].trim(), 120], ["", "↳ deep(int*, int) at inlined.cu:9, middle(int*, int) at inlined.cu:16", 100],
      ["", "↳ deep(int*, int) at inlined.cu:10, middle(int*, int) at inlined.cu:16", 20], ["14", text[13].trim(), 8],
      ["16", text[15].trim(), 8]]);
  check("calls: counted once", await viewer.tell(() => document.querySelector(".source-row[data-mark='4'] .unit").textContent), "88.24 %");
  await viewer.picture("source-calls");
  await viewer.page.uncheck("#source-calls");
  check("calls: or not shown", (await shown(viewer)).map(([mark]) => mark), ["4", "14", "16"]);
  await viewer.page.selectOption("#source-inlined", "outermost");
  check("calls: by the kernel's own lines", (await shown(viewer)).map(([mark, , value]) => [mark, value]), [["14", 8], ["16", 128]]);
  await viewer.close();
}

async function headings() {
  const viewer = await browser.open(server, { hash: HASH });
  const cut = await viewer.tell(() => {
    // The longest that there is; this report does not have it.
    document.querySelector(".source-head button").textContent = "Predicated-On Thread Instructions Executed";
    document.querySelector("#source-scroll").dispatchEvent(new Event("scroll"));
    const head = document.querySelector(".source-head").getBoundingClientRect();
    const texts = [...document.querySelectorAll(".source-head button")];
    return [texts.some((text) => text.getBoundingClientRect().height > 32),
      texts.filter((text) => text.getBoundingClientRect().top < head.top).map((text) => text.textContent),
      document.querySelector(".source-row").getBoundingClientRect().top >= head.bottom - 1];
  });
  check("headings: of several lines, and whole; rows begin below them", cut, [true, [], true]);
  await viewer.close();
}

async function ptx() {
  const viewer = await browser.open(server, { hash: HASH });
  await viewer.page.selectOption("#source-mode", "ptx");
  check("PTX: lines with what was made of them",
    (await shown(viewer)).map(([mark, text, value]) => [mark, text.split("\t")[0].trim(), value]),
    [["18", "{", 8], ["33", "ld.global.u32", 100], ["36", "ld.global.u32", 20], ["43", "st.global.u32", 8]]);
  await viewer.page.click("#source-hottest");
  check("PTX: the hottest", await viewer.tell(() => document.querySelector(".source-row.chosen").dataset.mark), "33");
  await viewer.picture("source-ptx");
  await viewer.close();
}

async function baseline() {
  const viewer = await browser.open(server, { hash: "#view=kernels&tab=source&baseline=1.-1" });
  check("baseline: beside each instruction", (await shown(viewer)).map(([mark, , value, before]) => [mark, value, Number(before)]),
    [["0000", 8, 8], ["0010", 100, 50], ["0020", 20, 20], ["0030", 8, 0], ["0040", 0, 0]]);
  check("baseline: the change",
    await viewer.tell(() => [...document.querySelectorAll(".source-cell .change")].map((change) => change.textContent)), ["+100 %", "new"]);
  await viewer.page.selectOption("#source-mode", "lines");
  check("baseline: beside lines that have other numbers there", (await shown(viewer)).filter(([mark]) => mark)
    .map(([mark, , value, before]) => [mark, value, Number(before)]), [["4", 120, 70], ["14", 8, 8], ["16", 8, 0]]);
  await viewer.picture("source-baseline");
  check("markup is text", await viewer.tell(() => [window.obeyed ?? null, document.querySelectorAll("img").length]), [null, 0]);
  await viewer.close();
}

async function files() {
  const viewer = await browser.open(server, { hash: `${HASH}&report=2` });
  await viewer.page.selectOption("#source-mode", "lines");
  check("files: one of this machine is said to be", (await viewer.text(".source-row.head")).endsWith("(as it is on this machine now)"),
    true);
  await viewer.close();
}

await browser.startOrSkip();
const server = await sonde.view(configuration.report, configuration.baseline, configuration.here);
await scenarios("source", { calls, headings, ptx, baseline, files });
await server.end();
check("nothing went wrong, nothing was asked elsewhere", [...new Set(browser.trouble)], []);
await browser.end();
finish();
