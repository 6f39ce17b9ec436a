// What the tests of the viewer's page share: checks, the server, the truth by SQL, and a browser's page with what it complains about.
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { luminance } from "../../web/timeline/colours.js";

const require = createRequire(import.meta.url);

let failed = 0;

/** What comes, comes within this time also where many share a core. */
export const PATIENCE_MS = 90000;
const SCENARIOS_AT_ONCE = 3;

/** Ends with status 1 where a check failed. */
export function finish() {
  process.exit(failed ? 1 : 0);
}

/** @param {string} name @param {unknown} got @param {unknown} want */
export function check(name, got, want) {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)];
  if (left === right) {
    console.log(`ok ${name}`);
    return true;
  }
  failed++;
  console.log(`not ok ${name} - got ${left?.slice(0, 600)}, want ${right?.slice(0, 600)}`);
  return false;
}

/** Of two colours of the page, by WCAG. @param {number[]} a @param {number[]} b */
export function contrast(a, b) {
  const [dark, light] = [a, b].map((pixel) => luminance(pixel[0], pixel[1], pixel[2])).sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** A scenario that breaks off is one failed check; the others go on. @param {string} name @param {() => Promise<void>} run */
export async function scenario(name, run) {
  const began = Date.now();
  try {
    await run();
  } catch (error) {
    check(name, String(error instanceof Error ? error.stack : error).slice(0, 500), "the scenario to its end");
  }
  console.log(`# ${name}: ${((Date.now() - began) / 1000).toFixed(1)} s`);
}

/** Some beside each other: most of the time a page waits. @param {string} of @param {Record<string, () => Promise<void>>} runs */
export async function scenarios(of, runs) {
  const waiting = Object.entries(runs);
  const oneByOne = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      await scenario(`${of}: ${next[0]}`, next[1]);
  };
  await Promise.all(Array.from({ length: SCENARIOS_AT_ONCE }, oneByOne));
}

/** The binary and its answers. */
export class Sonde {
  /** @param {string} binary @param {string} [webFolder] the page from there, not from the binary */
  constructor(binary, webFolder) {
    this.binary = binary;
    this.options = webFolder ? ["--web-folder", webFolder] : [];
    /** @type {Set<import("node:child_process").ChildProcess>} servers, also those of scenarios that broke off */
    this.servers = new Set();
    process.on("exit", () => this.servers.forEach((child) => child.kill("SIGKILL")));
  }

  /** @param {string[]} words */
  run(words) {
    return execFileSync(this.binary, words, { encoding: "utf8", maxBuffer: 1 << 28 });
  }

  /** Rows of a query, each cell a text. @param {string} report @param {string} statement */
  sql(report, statement) {
    return csv(this.run(["sql", report, statement, "-f", "csv:nohdr"]));
  }

  /** @param {string} report @param {string} statement */
  numbers(report, statement) {
    return this.sql(report, statement).map((row) => row.map(Number));
  }

  /** Columns and rows of a report of `stats`. @param {string} report @param {string} name */
  stats(report, name) {
    const [columns, ...rows] = csv(this.run(["stats", "-q", "-r", name, "-f", "csv", report])).filter((row) => row.length > 1);
    return { columns, rows };
  }

  /** A server of these reports. @param {string[]} reports @returns {Promise<Server>} */
  view(...reports) {
    const child = spawn(this.binary, ["view", "--no-open", "--port", "0", ...this.options, ...reports],
      { stdio: ["ignore", "pipe", "pipe"] });
    this.servers.add(child);
    let said = "";
    let complaint = "";
    child.stderr.on("data", (text) => { complaint += text; });
    return new Promise((resolve, reject) => {
      child.on("exit", (status) => reject(new Error(`sonde view ended with status ${status}: ${complaint}`)));
      child.stdout.on("data", (text) => {
        said += text;
        const url = /http:\/\/\S+token=\S+/.exec(said)?.[0];
        if (url)
          resolve(new Server(child, url));
      });
    });
  }
}

/** @param {string} text @returns {string[][]} */
export function csv(text) {
  const cells = /("(?:[^"]|"")*"|[^,\n]*)(,|\n|$)/y;
  /** @type {string[][]} */
  const rows = [[]];
  while (cells.lastIndex < text.length) {
    const [, cell, end] = /** @type {RegExpExecArray} */ (cells.exec(text));
    rows[rows.length - 1].push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end === "\n")
      rows.push([]);
  }
  return rows.filter((row) => row.length > 1 || row[0]);
}

export class Server {
  /** @param {import("node:child_process").ChildProcess} child @param {string} url */
  constructor(child, url) {
    this.child = child;
    this.url = url;
    this.origin = new URL(url).origin;
  }

  end() {
    return new Promise((resolve) => {
      this.child.removeAllListeners("exit");
      this.child.on("exit", resolve);
      this.child.kill("SIGINT");
    });
  }
}

