// The trade-off explorer: the curve, the figures of the chosen tree, the tree, and all trees as a table.
function makeExplore() {
  const place = body("explore");
  if (report.trees.length > 1) {
    add(place,
      el("p", null, "Every dot is a tree that is optimal for some weight on equal treatment. Choose one with the handle, or on the curve."),
      el("div", { class: "pair" }, fitted(el("div", { class: "plot" }), drawTradeoff), figures()));
  } else {
    fill(document.getElementById("explore-title"), "The tree");
    add(place, figures());
  }
  add(place,
    follows(el("div", { class: "key" }), () => [divider(), legend()]),
    follows(el("div", { class: "stage", id: "tree", tabindex: "0", role: "region", "aria-label": "The chosen tree" }), (tree) => drawTree(tree)));
  if (report.trees.length > 1) add(place, allTrees());
}

function figures() {
  return follows(el("dl", { class: report.trees.length > 1 ? "figures" : "figures alone", id: "figures" }), (tree) => {
    const good = quality(tree);
    const fresh = tree.fresh;
    const lines = [[good.label, good.text, change(tree, (t) => quality(t).value, report.asked.classes ? points : (x) => say.number(x)), fresh && quality(fresh).text]];
    if (report.asked.index) lines.push([report.asked.index, say.index(tree.discrimination), change(tree, (t) => t.discrimination, (x) => say.index(Math.abs(x))), fresh && say.index(fresh.discrimination)]);
    lines.push(["size", `${tree.leaves} ${tree.leaves === 1 ? "leaf" : "leaves"}`, size(tree).split(",")[0]]);
    if (report.asked.index && tree.on_frontier) lines.push(["best for", interval(tree), ""]);
    return lines.map(([name, value, note, again]) => el("div", null, el("dt", null, name), el("dd", null, el("strong", null, value), note ? el("small", null, note) : null,
      again ? el("small", { class: "fresh" }, `among ${say.count(fresh.n)} new people: `, el("b", null, again)) : null)));
  });
}

const points = (x) => `${(100 * Math.abs(x)).toFixed(1)} points`;

// A figure against the same figure of the most accurate tree.
function change(tree, of, words) {
  if (tree === state.start() || report.trees.length < 2) return "";
  const by = of(tree) - of(state.start());
  if (Math.abs(by) < 1e-12) return "as tree 1";
  return `${words(Math.abs(by))} ${by < 0 ? "less" : "more"} than tree 1`;
}

function allTrees() {
  const index = report.asked.index ? [report.asked.index] : [];
  const headings = ["Tree", quality(state.tree()).label, ...index, "Leaves", "Best for", "Columns it asks about", "Status"];
  const line = (tree, place) => [
    el("button", { type: "button", class: place === state.place ? "link here" : "link", "aria-pressed": String(place === state.place), onclick: () => state.choose(place) }, `Tree ${place + 1}`),
    quality(tree).text, ...(report.asked.index ? [say.index(tree.discrimination)] : []), String(tree.leaves), interval(tree),
    joined(tree.features.map(named)), tree.proven ? "proven" : `gap ${say.percent(tree.gap)}`];
  return el("details", { class: "more" }, el("summary", null, "All trees as a table"),
    follows(el("div"), () => table(headings, report.trees.map(line), { "aria-label": "All trees" })));
}
