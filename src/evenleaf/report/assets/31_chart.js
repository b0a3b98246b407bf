// The trade-off: one dot a tree, further left treats groups more alike, further up agrees more with the data.
function drawTradeoff(width) {
  const height = Math.max(240, Math.min(360, width * 0.62));
  const edge = { left: 58, right: 18, top: 18, bottom: 46 };
  const trees = report.trees;
  const upward = report.asked.classes ? 1 : -1;
  const values = trees.map((tree) => quality(tree).value);
  const limit = Math.max(...trees.map((tree) => tree.discrimination), 1e-9) * 1.06;
  const [low, high] = padded(Math.min(...values), Math.max(...values));
  const x = (value) => edge.left + (value / limit) * (width - edge.left - edge.right);
  const rise = (value) => (upward > 0 ? (value - low) / (high - low) : (high - value) / (high - low));
  const y = (value) => height - edge.bottom - rise(value) * (height - edge.top - edge.bottom);
  const chart = draw("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": chartWords() });
  add(chart, ...axes(x, y, limit, low, high, width, height, edge));
  const data = report.data.discrimination;
  if (data > 0 && data < limit) {
    add(chart, draw("line", { class: "mark", x1: x(data), x2: x(data), y1: edge.top, y2: height - edge.bottom }),
      draw("text", { class: "tick", x: x(data) - 6, y: edge.top + 10, "text-anchor": "end" }, "the data"));
  }
  const line = trees.filter((tree) => tree.on_frontier).map((tree) => `${x(tree.discrimination)},${y(quality(tree).value)}`);
  add(chart, draw("polyline", { class: "curve", points: line.join(" ") }));
  trees.forEach((tree, place) => add(chart, dot(tree, place, x, y)));
  return chart;
}

function dot(tree, place, x, y) {
  const chosen = place === state.place;
  const words = `Tree ${place + 1}: ${summaryWords(tree).join(", ")}`;
  const at = { cx: x(tree.discrimination), cy: y(quality(tree).value) };
  return draw("g", { class: `point${chosen ? " chosen" : ""}${tree.proven ? "" : " open"}`, onclick: () => state.choose(place) },
    draw("title", null, words),
    draw("circle", { class: "reach", ...at, r: 14 }),
    draw("circle", { class: "mark", ...at, r: chosen ? 8 : 4.5 }));
}

function padded(low, high) {
  const room = (high - low) * 0.08 || Math.abs(high) * 0.05 || 0.05;
  return [low - room, high + room];
}

function steps(low, high, about) {
  const raw = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw);
  const found = [];
  for (let at = Math.ceil(low / unit - 1e-9); at * unit <= high + unit * 1e-9; at += 1) found.push(Number((at * unit).toPrecision(12)));
  return found;
}

function axes(x, y, limit, low, high, width, height, edge) {
  const floor = height - edge.bottom;
  const across = steps(0, limit, Math.max(3, Math.floor(width / 110))).map((value) =>
    draw("text", { class: "tick", x: x(value), y: floor + 18, "text-anchor": "middle" }, String(value)));
  const up = steps(low, high, 4).flatMap((value) => [
    draw("line", { class: "grid", x1: edge.left, x2: width - edge.right, y1: y(value), y2: y(value) }),
    draw("text", { class: "tick", x: edge.left - 8, y: y(value) + 4, "text-anchor": "end" }, report.asked.classes ? `${Number((100 * value).toPrecision(6))}%` : say.number(value))]);
  return [...up, ...across,
    draw("line", { class: "axis", x1: edge.left, x2: width - edge.right, y1: floor, y2: floor }),
    draw("text", { class: "axis-name", x: edge.left, y: height - 8 }, `← more alike`),
    draw("text", { class: "axis-name", x: width - edge.right, y: height - 8, "text-anchor": "end" }, report.asked.index)];
}

function chartWords() {
  const first = report.trees[0], last = report.trees[report.trees.length - 1];
  return `Trade-off between ${quality(first).label} and ${report.asked.index}: from ${summaryWords(first).join(", ")}, to ${summaryWords(last).join(", ")}. The table below has every tree.`;
}

// A drawing that is as wide as its place, now and after the window changes.
function fitted(place, render) {
  let width = 0;
  const update = () => { if (width) fill(place, render(width)); };
  const measure = () => {
    const now = Math.floor(place.getBoundingClientRect().width);
    if (now && now !== width) { width = now; update(); }
  };
  new ResizeObserver(measure).observe(place);
  state.listen(update);
  requestAnimationFrame(measure);
  return place;
}
