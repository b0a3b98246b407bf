"""An audit on the terminal: what was read, the indices, the groups, and what the figures do not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import floor, isnan, log10
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from evenleaf.audit import SMALL_GROUP, AuditReport, GroupNote, View
from evenleaf.cli.run import readable

_NAMES = {"didi": "DIDI", "dtdi": "DTDI"}
_MOST_NAMES = 12
_MOST_GROUPS = 50
_WIDE = 90  # columns of a terminal that has room for the groups' shares beside their sizes


def show_audit(report: AuditReport, source: str, console: Console | None = None) -> None:
    """Print an audit."""
    console = console or Console(highlight=False)
    console.print(Text(f"Audit of {readable(source)}", style="bold"))
    console.print(_read_as(report))
    _section(console, "How far apart the groups are (0 is not at all)", _indices(report))
    for view in report.views:
        if view.groups:
            _section(console, _title(report, view), _groups(report, view, console.width >= _WIDE))
            if len(view.groups) > _MOST_GROUPS:
                console.print(f"  … the {_MOST_GROUPS} largest of {len(view.groups)} groups; --json has them all")
    for line in _explained(report):
        console.print(Padding(Text(readable(line), style="dim"), (1, 0, 0, 2), expand=False))


def _section(console: Console, title: str, table: Table) -> None:
    console.print()
    console.print(Text(readable(title), style="bold"))
    console.print(table)


def _read_as(report: AuditReport) -> Table:
    """The people, and what each column was taken for."""
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in _facts(report):
        grid.add_row(name, Text(readable(text)))
    return grid


def _facts(report: AuditReport) -> Iterator[tuple[str, str]]:
    dropped = f" ({report.n_dropped:,} incomplete rows left out)" if report.n_dropped else ""
    yield "people", f"{report.n_people:,}{dropped}"
    guessed = " (inferred; --task overrides)" if report.task_inferred else ""
    yield "target", f"{report.target}: {report.task}{guessed}"
    if report.classes is not None:
        yield "decisions", _listed([str(label) for label in report.classes])
    for name, role, kind in (
        ("protected", "protected", None),
        ("weight", "weight", None),
        ("quantitative", "feature", "quantitative"),
        ("categorical", "feature", "categorical"),
    ):
        columns = [column for column in report.columns if column.role == role and kind in (None, column.kind)]
        if columns:
            yield name, _listed([_described(column) for column in columns])


def _described(column: Any) -> str:
    levels = f" ({column.n_levels} levels)" if column.n_levels is not None else ""
    return f"{column.name}{levels}" + (f" [{column.n_missing:,} missing]" if column.n_missing else "")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _indices(report: AuditReport) -> Table:
    table = _table()
    table.add_column("compared by")
    table.add_column("groups", justify="right")
    for note in report.views[0].indices:
        table.add_column(_NAMES[note.index], justify="right", style="bold")
    if report.index("dtdi") is not None:
        table.add_column("nobody near", justify="right", no_wrap=True)
    for view in report.views:
        cells = [f"{note.value:.4f}" for note in view.indices]
        empty = [f"{_empty_share(view):.0%}"] if report.index("dtdi") is not None else []
        table.add_row(Text(readable(_view_name(view, report))), str(view.n_groups), *cells, *empty)
    return table


def _empty_share(view: View) -> float:
    note = next(note for note in view.indices if note.index == "dtdi")
    return note.empty_terms / note.n_terms if note.n_terms else 0.0


def _view_name(view: View, report: AuditReport) -> str:
    names = " × ".join(view.columns) if report.settings["groups"] == "joint" else " + ".join(view.columns)
    return f"{names} (without {view.without})" if view.without else names


def _title(report: AuditReport, view: View) -> str:
    what = "Mean" if report.classes is None else "Rate" if report.positive is not None else "Rates"
    named = "" if report.positive is None else f" = {report.positive}"
    return f"{what} of {report.target}{named} by {' × '.join(view.columns)}"


def _groups(report: AuditReport, view: View, wide: bool) -> Table:
    table = _table()
    table.add_column("group", overflow="fold", min_width=12)
    numbers = ["people", "share"] if wide else ["people"]
    decision = ["decision"] if len(report.overall) > 1 else []
    rate = "mean" if report.classes is None else "rate"
    rest = [f"{report.settings['confidence']:.0%} interval", "vs all"]
    for name in [*numbers, *decision, rate, *rest, *(_NAMES[note.index] for note in view.indices)]:
        table.add_column(
            name, justify="left" if name == "decision" else "right", no_wrap=True, style="bold" if name == rate else ""
        )
    for group in _largest(view.groups):
        _add_group(table, group, report, view, wide)
    table.add_section()
    totals = {note.index: note.value for note in view.indices}
    _add_group(table, GroupNote("everybody", report.n_people, 1.0, report.overall, totals), report, view, wide)
    return table


def _largest(groups: tuple[GroupNote, ...]) -> list[GroupNote]:
    """The groups that a screen has room for, in their own order."""
    sizes = sorted((group.n for group in groups), reverse=True)
    least = sizes[_MOST_GROUPS - 1] if len(groups) > _MOST_GROUPS else 0
    return [group for group in groups if group.n >= least][:_MOST_GROUPS]


def _add_group(table: Table, group: GroupNote, report: AuditReport, view: View, wide: bool) -> None:
    """One line a figure; the group's own cells stand on the first."""
    for number, (figure, overall) in enumerate(zip(group.figures, report.overall, strict=True)):
        own = [readable(group.group), f"{group.n:,}", *([f"{group.share:.1%}"] if wide else [])]
        label = [readable(str(figure["label"]))] if len(report.overall) > 1 else []
        parts = [f"{group.contributions[n.index]:.4f}" if n.index in group.contributions else "" for n in view.indices]
        rate, interval, gap = _figure_cells(figure, overall, report)
        interval = interval if group.n >= SMALL_GROUP else "too few"
        cells = [*own, *label, rate, interval, gap, *parts]
        if number:
            cells[: len(own)], cells[-len(parts) :] = [""] * len(own), [""] * len(parts)
        table.add_row(*(Text(cell) for cell in cells))


