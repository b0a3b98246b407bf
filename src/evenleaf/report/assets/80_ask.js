// Enter a person and see the path, under the chosen tree and in short under all others.
function makeAsk() {
  const place = body("ask");
  const entered = {};
  const form = el("form", { class: "ask", onsubmit: (event) => event.preventDefault() });
  // Only the decision is read out when it changes, not the whole path.
  const result = el("p", { class: "result", "aria-live": "polite" });
  const steps = el("div");
  const answer = el("div", { class: "answer", id: "answer" }, result, steps);
  add(place, el("p", null, "Describe a person, real or imagined. Only the columns that some tree here asks about matter; what is left open counts as missing."), form, answer);
  const inputs = Object.entries(report.columns).map(([position, column]) => [position, field(position, column)]);
  add(form, ...inputs.map(([, label]) => label), el("p", null, el("button", { type: "reset", class: "button quiet", onclick: () => setTimeout(update) }, "Clear")));
  state.listen(update);
  update();

  function field(position, column) {
    const input = column.kind === "categorical"
      ? el("select", { "data-column": position, onchange: update }, el("option", { value: "" }, "(missing)"), column.levels.map((level, code) => el("option", { value: String(code) }, level)))
      : el("input", { type: "number", step: "any", inputmode: "decimal", "data-column": position, oninput: update, placeholder: column.quarters ? `often ${say.threshold(column.quarters[0])} to ${say.threshold(column.quarters[2])}` : "" });
    entered[position] = input;
    return el("label", { class: "field" }, el("span", null, named(column.name)), input);
  }

  function update() {
    const person = Object.fromEntries(Object.entries(entered).map(([position, input]) => [position, input.value === "" ? null : Number(input.value)]));
    const tree = state.tree();
    const asks = new Set(tree.nodes.flatMap((node) => [...(node.test?.terms || node.terms || []).map((term) => term.column), ...(node.test && !node.test.terms ? [node.test.column] : [])]));
    inputs.forEach(([position, label]) => label.classList.toggle("idle", !asks.has(Number(position))));
    const path = follow(tree, person);
    fill(result, named(report.asked.target), " = ", el("strong", { id: "decided" }, outcome(tree, person, path)));
    fill(steps,
      el("ol", { class: "path" }, path.slice(0, -1).map((position, number) => {
        const node = tree.nodes[position];
        return el("li", null, question(node.test), "? ", el("strong", null, path[number + 1] === node.left ? "yes" : "no"), unknown(node.test, person) ? " (missing values go this way)" : "");
      })),
      path.length === 1 ? el("p", null, "This tree asks nothing: everybody is decided alike.") : null,
      drawTree(tree, path), others(person));
  }
}

// The nodes that a person passes, root first: the same rules as evenleaf predict.
function follow(tree, person) {
  const path = [0];
  while (tree.nodes[path[path.length - 1]].test) {
    const node = tree.nodes[path[path.length - 1]];
    path.push(goesLeft(node.test, person) ? node.left : node.right);
  }
  return path;
}

function goesLeft(test, person) {
  if (test.terms) return weigh(test.terms, person) <= test.threshold;
  const value = person[test.column];
  if (value === null) return test.missing_left;
  return "levels" in test ? test.levels.includes(value) : value <= test.threshold;
}

function weigh(terms, person) {
  return terms.reduce((total, term) => {
    const value = person[term.column];
    const read = "level" in term ? Number(value === term.level) : value === null ? term.fill : value;
    return total + term.coefficient * read;
  }, 0);
}

const unknown = (test, person) => !test.terms && person[test.column] === null;

function decide(tree, person, path) {
  const leaf = tree.nodes[path[path.length - 1]];
  if (report.asked.classes) return leaf.value;
  const raw = leaf.value + weigh(leaf.terms || [], person);
  return Math.min(report.target.high, Math.max(report.target.low, raw));
}

function outcome(tree, person, path) {
  const decided = decide(tree, person, path);
  return report.asked.classes ? named(report.asked.classes[decided]) : say.number(decided, 6);
}

// What every tree would decide about this person, neighbours that agree taken together.
function others(person) {
  if (report.trees.length < 2) return null;
  const runs = [];
  report.trees.forEach((tree, place) => {
    const decided = decide(tree, person, follow(tree, person));
    const last = runs[runs.length - 1];
    if (last && last.decided === decided) last.to = place;
    else runs.push({ decided, from: place, to: place });
  });
  const words = (run) => (run.from === run.to ? `tree ${run.from + 1}` : `trees ${run.from + 1} to ${run.to + 1}`);
  return el("p", { class: "small", id: "all-decided" }, "Along the whole trade-off: ", joined(runs.map((run) =>
    el("span", null, `${words(run)}: `, report.asked.classes ? named(report.asked.classes[run.decided]) : say.number(run.decided))), "; "), ".");
}
