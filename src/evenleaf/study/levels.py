"""Accuracy when some discrimination is allowed: zero is often reached only by deciding everybody alike."""

from __future__ import annotations

from dataclasses import dataclass

from evenleaf.study.results import Results, Row, mean
from evenleaf.study.views import performance

LEVELS = (0.0001, 0.005, 0.01, 0.02)


@dataclass(frozen=True)
class AtLevel:
    """A method at its best training loss with at most that much discrimination in training, mean over folds.

    `value` is on the test people, None where some fold has no such setting.
    """

    method: str
    level: float
    value: float | None
    discrimination: float | None


def at_levels(results: Results, data: str, index: str, levels: tuple[float, ...] = LEVELS) -> list[AtLevel]:
    """Every method at every level, among the settings that were tried."""
    numbers = results.task(data) == "regression"
    found = []
    for method in results.methods(data):
        folds: dict[int, list[Row]] = {}
        for row in results.of("trade-off", data=data, index=index, method=method):
            folds.setdefault(row["fold"], []).append(row)
        if folds:
            found += [_at_level(method, level, list(folds.values()), index, numbers=numbers) for level in levels]
    return found


def _at_level(method: str, level: float, folds: list[list[Row]], index: str, *, numbers: bool) -> AtLevel:
    best = []
    for rows in folds:
        allowed = [row for row in rows if row["train"][index] < level]
        if not allowed:
            return AtLevel(method, level, None, None)
        best.append(min(allowed, key=lambda row: (row["train"]["loss"], row["step"])))
    return AtLevel(
        method,
        level,
        mean(performance(row, numbers=numbers) for row in best),
        mean(row["test"][index] for row in best),
    )
