// Rates by group with their intervals, for the chosen tree and for the decisions in the data.
const MEASURES = {
  rate: "receive it",
  mean: "mean decision",
  error_rate: "decided otherwise than in the data",
  true_positive_rate: "of those who have it in the data, found",
  false_positive_rate: "of the others, wrongly chosen",
  mean_error: "decided minus data, on average",
  mean_absolute_error: "mean absolute error",
};
const MOST_GROUPS = 40;

function makeGroups() {
  if (!partitions.length) return;
  const place = body("groups");
  const kinds = measureKinds();
  let chosen = 0;
  const plot = el("div", { class: "rates", id: "rates" });
  const radios = kinds.map((kind, number) => el("label", { class: "choice" },
    el("input", { type: "radio", name: "measure", value: String(number), checked: number === 0, onchange: () => { chosen = number; state.tell(); } }),
    el("span", null, kind.words)));
  add(place,
    el("p", null, "Each line is a group: the dot is its rate under the chosen tree, the bar the interval in which 95 of 100 resampled groups fall. The ring is what the data holds, the upright line everybody's rate under the tree."),
    el("fieldset", { class: "choices-line" }, el("legend", null, "Show"), radios),
    follows(el("div", { class: "key" }), () => divider()),
    fitted(plot, (width) => drawRates(kinds[chosen], width)));
}

function measureKinds() {
  const rows = report.trees[0].rates[0].filter((row) => row.group === null);
  return rows.map((row) => ({ measure: row.measure, label: row.label, words: measureWords(row) }));
}

function measureWords(row) {
  if (row.measure === "rate") return ["receive ", named(row.label)];
  return [MEASURES[row.measure] || row.measure];
}

function pick(rates, kind) {
  return rates[state.partition].filter((row) => row.measure === kind.measure && row.label === kind.label);
}

function drawRates(kind, width) {
  const rows = pick(state.tree().rates, kind);
  const data = new Map(pick(report.data.rates, kind).map((row) => [row.group, row]));
  const everybody = rows.find((row) => row.group === null);
  const named_ = rows.filter((row) => row.group !== null).sort((a, b) => b.n - a.n);
  const ends = [...rows.flatMap((row) => [row.value, row.low, row.high]), ...[...data.values()].map((row) => row.value)].filter((value) => value !== null);
  const share = report.asked.classes !== null;
  const [low, high] = share ? [0, Math.min(1, Math.max(0.1, Math.ceil(Math.max(...ends, 0) * 10 + 1e-9) / 10))] : padded(Math.min(...ends), Math.max(...ends));
  const text = share ? (value) => say.percent(value) : (value) => say.number(value);
  const room = Math.max(120, Math.min(620, width < 640 ? width - 24 : width - 380));
  const x = (value) => 8 + ((value - low) / (high - low)) * (room - 16);
  const line = (row) => rateLine(row, data.get(row.group), everybody, x, room, text);
  const more = named_.length > MOST_GROUPS ? el("p", { class: "small" }, `The ${MOST_GROUPS} largest of ${named_.length} groups; the JSON has them all.`) : null;
  return [el("ul", null, [everybody, ...named_.slice(0, MOST_GROUPS)].map(line)), scale(x, low, high, room, text), more];
}

function rateLine(row, data, everybody, x, room, text) {
  const figure = row.value === null ? "nobody to count" : text(row.value);
  const ends = row.value === null ? "" : row.few ? "too few for an interval" : `${text(row.low)} – ${text(row.high)}`;
  const held = data && data.value !== null ? `in the data ${text(data.value)}` : "";
  const chart = draw("svg", { width: room, height: 26, viewBox: `0 0 ${room} 26`, "aria-hidden": "true" },
    draw("line", { class: "rail", x1: 0, x2: room, y1: 13, y2: 13 }),
    everybody.value === null ? null : draw("line", { class: "all", x1: x(everybody.value), x2: x(everybody.value), y1: 1, y2: 25 }),
    row.low === null || row.value === null ? null : draw("line", { class: "span", x1: x(row.low), x2: x(row.high), y1: 13, y2: 13 }),
    data && data.value !== null ? draw("circle", { class: "ring", cx: x(data.value), cy: 13, r: 5.5 }) : null,
    row.value === null ? null : draw("circle", { class: "spot", cx: x(row.value), cy: 13, r: 5 }));
  return el("li", { class: row.group === null ? "everybody" : null },
    el("span", { class: "who-name" }, row.group === null ? "everybody" : named(row.group), el("small", null, say.people(row.n))),
    chart,
    el("span", { class: "what" }, el("strong", null, figure), ends ? el("small", null, ends) : null, held ? el("small", null, held) : null));
}

function scale(x, low, high, room, text) {
  const marks = steps(low, high, Math.max(2, Math.floor(room / 130)));
  return el("div", { class: "scale", "aria-hidden": "true" }, draw("svg", { width: room, height: 18, viewBox: `0 0 ${room} 18` },
    marks.map((value) => draw("text", { class: "tick", x: x(value), y: 13, "text-anchor": value === low ? "start" : x(value) > room - 20 ? "end" : "middle" }, report.asked.classes ? `${Number((100 * value).toPrecision(6))}%` : text(value)))));
}