/**
 * Texts that are drawn on a canvas, with where they are: pixels of the page's, from the canvas's left and top. Forgotten when it is
 * cleared.
 */
function listenToCanvas() {
  const drawn = new WeakMap();
  const prototype = CanvasRenderingContext2D.prototype;
  const { fillText, clearRect } = prototype;
  prototype.clearRect = function clear(...box) {
    drawn.set(this.canvas, []);
    return clearRect.apply(this, box);
  };
  prototype.fillText = function fill(text, x, y, ...rest) {
    const at = this.getTransform();
    const list = drawn.get(this.canvas) || [];
    list.push({ text, x: (at.a * x + at.e) / devicePixelRatio, y: (at.d * y + at.f) / devicePixelRatio });
    drawn.set(this.canvas, list);
    return fillText.call(this, text, x, y, ...rest);
  };
  window.drawnOn = (id) => drawn.get(document.getElementById(id)) || [];
}

/** Headless Chromium; pages that share what the server gave the first of them. */
export class Browser {
  /** @param {string} executablePath @param {string} artefacts a folder for pictures */
  constructor(executablePath, artefacts) {
    this.executablePath = executablePath;
    this.artefacts = artefacts;
    mkdirSync(artefacts, { recursive: true });
    /** @type {string[]} what went wrong in any page */
    this.trouble = [];
    /** @type {Map<string, Promise<string>>} keys by server: its address is good for one use */
    this.admitted = new Map();
  }

  async start() {
    // Without a sandbox, which root cannot have (playwright's default); /dev/shm is small in containers.
    const args = ["--disable-gpu", "--disable-dev-shm-usage", "--enable-precise-memory-info"];
    this.chromium = await require("playwright-core").chromium.launch({ executablePath: this.executablePath, args });
  }

  /** Where it cannot be started the tests in it are skipped, and nothing else is left to be done. */
  async startOrSkip() {
    try {
      await this.start();
    } catch (error) {
      console.log(`skip the page in Chromium - it does not start here: ${String(error).split("\n").slice(0, 2).join(" ")}`);
      process.exit(0);
    }
  }

  /** @param {object} [how] */
  async context(how) {
    const context = await this.chromium.newContext(how);
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  }

