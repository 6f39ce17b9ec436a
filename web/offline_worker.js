// A worker without a server: runs the engine (src/view/offline), compiled from the server's own sources, on reports in memory.
// Not a module: its text is made into a worker by offline.js, in a page that may have no address.

/**
 * @typedef {{ memory: WebAssembly.Memory, _initialize(): void, engine_room(size: number): number,
 *   engine_open(name: number, data: number, size: number): number, engine_take_text(name: number, data: number, size: number): number,
 *   engine_take_made(tracks: number, tracksSize: number, data: number, size: number): number, engine_ask(uri: number): number,
 *   engine_list_slow(): number, engine_body(): number, engine_body_size(): number, engine_type(): number }} Exports
 */
/** @typedef {{ name: string, data: Blob, made?: { report: Blob, tracks: Blob } }} Source */
/** @typedef {{ name: string, data: Blob }} OwnText sections and rules of the user's own */

const NOT_HERE = 52; // ENOSYS, as WASI numbers it
const MOST_BYTES = 2 ** 31; // the engine can reach 4 GB, and needs some of it itself

class Engine {
  /** @param {WebAssembly.Module} module */
  constructor(module) {
    const missing = () => NOT_HERE;
    const system = {
      environ_get: () => 0,
      environ_sizes_get: (/** @type {number} */ count, /** @type {number} */ size) => {
        new DataView(this.exports.memory.buffer).setUint32(count, 0, true);
        new DataView(this.exports.memory.buffer).setUint32(size, 0, true);
        return 0;
      },
      fd_close: missing, fd_fdstat_get: missing, fd_read: missing, fd_seek: missing, fd_write: missing, poll_oneoff: missing,
      clock_time_get: missing, random_get: missing,
      proc_exit: () => { throw new Error("The engine has ended"); },
    };
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: system });
    this.exports = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
    this.exports._initialize();
  }

  /** Bytes in the engine's memory; they are its own from then on. @param {Uint8Array} bytes @returns {number} */
  put(bytes) {
    const at = this.exports.engine_room(bytes.length);
    if (!at)
      throw new Error("There is not enough memory");
    new Uint8Array(this.exports.memory.buffer, at >>> 0, bytes.length).set(bytes);
    return at;
  }

  /** @param {string} text */
  putText(text) {
    return this.put(new TextEncoder().encode(`${text}\0`));
  }

  /** @param {string} name @param {Uint8Array} bytes */
  open(name, bytes) {
    this.demand(this.exports.engine_open(this.putText(name), this.put(bytes), bytes.length));
  }

  /** @param {string} name @param {Uint8Array} bytes */
  takeText(name, bytes) {
    this.demand(this.exports.engine_take_text(this.putText(name), this.put(bytes), bytes.length));
  }

  /** What was made of the report opened last. @param {Uint8Array} report @param {Uint8Array} tracks */
  takeMade(report, tracks) {
    this.demand(this.exports.engine_take_made(this.put(tracks), tracks.length, this.put(report), report.length));
  }

  /** @param {number} status */
  demand(status) {
    if (status)
      throw new Error(JSON.parse(new TextDecoder().decode(this.body())).error);
  }

  /** @param {string} uri */
  ask(uri) {
    return this.answer(this.exports.engine_ask(this.putText(uri)));
  }

  /** Paths of the requests that may take long, with blanks between. */
  listSlow() {
    return this.answer(this.exports.engine_list_slow());
  }

  /** @param {number} status @returns {{ status: number, type: string, body: Uint8Array }} */
  answer(status) {
    const memory = new Uint8Array(this.exports.memory.buffer);
    const at = this.exports.engine_type() >>> 0;
    return { status, type: new TextDecoder().decode(memory.subarray(at, memory.indexOf(0, at))), body: this.body() };
  }

  body() {
    return new Uint8Array(this.exports.memory.buffer, this.exports.engine_body() >>> 0, this.exports.engine_body_size() >>> 0).slice();
  }
}

/** @param {Blob} data @param {string} name */
async function bytesOf(data, name) {
  if (data.size > MOST_BYTES)
    throw new Error(`${name} is larger than a page can take: sonde view shows it`);
  return new Uint8Array(await data.arrayBuffer());
}

/** @param {WebAssembly.Module} module @param {Source[]} sources @param {OwnText[]} texts */
async function openAll(module, sources, texts) {
  const engine = new Engine(module);
  for (const { name, data } of texts)
    engine.takeText(name, await bytesOf(data, name));
  for (const { name, data, made } of sources) {
    engine.open(name, await bytesOf(data, name));
    if (made)
      engine.takeMade(await bytesOf(made.report, name), await bytesOf(made.tracks, name));
  }
  return engine;
}

/** What the page asks for, one thing after the other. An engine is kept only while it is sound: after a trap the reports get a new
 * one. */
class Desk {
  constructor() {
    /** @type {WebAssembly.Module | null} */
    this.module = null;
    /** @type {Engine | null} */
    this.engine = null;
    /** @type {Source[]} */
    this.sources = [];
    /** @type {OwnText[]} */
    this.texts = [];
  }

  /** @param {{ code?: Uint8Array, texts?: OwnText[], sources?: Source[], uri?: string, slow?: boolean }} wish */
  async answer(wish) {
    if (wish.code)
      this.module = await WebAssembly.compile(/** @type {BufferSource} */ (wish.code));
    this.texts = wish.texts || this.texts;
    if (wish.sources) {
      this.engine = await this.open(wish.sources);
      this.sources = wish.sources;
    }
    if (!wish.uri && !wish.slow)
      return { status: 200, type: "", body: new Uint8Array(0) };
    this.engine ??= await this.open(this.sources);
    try {
      return wish.uri ? this.engine.ask(wish.uri) : this.engine.listSlow();
    } catch (error) {
      this.engine = null;
      throw new Error(`This could not be computed (${error instanceof Error ? error.message : error})`);
    }
  }

  /** A file that cannot be opened leaves what was there before as it was. @param {Source[]} sources */
  async open(sources) {
    if (!this.module)
      throw new Error("The engine is missing");
    try {
      return await openAll(this.module, sources, this.texts);
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError)
        throw new Error(`${sources[sources.length - 1].name} cannot be read: it is damaged, or too large`);
      throw error;
    }
  }
}

/** @typedef {{ id: number, code?: Uint8Array, texts?: OwnText[], sources?: Source[], uri?: string, slow?: boolean }} Wish */

const desk = new Desk();
/** @type {Wish[]} */
const wishes = [];
const turn = new MessageChannel();
let busy = false;

/** One wish, and then what has come meanwhile is looked at: it may be that the next is not wanted any more. */
async function work() {
  const wish = wishes.shift();
  busy = wish !== undefined;
  if (!wish)
    return;
  try {
    const { status, type, body } = await desk.answer(wish);
    /** @type {any} */ (self).postMessage({ id: wish.id, status, type, body }, [body.buffer]);
  } catch (error) {
    self.postMessage({ id: wish.id, error: error instanceof Error ? error.message : String(error) });
  }
  turn.port1.postMessage(0);
}

turn.port2.onmessage = () => { work(); };

self.addEventListener("message", (event) => {
  const at = wishes.findIndex((wish) => wish.id === event.data.cancel);
  if (event.data.cancel === undefined)
    wishes.push(event.data);
  else if (at >= 0)
    wishes.splice(at, 1);
  if (!busy) {
    busy = true;
    turn.port1.postMessage(0);
  }
});
