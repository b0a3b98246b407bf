"""The best single split of some people by one column, judged by impurity: the greedy step of a tree."""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Problem
from evenleaf.table import Table
from evenleaf.tree import SubsetTest, Test, ThresholdTest, threshold_above


def impurity_table(problem: Problem) -> np.ndarray:
    """Per person the sums from which impurity is computed: weighted class indicators, or (1, y, y²)·weight.

    Numbers are centred and scaled first, which changes no comparison and saves their last digits.
    """
    people = problem.people
    if people.outcome.classes is None:
        low, high = problem.target.low, problem.target.high
        y = (people.outcome.values - (low / 2 + high / 2)) / ((high - low) or 1.0)
        return people.share[:, None] * np.column_stack([np.ones_like(y), y, y * y])
    return np.multiply(people.share[:, None], problem.psi(people.outcome.values), order="C")  # people are taken by row


def impurity(sums: np.ndarray, *, classes: bool) -> np.ndarray:
    """Weighted Gini impurity of class sums, or weighted variance of (1, y, y²) sums, along the last axis."""
    if classes:
        total = sums.sum(axis=-1)
        squares = (sums * sums).sum(axis=-1)
        return total - np.divide(squares, total, out=np.zeros_like(total), where=total > 0)
    weight, first, second = sums[..., 0], sums[..., 1], sums[..., 2]
    return second - np.divide(first * first, weight, out=np.zeros_like(weight), where=weight > 0)


def candidate_splits(
    table: Table, column: int, rows: np.ndarray, sums: np.ndarray, *, classes: bool, least: int
) -> tuple[float, Test] | None:
    """The purest split of these rows by one column with at least `least` people a side, or None."""
    if table.schema[column].is_categorical:
        return _subset_split(table, column, rows, sums, classes=classes, least=least)
    return _threshold_split(table, column, rows, sums, classes=classes, least=least)


def _threshold_split(
    table: Table, column: int, rows: np.ndarray, sums: np.ndarray, *, classes: bool, least: int
) -> tuple[float, Test] | None:
    values = table.data[column][rows]
    missing = np.isnan(values)
    order = np.argsort(np.where(missing, np.inf, values), kind="stable")
    known = order[: len(order) - missing.sum()]
    if not len(known):
        return None
    sorted_values = values[known]
    ends = np.append(np.flatnonzero(sorted_values[1:] > sorted_values[:-1]), len(known) - 1)
    prefix = np.cumsum(sums[known], axis=0)[ends]
    gone, total = sums[missing].sum(axis=0), sums.sum(axis=0)
    best: tuple[float, Test] | None = None
    for missing_left in (True, False) if missing.any() else (True,):
        left = prefix + gone if missing_left else prefix
        count = ends + 1 + (missing.sum() if missing_left else 0)
        score = impurity(left, classes=classes) + impurity(total - left, classes=classes)
        score[(count < least) | (len(rows) - count < least)] = np.inf
        place = int(score.argmin())
        if np.isfinite(score[place]) and (best is None or score[place] < best[0]):
            threshold = threshold_above(table.data[column], float(sorted_values[ends[place]]))
            best = float(score[place]), ThresholdTest(column, threshold, missing_left)
    return best


def _subset_split(
    table: Table, column: int, rows: np.ndarray, sums: np.ndarray, *, classes: bool, least: int
) -> tuple[float, Test] | None:
    """Levels in the order of their mean outcome, cut at the best place (exact for two classes and for variance)."""
    codes = table.data[column][rows]
    levels, place = np.unique(codes, return_inverse=True)
    if len(levels) < 2:
        return None
    per_level = np.zeros((len(levels), sums.shape[1]))
    np.add.at(per_level, place, sums)
    counts = np.bincount(place)
    weight = per_level.sum(axis=1) if classes else per_level[:, 0]
    key = per_level[:, -1] if classes else per_level[:, 1]
    order = np.argsort(np.divide(key, weight, out=np.zeros_like(key), where=weight > 0), kind="stable")
    left = np.cumsum(per_level[order], axis=0)[:-1]
    count = np.cumsum(counts[order])[:-1]
    score = impurity(left, classes=classes) + impurity(per_level.sum(axis=0) - left, classes=classes)
    score[(count < least) | (len(rows) - count < least)] = np.inf
    cut = int(score.argmin())
    if not np.isfinite(score[cut]):
        return None
    chosen = levels[order[: cut + 1]]
    return float(score[cut]), SubsetTest(column, tuple(sorted(int(c) for c in chosen if c >= 0)), bool(-1 in chosen))
