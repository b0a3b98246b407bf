"""Directions worth cutting along: regressions of who should go left, on all features or on the few that matter most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.solve.local.planes import PlaneMoves

# Directions are guesses, so that a part of a large table is enough to fit them.
_MOST_PEOPLE = 3_000
_MOST_COLUMNS = 250
_SIZES = (2, 3, 5)
_RIDGE = 1e-3
_NEWTON_STEPS = 5


def fitted_directions(moves: PlaneMoves, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Logistic fits of the side that each person gains by, weighed by how much; dense first, then sparse ones."""
    for gain in moves.choice.gains():
        people = _sample(gain, rng)
        if not len(people):
            continue
        values, side, weight = moves.values[people], gain[people] > 0, np.abs(gain[people])
        columns = _screened(moves, values, side, weight)
        full = _logistic(values[:, columns], side, weight)
        ranked = _ranked_features(moves, values, columns, full)
        for size in sorted({min(size, moves.allowance.most) for size in (*_SIZES, len(ranked))}, reverse=True):
            chosen = np.intersect1d(columns, moves.design.columns_of(moves.allowance.choose(ranked, size)))
            if len(chosen):
                beta = np.zeros(moves.design.n_columns)
                whole = len(chosen) == len(columns)
                beta[chosen] = full if whole else _logistic(values[:, chosen], side, weight)
                yield beta


def random_direction(moves: PlaneMoves, near: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """The direction `near` with noise, or one over a few features drawn by chance."""
    design = moves.design
    beta = np.zeros(design.n_columns)
    if near is not None and near.any():
        used = design.columns_of(sorted(design.features_in(near)))
        size = np.abs(near[used]).mean()
        beta[used] = near[used] + rng.choice([0.1, 0.3, 1.0]) * size * rng.standard_normal(len(used))
        return beta
    features = rng.permutation(np.unique(design.feature)).tolist()
    chosen = design.columns_of(moves.allowance.choose(features, int(rng.integers(2, 5))))
    beta[chosen] = rng.standard_normal(len(chosen))
    return beta


def _sample(gain: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The people to whom the side matters, at most a few thousand of them."""
    matters = np.flatnonzero(gain)
    if len(matters) <= _MOST_PEOPLE:
        return matters
    return np.sort(rng.choice(matters, _MOST_PEOPLE, replace=False))


def _screened(moves: PlaneMoves, values: np.ndarray, side: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The columns that may be used, at most a few hundred: those that go along with the side most."""
    usable = moves.design.columns_of(sorted(moves.allowance.usable))
    if len(usable) <= _MOST_COLUMNS:
        return usable
    centred = weight * (side - np.average(side, weights=weight))
    strength = np.abs(centred @ values[:, usable]) / np.maximum(values[:, usable].std(axis=0), 1e-12)
    return np.sort(usable[np.argsort(-strength, kind="stable")[:_MOST_COLUMNS]])


def _ranked_features(moves: PlaneMoves, values: np.ndarray, columns: np.ndarray, beta: np.ndarray) -> list[int]:
    """Features by how much their part of the sum varies."""
    spread = np.abs(beta) * values[:, columns].std(axis=0)
    total = np.bincount(moves.design.feature[columns], weights=spread) if len(columns) else np.zeros(0)
    return [int(feature) for feature in np.argsort(-total, kind="stable") if total[feature] > 0]


def _logistic(values: np.ndarray, side: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted logistic regression by a few Newton steps with a small ridge: positive where right is better."""
    inputs = np.column_stack([values, np.ones(len(values))])
    beta, weight = np.zeros(inputs.shape[1]), weight / weight.sum()
    ridge = np.full(len(beta), _RIDGE)
    for _ in range(_NEWTON_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(inputs @ beta, -30, 30)))
        slope = inputs.T @ (weight * (chance - side)) + ridge * beta
        curve = (inputs * (weight * chance * (1 - chance))[:, None]).T @ inputs + np.diag(ridge)
        beta = beta - np.linalg.solve(curve, slope)
    return beta[:-1]
