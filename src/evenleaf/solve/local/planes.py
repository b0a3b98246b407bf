"""Linear tests at a node: the best cut along a direction, and the best change of one coefficient, both exact."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenleaf.solve.local.allowance import Allowance
from evenleaf.solve.local.axis import Proposal
from evenleaf.solve.local.choice import Choice
from evenleaf.solve.local.design import Design, Plane

# Sums this close are one: the test itself adds them up in another order.
_SAME = 1e-10
# Columns are tried together, so many that their breakpoints make a table of about this size.
_TABLE = 2_000_000


@dataclass(frozen=True, eq=False)
class PlaneMoves:
    """Moves of one hyperplane over the people of a choice, within its allowance."""

    choice: Choice
    allowance: Allowance

    @property
    def design(self) -> Design:
        """The columns that hyperplanes weigh."""
        return self.choice.space.design

    @cached_property
    def values(self) -> np.ndarray:
        """The columns for the people of the node."""
        return self.design.matrix[self.choice.rows]

    def proposal(self, merit: float, plane: Plane) -> Proposal:
        """The hyperplane as a proposed test."""
        test, swapped = self.design.test(plane)
        return Proposal(merit, test, swapped)

    def along(self, beta: np.ndarray) -> Proposal | None:
        """The best cut of the direction β: everybody in the order of their sums, one after the other to the left."""
        if not beta.any():
            return None
        total = self.values @ beta
        order = np.argsort(total, kind="stable")
        sums = total[order]
        ends = _ends(sums, _SAME * max(1.0, float(np.abs(sums).max(initial=0.0))))
        if not len(ends):
            return None
        merit = self.choice.sweep(np.zeros(len(order), dtype=bool), order)[ends + 1]
        best = int(merit.argmin())
        cut = (sums[ends[best]] + sums[ends[best] + 1]) / 2
        return self.proposal(float(merit[best]), Plane(beta, float(cut)))

    def changes(self, plane: Plane, most: int, without: int | None = None) -> list[Proposal]:
        """The best change of one coefficient, for the most promising columns; first `without` a feature, if given."""
        beta = plane.beta.copy()
        if without is not None:
            beta[self.design.feature == without] = 0.0
        if not beta.any():
            return []
        above = self.values @ beta - plane.cut
        columns = self._open_columns(beta, without)
        wanted: dict[int, None] = {}
        for guesses in self._guesses(above, columns):
            ranked = np.argsort(guesses, kind="stable")[:most]
            wanted |= dict.fromkeys(columns[ranked[np.isfinite(guesses[ranked])]].tolist())
        found: list[Proposal] = []
        for column in wanted:
            if not self.choice.space.budget.exhausted:
                found += self._changed(beta, plane.cut, above, column)
        return found

    def _open_columns(self, beta: np.ndarray, without: int | None) -> np.ndarray:
        """The columns whose coefficient may change: those of the test, and of features that may join it."""
        inside = self.design.features_in(beta)
        features = [
            feature
            for feature in np.unique(self.design.feature).tolist()
            if feature != without and self.allowance.permits(inside | {feature})
        ]
        return self.design.columns_of(features)

    def _guesses(self, above: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The least sum of gains over every change of a coefficient (kinds of gain × columns).

        With the coefficient at −∞ those with a positive value are left; each person changes sides once, where
        −above / value.
        """
        gains = np.array(self.choice.gains())
        width = max(1, _TABLE // max(1, len(above)))
        parts = [
            _least_sums(above, self.values[:, columns[start : start + width]], gains)
            for start in range(0, len(columns), width)
            if not self.choice.space.budget.exhausted
        ]
        return np.concatenate([np.zeros((len(gains), 0)), *parts], axis=1)

    def _changed(self, beta: np.ndarray, cut: float, above: np.ndarray, column: int) -> list[Proposal]:
        value = self.values[:, column]
        step = _breakpoints(above, value)
        order = np.argsort(step, kind="stable")
        order = order[: int(np.isfinite(step).sum())]
        steps = step[order]
        ends = _ends(steps, _SAME)
        if not len(ends):
            return []
        start = np.where(np.abs(value) < _SAME, above <= 0, value > 0)
        merit = self.choice.sweep(start, order)[ends + 1]
        best = int(merit.argmin())
        changed = beta.copy()
        changed[column] += (steps[ends[best]] + steps[ends[best] + 1]) / 2
        return [self.proposal(float(merit[best]), Plane(changed, cut))] if changed.any() else []


def _least_sums(above: np.ndarray, value: np.ndarray, gains: np.ndarray) -> np.ndarray:
    """For each gain and column, the least sum of gains of those on the left over all changes of the coefficient."""
    step = _breakpoints(above, value)
    order = np.argsort(step, axis=0)
    turn = np.take_along_axis(-np.sign(value), order, axis=0)
    first = (value > 0) | ((value == 0) & (above <= 0)[:, None])
    moved = np.isfinite(step).any(axis=0)
    least = [first.T @ gain + np.cumsum(turn * gain[order], axis=0).min(axis=0, initial=0.0) for gain in gains]
    return np.where(moved, least, np.inf)


def _breakpoints(above: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The change of a coefficient at which each person is on the plane, infinite for those whom it does not move."""
    if value.ndim == 2:
        above = np.broadcast_to(above[:, None], value.shape)
    small = np.abs(value) < _SAME
    return np.where(small, np.inf, -above / np.where(small, 1.0, value))


def _ends(ordered: np.ndarray, same: float) -> np.ndarray:
    """The last place of each run of equal values, but for the last run: after it nobody is left to part."""
    return np.flatnonzero(np.diff(ordered) > same)