def _figure_cells(figure: Mapping[str, Any], overall: Mapping[str, Any], report: AuditReport) -> list[str]:
    """The rate in per cent, its interval and its distance from everybody's in percentage points; or the mean."""
    value, low, high = (figure[key] for key in ("value", "low", "high"))
    if isnan(value):  # a group without weight
        return ["–", "–", ""]
    gap = value - overall["value"]
    if report.classes is None:
        digits = _decimals(report)
        interval = f"{low:,.{digits}f} – {high:,.{digits}f}"
        return [f"{value:,.{digits}f}", interval, "" if figure is overall else f"{gap:+,.{digits}f}"]
    return [f"{value:.1%}", f"{100 * low:.1f} – {high:.1%}", "" if figure is overall else f"{100 * gap:+.1f}"]


def _decimals(report: AuditReport) -> int:
    """So many that the largest mean is shown with four digits."""
    means = [abs(figure["value"]) for view in report.views for group in view.groups for figure in group.figures]
    largest = max((mean for mean in means if not isnan(mean)), default=0.0)
    return min(9, max(0, 3 - floor(log10(largest)))) if largest > 0 else 1


def _table() -> Table:
    return Table(box=SIMPLE_HEAD, pad_edge=True, collapse_padding=True, show_edge=False)


def _explained(report: AuditReport) -> Iterator[str]:
    yield from report.notes
    what, over = ("mean", "groups") if report.classes is None else ("rate", "groups and decisions")
    points = "" if report.classes is None else ", in percentage points"
    yield (
        f"vs all: the group's {what} minus everybody's{points}. DIDI adds up these differences, without "
        f"their signs, over {over}."
    )
    if report.index("dtdi") is not None:
        yield (
            f"DTDI does so among each person's {report.settings['n_neighbors']} most similar people and averages over "
            "people; protected columns are not compared. Nobody near: comparisons without anybody of the group "
            "among the similar people. They count as 0, so that the index is blind there."
        )
    yield (
        "These figures describe this table. They do not say why groups differ, nor whether a difference does harm: "
        "that is for people who know the decisions and those they fall on."
    )
