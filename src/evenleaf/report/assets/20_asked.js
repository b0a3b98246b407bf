// What was asked, and what is proven about the answer.
function makeHead() {
  const asked = report.asked;
  fill(document.getElementById("title"), "How to decide ", named(asked.target));
  const many = report.trees.length;
  const between = many > 1
    ? `This page shows ${many} small decision trees, from the one that agrees most with the data to the one that treats groups most alike. Each can be read, questioned and defended. Move the handle to see what one costs the other.`
    : "This page shows one small decision tree that can be read, questioned and defended.";
  fill(document.getElementById("lead"), between);
}

function makeAsked() {
  const asked = report.asked;
  const place = body("asked");
  const rows = [
    ["Decided", decided()],
    ["People", [say.people(asked.n_people), " in ", named(asked.source), asked.n_dropped ? ` (${say.count(asked.n_dropped)} incomplete rows left out)` : "", asked.weighted ? ", weighted" : ""]],
    ["Protected", protectedWords()],
    ["The harm that is measured", harmWords()],
    ["Trees allowed", shapeWords()],
    ["What is best", goalWords()],
  ];
  add(place, el("dl", { class: "facts" }, rows.map(([name, words]) => [el("dt", null, name), el("dd", null, words)])));
  add(place, follows(el("div", { class: "proof", id: "proof" }), proofWords));
}

function decided() {
  const asked = report.asked;
  if (!asked.classes) return [named(asked.target), `, a number between ${say.number(report.target.low)} and ${say.number(report.target.high)}`];
  return [named(asked.target), ": ", ...joined(asked.classes.map(named), " or ")];
}

function protectedWords() {
  const asked = report.asked;
  if (!asked.protected.length) return "no column: nothing is said about groups";
  const sizes = asked.partitions.map((part) => part.labels.length);
  return [...joined(asked.protected.map(named)), ` (${sizes.join(" + ")} groups). The trees never look at ${asked.protected.length > 1 ? "them" : "it"}.`];
}

function harmWords() {
  const asked = report.asked;
  if (!asked.index) return "none: the plain tree was asked for";
  const near = asked.harms.some((harm) => harm.startsWith("similar people")) ? ` Similar are the ${asked.n_neighbors} nearest people by every column that is not protected.` : "";
  const nobody = asked.empty_terms ? ` ${say.percent(asked.empty_terms / asked.n_terms, 0)} of the comparisons found nobody of a group nearby; they count as 0, so the index is blind there.` : "";
  return [`${asked.index}: ${say.list(asked.harms)}. 0 means not at all.`, near, nobody];
}

function shapeWords() {
  const shape = report.asked.shape;
  const limits = [`at most ${shape.max_depth} question${shape.max_depth === 1 ? "" : "s"} for any person`];
  limits.push(shape.branching === "linear" ? "each a weighted sum of columns" : "each about one column");
  if (shape.leaves === "linear") limits.push("each leaf a formula");
  if (shape.max_leaves !== null) limits.push(`at most ${shape.max_leaves} leaves`);
  if (shape.min_samples_leaf > 1) limits.push(`at least ${shape.min_samples_leaf} people a leaf`);
  if (shape.max_features_used !== null) limits.push(`at most ${shape.max_features_used} columns in all`);
  if (shape.max_features_per_test !== null) limits.push(`at most ${shape.max_features_per_test} columns a question`);
  if (shape.max_feature_uses !== null && typeof shape.max_feature_uses === "number") limits.push(`each column at most ${shape.max_feature_uses} times`);
  if (shape.allowed_features !== null) limits.push(`only ${shape.allowed_features.length} columns that were allowed`);
  return limits.join("; ");
}

function goalWords() {
  const asked = report.asked;
  const loss = asked.classes ? "the share of decisions that differ from the data" : "the mean absolute error";
  if (!asked.index) return `the least ${loss.replace("the ", "")}`;
  if (asked.max_discrimination !== null) return `the least ${loss.replace("the ", "")}, with ${asked.index} of at most ${say.number(asked.max_discrimination)}`;
  const weight = asked.fairness_weight === null ? "for every weight λ" : `with the weight λ = ${say.number(asked.fairness_weight)}`;
  return `the least sum of ${loss} and λ times ${asked.index}, ${weight}`;
}

function proofWords(tree) {
  const which = report.trees.length > 1 ? `Tree ${state.place + 1}` : "This tree";
  if (!tree.proven) {
    return [el("p", null, el("strong", null, `${which} is not proven optimal. `),
      `It keeps every limit, and the search was stopped (${tree.stop}) before it could rule out a better one: ${tree.gap < 1 ? `another tree could be better by at most ${say.percent(tree.gap)} of the objective` : "how much better another could be is not known"}.`)];
  }
  const when = tree.weight_from === null || !report.asked.index ? "for this question"
    : tree.weight_to === null ? `for every λ above ${say.number(tree.weight_from, 3)}`
      : `for every λ from ${say.number(tree.weight_from, 3)} to ${say.number(tree.weight_to, 3)}`;
  const kept = tree.certificate ? " Its certificate goes into the model file, and evenleaf verify checks it again." : "";
  return [el("p", null, el("strong", null, `✓ ${which} is proven optimal `), `${when}: of all the trees allowed, none is better on these people. The proof is about the optimisation, not about the world.${kept}`)];
}
