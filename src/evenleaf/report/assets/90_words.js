// How to read this, what it does not say, and how to make it again.
function makeReading() {
  const asked = report.asked;
  const lines = [
    "Start at the top of the tree and answer its questions; the leaf where you arrive is the decision. Every person is decided by the same questions.",
    asked.classes ? "“Decided as in the data” counts the decisions that agree with the table. Where the table holds past decisions, agreeing with them is agreeing with the past."
      : "The mean absolute error is how far a decision is from the value in the table, on average.",
  ];
  if (asked.index) {
    lines.push(`${asked.index} describes a difference between groups: ${say.list(asked.harms)}. 0 is no difference. It is a description of these decisions, not a verdict on anybody.`);
    const worth = asked.classes ? "one hundredth less of the index is worth as much as one more decision in a hundred that agrees with the data" : "one unit less of the index is worth as much as one unit less of mean absolute error";
    lines.push(`λ says how much of one is given up for the other: with λ = 1, ${worth}. Two trees that tie at a λ are worth the same to somebody with that λ.`);
  }
  lines.push("“Proven optimal” means that no other tree of the allowed kind is better for the question that was asked, on these people. Another question has another optimum.");
  if (partitions.length) lines.push("An interval says how much a rate would move if other people like these had been in the table. “Too few” stands where a group is too small to say.");
  add(body("read"), el("ul", { class: "prose" }, lines.map((line) => el("li", null, line))));
}

function makeLimits() {
  const asked = report.asked;
  const fresh = report.trees[0].fresh;
  const lines = [
    fresh ? `Unless it says “new people” (${say.count(fresh.n)} others, whom the trees had not seen), a figure is about the people the trees were learned from.`
      : "All figures are about the people the trees were learned from. How a rule does among new people must be looked at with new people.",
    "Labels may be unfair themselves. A tree that agrees with them repeats what they hold.",
    "A weight mitigates one named harm between the groups that were named, in this table. Groups that were not named were not looked at, nor were people who are not in the table.",
    "Protected columns are left out of the trees; other columns may carry them along. The index is there to see that, the tree is there to be questioned.",
    "Nothing here says why groups differ, or whether a difference does harm. That is for people who know the decisions and those they fall on.",
    "Counts of small groups can point at single people. Think before you publish.",
  ];
  if (!partitions.length) lines.splice(2, 2, "No groups were named, so nothing is said about groups.");
  if (asked.empty_terms) lines.push(`${say.count(asked.empty_terms)} of ${say.count(asked.n_terms)} comparisons found nobody to compare with; they count as no difference.`);
  add(body("limits"), el("ul", { class: "prose" }, lines.map((line) => el("li", null, line))));
}

function makeAgain() {
  const from = report.provenance;
  const rows = [
    ["Command", from.command ? el("code", null, from.command) : "made from Python"],
    ["Data", [named(report.asked.source), `, SHA-256 of its columns `, el("code", null, from.checksum)]],
    ["Seed", String(from.seed)],
    ["Solver", from.solver],
    ["Versions", `Evenleaf ${from.evenleaf}, Python ${from.python}, ${Object.entries(from.packages).map(([name, version]) => `${name} ${version}`).join(", ")}; ${from.platform}`],
    ["Made", from.made],
  ];
  add(body("again"),
    el("dl", { class: "facts" }, rows.map(([name, words]) => [el("dt", null, name), el("dd", null, words)])),
    el("p", null, el("button", { type: "button", class: "button quiet", onclick: save }, "Save all figures as JSON"), " ",
      el("span", { class: "small" }, "They are also in this file, in the element evenleaf-data.")));
}

function save() {
  const link = el("a", { download: "evenleaf-report.json", href: URL.createObjectURL(new Blob([JSON.stringify(report, null, 2)], { type: "application/json" })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
