"""Least absolute deviations with fairness terms, nearly: reweighted least squares, for a quick look or a large size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenleaf.solve.absolute import AbsoluteFit

_STEPS = 12
# Weights are 1/|residual|; residuals below this part of the range count as this, less at every step.
_FIRST_FLOOR, _LAST_FLOOR = 1e-1, 1e-4
_RIDGE = 1e-9


def smooth_fit(fit: AbsoluteFit, weight: float, over: Callable[[], bool] = lambda: False) -> np.ndarray:
    """A β close to the least loss + weight·D, within the range; less close where it is `over` before the last step."""
    squares, best = _Squares(fit, weight), (np.inf, (fit.low + fit.high) / 2 * fit.constant)
    for floor in np.geomspace(_FIRST_FLOOR, _LAST_FLOOR, _STEPS):
        trial = fit.within_range(squares.step(float(floor)))
        best = min(best, (fit.loss(trial) + weight * fit.discrimination(trial), trial), key=lambda found: found[0])
        if over():
            break
    return best[1]


class _Squares:
    """The weighted least squares whose weights follow the residuals; outcomes centred and scaled to ±1/2.

    Whoever is beyond the range is pulled to its edge, ever harder. The design falls into blocks, one an intercept.
    """

    def __init__(self, fit: AbsoluteFit, weight: float) -> None:
        self.fit, self.scale, self.middle = fit, (fit.high - fit.low) or 1.0, (fit.low + fit.high) / 2
        starts = np.flatnonzero(fit.constant)
        block = np.searchsorted(starts, fit.design.indices[fit.design.indptr[:-1]], side="right") - 1
        spans = [slice(a, b) for a, b in zip(starts, [*starts[1:], len(fit.constant)], strict=True)]
        members = [np.flatnonzero(block == number) for number in range(len(starts))]
        self.blocks = [
            (rows, span, fit.design[rows][:, span].toarray()) for rows, span in zip(members, spans, strict=True)
        ]
        self.outcome = (fit.outcome - self.middle) / self.scale
        self.rows = fit.rows.toarray()
        self.offset = (fit.offset + self.middle * (self.rows @ fit.constant)) / self.scale
        self.price = weight * fit.weight
        self.edge = np.zeros(len(fit.outcome))
        self.beta = np.zeros(len(fit.constant))

    def step(self, floor: float) -> np.ndarray:
        """One round: weights from the residuals, then least squares; β in the units of the outcome."""
        decided = np.zeros(len(self.outcome))
        for rows, span, inputs in self.blocks:
            decided[rows] = inputs @ self.beta[span]
        beyond = np.abs(decided) > 0.5
        self.edge = np.where(beyond, 4 * self.edge + 10 * self.fit.share.max(), self.edge)
        pull = self.fit.share / np.maximum(np.abs(self.outcome - decided), floor)
        aim = pull * self.outcome + self.edge * np.sign(decided) / 2
        held = self.price / np.maximum(np.abs(self.offset + self.rows @ self.beta), floor)
        self.beta = self._solve(pull + self.edge, aim, held)
        return self.scale * self.beta + self.middle * self.fit.constant

    def _solve(self, pull: np.ndarray, aim: np.ndarray, held: np.ndarray) -> np.ndarray:
        """The minimum; a trace of ridge keeps columns that say the same from quarrelling."""
        weighted = self.rows * held[:, None]
        curve, right = weighted.T @ self.rows, -(weighted.T @ self.offset)
        for rows, span, inputs in self.blocks:
            curve[span, span] += (inputs * pull[rows][:, None]).T @ inputs
            right[span] += inputs.T @ aim[rows]
        curve[np.diag_indices_from(curve)] += _RIDGE * max(float(np.trace(curve)) / max(1, len(curve)), 1e-300)
        return np.linalg.solve(curve, right)
