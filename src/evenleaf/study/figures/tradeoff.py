"""Accuracy against discrimination: clouds with their hulls, and every method at its least discrimination."""

from __future__ import annotations

from typing import Any

from evenleaf.study.figures.style import LOOKS, TITLES, canvas
from evenleaf.study.results import Results
from evenleaf.study.views import Cloud, Fairest, Point, clouds, fairest


def draw_clouds(results: Results, index: str) -> Any:
    """Figure 1 of the paper, one panel a data set."""
    columns = min(2, len(results.data))
    rows = -(-len(results.data) // columns)
    with canvas(rows, columns, (4.2 * columns, 3.2 * rows + 0.5)) as (figure, axes):
        panels, families = axes.ravel(), dict[str, Any]()
        for panel, data in zip(panels, results.data, strict=False):
            numbers = results.task(data) == "regression"
            for cloud in sorted(clouds(results, data, index), key=lambda cloud: -LOOKS[cloud.family].size):
                families[LOOKS[cloud.family].words] = _cloud(panel, cloud, 1.0 if numbers else 100.0)
            panel.set_title(TITLES.get(data, data), loc="left", fontweight="bold")
            panel.set_xlabel(f"discrimination on test people ({index.upper()}), %")
            panel.set_ylabel("mean absolute error (up is better)" if numbers else "accuracy, %")
            if numbers:
                panel.invert_yaxis()
        for panel in panels[len(results.data) :]:
            panel.set_axis_off()
        figure.legend(families.values(), families, loc="outside lower center", ncols=3)
        return figure


def _cloud(panel: Any, cloud: Cloud, unit: float) -> Any:
    look = LOOKS[cloud.family]
    corners = _scaled(cloud.hull, unit)
    if len(cloud.hull) > 2:
        panel.fill(*corners, facecolor=look.colour, alpha=0.10, linewidth=0)
        panel.fill(*corners, fill=False, edgecolor=look.colour, hatch=look.hatch, linewidth=0, alpha=0.45)
    panel.plot(*_scaled((*cloud.hull, cloud.hull[0]), unit), color=look.colour, linestyle=look.dashes, linewidth=1)
    points = _scaled(cloud.points, unit)
    face = look.colour if cloud.family == "MIP-DT" else "none"
    return panel.scatter(
        *points, s=look.size, marker=look.marker, facecolor=face, edgecolor=look.colour, lw=1, zorder=3
    )


def _scaled(points: tuple[Point, ...], unit: float) -> tuple[list[float], list[float]]:
    return [100 * x for x, _ in points], [unit * y for _, y in points]


def draw_fairest(results: Results, index: str) -> Any:
    """Figure 3 of the paper: the mean over folds, the range as a line; hollow where zero was not reached."""
    columns = min(2, len(results.data))
    rows = -(-len(results.data) // columns)
    tall = max(len(fairest(results, data, index)) for data in results.data)
    with canvas(rows, columns, (4.4 * columns, rows * (0.21 * tall + 1.0) + 0.3)) as (figure, axes):
        panels = axes.ravel()
        for panel, data in zip(panels, results.data, strict=False):
            numbers = results.task(data) == "regression"
            entries = fairest(results, data, index)[::-1]
            for place, entry in enumerate(entries):
                _fairest(panel, place, entry, 1.0 if numbers else 100.0)
            panel.set_yticks(range(len(entries)), [entry.method for entry in entries])
            panel.set_title(TITLES.get(data, data), loc="left", fontweight="bold")
            panel.set_xlabel("mean absolute error (less is better)" if numbers else "accuracy on test people, %")
            panel.grid(visible=False, axis="y")
        for panel in panels[len(results.data) :]:
            panel.set_axis_off()
        figure.supxlabel(
            f"filled: {index.upper()} in training below the tolerance in every fold; hollow: not in every fold",
            fontsize=8,
        )
        return figure


def _fairest(panel: Any, place: int, entry: Fairest, unit: float) -> None:
    look = LOOKS[entry.family]
    low, high = unit * min(entry.values), unit * max(entry.values)
    panel.plot([low, high], [place, place], color=look.colour, linewidth=1.5, zorder=2)
    face = look.colour if entry.reached == entry.folds else "white"
    panel.scatter(
        [unit * entry.mean], [place], s=42, marker=look.marker, facecolor=face, edgecolor=look.colour, lw=1.3, zorder=3
    )
