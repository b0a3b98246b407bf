// A tree as nested lists that CSS draws: side by side where there is room, as an outline where there is not.
const MANY_LEAVES = 8;

function drawTree(tree, path) {
  const wide = tree.leaves > MANY_LEAVES ? "tree outline" : "tree";
  return el("ul", { class: `${wide} depth-${Math.min(tree.depth, 4)}`, "aria-label": "Decision tree" }, drawNode(tree, 0, null, path || []));
}

function drawNode(tree, position, edge, path) {
  const node = tree.nodes[position];
  const on = path.includes(position) ? " on" : "";
  const label = edge === null ? null : el("span", { class: "edge" }, edge);
  const inside = node.test
    ? [testCard(node), el("ul", null, drawNode(tree, node.left, "yes", path), drawNode(tree, node.right, "no", path))]
    : [leafCard(node)];
  const item = el("li", { class: `${node.test ? "test" : "leaf"}${on}` }, label, inside);
  // Each side is as wide as it has leaves, and no narrower than they need.
  const wide = leavesBelow(tree, position);
  item.style.flexGrow = String(wide);
  item.style.setProperty("--leaves", String(wide));
  return item;
}

function leavesBelow(tree, position) {
  const node = tree.nodes[position];
  return node.test ? leavesBelow(tree, node.left) + leavesBelow(tree, node.right) : 1;
}

function testCard(node) {
  return el("div", { class: "card" },
    el("p", { class: "question" }, question(node.test), "?"),
    node.note ? el("p", { class: "small" }, node.note) : null,
    crowd(node));
}

function leafCard(node) {
  const positive = report.asked.positive;
  const tone = report.asked.classes === null ? "number" : positive === null ? `class-${node.value % 6}` : node.value === positive ? "positive" : "other";
  return el("div", { class: `card ${tone}` },
    el("p", { class: "decision" }, el("span", { class: "unseen" }, named(report.asked.target), " = "), decision(node)),
    truth(node), crowd(node));
}

// How often the data agrees with a leaf.
function truth(node) {
  if (node.truth === null) return null;
  if (!report.asked.classes) return el("p", { class: "small" }, `mean in the data: ${say.number(node.truth)}`);
  return el("p", { class: "small" }, `so in the data: ${say.percent(node.truth[node.value], 0)}`);
}

function crowd(node) {
  const head = `${say.people(node.n)} (${say.percent(node.share, 0)})`;
  if (!partitions.length) return el("p", { class: "small" }, head);
  const counts = node.groups[state.partition];
  const bar = el("span", { class: "bar", "aria-hidden": "true" }, bySize().map((code) => {
    const part = el("span", { class: colour(code) });
    part.style.flexGrow = String(counts[code]);
    return counts[code] ? part : null;
  }));
  const lines = bySize().map((code) => [counts[code], code]).filter(([n]) => n).map(([n, code]) =>
    el("li", null, el("span", { class: `dot ${colour(code)}` }), named(groups().labels[code]),
      el("span", { class: "figure" }, ` ${say.count(n)}, ${say.percent(n / groups().sizes[code], 0)} of the group`)));
  return el("details", { class: "who" }, el("summary", null, el("span", null, head), bar), el("ul", null, lines));
}
