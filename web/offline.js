// The page without a server, in a file that `sonde export -t html` wrote: the reports lie in the page itself, and what answers
// requests runs in workers (offline_worker.js). Other reports can be dropped into it.
import { askInstead } from "./api.js";

/** @typedef {{ name: string, data: Blob, note?: string | null, span?: [number, number], made?: { report: Blob, tracks: Blob } }} Source */

const PIECE = 1 << 20; // of base64, decoded at a time

/** A worker with an engine in it. */
class Clerk {
  /** @param {string} address of the worker's text @param {Uint8Array} code */
  constructor(address, code) {
    this.worker = new Worker(address);
    this.next = 1;
    /** @type {Map<number, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
    this.waiting = new Map();
    this.worker.addEventListener("message", (event) => this.take(event.data));
    this.worker.addEventListener("error", (event) => this.fail(event.message));
    this.wish({ code }).catch(() => { /* the first report says so */ });
  }

  /** @param {{ id: number, error?: string }} answer */
  take(answer) {
    const { resolve, reject } = this.waiting.get(answer.id) || {};
    this.waiting.delete(answer.id);
    if (answer.error !== undefined)
      reject?.(new Error(answer.error));
    else
      resolve?.(answer);
  }

  /** @param {string} text */
  fail(text) {
    for (const { reject } of this.waiting.values())
      reject(new Error(text));
    this.waiting.clear();
  }

  /** @param {object} what @param {AbortSignal} [signal] @returns {Promise<any>} */
  wish(what, signal) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, ...what });
      signal?.addEventListener("abort", () => {
        this.waiting.delete(id);
        this.worker.postMessage({ cancel: id });
        reject(new DOMException("Cancelled", "AbortError"));
      }, { once: true });
    });
  }
}

/** @param {string} id @returns {string} */
function takeText(id) {
  const element = /** @type {HTMLElement} */ (document.getElementById(id));
  const text = element.textContent || "";
  element.remove();
  return text;
}

/** Base64 piece by piece: the page goes on meanwhile. @param {string} text @returns {Promise<Blob>} */
async function decode(text) {
  const parts = [];
  for (let at = 0; at < text.length; at += PIECE) {
    const binary = atob(text.slice(at, at + PIECE));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++)
      bytes[i] = binary.charCodeAt(i);
    parts.push(bytes);
    await new Promise((resolve) => { setTimeout(resolve); });
  }
  return new Blob(parts);
}

/** @param {HTMLElement} element @returns {Promise<Source>} */
async function takeSource(element) {
  const { name, note, from, to } = element.dataset;
  const data = await decode(element.textContent || "");
  return { name: name || "", data, note, span: from && to ? [Number(from), Number(to)] : undefined };
}

/** A request with its parameters in order of their names. @param {string} uri */
function inOrder(uri) {
  const [path, query] = uri.split("?");
  return query ? `${path}?${query.split("&").sort().join("&")}` : path;
}

