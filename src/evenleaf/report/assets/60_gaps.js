// The distribution of γ(x): for each person, the local rate of their own group minus the local rate of everybody.
function makeGaps() {
  const axis = report.gaps;
  if (axis === null) return;
  const place = body("gaps");
  let shown = 0;
  const redraw = () => state.tell();
  const select = axis.classes.length > 1 && report.asked.classes
    ? el("label", { class: "field inline" }, "Decision ", el("select", { onchange: (event) => { shown = Number(event.target.value); redraw(); } },
      axis.classes.map((code, number) => el("option", { value: String(number) }, report.asked.classes[code]))))
    : null;
  add(place,
    el("p", null, `Take a person and the ${axis.n_neighbors} people most like them. γ is how much more often those of the person's own group (by `, named(axis.partition), ") receive ",
      report.asked.classes ? (report.asked.positive === null ? "the decision" : named(report.asked.classes[report.asked.positive])) : "more",
      " than all of them together. Nobody is treated apart from similar people where γ is 0."),
    select,
    follows(el("p", { class: "key", id: "gap-words" }), (tree) => gapWords(tree, shown)),
    fitted(el("div", { class: "plot" }), (width) => drawGaps(width, shown)));
  if (axis.empty) add(place, el("p", { class: "small" }, `${say.people(axis.empty)} had nobody of their own group nearby; their γ counts as 0.`));
}

function gapWords(tree, shown) {
  const own = tree.gaps[shown], plain = state.start().gaps[shown];
  const part = (figures) => `no gap for ${say.percent(figures.none)} of people, a gap of more than ${report.asked.classes ? "10 points" : "a tenth of the range"} for ${say.percent(figures.notable)}`;
  const which = report.trees.length > 1 ? `Tree ${state.place + 1}` : "This tree";
  const first = [el("span", { class: "dot chosen-tree" }), ` ${which}: ${part(own)}.`];
  if (tree === state.start()) return first;
  return [...first, el("br"), el("span", { class: "dot plain-tree" }), ` Tree 1, the most accurate: ${part(plain)}.`];
}

function drawGaps(width, shown) {
  const height = 230, floor = height - 40, top = 26;
  const middles = report.gaps.middles, count = middles.length, middle = (count - 1) / 2;
  const own = state.tree().gaps[shown].counts, plain = state.start().gaps[shown].counts;
  // Those without a gap are most people: drawn, they would flatten everybody else. The words above count them.
  const outside = (counts) => counts.map((n, place) => (place === middle ? 0 : n));
  const most = Math.max(...outside(own), ...outside(plain));
  if (!most) return el("p", { class: "small" }, "There is no gap to draw.");
  const step = (width - 24) / count;
  const x = (place) => 12 + place * step;
  const y = (n) => floor - (n / most) * (floor - top);
  const bars = outside(own).map((n, place) => (n ? draw("rect", { class: "bar-own", x: x(place) + 1, width: Math.max(1, step - 2), y: y(n), height: floor - y(n) }) : null));
  const edge = outside(plain).map((n, place) => `${place ? "L" : "M"}${x(place)},${y(n)}L${x(place + 1)},${y(n)}`).join("");
  const share = report.asked.classes !== null;
  const text = (value) => (share ? `${value > 0 ? "+" : ""}${Math.round(100 * value)} points` : `${value > 0 ? "+" : ""}${say.number(value, 2)}`);
  const at = width < 560 ? [0, middle, count - 1] : [0, middle / 2, middle, middle * 1.5, count - 1];
  const marks = at.map((place) => draw("text", { class: "tick", x: Math.min(width - 4, Math.max(4, x(place + 0.5))), y: floor + 18, "text-anchor": place === 0 ? "start" : place === count - 1 ? "end" : "middle" }, text(middles[Math.round(place)])));
  return draw("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram of γ. ${document.getElementById("gap-words")?.textContent || ""}` },
    draw("line", { class: "axis", x1: 0, x2: width, y1: floor, y2: floor }),
    draw("line", { class: "all", x1: x(middle + 0.5), x2: x(middle + 0.5), y1: top - 8, y2: floor }),
    bars, state.tree() === state.start() ? null : draw("path", { class: "edge-plain", d: edge }), marks,
    draw("text", { class: "tick", x: 4, y: 14 }, `up to ${say.people(most)} a bar`),
    draw("text", { class: "axis-name", x: 0, y: height - 4 }, "own group receives less"),
    draw("text", { class: "axis-name", x: width, y: height - 4, "text-anchor": "end" }, "more"));
}
