// Asking the server. docs/view.md has the contract.
import { findKey } from "./key.js";

/** An answer that is none. */
export class ServerError extends Error {}

/** Requests that have not been answered. */
const pending = new Set();

export function asking() {
  return pending.size;
}

/** Who is asked: the server, unless the page has what answers with it (offline.js).
 * @type {(uri: string, signal?: AbortSignal) => Promise<Response>} */
let send = async (uri, signal) => fetch(uri, { signal, credentials: "omit", headers: { "Sonde-Key": await findKey() } });

/** @param {typeof send} other */
export function askInstead(other) {
  send = other;
}

/** @param {string} path @param {Record<string, string | number | undefined>} parameters @param {AbortSignal} [signal] */
async function get(path, parameters, signal) {
  const query = Object.entries(parameters).filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`).join("&");
  let response;
  try {
    response = await send(query ? `${path}?${query}` : path, signal);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError")
      throw error;
    throw new ServerError("The server does not answer: was sonde view ended?");
  }
  if (response.ok)
    return response;
  let text = `${response.status} ${response.statusText}`;
  try {
    text = (await response.json()).error || text;
  } catch {
    // the status says enough
  }
  throw new ServerError(text);
}

/** @param {string} path @param {Record<string, string | number | undefined>} parameters @param {AbortSignal} [signal] */
export function json(path, parameters = {}, signal) {
  return counted(async () => (await get(path, parameters, signal)).json());
}

/** @param {string} path @param {Record<string, string | number | undefined>} parameters @param {AbortSignal} [signal] */
export function binary(path, parameters, signal) {
  return counted(async () => (await get(path, parameters, signal)).arrayBuffer());
}

/** @template T @param {() => Promise<T>} ask @returns {Promise<T>} */
async function counted(ask) {
  const mark = {};
  pending.add(mark);
  try {
    return await ask();
  } finally {
    pending.delete(mark);
  }
}

/** Texts of name ids, kept once they came. Those asked for within a moment travel together. */
export class Names {
  /** @param {number} report @param {() => void} arrived called when new ones are there */
  constructor(report, arrived) {
    this.report = report;
    this.arrived = arrived;
    /** @type {Map<number, string>} */
    this.texts = new Map();
    /** @type {Set<number>} */
    this.wanted = new Set();
    this.timer = 0;
    /** Changes when texts arrive. */
    this.version = 0;
  }

  /** The text, or nothing yet. @param {number} id @returns {string | undefined} */
  get(id) {
    if (id === 0)
      return "";
    const text = this.texts.get(id);
    if (text === undefined && !this.wanted.has(id)) {
      this.wanted.add(id);
      if (!this.timer)
        this.timer = window.setTimeout(() => this.ask(), 4);
    }
    return text;
  }

  async ask() {
    this.timer = 0;
    const ids = [...this.wanted].filter((id) => !this.texts.has(id));
    for (let i = 0; i < ids.length; i += 2000) {
      const part = ids.slice(i, i + 2000);
      const answer = await json("/api/names", { report: this.report, ids: part.join(",") }).catch(() => ({ names: {} }));
      for (const id of part) {
        this.texts.set(id, answer.names[id] ?? "");
        this.wanted.delete(id);
      }
    }
    this.version++;
    this.arrived();
  }
}
