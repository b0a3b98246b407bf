"""Least absolute deviations with fairness terms, nearly: reweighted least squares for sizes no program can take."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.absolute import AbsoluteFit

_STEPS = 8
# Weights are 1/|residual|; residuals below this part of the range count as this, less at every step.
_FIRST_FLOOR, _LAST_FLOOR = 1e-1, 1e-4
_RIDGE = 1e-9


def smooth_fit(fit: AbsoluteFit, weight: float, limit: float | None = None) -> np.ndarray:
    """A β close to the least loss + weight·D that keeps the range and, where `limit` is given, D ≤ limit.

    The latter two are kept by drawing β towards a constant, which is fair, as far as needed.
    """
    scale = (fit.high - fit.low) or 1.0
    middle = (fit.low + fit.high) / 2
    design, rows = fit.design.toarray(), fit.rows.toarray()
    inputs = np.vstack([design, rows])
    offset = fit.offset + middle * (rows @ fit.constant)
    wanted = np.concatenate([fit.outcome - middle, -offset]) / scale
    price = np.concatenate([fit.share, weight * fit.weight])
    used = price > 0
    inputs, wanted, price = inputs[used], wanted[used], price[used]
    beta, best = np.zeros(inputs.shape[1]), (np.inf, np.zeros(inputs.shape[1]))
    for floor in np.geomspace(_FIRST_FLOOR, _LAST_FLOOR, _STEPS):
        pull = price / np.maximum(np.abs(wanted - inputs @ beta), floor)
        beta = _least_squares(inputs, wanted, pull)
        trial = _allowed(fit, scale * beta + middle * fit.constant, limit)
        merit = fit.loss(trial) + (weight * fit.discrimination(trial) if limit is None else 0.0)
        best = min(best, (merit, trial), key=lambda found: found[0])
    return best[1]


def _least_squares(inputs: np.ndarray, wanted: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """Weighted least squares; a trace of ridge keeps columns that say the same from quarrelling."""
    weighted = inputs * pull[:, None]
    curve = weighted.T @ inputs
    curve[np.diag_indices_from(curve)] += _RIDGE * max(float(np.trace(curve)) / max(1, len(curve)), 1e-300)
    return np.linalg.solve(curve, weighted.T @ wanted)


def _allowed(fit: AbsoluteFit, beta: np.ndarray, limit: float | None) -> np.ndarray:
    """β within the range and the limit, drawn to the mean outcome where it was not."""
    beta = fit.within_range(beta)
    if limit is None:
        return beta
    mean = np.average(fit.outcome, weights=fit.share) if fit.share.any() else fit.outcome.mean()
    constant = mean * fit.constant
    excess, floor = fit.discrimination(beta) - limit, fit.discrimination(constant)
    if excess <= 0 or limit <= floor:
        return beta if excess <= 0 else constant
    return beta + min(1.0, excess / (excess + limit - floor)) * (constant - beta)