/** @param {Blob} packed */
async function unpack(packed) {
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Listeners of the page as a whole end with the reports it shows: what is on window and document is given up with `signal`.
 * @param {() => AbortSignal} signal */
function bindListeners(signal) {
  for (const target of [window, document]) {
    const add = target.addEventListener.bind(target);
    target.addEventListener = (/** @type {string} */ type, /** @type {any} */ listener, /** @type {any} */ options) =>
      add(type, listener, { ...(typeof options === "object" ? options : { capture: Boolean(options) }), signal: signal() });
  }
}

class Offline {
  constructor() {
    /** @type {Source[]} */
    this.sources = [];
    /** @type {Clerk[]} */
    this.clerks = [];
    /**
     * Paths of requests that may take long, as the engine knows them: they have a worker of their own, so that tiles do not wait.
     * @type {string[]}
     */
    this.slow = [];
    this.life = new AbortController();
    /** What the page is before anything is shown. @type {Node | null} */
    this.empty = null;
    /** @type {(() => Promise<void>) | null} */
    this.begin = null;
    /** Answers that were computed when the file was written, of the report that is in it. @type {Record<string, any>} */
    this.answers = {};
  }

  async start() {
    const code = await unpack(await decode(takeText("offline-engine")));
    const address = URL.createObjectURL(new Blob([await decode(takeText("offline-worker"))], { type: "text/javascript" }));
    this.clerks = [new Clerk(address, code), new Clerk(address, code)];
    /** @type {Array<{ name: string, data: Blob }>} */
    const texts = [];
    for (const element of /** @type {HTMLElement[]} */ ([...document.querySelectorAll("script.offline-text")])) {
      texts.push({ name: element.dataset.name || "", data: await decode(element.textContent || "") });
      element.remove();
    }
    await Promise.all(this.clerks.map((clerk) => clerk.wish({ texts })));
    const sources = [];
    for (const element of [...document.querySelectorAll("script.offline-report")]) {
      sources.push(await takeSource(/** @type {HTMLElement} */ (element)));
      element.remove();
    }
    if (document.getElementById("offline-made"))
      sources[0].made = { report: await decode(takeText("offline-made")), tracks: await decode(takeText("offline-made-tracks")) };
    if (document.getElementById("offline-answers"))
      this.answers = JSON.parse(takeText("offline-answers"));
    this.empty = document.body.cloneNode(true);
    await this.open(sources);
    this.slow = new TextDecoder().decode((await this.clerks[0].wish({ slow: true })).body).split(" ");
    askInstead((uri, signal) => this.ask(uri, signal));
    this.listenToDrops();
    bindListeners(() => this.life.signal);
    const hasPlace = location.hash.length > 1;
    const main = await import("./main.js");
    this.begin = main.begin;
    this.showNotes();
    if (!hasPlace)
      this.showSpan();
  }

  /** A part of a recording is shown from edge to edge, when the page has begun. */
  showSpan() {
    const span = this.sources[0]?.span;
    const app = /** @type {any} */ (window).sonde;
    if (span && app?.started)
      app.view.show(span[0], span[1]);
    else if (span)
      requestAnimationFrame(() => this.showSpan());
  }

  /** What the reports lack, beside their facts. */
  showNotes() {
    const notes = document.createElement("span");
    notes.id = "offline-notes";
    notes.textContent = this.sources.map((source) => source.note).filter(Boolean).join(" ");
    notes.title = notes.textContent;
    document.getElementById("facts")?.after(notes);
  }

  /** Either all workers have them or none. @param {Source[]} sources */
  async open(sources) {
    const results = await Promise.allSettled(this.clerks.map((clerk) => clerk.wish({ sources })));
    const failed = results.find((result) => result.status === "rejected");
    if (failed)
      throw /** @type {PromiseRejectedResult} */ (failed).reason;
    this.sources = sources;
  }

  /** @param {string} uri @param {AbortSignal} [signal] */
  async ask(uri, signal) {
    const known = this.answers[inOrder(uri)];
    if (known)
      return new Response(JSON.stringify(known), { headers: { "Content-Type": "application/json" } });
    const { status, type, body } = await this.clerks[this.slow.includes(uri.split("?")[0]) ? 1 : 0].wish({ uri }, signal);
    return new Response(body, { status, headers: { "Content-Type": type } });
  }

  listenToDrops() {
    const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
    document.addEventListener("dragover", (event) => {
      if (!hasFiles(event))
        return;
      event.preventDefault();
      this.showPlaces(event);
    });
    document.addEventListener("dragleave", (event) => {
      if (!event.relatedTarget)
        this.hidePlaces();
    });
    document.addEventListener("drop", (event) => {
      if (!hasFiles(event))
        return;
      event.preventDefault();
      const beside = this.isBeside(event);
      this.hidePlaces();
      this.take([...event.dataTransfer?.files || []], beside);
    });
  }

  /** @param {DragEvent} event */
  isBeside(event) {
    return event.clientX > window.innerWidth / 2;
  }

  /** @param {DragEvent} event */
  showPlaces(event) {
    let box = document.getElementById("drop");
    if (!box) {
      box = document.createElement("div");
      box.id = "drop";
      for (const text of ["Show this report instead", "Show it beside"]) {
        const place = document.createElement("div");
        place.textContent = text;
        box.append(place);
      }
      document.body.append(box);
    }
    const beside = this.isBeside(event);
    box.children[0].className = beside ? "" : "chosen";
    box.children[1].className = beside ? "chosen" : "";
  }

  hidePlaces() {
    document.getElementById("drop")?.remove();
  }

  /** Files dropped into the page. @param {File[]} files @param {boolean} beside */
  async take(files, beside) {
    const sources = files.map((file) => ({ name: file.name, data: file }));
    const before = this.sources;
    try {
      await this.open(beside ? [...before, ...sources] : sources);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
      return;
    }
    if (!beside)
      this.answers = {};
    await this.retire();
    this.life.abort();
    this.life = new AbortController();
    document.body.replaceWith(/** @type {Node} */ (this.empty).cloneNode(true));
    history.replaceState(null, "", location.pathname);
    await this.begin?.();
    this.showNotes();
  }

  /** The page that is shown has asked for all it wants, and draws no more. */
  async retire() {
    const app = /** @type {any} */ (window).sonde;
    await app?.idle();
    for (const part of [app?.timeline, app?.overview])
      if (part)
        part.draw = part.redraw = part.resize = () => { /* it is not there any more */ };
  }

  /** @param {string} text */
  say(text) {
    const box = /** @type {HTMLElement} */ (document.getElementById("message"));
    box.textContent = text;
    box.hidden = false;
  }
}

const offline = new Offline();
offline.start().catch((error) => offline.say(error instanceof Error ? error.message : String(error)));
