"""Where to split people whose leaf is a linear rule: the thresholds on whose two sides least squares fit best."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evenleaf.solve.local.workspace import Workspace
from evenleaf.tree import Test, ThresholdTest, threshold_above

_PARTS = 12  # a column is cut at fewer places than this
_MOST_COLUMNS = 24
_MOST_PEOPLE = 6_000


def model_splits(
    space: Workspace, rows: np.ndarray, features: Iterable[int], most: int, rng: np.random.Generator
) -> list[Test]:
    """The best threshold of each feature, those with the least squared error first. The missing go left."""
    if len(rows) > _MOST_PEOPLE:
        rows = np.sort(rng.choice(rows, _MOST_PEOPLE, replace=False))
    inputs = _inputs(space, rows)
    found: list[tuple[float, int, Test]] = []
    for feature in features:
        values = space.table.data[feature]
        if not space.table.schema[feature].is_categorical:
            best = _best_cut(values[rows], inputs, space.problem.shape.min_samples_leaf)
            if best is not None:
                found.append((best[0], feature, ThresholdTest(feature, threshold_above(values, best[1]))))
    return [test for _, _, test in sorted(found, key=lambda entry: entry[:2])[:most]]


def _inputs(space: Workspace, rows: np.ndarray) -> np.ndarray:
    """[1, the columns that go along with the outcome most, the outcome], times the root of the share."""
    values = space.design.matrix[rows]
    outcome = space.outcome[rows] - space.outcome[rows].mean()
    outcome = outcome / (outcome.std() or 1.0)
    strength = np.abs(outcome @ values)
    kept = np.sort(np.argsort(-strength, kind="stable")[:_MOST_COLUMNS])
    root = np.sqrt(space.share[rows] / max(float(space.share.max()), 1e-300))
    return np.column_stack([np.ones(len(rows)), values[:, kept], outcome]) * root[:, None]


def _best_cut(values: np.ndarray, inputs: np.ndarray, least: int) -> tuple[float, float] | None:
    """(squared error, largest value on the left) of the best of a dozen cuts with enough people on both sides."""
    low = np.where(np.isnan(values), -np.inf, values)
    order = np.argsort(low, kind="stable")
    ordered = low[order]
    places = np.unique(np.linspace(0, len(order), _PARTS + 1).astype(int)[1:-1])
    ends = np.unique(np.searchsorted(ordered, ordered[places - 1], side="right"))  # ties stay together
    ends = ends[(ends >= least) & (len(order) - ends >= least) & np.isfinite(ordered[ends - 1])]
    if not len(ends):
        return None
    parts = np.split(inputs[order], ends)
    sums = np.cumsum([part.T @ part for part in parts], axis=0)
    errors = [_error(sums[i]) + _error(sums[-1] - sums[i]) for i in range(len(ends))]
    best = int(np.argmin(errors))
    return errors[best], float(ordered[ends[best] - 1])


def _error(product: np.ndarray) -> float:
    """The squared error of least squares, from the products of inputs and outcome."""
    inner, cross = product[:-1, :-1].copy(), product[:-1, -1]
    inner[np.diag_indices_from(inner)] += 1e-6 * max(float(np.trace(inner)), 1e-12)
    return float(product[-1, -1] - cross @ np.linalg.solve(inner, cross))
