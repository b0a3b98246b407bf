// Who is decided otherwise than similar people of other groups, and whose decision the chosen tree changes.
function makeDifferent() {
  if (!report.trees[0].different) return;
  const place = body("different");
  const first = partitions[0];
  const directed = report.asked.classes === null || report.asked.positive !== null;
  const better = () => (report.asked.classes ? ["receive ", named(report.asked.classes[report.asked.positive ?? 0])] : ["receive more"]);
  const worse = report.asked.classes ? "do not" : "receive less";
  add(place,
    el("h3", null, "From similar people of other groups"),
    el("p", null, report.asked.classes
      ? "Here people are counted who are decided otherwise than most of the five people most like them in other groups."
      : "Here people are counted whose decision is further than a twentieth of the range from the mean of the five people most like them in other groups."),
    follows(el("div", { id: "different-table" }), (tree) => apartTable(first, tree.different, directed, better(), worse, "Decided otherwise than similar people of other groups")));
  if (report.trees.length > 1) add(place,
    el("h3", null, "From the most accurate tree"),
    follows(el("div", { id: "changed-table" }), (tree) => tree === state.start()
      ? el("p", null, "This is the most accurate tree. Move the handle to see whose decision another tree changes.")
      : [el("p", null, `Against tree 1, tree ${state.place + 1} changes the decision of ${say.people(total(tree.changed, "differ"))}.`),
        apartTable(first, tree.changed, directed, ["now ", ...better()], report.asked.classes ? "no longer" : worse, "Decided otherwise than by tree 1")]));
  add(place, report.includes_rows ? peopleList() : el("p", { class: "small" }, "Single people are not shown: this page holds counts only. --include-rows adds them, for eyes that may see them."));
}

const total = (rows, key) => rows.reduce((sum, row) => sum + row[key], 0);

function apartTable(part, rows, directed, better, worse, words) {
  const headings = ["Group", "People", "Otherwise", "Share", ...(directed ? [better, worse] : [])];
  const lines = rows.map((row, code) => [row, code]).filter(([row]) => row.n).sort((a, b) => b[0].n - a[0].n).slice(0, MOST_GROUPS);
  return table(headings, lines.map(([row, code]) => [named(part.labels[code]), say.count(row.n), say.count(row.differ), meter(row),
    ...(directed ? [say.count(row.gain), say.count(row.lose)] : [])]), { "aria-label": words });
}

function meter(row) {
  const bar = el("span", { class: "filled" });
  bar.style.width = `${(100 * row.differ) / row.n}%`;
  return el("span", { class: "meter" }, el("span", { class: "meter-bar", "aria-hidden": "true" }, bar), say.percent(row.differ / row.n));
}

function peopleList() {
  return el("div", null, el("h3", null, "People to look at"),
    el("p", { class: "small" }, "Personal data: the people whose decision is furthest from that of similar people of other groups, with those people."),
    follows(el("div", { id: "people" }), (tree) => (tree.people.length ? tree.people.map(personCard) : el("p", null, "Under this tree nobody is decided otherwise than similar people of other groups."))));
}

function personCard(person) {
  const columns = report.asked.columns.filter((column) => column.role === "feature").map((column) => column.name);
  const everybody = [person, ...person.near];
  const shown = columns.map((name, place) => [name, place]).filter(([, place]) => everybody.some((one) => one.values[place] !== person.values[place]));
  const same = columns.length - shown.length;
  const lines = shown.map(([name, place]) => [named(name), ...everybody.map((one) => value(one.values[place]))]);
  const told = (one) => (typeof one.decided === "number" ? say.number(one.decided) : named(one.decided));
  lines.push(["decided", ...everybody.map((one) => el("strong", null, told(one)))]);
  lines.push(["in the data", ...everybody.map((one) => (typeof one.truth === "number" ? say.number(one.truth) : named(one.truth)))]);
  const headings = ["", ...everybody.map((one) => el("span", null, named(one.group), el("small", null, ` row ${one.row}`)))];
  return el("details", { class: "person" },
    el("summary", null, named(person.group), `, row ${person.row}: decided `, told(person), report.asked.classes ? `, ${say.percent(person.apart, 0)} of similar people otherwise` : ""),
    table(headings, lines, { "aria-label": `Row ${person.row} and similar people` }),
    same ? el("p", { class: "small" }, `All agree on the other ${same} column${same === 1 ? "" : "s"}.`) : null);
}

const value = (text) => (text === null ? "missing" : named(text));
