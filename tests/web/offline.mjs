// offline.mjs CHROMIUM FOLDER JOB: does the steps of a JSON file in pages that have no server, and prints what came of each as JSON.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const [executablePath, folder, jobFile] = process.argv.slice(2);
const { chromium } = createRequire(`${folder}/`)("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
const trouble = [];
page.on("console", (message) => { if (message.type() === "error") trouble.push(message.text()); });
page.on("pageerror", (error) => trouble.push(error.message));
page.on("dialog", (dialog) => { trouble.push(`dialog ${dialog.message()}`); dialog.dismiss(); });
page.on("request", (request) => { if (!/^(data|blob|file):/.test(request.url())) trouble.push(`asks ${request.url().slice(0, 80)}`); });

const settle = () => page.waitForFunction(() => window.sonde?.settled, null, { timeout: 60000 });

/** Answers of the page's own engine, by the function through which the page asks, and which of its workers gave each. */
async function ask(uris) {
  return page.evaluate(async (list) => {
    const { binary } = await import("sonde/api.js");
    const answers = [], workers = [], post = Worker.prototype.postMessage;
    let asked;
    Worker.prototype.postMessage = function postAndNote(message, ...rest) {
      if (message.uri && !workers.includes(this))
        workers.push(this);
      asked = message.uri ? workers.indexOf(this) : asked;
      return post.call(this, message, ...rest);
    };
    for (const uri of list) {
      const [path, query] = uri.split("?");
      try {
        const bytes = new Uint8Array(await binary(path, Object.fromEntries(new URLSearchParams(query))));
        let text = "";
        for (let at = 0; at < bytes.length; at += 32768)
          text += String.fromCharCode(...bytes.subarray(at, at + 32768));
        answers.push({ body: btoa(text), worker: asked });
      } catch (error) {
        answers.push({ error: error.message });
      }
    }
    Worker.prototype.postMessage = post;
    return answers;
  }, uris);
}

async function drop({ name, bytes, beside }) {
  await page.evaluate(({ name: fileName, bytes: base64, beside: isBeside }) => {
    const data = new DataTransfer();
    data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], fileName));
    const before = document.getElementById("message");
    before.hidden = true;
    window.before = window.sonde;
    for (const type of ["dragover", "drop"])
      document.body.dispatchEvent(new DragEvent(type,
        { dataTransfer: data, bubbles: true, cancelable: true, clientX: isBeside ? innerWidth - 50 : 50, clientY: 300 }));
  }, { name, bytes, beside });
  await page.waitForFunction(() => (window.sonde !== window.before && window.sonde.settled) || !document.getElementById("message").hidden,
    null, { timeout: 60000 });
  await settle();
}

const state = () => page.evaluate(() => ({
  title: document.title, rows: window.sonde.rows.shown.length, reports: window.sonde.loaded.length,
    notes: document.getElementById("offline-notes")?.textContent,
  message: document.getElementById("message").hidden ? "" : document.getElementById("message").textContent, from: window.sonde.view.from,
    to: window.sonde.view.to,
  text: document.body.innerText, canvas: document.getElementById("canvas").width, broken: window.broken === true,
    images: document.images.length,
}));

const results = [];
for (const step of JSON.parse(readFileSync(jobFile, "utf8"))) {
  trouble.length = 0;
  let answers;
  if (step.open) {
    await page.goto(step.open);
    await settle();
  } else if (step.ask) {
    answers = await ask(step.ask);
  } else if (step.drop) {
    await drop(step.drop);
  } else if (step.keys) {
    for (const key of step.keys)
      await page.keyboard.press(key);
    await settle();
  }
  results.push({ answers, state: await state(), trouble: [...trouble] });
}
console.log(JSON.stringify(results));
await browser.close();
