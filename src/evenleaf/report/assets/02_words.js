// Numbers and names as people read them. A name is isolated, so that no script direction in it turns the rest around.
const whole = new Intl.NumberFormat("en");

const say = {
  count: (n) => whole.format(n),
  people: (n) => `${whole.format(n)} ${n === 1 ? "person" : "people"}`,
  percent: (x, digits = 1) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(digits)}%`),
  // Sums of many terms leave a little dust where the truth is zero.
  index: (x) => (x === null ? "–" : x < 1e-12 ? "0" : x < 0.00005 ? "< 0.0001" : x.toFixed(4)),
  number: (x, digits = 4) => {
    if (x === null || x === undefined) return "–";
    const short = Number(x.toPrecision(digits));
    return Math.abs(short) >= 1e-4 && Math.abs(short) < 1e15
      ? short.toLocaleString("en", { maximumFractionDigits: 12 }) : String(short);
  },
  threshold: (x) => String(Number(x.toPrecision(10))),
  list: (words) => (words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`),
};

function named(text) {
  return el("bdi", { class: "name", title: text.length > 60 ? text : null }, text);
}

function joined(nodes, between = ", ") {
  return nodes.flatMap((node, place) => (place ? [between, node] : [node]));
}

const MOST_LEVELS = 6;

function levels(column, codes) {
  const shown = codes.slice(0, MOST_LEVELS).map((code) => named(column.levels[code]));
  if (codes.length === 1) return shown;
  const more = codes.length > MOST_LEVELS ? [`, … (${codes.length - MOST_LEVELS} more)`] : [];
  return ["one of ", ...joined(shown), ...more];
}

function sum(terms) {
  return terms.flatMap((term, place) => {
    const column = report.columns[term.column];
    const sign = term.coefficient < 0 ? "−" : place ? "+" : "";
    const factor = "level" in term
      ? ["[", named(column.name), " is ", named(column.levels[term.level]), "]"] : [named(column.name)];
    return [`${place ? " " : ""}${sign}${place ? " " : ""}${say.number(Math.abs(term.coefficient), 6)}·`, ...factor];
  });
}

// The statement that holds on the "yes" side of a test.
function question(test) {
  if (test.terms) return [...sum(test.terms), ` ≤ ${say.threshold(test.threshold)}`];
  const column = report.columns[test.column];
  if (!("levels" in test)) return [named(column.name), ` ≤ ${say.threshold(test.threshold)}`];
  const others = column.levels.map((_, code) => code).filter((code) => !test.levels.includes(code));
  if (!others.length) return [named(column.name), " is known"];
  if (!test.levels.length) return [named(column.name), test.missing_left ? " is missing" : " is none of its levels"];
  if (others.length < test.levels.length) return [named(column.name), " is not ", ...levels(column, others)];
  return [named(column.name), " is ", ...levels(column, test.levels)];
}

function decision(node) {
  if (report.asked.classes) return [named(report.asked.classes[node.value])];
  if (!node.terms) return [say.number(node.value)];
  return [say.number(node.value), " + ", ...sum(node.terms)];
}

// How good a tree is, in the words of its task.
function quality(tree) {
  if (tree.accuracy !== null) {
    return { label: "decided as in the data", value: tree.accuracy, text: say.percent(tree.accuracy) };
  }
  return { label: "mean absolute error", value: tree.loss, text: say.number(tree.loss) };
}

function interval(tree) {
  if (tree.weight_from === null) return "asked for by itself";
  if (tree.weight_to === null) return `λ above ${say.number(tree.weight_from, 3)}`;
  return `λ from ${say.number(tree.weight_from, 3)} to ${say.number(tree.weight_to, 3)}`;
}

function size(tree) {
  if (tree.leaves === 1) return "no question, 1 leaf";
  return `${tree.leaves - 1} question${tree.leaves > 2 ? "s" : ""}, ${tree.leaves} leaves`;
}
