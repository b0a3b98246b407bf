// The one thing that changes: which tree is looked at (and, with several partitions, by which groups).
const report = JSON.parse(document.getElementById("evenleaf-data").textContent);

const state = {
  place: report.chosen,
  partition: 0,
  listeners: [],
  tree() { return report.trees[this.place]; },
  start() { return report.trees[0]; },
  listen(update) { this.listeners.push(update); },
  tell() { this.listeners.forEach((update) => update()); },
  choose(place) {
    this.place = Math.max(0, Math.min(report.trees.length - 1, place));
    this.tell();
  },
  divide(partition) { this.partition = partition; this.tell(); },
};

const partitions = report.asked.partitions;
const groups = () => partitions[state.partition];
const COLOURS = 7;

// The codes of the groups, the largest first.
const bySize = () => groups().sizes.map((n, code) => [n, code]).sort((a, b) => b[0] - a[0] || a[1] - b[1]).map(([, code]) => code);

// The largest groups have colours of their own; the others share the last one.
function colour(group) {
  const rank = bySize().indexOf(group);
  return rank < COLOURS ? `group-${rank}` : "group-rest";
}

function legend() {
  if (!partitions.length) return null;
  const order = bySize();
  const shown = order.slice(0, COLOURS);
  const items = shown.map((code) =>
    el("li", null, el("span", { class: `dot ${colour(code)}` }), named(groups().labels[code]), ` (${say.count(groups().sizes[code])})`));
  if (order.length > COLOURS) items.push(el("li", null, el("span", { class: "dot group-rest" }), `${order.length - COLOURS} smaller groups`));
  return el("ul", { class: "legend", "aria-label": "Groups and their colours" }, items);
}

function divider() {
  if (partitions.length < 2) return null;
  const select = el("select", { onchange: () => state.divide(Number(select.value)) },
    partitions.map((part, place) => el("option", { value: String(place) }, part.name)));
  select.value = String(state.partition);
  return el("label", { class: "field inline" }, "Groups by ", select);
}
