"""Least absolute deviations with fairness terms: the linear program behind leaf values and linear leaves.

    min over β of  Σ_i share_i·|y_i − x_i·β| + λ·Σ_r weight_r·|offset_r + v_r·β|   with  low ≤ x_i·β ≤ high

It is solved through its dual, which has one row a coefficient and one bounded column a person or disparity row:
with few coefficients that is a small program however many people there are. The form D ≤ ε is solved exactly
by walking along λ (the trade-off between loss and D is convex), each step a warm start of the last.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from evenleaf.problem import FEASIBILITY_TOLERANCE

# Beyond this many coefficients it pays to let the solver simplify the program first.
_SMALL = 50
_ROUNDING = 1e-12
# Sums are kept below ε only to their last bits; this is well within the tolerance of `Problem.evaluate`.
_SLACK = FEASIBILITY_TOLERANCE / 10
_MOST_ROUNDS = 60


@dataclass(frozen=True, eq=False)
class AbsoluteFit:
    """The numbers of the program. `constant` is the β for which every x_i·β is 1: the intercepts.

    `fixed` is the part of D that no coefficient changes; it counts against ε.
    """

    design: sp.csr_array
    outcome: np.ndarray
    share: np.ndarray
    rows: sp.csr_array
    offset: np.ndarray
    weight: np.ndarray
    constant: np.ndarray
    low: float
    high: float
    fixed: float = 0.0

    def loss(self, beta: np.ndarray) -> float:
        """Σ share·|y − Xβ|."""
        return float(self.share @ np.abs(self.outcome - self.design @ beta))

    def discrimination(self, beta: np.ndarray) -> float:
        """Σ weight·|offset + Vβ|, with the fixed part."""
        return float(self.weight @ np.abs(self.offset + self.rows @ beta)) + self.fixed

    def within_range(self, beta: np.ndarray) -> np.ndarray:
        """β drawn to the middle of the range by as little as brings every x_i·β inside it."""
        decided, middle = self.design @ beta, (self.low + self.high) / 2
        excess = max(0.0, float(np.max(decided, initial=middle)) - self.high, self.low - float(np.min(decided)))
        if excess == 0:
            return beta
        pull = excess / (excess + (self.high - self.low) / 2)
        return (1 - pull) * beta + pull * middle * self.constant


def weighted_fit(fit: AbsoluteFit, weight: float, time_limit: float = np.inf) -> np.ndarray | None:
    """The optimal β for λ = weight, or None where the time ran out."""
    return _Dual(fit, time_limit).solve(weight)


def limited_fit(fit: AbsoluteFit, limit: float, time_limit: float = np.inf) -> np.ndarray | None:
    """The β of the least loss with D ≤ limit, or None where there is none (or none was found in time).

    A point above the limit and one below span a line of slope −λ; either it touches the convex trade-off curve,
    and then the point of their segment at which D is the limit is optimal, or the fit at λ is a better end.
    """
    dual = _Dual(fit, time_limit)
    above = dual.solve(0.0)
    if above is not None and fit.discrimination(above) <= limit + _SLACK:
        return above
    below = _fair_point(fit, dual, limit)
    if below is None or above is None:
        return below
    for _ in range(_MOST_ROUNDS):
        fall = fit.discrimination(above) - fit.discrimination(below)
        slope = (fit.loss(below) - fit.loss(above)) / fall
        found = dual.solve(slope) if slope > 0 else None
        if found is None:
            break
        gain = fit.loss(above) - fit.loss(found) + slope * (fit.discrimination(above) - fit.discrimination(found))
        if gain <= _ROUNDING * max(1.0, fit.loss(above)):
            break
        above, below = (found, below) if fit.discrimination(found) > limit + _SLACK else (above, found)
    share = max(0.0, limit - fit.discrimination(below)) / (fit.discrimination(above) - fit.discrimination(below))
    return below + share * (above - below)


def _fair_point(fit: AbsoluteFit, dual: _Dual, limit: float) -> np.ndarray | None:
    """Some β that keeps the limit: the best constant if that does, else the least unfair β there is."""
    order = np.argsort(fit.outcome, kind="stable")
    half = np.searchsorted(np.cumsum(fit.share[order]), fit.share.sum() / 2)
    constant = fit.outcome[order[min(half, len(order) - 1)]] * fit.constant
    if fit.discrimination(constant) <= limit + _SLACK:
        return constant
    fairest = dual.solve(1.0, with_loss=False)
    return fairest if fairest is not None and fit.discrimination(fairest) <= limit + _SLACK else None


class _Dual:
    """The dual program: max y·d over |d_i| ≤ share_i, |e_r| ≤ λ·weight_r with Xᵀd = Vᵀe + the range's part.

    People enter the range limits only once they break them. Outcomes are centred and scaled, so that the
    solver's tolerances mean the same for any unit.
    """

    def __init__(self, fit: AbsoluteFit, time_limit: float) -> None:
        import highspy

        self.fit = fit
        self.middle = (fit.low + fit.high) / 2
        self.scale = (fit.high - fit.low) or 1.0
        self.unit = 1.0 / max(float(fit.share.max(initial=0.0)), float(fit.weight.max(initial=0.0)), 1e-300)
        self.highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "on" if fit.design.shape[1] > _SMALL else "off")
        self.deadline = time.perf_counter() + time_limit
        self._pass_model(highspy)

    def _pass_model(self, highspy: Any) -> None:
        fit = self.fit
        matrix = sp.csc_array(sp.hstack([fit.design.T, fit.rows.T]))
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = matrix.shape
        offset = fit.offset + self.middle * (fit.rows @ fit.constant)
        model.col_cost_ = np.concatenate([self.middle - fit.outcome, offset]) / self.scale
        bound = np.concatenate([fit.share * self.unit, np.zeros(len(fit.weight))])
        model.col_lower_, model.col_upper_ = -bound, bound
        model.row_lower_ = model.row_upper_ = np.zeros(matrix.shape[0])
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_, model.a_matrix_.index_ = matrix.indptr, matrix.indices
        model.a_matrix_.value_ = matrix.data
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.highs.passModel(model)

    def solve(self, weight: float, *, with_loss: bool = True) -> np.ndarray | None:
        """β at this λ, within the range of the outcomes."""
        n_people, n_rows = len(self.fit.share), len(self.fit.weight)
        bound = np.concatenate([with_loss * self.fit.share, weight * self.fit.weight]) * self.unit
        columns = np.arange(n_people + n_rows, dtype=np.int32)
        self.highs.changeColsBounds(len(columns), columns, -bound, bound)
        for _ in range(_MOST_ROUNDS):
            if not self._run() and not self._run(afresh=True):
                return None
            beta = self._beta()
            if not self._limit_range(beta):
                break
        return self.fit.within_range(beta)

    def _run(self, *, afresh: bool = False) -> bool:
        """Whether the solver ended at an optimum; `afresh` forgets its basis and simplifies the program first."""
        left = self.deadline - time.perf_counter()
        if afresh:
            self.highs.clearSolver()
            self.highs.setOptionValue("presolve", "on")
        if left <= 0:
            return False
        self.highs.setOptionValue("time_limit", min(left, 1e9))
        self.highs.run()
        return bool(self.highs.getModelStatus() == self.optimal)

    def _beta(self) -> np.ndarray:
        """The coefficients are the multipliers of the dual's rows."""
        scaled = -np.asarray(self.highs.getSolution().row_dual)
        return self.scale * scaled + self.middle * self.fit.constant

    def _limit_range(self, beta: np.ndarray) -> bool:
        """Add the range limits that β breaks; whether there were any."""
        fit = self.fit
        decided, slack = fit.design @ beta, 1e-9 * self.scale
        over, under = np.flatnonzero(decided > fit.high + slack), np.flatnonzero(decided < fit.low - slack)
        if not len(over) + len(under):
            return False
        added = sp.csc_array(sp.vstack([-fit.design[over], fit.design[under]]).T)
        count = added.shape[1]
        cost, free = np.full(count, (fit.high - self.middle) / self.scale), np.full(count, np.inf)
        self.highs.addCols(count, cost, np.zeros(count), free, added.nnz, added.indptr[:-1], added.indices, added.data)
        return True
