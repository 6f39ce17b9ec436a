// Firefox through WebDriver BiDi (https://w3c.github.io/webdriver-bidi): what Firefox itself speaks over a WebSocket.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE_MS } from "./support.mjs";

const WebSocket = createRequire(import.meta.url)("ws");

/** Nothing asks the network by itself, and the clipboard may be read. */
const PREFERENCES = {
  "app.update.enabled": false, "browser.shell.checkDefaultBrowser": false, "datareporting.policy.dataSubmissionEnabled": false,
    "toolkit.telemetry.enabled": false,
  "browser.startup.homepage_override.mstone": "ignore", "extensions.update.enabled": false, "network.captive-portal-service.enabled": false,
    "network.connectivity-service.enabled": false,
  "services.settings.server": "data:,#", "browser.safebrowsing.malware.enabled": false, "browser.safebrowsing.phishing.enabled": false,
    "remote.active-protocols": 1,
};

export class Firefox {
  /** @param {string} binary */
  constructor(binary) {
    this.profile = mkdtempSync(join(tmpdir(), "sonde-firefox-"));
    writeFileSync(join(this.profile, "user.js"),
      Object.entries(PREFERENCES).map(([key, value]) => `user_pref(${JSON.stringify(key)}, ${JSON.stringify(value)});\n`).join(""));
    this.child = spawn(binary, ["--headless", "--no-remote", "--profile", this.profile, "--remote-debugging-port", "0", "about:blank"],
      { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: this.profile, MOZ_CRASHREPORTER_DISABLE: "1" } });
    this.number = 0;
    /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
    this.waiting = new Map();
    /** @type {Array<(event: any) => void>} */
    this.listeners = [];
  }

  async start() {
    const address = await this.address();
    this.socket = new WebSocket(`${address}/session`);
    await new Promise((resolve, reject) => {
      this.socket.on("open", resolve);
      this.socket.on("error", reject);
    });
    this.socket.on("message", (/** @type {any} */ data) => this.take(JSON.parse(String(data))));
    await this.send("session.new", { capabilities: { alwaysMatch: {} } });
    await this.send("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent", "network.responseCompleted"] });
    this.context = (await this.send("browsingContext.getTree", {})).contexts[0].context;
  }

  /** It says on stderr where it listens. @returns {Promise<string>} */
  address() {
    let said = "";
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`Firefox does not say where it listens: ${said.slice(-1000)}`)), 60000).unref();
      this.child.on("exit", (status) => reject(new Error(`Firefox ended with status ${status}: ${said.slice(-1000)}`)));
      this.child.on("error", reject);
      this.child.stderr.on("data", (text) => {
        said += text;
        const found = /WebDriver BiDi listening on (ws:\S+)/.exec(said);
        if (found)
          resolve(found[1]);
      });
    });
  }

  /** @param {any} message */
  take(message) {
    if (message.type === "event") {
      for (const listener of this.listeners)
        listener(message);
      return;
    }
    const asked = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.type === "error")
      asked?.reject(new Error(`${message.error}: ${message.message}`));
    else
      asked?.resolve(message.result);
  }

  /** @param {string} method @param {any} params @returns {Promise<any>} */
  send(method, params) {
    const id = ++this.number;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => { this.waiting.set(id, { resolve, reject }); });
  }

  /** @param {string} url */
  go(url) {
    return this.send("browsingContext.navigate", { context: this.context, url, wait: "complete" });
  }

  /** The value of an expression, which may be a promise; it travels as JSON. @param {string} expression */
  async evaluate(expression) {
    const answer = await this.send("script.evaluate", {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value))`, target: { context: this.context },
        awaitPromise: true });
    if (answer.type === "exception")
      throw new Error(`${expression.slice(0, 200)}: ${answer.exceptionDetails.text}`);
    return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
  }

  /** Until an expression is true; one that fails, as in a page that has no body yet, is not true yet. @param {string} expression */
  async until(expression) {
    let failure = "";
    const holds = () => this.evaluate(`(() => Boolean(${expression}))()`).catch((error) => { failure = String(error); });

    for (const end = Date.now() + PATIENCE_MS; !(await holds()); await new Promise((resolve) => { setTimeout(resolve, 30); }))
      if (Date.now() > end)
        throw new Error(`never true: ${expression} ${failure}`);
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    return this.send("browsingContext.setViewport", { context: this.context, viewport: { width, height } });
  }

  /** @param {number} x @param {number} y @param {boolean} [press] */
  pointer(x, y, press = false) {
    const actions =
      [{ type: "pointerMove", x: Math.round(x), y: Math.round(y) },
        ...(press ? [{ type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }] : [])];
    return this.send("input.performActions",
      { context: this.context, actions: [{ type: "pointer", id: "mouse", parameters: { pointerType: "mouse" }, actions }] });
  }

  /** @param {string} text */
  keys(text) {
    const actions = [...text].flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]);
    return this.send("input.performActions", { context: this.context, actions: [{ type: "key", id: "keyboard", actions }] });
  }

  /** @returns {Promise<Buffer>} a PNG */
  async picture() {
    return Buffer.from((await this.send("browsingContext.captureScreenshot", { context: this.context })).data, "base64");
  }

  async end() {
    if (this.child.exitCode === null && this.child.pid)
      await this.close();
    rmSync(this.profile, { recursive: true, force: true });
  }

  async close() {
    const gone = new Promise((resolve) => {
      this.child.removeAllListeners("exit");
      this.child.on("exit", resolve);
    });
    if (this.socket?.readyState === WebSocket.OPEN)
      this.send("browser.close", {}).catch(() => {});
    const late = setTimeout(() => this.child.kill("SIGKILL"), 5000);
    await gone;
    clearTimeout(late);
  }
}
