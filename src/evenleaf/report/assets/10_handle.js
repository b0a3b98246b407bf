// The handle stays in sight: it moves the whole page between the trees of the trade-off.
function makeHandle() {
  if (report.trees.length < 2) return;
  const place = document.getElementById("handle");
  const slider = el("input", {
    type: "range", id: "slider", min: "1", max: String(report.trees.length), step: "1", value: String(state.place + 1),
    "aria-label": "Tree, from the most accurate to the one that treats groups most alike",
    oninput: () => state.choose(Number(slider.value) - 1),
  });
  const step = (by, words, sign) => el("button", { type: "button", class: "step", "aria-label": words, onclick: () => state.choose(state.place + by) }, sign);
  const before = step(-1, "One tree towards accuracy", "‹");
  const after = step(1, "One tree towards equal treatment", "›");
  const now = el("p", { class: "now", id: "now", "aria-live": "polite" });
  add(place,
    el("div", { class: "track" }, before, slider, after),
    el("div", { class: "ends", "aria-hidden": "true" }, el("span", null, "most accurate"), el("span", null, "groups most alike")),
    now);
  place.hidden = false;
  state.listen(update);
  update();

  function update() {
    const tree = state.tree();
    const words = summaryWords(tree);
    slider.value = String(state.place + 1);
    slider.setAttribute("aria-valuetext", `Tree ${state.place + 1} of ${report.trees.length}: ${words.join(", ")}`);
    before.disabled = state.place === 0;
    after.disabled = state.place === report.trees.length - 1;
    fill(now, el("strong", null, `Tree ${state.place + 1} of ${report.trees.length}`), words.map((text) => el("span", null, text)), badge(tree));
  }
}

function summaryWords(tree) {
  const index = report.asked.index ? [`${report.asked.index} ${say.index(tree.discrimination)}`] : [];
  return [`${quality(tree).text} ${quality(tree).label}`, ...index, `${tree.leaves} ${tree.leaves === 1 ? "leaf" : "leaves"}`];
}

function badge(tree) {
  return tree.proven
    ? el("span", { class: "badge proven" }, "✓ proven optimal")
    : el("span", { class: "badge open" }, tree.gap < 1 ? `not proven, gap ${say.percent(tree.gap)}` : "not proven");
}
