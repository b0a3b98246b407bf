"""The summands of linear rules, scaled to [0, 1]: one a quantitative column, one a level of a categorical one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.instance import NEGLIGIBLE, Feature, Instance
from evenleaf.tree import Term
from evenleaf.tree.questions import NO_LEVEL

# In a linear test a missing number is read as lying one range below or one range above all known values,
# whichever is optimal. So every single-feature test, the missing on either side, is also a linear one.
MISSING_LOW, MISSING_HIGH = -1.0, 2.0
# A column farther than this from zero, against its range, is left out of linear rules: on the numbers as they are,
# such a rule could not be computed to the margin that parts people.
_FARTHEST = 1e9


@dataclass(frozen=True, eq=False)
class Terms:
    """A term t reads (value − low) / span of its column, or 1[level]; `values` has 0 where a number is missing."""

    feature: np.ndarray  # which feature of the instance each term reads
    column: np.ndarray
    level: np.ndarray
    low: np.ndarray
    span: np.ndarray
    middle: np.ndarray  # the scaled median, read in place of a missing number by linear leaves
    values: np.ndarray
    missing: np.ndarray

    @property
    def n_terms(self) -> int:
        """How many terms."""
        return len(self.column)

    @property
    def with_missing(self) -> np.ndarray:
        """The terms in which somebody is missing."""
        return np.flatnonzero(self.missing.any(axis=0))

    def filled(self) -> np.ndarray:
        """The values as linear leaves read them."""
        return np.where(self.missing, self.middle, self.values)

    def scores(self, coefficients: np.ndarray, missing_high: np.ndarray) -> np.ndarray:
        """Σ_t p_t x_it as linear tests read it, for every unit."""
        missing = np.where(missing_high, MISSING_HIGH, MISSING_LOW)
        return np.where(self.missing, missing, self.values) @ coefficients

    def reach(self) -> np.ndarray:
        """The largest |Σ_t p_t x_it| that coefficients within [−1, 1] can give each unit."""
        return np.where(self.missing, MISSING_HIGH, self.values).sum(axis=1)

    def write(self, coefficients: np.ndarray, reading: np.ndarray) -> tuple[tuple[Term, ...], float]:
        """The rule on the columns as they are: its terms, and what to add to Σ coefficient × value.

        `reading` is the scaled value that stands in for a missing number of each term.
        """
        slope = coefficients / self.span
        terms = tuple(
            Term(int(self.column[t]), float(slope[t]), int(self.level[t]), self._unscaled(t, reading[t]))
            for t in np.flatnonzero(coefficients).tolist()
        )
        return terms, -float(slope @ self.low)

    def _unscaled(self, t: int, value: float) -> float:
        return 0.0 if self.level[t] != NO_LEVEL else float(self.low[t] + value * self.span[t])

    def read(self, terms: tuple[Term, ...]) -> tuple[np.ndarray, float, np.ndarray] | None:
        """The inverse of `write`, (coefficients, addend, reading), or None where a term is none of these."""
        coefficients, reading, addend = np.zeros(self.n_terms), np.zeros(self.n_terms), 0.0
        for term in terms:
            found = np.flatnonzero((self.column == term.column) & (self.level == term.level))
            if not len(found):
                return None
            t = int(found[0])
            coefficients[t] += term.coefficient * self.span[t]
            reading[t] = (term.fill - self.low[t]) / self.span[t]
            addend += term.coefficient * self.low[t]
        return coefficients, addend, reading


def terms_of(instance: Instance) -> Terms:
    """Every term that a linear rule may have."""
    parts = [part for number, feature in enumerate(instance.features) for part in _parts(instance, number, feature)]
    if not parts:
        nothing = np.zeros((instance.n_units, 0))
        empty, whole = np.zeros(0), np.zeros(0, dtype=int)
        return Terms(whole, whole, whole, empty, empty, empty, nothing, nothing.astype(bool))
    feature, column, level, low, span, middle, values, missing = zip(*parts, strict=True)
    return Terms(
        np.array(feature),
        np.array(column),
        np.array(level),
        np.array(low),
        np.array(span),
        np.array(middle),
        np.column_stack(values),
        np.column_stack(missing),
    )


Part = tuple[int, int, int, float, float, float, np.ndarray, np.ndarray]


def _parts(instance: Instance, number: int, feature: Feature) -> list[Part]:
    missing = feature.codes == feature.n_known
    if feature.categorical:
        nobody = np.zeros_like(missing)
        return [
            (number, feature.column, int(level), 0.0, 1.0, 0.0, (feature.codes == place).astype(float), nobody)
            for place, level in enumerate(feature.values)
        ]
    values = instance.problem.people.features.data[feature.column]
    low, high = float(feature.values[0]), float(feature.values[-1])
    span = high - low if high > low else 1.0
    if not 1e-100 < span < 1e100 or max(abs(low), abs(high)) > _FARTHEST * span:
        return []
    scaled = np.where(missing, 0.0, (values[instance.first] - low) / span)
    scaled[scaled < NEGLIGIBLE] = 0.0
    middle = (float(np.nanmedian(values)) - low) / span
    return [(number, feature.column, NO_LEVEL, low, span, middle, scaled, missing)]
