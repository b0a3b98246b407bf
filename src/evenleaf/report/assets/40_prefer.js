// A short series of choices between two trees finds the trade-off that somebody would defend.
// Preferring one of two trees says on which side of their tie (the λ at which both are worth the same) one's own λ is.
function makePrefer() {
  if (onFrontier().length < 2) return;
  const place = body("prefer");
  const stage = el("div", { class: "prefer", id: "prefer-stage" });
  add(place,
    el("p", null, "You need not know what weight λ you want. Answer a few questions about two trees at a time; your answers lead to the tree whose trade-off you would make."),
    stage);
  ask({ from: 0, to: Infinity }, 1, false);

  function ask(known, number, focus) {
    const left = candidates(known);
    if (left.length === 1) return finish(left[0], focus);
    const [plain, fair] = nextPair(known);
    const tie = tieOf(plain, fair);
    const most = number - 1 + Math.ceil(Math.log2(left.length));
    const heading = el("h3", { tabindex: "-1" }, `Question ${number} of about ${most}`);
    const answer = (from, to) => ask({ from, to }, number + 1, true);
    fill(stage, heading,
      el("div", { class: "choices" },
        offer(plain, fair, () => answer(known.from, tie)),
        offer(fair, plain, () => answer(tie, known.to))),
      el("p", { class: "small" }, el("button", { type: "button", class: "link", onclick: () => answer(tie, tie) }, "Both are worth the same to me")));
    if (focus) heading.focus();
  }

  function finish(chosen, focus) {
    const tree = report.trees[chosen];
    const heading = el("h3", { tabindex: "-1", id: "preferred" }, `You would defend tree ${chosen + 1}`);
    state.choose(chosen);
    fill(stage, heading,
      el("p", null, `${summaryWords(tree).join(", ")}; ${interval(tree)}. The handle has moved to it.`),
      el("p", null, el("button", { type: "button", class: "button", onclick: () => ask({ from: 0, to: Infinity }, 1, true) }, "Start again"), " ",
        el("a", { href: "#explore" }, "See the tree")));
    if (focus) heading.focus();
  }
}

const onFrontier = () => report.trees.map((tree, place) => place).filter((place) => report.trees[place].on_frontier);
const weightTo = (place) => report.trees[place].weight_to ?? Infinity;

// The λ at which two trees are worth the same.
function tieOf(plain, fair) {
  const [a, b] = [report.trees[plain], report.trees[fair]];
  return (b.loss - a.loss) / (a.discrimination - b.discrimination);
}

// The trees that are best for some λ that is still possible; of equals (both ends the same) the fairer one.
function candidates(known) {
  const all = onFrontier();
  if (known.from === known.to) return all.filter((place) => report.trees[place].weight_from <= known.from).slice(-1);
  return all.filter((place) => report.trees[place].weight_from < known.to && weightTo(place) > known.from);
}

// The pair whose answer leaves the fewest trees whatever it is; of such pairs the one that differs most.
function nextPair(known) {
  const left = candidates(known);
  let best = null;
  for (const plain of left) {
    for (const fair of left.filter((place) => place > plain)) {
      const tie = tieOf(plain, fair);
      const most = Math.max(candidates({ from: known.from, to: tie }).length, candidates({ from: tie, to: known.to }).length);
      const apart = report.trees[plain].discrimination - report.trees[fair].discrimination;
      if (best === null || most < best.most || (most === best.most && apart > best.apart)) best = { most, apart, pair: [plain, fair] };
    }
  }
  return best.pair;
}

function offer(place, other, choose) {
  const tree = report.trees[place];
  const lines = [[quality(tree).label, quality(tree).text], [report.asked.index, say.index(tree.discrimination)], ["size", size(tree)]];
  const spread = spreadOf(tree);
  if (spread !== null) lines.push([spread.label, spread.text]);
  return el("div", { class: "offer" },
    el("h4", null, `Tree ${place + 1}`),
    el("dl", { class: "lines" }, lines.map(([name, value]) => el("div", null, el("dt", null, name), el("dd", null, value)))),
    el("details", { class: "more" }, el("summary", null, "The tree in words"), el("pre", { tabindex: "0" }, tree.text)),
    el("button", { type: "button", class: "button", "aria-label": `I would rather defend tree ${place + 1} than tree ${other + 1}`, onclick: choose }, "I would rather defend this one"));
}

// The lowest and the highest rate of any group that is large enough to speak of.
function spreadOf(tree) {
  const rows = tree.rates[0].filter((row) => row.group !== null && !row.few && row.value !== null && (row.measure === "rate" || row.measure === "mean"));
  if (report.asked.positive === null && report.asked.classes) return null;
  if (rows.length < 2) return null;
  const values = rows.map((row) => row.value);
  const text = report.asked.classes ? (x) => say.percent(x, 0) : (x) => say.number(x);
  const label = report.asked.classes ? ["groups that receive ", named(report.asked.classes[report.asked.positive])] : ["means of the groups"];
  return { label, text: `${text(Math.min(...values))} to ${text(Math.max(...values))}` };
}
