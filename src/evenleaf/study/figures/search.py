"""What the search does: trees against depth, bounds over time, and how long proofs take."""

from __future__ import annotations

from typing import Any

from evenleaf.study.figures.style import SERIES, TITLES, Look, canvas
from evenleaf.study.results import Results
from evenleaf.study.views import AtDepth, Race, Times, by_depth, races, times


def draw_depth(results: Results) -> Any:
    """Figure 2(a, b) of the paper: the objective with its bound; accuracy; fairness."""
    entries = by_depth(results)
    weights = sorted({entry.weight for entry in entries})
    with canvas(1, 3, (9.6, 3.0)) as (figure, axes):
        objective, accuracy, fairness = axes.ravel()
        for number, (weight, look) in enumerate(zip(weights, SERIES, strict=False)):
            mine = [entry for entry in entries if entry.weight == weight]
            depths = [entry.depth + 0.06 * (number - (len(weights) - 1) / 2) for entry in mine]  # side by side
            _objective(objective, depths, mine, look)
            for panel, values in (
                (accuracy, [100 * entry.test_accuracy for entry in mine]),
                (fairness, [100 * entry.test_dtdi for entry in mine]),
            ):
                panel.plot(depths, values, color=look.colour, linestyle=look.dashes, marker=look.marker)
        titles = ("objective in training", "accuracy on test people, %", "DTDI on test people, %")
        for panel, title in zip((objective, accuracy, fairness), titles, strict=True):
            panel.set_title(title, loc="left")
            panel.set_xlabel("depth")
            panel.set_xticks(sorted({entry.depth for entry in entries}))
        figure.legend(
            *objective.get_legend_handles_labels(),
            title="hollow: not proven; the line below is the bound",
            title_fontsize=8,
            fontsize=8,
            loc="outside lower center",
            ncols=4,
        )
        return figure


def _objective(panel: Any, depths: list[float], entries: list[AtDepth], look: Look) -> None:
    values = [entry.objective for entry in entries]
    label = f"λ = {entries[0].weight:g}"
    panel.plot(depths, values, color=look.colour, linestyle=look.dashes, marker=look.marker, label=label)
    for depth, entry in zip(depths, entries, strict=True):
        if not entry.proven:
            panel.vlines(depth, entry.bound, entry.objective, color=look.colour, linewidth=1)
            panel.plot(depth, entry.objective, look.marker, color=look.colour, markerfacecolor="white", zorder=4)


def draw_race(results: Results) -> Any:
    """Figure 2(c) of the paper: bound and incumbent over time, both methods in one picture."""
    entries = races(results)
    names = {"search": "exact search", "mip": "mixed-integer program"}
    with canvas(1, 1, (6.0, 3.8)) as (figure, axes):
        panel = axes[0, 0]
        for race, look in zip(entries, (SERIES[0], SERIES[3]), strict=False):
            _race(panel, race, look, names.get(race.method, race.method))
        panel.set_xscale("log")
        panel.set_xlabel("seconds")
        panel.set_ylabel("objective")
        people = entries[0].people if entries else 0
        panel.set_title(f"best tree so far and bound, {people:,} people", loc="left")
        figure.legend(loc="outside lower center", ncols=2, fontsize=8)
        return figure


def _race(panel: Any, race: Race, look: Look, name: str) -> None:
    """The incumbent solid, the bound dotted; both go on to the end of the run."""
    for place, dashes, what in ((2, "-", "best tree"), (1, ":", "bound")):
        known = [(max(point[0], 1e-3), point[place]) for point in race.trace if point[place] is not None]
        if known:
            known.append((max(race.seconds, known[-1][0]), known[-1][1]))
            ending = "" if place == 2 else ", proven" if race.status == "proven" else ", not proven"
            panel.step(
                *zip(*known, strict=True),
                where="post",
                color=look.colour,
                linestyle=dashes,
                marker=look.marker,
                markevery=[-1],
                label=f"{name}: {what}{ending}",
            )


def draw_times(results: Results) -> Any:
    """Seconds a tree, every λ and fold, against the paper's average."""
    entries = times(results)
    with canvas(1, 1, (6.4, 0.55 * len(entries) + 1.5)) as (figure, axes):
        panel = axes[0, 0]
        for place, entry in enumerate(reversed(entries)):
            _times(panel, place, entry)
        panel.set_xscale("log")
        panel.set_yticks(range(len(entries)), [_title(entry) for entry in reversed(entries)])
        panel.set_ylim(-0.6, len(entries) - 0.4)
        panel.set_xlabel("seconds a tree")
        panel.grid(visible=False, axis="y")
        marks = panel.get_legend_handles_labels()
        unique = dict(zip(marks[1], marks[0], strict=True))
        figure.legend(unique.values(), unique, loc="outside lower center", ncols=3, fontsize=8)
        return figure


def _times(panel: Any, place: int, entry: Times) -> None:
    ours, paper = SERIES[0], SERIES[3]
    panel.scatter(
        entry.proven, [place] * len(entry.proven), s=22, marker="o", color=ours.colour, alpha=0.6, label="proven"
    )
    panel.scatter(entry.stopped, [place] * len(entry.stopped), s=26, marker="x", color=ours.colour, label="not proven")
    if entry.paper is not None:
        panel.scatter(
            [entry.paper], [place], s=45, marker=paper.marker, color=paper.colour, label="the paper's average (20 CPUs)"
        )


def _title(entry: Times) -> str:
    return f"{TITLES.get(entry.data, entry.data)}, {entry.people:,} people"
