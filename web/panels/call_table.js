// A tree of calls as tables: by function, and as a tree that opens.

/** @typedef {{ name: string, value: number, self: number, children: Node[] }} Node */

/**
 * Self and total by name; a function that calls itself counts once in its total.
 * @param {Node} root @returns {Array<{ name: string, self: number, total: number }>}
 */
export function byFunction(root) {
  /** @type {Map<string, { name: string, self: number, total: number }>} */
  const sums = new Map();
  const walk = (/** @type {Node} */ node, /** @type {Set<string>} */ above) => {
    const sum = sums.get(node.name) || { name: node.name, self: 0, total: 0 };
    sums.set(node.name, sum);
    sum.self += node.self;
    const again = above.has(node.name);
    if (!again) {
      sum.total += node.value;
      above.add(node.name);
    }
    for (const child of node.children)
      walk(child, above);
    if (!again)
      above.delete(node.name);
  };
  for (const child of root.children)
    walk(child, new Set());
  return [...sums.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

/**
 * The lines of a tree that are in sight: what is open, the heaviest first.
 * @param {Node} root @param {Set<Node>} open @returns {Array<{ node: Node, depth: number }>}
 */
export function treeLines(root, open) {
  /** @type {Array<{ node: Node, depth: number }>} */
  const lines = [];
  const walk = (/** @type {Node} */ node, /** @type {number} */ depth) => {
    lines.push({ node, depth });
    if (open.has(node))
      for (const child of [...node.children].sort((a, b) => b.value - a.value))
        walk(child, depth + 1);
  };
  walk(root, 0);
  return lines;
}

/** Opened at first: the way that most goes, as long as it is most. @param {Node} root @returns {Set<Node>} */
export function heaviestPath(root) {
  const open = new Set([root]);
  let at = root;
  for (let depth = 0; depth < 200 && at.children.length; depth++) {
    at = at.children.reduce((a, b) => (b.value > a.value ? b : a));
    if (at.value < 0.5 * root.value)
      break;
    open.add(at);
  }
  return open;
}
