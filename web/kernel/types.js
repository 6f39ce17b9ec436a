// What the server says of kernels (docs/view.md, "Kernels").

/**
 * @typedef {object} Cell a value: in base units, and as the command line prints it
 * @property {string} label
 * @property {string} metric
 * @property {boolean} computed by a formula, of which the metric is the first
 * @property {number | string | null} value
 * @property {string} unit
 * @property {string} text
 * @property {string} shown the unit of the text
 * @property {number} [warm] with warm caches
 * @property {string} [warm_text]
 * @property {string} [warm_unit]
 * @property {number | null} [before]
 * @property {number | null} [change] percent
 * @property {string} [before_text]
 * @property {string} [before_unit]
 */
/** @typedef {{ label: string, cells: Array<Cell | null> }} Line of a table */
/**
 * @typedef {{ traffic: boolean, name: string, peak: number | null, achieved: number, achieved_warm: number | null,
 *   peak_before: number | null, achieved_before: number | null }} Roof
 */
/**
 * @typedef {{ label: string, metric: string, unit: string,
 *   points: Array<{ number: number, offset?: number, label: string, value: number | string | null }>,
 *   before?: Array<{ number: number, offset?: number, label: string, value: number | string | null }> }} Curve
 */
/** @typedef {{ kind: string, title: string, columns?: Array<{ title: string, unit: string }>, rows: any[] }} Block */
/** @typedef {{ id: string, title: string, about: string, blocks: Block[] }} Section */
/** @typedef {{ section: string, name: string, type: string, text: string, gain_type: string, gain: number | null }} Rule */
/** @typedef {{ by: string, at: number, stretches: Array<[number, number, number, number]> }} OccupancyCurve */
/**
 * @typedef {{ warps: number, most_warps: number, blocks: number, percent: number,
 *   limits: Array<{ name: string, blocks: number | null, limits: boolean }>, curves: OccupancyCurve[],
 *   before: { warps: number | null, at: Array<number | null> } | null }} Occupancy
 */
/**
 * @typedef {object} Launch
 * @property {number} place in its report
 * @property {number} id
 * @property {string} function
 * @property {string} name
 * @property {string} mangled
 * @property {string} process
 * @property {number} pid
 * @property {number} device
 * @property {number} context
 * @property {number} stream
 * @property {number[]} grid
 * @property {number[]} block
 * @property {number | null} duration
 * @property {number | null} compute
 * @property {number | null} memory
 * @property {number | null} registers
 * @property {number | null} cycles
 * @property {number | null} occupancy
 * @property {number | null} gain
 * @property {number | null} improvement
 * @property {string} verdict
 * @property {string} error why it has no counters; empty: it has
 * @property {number} alike launches of the same kernel, grid and block on the same GPU, this one among them
 * @property {number | null} [median] of their times; where there are several
 * @property {number | null} [above_median] percent
 * @property {number} [typical] place of the one nearest to the median; -1: not known
 * @property {Record<string, number | null>} [warm] with warm caches
 * @property {number} [matches] kernels of the baseline it is compared with
 * @property {Record<string, number | null>} [before]
 */
/**
 * @typedef {Launch & { values: number, sections: Section[], rules: Rule[], missing: Array<{ id: string, title: string, about: string }>,
 *   ranges: Array<{ domain: string, name: string, level: number }>, frames: Array<{ function: string, module: string }>,
 *   python: Array<{ function: string, file: string, line: number }>, occupancy: Occupancy | null, clocks: Record<string, number | null> }}
 *   Kernel
 */
/**
 * @typedef {{ device: number, name: string, chip: string, cc: string, sms: number | null, sm_frequency: number | null,
 *   dram_frequency: number | null }} Gpu
 */
/** @typedef {{ total: number, imported: boolean, gpus: Gpu[], ways: string[], kernels: Launch[] }} List */
/**
 * @typedef {{ name: string, grid?: number[], block?: number[], device?: number, launches: number, time: number | null,
 *   time_before?: number | null, least: number | null, median: number | null, most: number | null, spread: number | null,
 *   improvement: number | null, compute: number | null, memory: number | null, instructions: number | null, dram_read: number | null,
 *   dram_write: number | null, places: number[] }} Group launches summed up
 */
/**
 * @typedef {{ metric: string, unit: string, launches: number, value: number, least: number, median: number | null, most: number,
 *   mean: number, deviation: number, percent: number | null, before?: number | null }} Spread of a metric over launches alike; before: the
 *   mean of the baseline
 */

export {};
