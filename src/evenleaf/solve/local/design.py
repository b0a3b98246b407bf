"""The columns that linear rules read: numbers centred and scaled, one indicator a level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Problem
from evenleaf.table import Table
from evenleaf.tree import Leaf, LinearTest, SubsetTest, Term, Test, ThresholdTest
from evenleaf.tree.questions import NO_LEVEL

# A dense table of at most this many cells; where levels are too many for it, the rarest are left out.
_MOST_CELLS = 20_000_000


@dataclass(frozen=True)
class Plane:
    """A hyperplane over the columns of a design: left where their sum with these weights is at most the cut."""

    beta: np.ndarray
    cut: float


@dataclass(frozen=True, eq=False)
class Design:
    """Per column the feature and level it reads, how it was scaled, and everybody's values (people × columns).

    A missing number reads as the column's mean, so that it is zero after centring.
    """

    feature: np.ndarray
    level: np.ndarray
    centre: np.ndarray
    scale: np.ndarray
    matrix: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Design:
        """The columns of the allowed features that differ between people."""
        table = problem.people.features
        feature, level = _columns(table, problem.shape.allowed(table.schema))
        n_columns = len(feature)
        centre, scale = np.zeros(n_columns), np.ones(n_columns)
        matrix = np.empty((table.n_rows, n_columns))
        rows = np.arange(table.n_rows)
        for column in range(n_columns):
            values = table.data[feature[column]]
            if level[column] == NO_LEVEL:
                centre[column], scale[column] = np.nanmean(values), np.nanstd(values)
            term = Term(int(feature[column]), 1.0, int(level[column]), float(centre[column]))
            matrix[:, column] = (term.values(table, rows) - centre[column]) / scale[column]
        return cls(feature, level, centre, scale, matrix)

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.feature)

    def columns_of(self, features: list[int]) -> np.ndarray:
        """The columns that read these features."""
        return np.flatnonzero(np.isin(self.feature, features))

    def features_in(self, beta: np.ndarray) -> set[int]:
        """The features with a weight that is not zero."""
        return set(self.feature[beta != 0].tolist())

    def terms(self, beta: np.ndarray) -> tuple[tuple[Term, ...], float]:
        """The rule in the columns' own units, and what its value is above that of the scaled rule."""
        slope = beta / self.scale
        used = np.flatnonzero(slope)
        terms = tuple(
            Term(int(self.feature[i]), float(slope[i]), int(self.level[i]), float(self.centre[i])) for i in used
        )
        return terms, float(slope @ self.centre)

    def leaf(self, intercept: float, beta: np.ndarray) -> Leaf:
        """The linear leaf whose scaled coefficients these are."""
        terms, above = self.terms(beta)
        return Leaf(float(intercept - above), terms)

    def test(self, plane: Plane) -> tuple[Test, bool]:
        """The hyperplane as a test with −1 ≤ p_j ≤ 1 (DESIGN: linear tests), and whether its sides are swapped.

        A hyperplane over a single feature becomes that feature's own kind of test.
        """
        steepest = np.abs(plane.beta / self.scale).max()
        terms, above = self.terms(plane.beta / steepest)
        cut = float(plane.cut / steepest + above)
        if len({term.column for term in terms}) > 1:
            return LinearTest(terms, cut), False
        column, fill = terms[0].column, terms[0].fill
        if terms[0].level != NO_LEVEL:
            return SubsetTest(column, tuple(sorted(self._levels_left(terms, cut))), cut >= 0), False
        if terms[0].coefficient > 0:
            return ThresholdTest(column, cut, fill <= cut), False
        return ThresholdTest(column, -cut, fill <= -cut), True

    def _levels_left(self, terms: tuple[Term, ...], cut: float) -> set[int]:
        """The levels whose coefficient (zero for those that have none) is at most the cut."""
        weight = {term.level: term.coefficient for term in terms}
        known = set(self.level[self.feature == terms[0].column].tolist())
        return {level for level in known if weight.get(level, 0.0) <= cut}

    def plane(self, test: Test) -> Plane:
        """The hyperplane of a test; where a threshold treats the missing specially, that is lost."""
        beta = np.zeros(self.n_columns)
        if isinstance(test, LinearTest):
            cut = test.threshold
            for term in test.terms:
                place = np.flatnonzero((self.feature == term.column) & (self.level == term.level))
                beta[place] += term.coefficient * self.scale[place]
                cut -= term.coefficient * (float(self.centre[place[0]]) if len(place) else 0.0)
            return Plane(beta, float(cut))
        places = np.flatnonzero(self.feature == test.column)
        if isinstance(test, ThresholdTest):
            beta[places] = self.scale[places]
            return Plane(beta, float(test.threshold - self.centre[places].sum()))
        # One side is the levels that weigh 1, the other weighs 0 together with the missing.
        named = np.isin(self.level[places], test.left)
        beta[places] = ~named if test.missing_left else -named.astype(float)
        return Plane(beta, 0.5 if test.missing_left else -0.5)


def _columns(table: Table, allowed: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    numbers: list[tuple[int, int]] = []
    levels: list[tuple[int, int, int]] = []
    for position in allowed:
        values = table.data[position]
        if not table.schema[position].is_categorical:
            if np.ptp(values[~np.isnan(values)]) > 0 if (~np.isnan(values)).any() else False:
                numbers.append((position, NO_LEVEL))
            continue
        held = np.bincount(values[values >= 0], minlength=len(table.schema[position].levels))
        levels += [(-int(n), position, level) for level, n in enumerate(held) if 0 < n < table.n_rows]
    room = max(0, _MOST_CELLS // max(1, table.n_rows) - len(numbers))
    kept = sorted(numbers + [(position, level) for _, position, level in sorted(levels)[:room]])
    return np.array([f for f, _ in kept], dtype=np.intp), np.array([level for _, level in kept], dtype=np.intp)
