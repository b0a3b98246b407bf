"""The figures of a study, as PNG and SVG. Each is a pure-data function of `evenleaf.study.views`, drawn here."""

from __future__ import annotations

from pathlib import Path

from evenleaf.study.figures.gamma import draw_gamma
from evenleaf.study.figures.search import draw_depth, draw_race, draw_times
from evenleaf.study.figures.style import require_matplotlib, save
from evenleaf.study.figures.tradeoff import draw_clouds, draw_fairest
from evenleaf.study.results import Results
from evenleaf.study.views import gaps

__all__ = ["draw_all", "require_matplotlib"]


def draw_all(results: Results, folder: Path) -> list[Path]:
    """Every figure that the results have something for."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for index in results.protocol["indices"]:
        paths += save(draw_clouds(results, index), folder, f"trade-off-{index}")
        paths += save(draw_fairest(results, index), folder, f"fairest-{index}")
    if results.of("depth"):
        paths += save(draw_depth(results), folder, "depth")
    if results.of("bounds"):
        paths += save(draw_race(results), folder, "bounds")
    for data in results.data:
        if results.task(data) == "classification" and gaps(results, data):
            paths += save(draw_gamma(results, data), folder, f"gamma-{data}")
    if results.timed("trade-off", method="MIP-DT", index="dtdi"):
        paths += save(draw_times(results), folder, "times")
    return paths
