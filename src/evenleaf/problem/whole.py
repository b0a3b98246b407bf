"""Discrimination in whole numbers: where people have whole weights, a rate is a fraction, and so is D.

Sums of floating-point numbers are off by a few units in the last place, which decides wrongly where D lies on the very
edge of its limit. The rows of parity and of the error rates are s/S − 1[p_i = p]·s/S_p with weights s and their totals
S and S_p, so that row · S·S_p is whole; counts of people, and integers of any length, then settle the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from evenleaf.fairness import Disparity

_MOST_ROWS, _MOST_KINDS, _MOST_WEIGHT = 64, 4096, 2**40


@dataclass(frozen=True, eq=False)
class WholeRows:
    """Rows over kinds of people (`numerators[r][k]` over `denominators[r]`), and the kind of each person."""

    kind: np.ndarray
    numerators: tuple[tuple[int, ...], ...]
    denominators: tuple[int, ...]
    weight: tuple[tuple[Fraction, ...], ...]

    def value(self, decided: np.ndarray) -> Fraction:
        """D of these classes, exactly."""
        n_kinds, n_classes = len(self.numerators[0]), len(self.weight[0])
        counts = np.bincount(self.kind * n_classes + decided, minlength=n_kinds * n_classes)
        people = [[int(number) for number in row] for row in counts.reshape(n_kinds, n_classes).T]
        total = Fraction(0)
        for row, denominator, weights in zip(self.numerators, self.denominators, self.weight, strict=True):
            for weight, heads in zip(weights, people, strict=True):
                share = abs(sum(n * head for n, head in zip(row, heads, strict=True)))
                total += weight * Fraction(share, denominator)
        return total

    @property
    def step(self) -> Fraction:
        """Every D is a multiple of this."""
        parts = zip(self.denominators, self.weight, strict=True)
        return Fraction(1, lcm(*(denominator * w.denominator for denominator, row in parts for w in row)))


def find_whole(disparity: Disparity, person_weight: np.ndarray) -> WholeRows | None:
    """The rows in whole numbers, None where weights are not whole or a row compares something else than rates."""
    whole = (person_weight == np.round(person_weight)).all() and person_weight.sum() < _MOST_WEIGHT
    if not whole or not 0 < disparity.n_rows <= _MOST_ROWS:
        return None
    columns = np.vstack([disparity.matrix.toarray(), person_weight])
    kinds, kind = np.unique(columns, axis=1, return_inverse=True)
    if kinds.shape[1] > _MOST_KINDS:
        return None
    heads = [int(weight) for weight in kinds[-1]]
    rows = [_fractions(row, heads) for row in kinds[:-1]]
    numerators = tuple(row[0] for row in rows if row is not None)
    denominators = tuple(row[1] for row in rows if row is not None)
    if len(numerators) < len(rows):
        return None
    weight = tuple(tuple(Fraction(float(w)) for w in row) for row in disparity.weight)
    return WholeRows(kind.ravel(), numerators, denominators, weight)


def _fractions(row: np.ndarray, heads: list[int]) -> tuple[tuple[int, ...], int] | None:
    """A row as whole numbers over S·S_p: positive entries are s/S, negative ones s/S − s/S_p."""
    others, own = np.flatnonzero(row > 0), np.flatnonzero(row < 0)
    if not len(others) or not len(own):
        return None if len(others) or len(own) else ((0,) * len(row), 1)
    total = round(heads[others[0]] / float(row[others[0]]))
    group = round(heads[own[0]] / (heads[own[0]] / total - float(row[own[0]])))
    numerators = [0] * len(row)
    for k in others:
        numerators[k] = heads[k] * group
    for k in own:
        numerators[k] = heads[k] * (group - total)
    again = np.array([n / (total * group) for n in numerators])
    return (tuple(numerators), total * group) if np.allclose(again, row, rtol=1e-12, atol=0.0) else None
