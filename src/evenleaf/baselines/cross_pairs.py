"""Sums over all pairs of people of two different groups, without ever forming the table of pairs.

Berk et al. (2017) penalise the score w·x by sums over i ∈ S₁, j ∈ S₂ of d(y_i, y_j), which is 1[y_i = y_j] for labels
and exp(−(y_i − y_j)²) for numbers. It depends on the people only through their outcomes, so people with equal
outcomes are added up first; all three penalties then are quadratic forms wᵀQw with

    individual   Q = 1/(n₁n₂) Σ_ij d_ij (x_i − x_j)(x_i − x_j)ᵀ
    group        Q = ggᵀ,  g = 1/(n₁n₂) Σ_ij d_ij (x_i − x_j)
    hybrid       Q = Σ_y g_y g_yᵀ,  g_y = the mean of x in S₁ minus that in S₂ among those with label y

With more than two groups the penalty is summed over the pairs of groups; weights count as people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from evenleaf.errors import InputError

Penalty = Literal["individual", "group", "hybrid"]
# The kernel of numbers is computed for this many pairs of outcomes at a time (8 MB).
_BLOCK = 1_000_000


@dataclass(frozen=True, eq=False)
class Side:
    """The people of one group: features, place among the distinct outcomes, weights, and both added up by outcome."""

    features: np.ndarray
    place: np.ndarray
    weight: np.ndarray
    sums: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray, place: np.ndarray, weight: np.ndarray, n_outcomes: int) -> Side:
        """Add up weight · x and weight over the people who share an outcome."""
        sums = np.zeros((n_outcomes, features.shape[1]))
        np.add.at(sums, place, weight[:, None] * features)
        return cls(features, place, weight, sums, np.bincount(place, weights=weight, minlength=n_outcomes))

    @property
    def total(self) -> float:
        """n₁ of the formulas: the weight of the group."""
        return float(self.weight.sum())


def penalty_form(
    kind: Penalty, features: np.ndarray, y: np.ndarray, codes: np.ndarray, weight: np.ndarray, *, labels: bool
) -> np.ndarray:
    """Q of the penalty wᵀQw; groups without weight are left out."""
    if kind not in FORMS:
        raise InputError(f"the penalty must be one of {', '.join(FORMS)}, not {kind!r}")
    if kind == "hybrid" and not labels:
        raise InputError("the hybrid penalty compares people of one label, so it is for classification only")
    outcomes, place = np.unique(y, return_inverse=True)
    smooth = _same_label if labels else near_outcomes(outcomes)
    present = [group for group in np.unique(codes) if weight[codes == group].sum() > 0]
    sides = [
        Side.of(features[who], place[who], weight[who], len(outcomes)) for who in (codes == group for group in present)
    ]
    form = np.zeros((features.shape[1],) * 2)
    for first, second in combinations(sides, 2):
        form += FORMS[kind](first, second, smooth)
    return form


Smooth = Callable[[np.ndarray], np.ndarray]


def _same_label(table: np.ndarray) -> np.ndarray:
    """Σ_y′ 1[y = y′] · table[y′] is the table itself."""
    return table


def near_outcomes(outcomes: np.ndarray) -> Smooth:
    """A function that gives Σ_y′ exp(−(y − y′)²) · table[y′] for every outcome y, block by block."""
    rows = max(1, _BLOCK // max(1, len(outcomes)))

    def smooth(table: np.ndarray) -> np.ndarray:
        result = np.empty_like(table)
        for start in range(0, len(outcomes), rows):
            near = np.exp(-((outcomes[start : start + rows, None] - outcomes[None, :]) ** 2))
            result[start : start + rows] = near @ table
        return result

    return smooth


def _individual(first: Side, second: Side, smooth: Smooth) -> np.ndarray:
    """Σ d_ij (x_i − x_j)(x_i − x_j)ᵀ, multiplied out: two diagonal parts and the mixed one twice."""
    own = first.weight * smooth(second.counts)[first.place]
    other = second.weight * smooth(first.counts)[second.place]
    mixed = first.sums.T @ smooth(second.sums)
    form = (first.features.T * own) @ first.features + (second.features.T * other) @ second.features
    return (form - mixed - mixed.T) / (first.total * second.total)


def _group(first: Side, second: Side, smooth: Smooth) -> np.ndarray:
    direction = first.sums.T @ smooth(second.counts) - second.sums.T @ smooth(first.counts)
    direction /= first.total * second.total
    return np.outer(direction, direction)


def _hybrid(first: Side, second: Side, smooth: Smooth) -> np.ndarray:  # noqa: ARG001 (one label at a time)
    """A label that one of the groups does not have compares nobody."""
    both = (first.counts > 0) & (second.counts > 0)
    rows = first.sums[both] / first.counts[both, None] - second.sums[both] / second.counts[both, None]
    return rows.T @ rows


FORMS: dict[str, Callable[[Side, Side, Smooth], np.ndarray]] = {
    "individual": _individual,
    "group": _group,
    "hybrid": _hybrid,
}
