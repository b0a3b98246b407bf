"""The findings as a page: the claims with their verdicts, the tables and figures, and every choice that was made."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenleaf.study.claims import MARGIN, all_claims
from evenleaf.study.figures.style import TITLES
from evenleaf.study.levels import LEVELS, at_levels
from evenleaf.study.results import Results, mean
from evenleaf.study.views import Fairest, fairest, times

_FIGURES = (
    ("trade-off-{index}", "Accuracy against discrimination on the test people; one point a fold and method at λ*."),
    ("fairest-{index}", "Every method at its least discrimination in training; the line is the range over the folds."),
    ("depth", "Objective, accuracy and fairness against depth."),
    ("bounds", "Bound and best tree over time, the exact search and the mixed-integer program on the same question."),
    ("gamma-{data}", "The distribution of γ(x) over the test people for λ = 0, a middle λ and λ*."),
    ("times", "Seconds a tree against the paper's average."),
)


def findings_page(results: Results, figures: Iterable[Path] = ()) -> str:
    """The page as Markdown; figures are linked where they were drawn."""
    there = {path.stem for path in figures}
    parts = [
        "# Findings",
        "Generated from the results by `evenleaf study`; nothing on this page is written by hand.",
        _claims(results),
        *(_tables(results, index) for index in results.protocol["indices"]),
        _times(results),
        _pictures(results, there),
        _choices(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _claims(results: Results) -> str:
    rule = (
        "Each claim of the paper is asked by a fixed rule. *Zero discrimination* is the paper's λ*: the first setting "
        f"whose DTDI in training is below {_percent(results.protocol['tolerance'])}. Methods are compared on test "
        f"people: a difference of means below {MARGIN:g} counts as none, one that a t-test over the folds does not see "
        "(95 %) is within the noise, and a method that does not reach zero in every fold has nothing to show. A tree "
        "that decides everybody alike is perfectly fair and of no use: where that is what zero costs, the evidence "
        "says so."
    )
    rows = [
        (claim.text, TITLES.get(claim.data, claim.data), claim.verdict, claim.evidence) for claim in all_claims(results)
    ]
    return f"## The paper's claims\n\n{rule}\n\n{table(('claim', 'data', 'verdict', 'evidence'), rows)}"


def _tables(results: Results, index: str) -> str:
    parts = [f"## At the least discrimination, by {index.upper()}"]
    for data in results.data:
        numbers = results.task(data) == "regression"
        unit = "error" if numbers else "accuracy"
        head = (
            "method",
            unit,
            "range",
            f"{index.upper()} test",
            f"{index.upper()} train",
            "reached",
            "all alike",
            "proven",
            "λ* or ε*",
        )
        rows = [_row(entry, numbers=numbers) for entry in fairest(results, data, index)]
        parts += [f"### {TITLES.get(data, data)}", table(head, rows), _levels(results, data, index, numbers=numbers)]
    return "\n\n".join(parts)


def _row(entry: Fairest, *, numbers: bool) -> tuple[str, ...]:
    show = _error if numbers else _percent
    return (
        entry.method,
        show(entry.mean),
        f"{show(min(entry.values))} to {show(max(entry.values))}",
        _percent(mean(entry.discrimination)),
        _percent(mean(entry.train)),
        f"{entry.reached} of {entry.folds}",
        str(entry.constant),
        "" if entry.proven is None else f"{entry.proven} of {entry.folds}",
        ", ".join(f"{setting:g}" for setting in entry.settings),
    )


def _levels(results: Results, data: str, index: str, *, numbers: bool) -> str:
    """The same when some discrimination is allowed."""
    show = _error if numbers else _percent
    found = at_levels(results, data, index)
    cells = {(entry.method, entry.level): "–" if entry.value is None else show(entry.value) for entry in found}
    methods = [method for method in results.methods(data) if (method, LEVELS[0]) in cells]
    head = ("method", *(f"{index.upper()} below {_percent(level)}" for level in LEVELS))
    rows = [(method, *(cells[method, level] for level in LEVELS)) for method in methods]
    unit = "error" if numbers else "accuracy"
    return f"The {unit} on test people when that much discrimination in training is allowed:\n\n{table(head, rows)}"


def _times(results: Results) -> str:
    rows = [
        (
            TITLES.get(entry.data, entry.data),
            f"{entry.people:,}",
            f"{entry.average:.2f}",
            f"{len(entry.proven)} of {len(entry.proven) + len(entry.stopped)}",
            "" if entry.paper is None else f"{entry.paper:,.0f}",
        )
        for entry in times(results)
    ]
    return "## Solve times\n\n" + table(("data", "people", "seconds a tree", "proven", "seconds in the paper"), rows)


def _pictures(results: Results, there: set[str]) -> str:
    lines = ["## Figures"] if there else []
    for pattern, words in _FIGURES:
        names = {
            pattern.format(index=index, data=data) for index in results.protocol["indices"] for data in results.data
        }
        lines += [
            f"![{words}](figures/{name}.png)\n\n{words} ([SVG](figures/{name}.svg))" for name in sorted(names & there)
        ]
    return "\n\n".join(lines)


def _choices(results: Results) -> str:
    """Everything that decides a result and that the paper leaves open or this machine adds."""
    record = results.record
    protocol = [(name.replace("_", " "), _plain(value)) for name, value in record["settings"]["protocol"].items()]
    data = [
        (
            plan["name"],
            f"{plan['folds']} folds",
            f"{plan['train']:,}",
            f"at most {plan['test']:,}",
            _plain(plan["options"]),
        )
        for plan in record["settings"]["data"]
    ]
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items() if number)
    machine = record["machine"]
    origin = (
        f"Versions: {versions}. Machine: {machine['system']}, {machine['processor']}, {machine['cores']} cores. "
        f"Settings {record['fingerprint'][:12]}; the checksums of the data are in `study.json`."
    )
    parts = [
        "## Choices",
        table(("setting", "value"), [("seed", str(record["settings"]["seed"])), *protocol]),
        table(("data", "folds", "people to learn from", "people to test on", "options"), data),
        origin,
    ]
    return "\n\n".join(parts)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def rows_csv(results: Results) -> str:
    """Every method at λ* in every fold, one line each, for a spreadsheet."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    measures = [(part, name) for part in ("train", "test") for name in ("loss", "dtdi", "didi")]
    facts = ("data", "index", "fold", "method", "dial", "setting", "reached", "constant", "status", "leaves")
    writer.writerow([*facts, *(f"{part} {name}" for part, name in measures)])
    for row in results.chosen:
        writer.writerow([*(row.get(name) for name in facts), *(row[part][name] for part, name in measures)])
    return text.getvalue()


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _error(value: float) -> str:
    return f"{value:.4f}"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{name} = {_plain(entry)}" for name, entry in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
