// How names are told: those of functions short, what people wrote as they wrote it.

/** Rows of these kinds have functions in them. */
const FUNCTION_ROWS = new Set(["compute", "stream", "samples"]);

/** What stands between brackets, and the brackets, are left out. @param {string} text @param {string} open @param {string} close */
function without(text, open, close) {
  let depth = 0;
  let kept = "";
  for (const c of text) {
    if (c === open)
      depth++;
    if (depth === 0)
      kept += c;
    if (c === close && depth > 0)
      depth--;
  }
  return kept;
}

/**
 * A name's last part, behind the last :: that stands at its outermost level. Brackets of operators are no brackets: such names stay.
 * @param {string} name
 */
function bareName(name) {
  const plain = name.replace(/^void /, "").replace(/\(anonymous namespace\)::/g, "").replace(/operator\(\)/g, "");
  const bare = without(without(plain, "<", ">"), "(", ")").trim();
  if (/operator/.test(bare))
    return name;
  const last = bare.slice(bare.lastIndexOf("::") + 2 || 0).replace(/^:+/, "");
  return (bare.includes("::") ? last : bare) || name;
}

/** @type {Map<string, string>} */
const known = new Map();

/** A short name: without parameters, templates and name spaces. @param {string} name */
export function shortName(name) {
  if (name.length < 20 || !/[(<]/.test(name))
    return name;
  let found = known.get(name);
  if (found === undefined) {
    found = bareName(name);
    if (known.size > 20000)
      known.clear();
    known.set(name, found);
  }
  return found;
}

/** An event's name as it stands in a row of this kind. @param {string | undefined} kind @param {string} name */
export function nameIn(kind, name) {
  return kind !== undefined && FUNCTION_ROWS.has(kind) ? shortName(name) : name;
}

/** Whether a column of a report of statistics has functions in it. @param {string} report @param {string} column */
export function hasFunctions(report, column) {
  return /^(kernel|kernel name|function|symbol)$/i.test(column) ||
    (/^(name|operation)$/i.test(column) && /^(cuda_gpu_|cuda_api_gpu_|kernel_metric_)/.test(report));
}