  /** A page of a server's, with everything drawn. @param {Server} server
   * @param {{ width?: number, height?: number, scheme?: "dark" | "light", hash?: string, scale?: number, expectTrouble?: boolean }} [how]
   */
  async open(server, how = {}) {
    const key = await this.keyOf(server);
    const context = await this.context({
      viewport: { width: how.width ?? 1280, height: how.height ?? 720 }, colorScheme: how.scheme ?? "light",
        deviceScaleFactor: how.scale ?? 1,
    });
    await context.addInitScript((/** @type {string} */ known) => location.protocol === "http:" &&
      sessionStorage.setItem("sonde-key", known), key);
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: server.origin });
    const page = await context.newPage();
    if (!how.expectTrouble)
      this.watch(page, server.origin);
    await page.addInitScript(listenToCanvas);
    await page.goto(`${server.origin}/${how.hash ?? ""}`);
    const viewer = new ViewerPage(page, this.artefacts);
    if (!how.expectTrouble)
      await viewer.idle();
    return viewer;
  }

  /** @param {Server} server */
  keyOf(server) {
    if (!this.admitted.has(server.origin))
      this.admitted.set(server.origin, this.admit(server));
    return this.admitted.get(server.origin);
  }

  /** As a person would: the page is opened by the address that was printed. @param {Server} server */
  async admit(server) {
    const context = await this.context();
    const page = await context.newPage();
    this.watch(page, server.origin);
    await page.goto(server.url);
    await page.waitForURL((/** @type {URL} */ url) => !url.search.includes("token"));
    await page.waitForFunction(() => window.sonde?.started);
    const key = await page.evaluate(() => sessionStorage.getItem("sonde-key"));
    await context.close();
    return key;
  }

  /** @param {any} page @param {string} origin */
  watch(page, origin) {
    // Chromium's advice about reading a canvas is for the tests, which do that.
    page.on("console", (/** @type {any} */ message) => {
      if (["error", "warning"].includes(message.type()) && !message.text().includes("willReadFrequently"))
        this.trouble.push(`${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (/** @type {Error} */ error) => this.trouble.push(String(error.stack || error.message)));
    page.on("response",
      (/** @type {any} */ response) => { if (response.status() >= 400) this.trouble.push(`${response.status()} ${response.url()}`); });
    page.on("request", (/** @type {any} */ request) => {
      if (!request.url().startsWith(`${origin}/`) && !/^(blob|data):/.test(request.url()))
        this.trouble.push(`asks ${request.url()}`);
    });
  }

  async end() {
    await this.chromium.close();
  }
}

/** The viewer's page, as docs/view.md tells of it. */
export class ViewerPage {
  /** @param {any} page @param {string} artefacts */
  constructor(page, artefacts) {
    this.page = page;
    this.artefacts = artefacts;
    this.keyboard = page.keyboard;
    this.mouse = page.mouse;
  }

  async idle() {
    await this.page.waitForFunction(() => window.sonde?.started);
    await this.page.evaluate(() => window.sonde.idle());
  }

  /** @template T @param {(argument: any) => T} what @param {any} [argument] @returns {Promise<any>} */
  tell(what, argument) {
    return this.page.evaluate(what, argument);
  }

  /** @param {(argument: any) => unknown} what @param {any} [argument] */
  until(what, argument) {
    return this.page.waitForFunction(what, argument);
  }

  /** @param {string} key */
  async press(key) {
    await this.keyboard.press(key);
    await this.idle();
  }

  /** @returns {Promise<[number, number]>} */
  seen() {
    return this.tell(() => [window.sonde.view.from, window.sonde.view.to]);
  }

  /** The rows the server lists, and whether each is below another that is closed. @param {number} [report] */
  async openAll(report = 0) {
    await this.tell((number) => {
      const { rows, timeline } = window.sonde;
      for (const row of rows.byKey.values())
        if (row.report === number)
          row.open = true;
      rows.lay();
      timeline.redraw();
    }, report);
    await this.idle();
  }

  /** Scrolls a row into sight. @param {number} row @param {number} [report] */
  async bring(row, report = 0) {
    await this.tell(([number, id]) => {
      const { rows } = window.sonde;
      const found = rows.find(number, id);
      rows.reveal(found);
      window.sonde.bringRow(found);
      window.sonde.timeline.redraw();
    }, [report, row]);
    await this.idle();
  }

  /** Where a moment of a row is in the window. @param {number} row @param {number} lane @param {number} time @param {number} [report] */
  async spot(row, lane, time, report = 0) {
    return this.tell(([number, id, place, at]) => {
      const { rows, timeline, loaded } = window.sonde;
      const box = timeline.canvas.getBoundingClientRect();
      return { x: box.left + timeline.xOf(at + loaded[number].offset), y: box.top + timeline.yOf(rows.find(number, id)) + 2 + place * 18 +
        9 };
    }, [report, row, lane, time]);
  }

  /** Shows a span of time, as a jump does. @param {number} from @param {number} to */
  async show(from, to) {
    await this.tell(([a, b]) => window.sonde.view.show(a, b, true), [from, to]);
    await this.idle();
  }

  /**
   * Drags from one moment to another with shift held: measures.
   * @param {{ x: number, y: number }} from @param {{ x: number, y: number }} to
   */
  async measure(from, to) {
    await this.keyboard.down("Shift");
    await this.drag(from, to);
    await this.keyboard.up("Shift");
    await this.idle();
    return this.tell(() => window.sonde.view.span);
  }

  /** @param {{ x: number, y: number }} from @param {{ x: number, y: number }} to */
  async drag(from, to) {
    await this.mouse.move(from.x, from.y);
    await this.mouse.down();
    for (let step = 1; step <= 5; step++)
      await this.mouse.move(from.x + ((to.x - from.x) * step) / 5, from.y + ((to.y - from.y) * step) / 5);
    await this.mouse.up();
  }

  /** What the picked event's details say, once they are those of this start. @param {number} start */
  async detailsOf(start) {
    await this.until((at) => window.sonde.details?.start === at, start).catch(async () => {
      const now = await this.tell(() => {
        const { details, view, search } = window.sonde;
        return JSON.stringify([details?.start, view.picked, search.at, document.activeElement.id]);
      });
      throw new Error(`the event of ${start} is not picked: ${now}`);
    });
    await this.idle();
    return this.tell(() => window.sonde.details);
  }

  /** @param {string} path @returns {Promise<any>} */
  ask(path) {
    return this.tell((what) => import("/api.js").then((api) => api.json(what)), path);
  }

  /** Texts on a canvas. @param {string} id @returns {Promise<Array<{ text: string, x: number, y: number }>>} */
  drawn(id) {
    return this.tell((which) => window.drawnOn(which), id);
  }

  /** @param {string} selector @returns {Promise<string>} */
  text(selector) {
    return this.page.innerText(selector);
  }

  /** @param {string} tab */
  async panel(tab) {
    await this.page.click(`[data-tab=${tab}]`);
    await this.until(() => document.querySelector("#panel").textContent.trim().length > 10);
    await this.idle();
  }

  /** @param {string} name */
  async picture(name) {
    await this.page.screenshot({ path: join(this.artefacts, `${name}.png`) });
  }

  async close() {
    await this.page.context().close();
  }
}
