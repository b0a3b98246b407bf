"""What is asked: people with the vectors of their labels, and the price of a tree at multipliers.

A label gives a person a vector (loss, d₁ … d_D). A tree's vector is the sum over the people, and it is worth
loss + Σ|d|, or its loss where Σ|d| ≤ ε. For multipliers μ, |d| ≥ μd, so that every tree is worth at least its
price loss + μ·d, less ε·max|μ| in the second form (ALGORITHM §2, §7).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.certify.claim import Claim, ProofError
from evenleaf.solve.certify.fronts.errors import below
from evenleaf.solve.certify.labels.meaning import person_rows
from evenleaf.solve.search.compiled import Compiled

_ROUNDING = 5e-12  # how wrong a sum of prices may be, for multipliers of 1; the largest that a proof may name are
_MOST_MU = 1e5  # still far from making rounding look like a price
_SAME = 1e-14  # disparities that differ by less are one
_SLACK = 1e-11  # and what such differences may add up to


@dataclass(frozen=True, eq=False)
class Asked:
    """The people of a problem, equal ones merged.

    `vectors[k, i]` is what label k gives person i more than label 0 does; `start` is the vector if all have label 0.
    """

    compiled: Compiled
    problem: Problem
    vectors: np.ndarray
    start: np.ndarray
    depth: int
    least: int
    share: float | None = None  # of people with the second class, where it is given

    @property
    def limit(self) -> float | None:
        """ε, or None in the form with a penalty."""
        return self.problem.max_discrimination

    @property
    def width(self) -> int:
        """How long a vector is."""
        return int(self.vectors.shape[2])

    @cached_property
    def columns(self) -> np.ndarray:
        """The table's column of each feature."""
        return np.array([feature.column for feature in self.compiled.features], dtype=np.int64)

    @cached_property
    def features(self) -> np.ndarray:
        """The features that a tree may test at all."""
        none = self.problem.shape.max_features_per_test == 0
        keeps = [not none and self.keeps(Counter([int(column)])) for column in self.columns]
        return np.flatnonzero(keeps)

    @cached_property
    def coupled(self) -> bool:
        """Whether there are limits that join the tests of different branches."""
        shape = self.problem.shape
        return not (shape.max_leaves is shape.max_features_used is None and not self._uses)

    @cached_property
    def _uses(self) -> dict[int, int]:
        return self.problem.shape.use_limits(self.problem.people.features.schema)

    def keeps(self, tests: Counter[int]) -> bool:
        """Whether so many tests of each column keep the limits."""
        shape = self.problem.shape
        return (
            (shape.max_leaves is None or tests.total() < shape.max_leaves)
            and (shape.max_features_used is None or len(tests) <= shape.max_features_used)
            and all(tests[column] <= most for column, most in self._uses.items())
        )

    def keep_rows(self, tests: np.ndarray) -> np.ndarray:
        """The same for many trees: a row a tree, a number a column."""
        shape = self.problem.shape
        kept = np.ones(len(tests), dtype=np.bool_)
        if shape.max_leaves is not None:
            kept &= tests.sum(axis=1) < shape.max_leaves
        if shape.max_features_used is not None:
            kept &= (tests > 0).sum(axis=1) <= shape.max_features_used
        for column, most in self._uses.items():
            kept &= tests[:, column] <= most
        return kept

    def worth(self, vectors: np.ndarray, side: int = 0) -> np.ndarray:
        """What trees are worth; with a side, only d ≤ ε (1) or −d ≤ ε (−1) is asked of them."""
        disparity = np.abs(vectors[:, 1:]).sum(axis=1) if side == 0 else side * vectors[:, 1]
        if self.limit is None:
            return np.asarray(vectors[:, 0] + disparity)
        return np.where(disparity <= self.limit + FEASIBILITY_TOLERANCE + _SLACK, vectors[:, 0], np.inf)

    def with_share(self, share: float) -> Asked:
        """With one more disparity: how far the share of people with the second of two labels is from this."""
        people = self.compiled.count / self.compiled.count.sum()
        column = np.stack([np.zeros_like(people), people])[:, :, None]
        vectors, start = np.concatenate([self.vectors, column], axis=2), np.append(self.start, -share)
        return Asked(self.compiled, self.problem, vectors, start, self.depth, self.least, share)

    def at(self, mus: np.ndarray, claim: Claim) -> At:
        """Prices at multipliers, and what a tree better than the claim costs less than."""
        most = 1.0 if self.limit is None else _MOST_MU
        if mus.ndim != 2 or mus.shape[1] != self.width - 1 or not (np.abs(mus) <= most).all() or not len(mus):
            raise ProofError(f"the multipliers of the certificate are not between −{most:g} and {most:g}, one a row")
        largest = np.abs(mus).max(axis=1, initial=0.0)
        allowed = 0.0 if self.limit is None else (self.limit + FEASIBILITY_TOLERANCE) * largest
        target = below(self.problem, claim.objective, claim.objective - claim.tolerance, self.share)
        to_price = np.vstack([np.ones(len(mus)), mus.T])
        return At(self, to_price, target, target + allowed + _ROUNDING * (1 + largest))


def ask(problem: Problem, compiled: Compiled) -> Asked:
    """The vectors of the labels, from the rows of the operator."""
    rows, classes = np.nonzero(compiled.weight > 0)
    entries = person_rows(compiled).toarray()[:, rows] * compiled.weight[rows, classes]
    losses = np.column_stack([np.zeros(compiled.n_people), compiled.base])
    vectors = np.array([np.column_stack([losses[:, k], entries * (classes == k)]) for k in range(losses.shape[1])])
    start = vectors[0].sum(axis=0)
    start[0] += compiled.constant
    shape = problem.shape
    return Asked(compiled, problem, vectors - vectors[0], start, shape.max_depth, shape.min_samples_leaf)


@dataclass(frozen=True, eq=False)
class At:
    """A question at some multipliers: a tree better than the claim has a worth below `target`, and prices below
    `reach`, one a column of `to_price`."""

    asked: Asked
    to_price: np.ndarray
    target: float
    reach: np.ndarray

    def __len__(self) -> int:
        return len(self.reach)

    @property
    def start(self) -> np.ndarray:
        """The price if all have label 0."""
        return self.asked.start @ self.to_price

    @cached_property
    def prices(self) -> list[np.ndarray]:
        """A row a label, a column a person."""
        return [self.asked.vectors @ column for column in self.to_price.T]

    def only(self, which: np.ndarray) -> At:
        """Some of the multipliers."""
        return At(self.asked, self.to_price[:, which], self.target, self.reach[which])


def needless(points: np.ndarray, penalty: bool, side: int) -> np.ndarray:
    """Which points no better tree needs, because whatever is added to them another one is as good.

    With a penalty q replaces p if loss_q + Σ|d_q − d_p| ≤ loss_p, for |·| is a norm. With a limit, if they have the
    same disparities and loss_q ≤ loss_p. Where only side·d ≤ ε is asked, if loss and side·d are no larger.
    """
    loss, d = points[:, 0], points[:, 1:]
    if d.shape[1] == 0:
        return np.asarray(np.arange(len(points)) != loss.argmin())
    if side:
        return _behind(side * d[:, 0], loss)
    if not penalty:
        # By disparities, then loss: only the first of those with the same disparities is needed.
        same = np.round(d / _SAME)
        order = np.lexsort([loss, *same.T])
        first = np.ones(len(points), dtype=np.bool_)
        first[order[1:]] = (same[order[1:]] != same[order[:-1]]).any(axis=1)
        return ~first
    if d.shape[1] == 1:
        # One sweep after the other: by rounding, two that are nearly equal could each be behind the other.
        found = _behind(d[:, 0], loss - d[:, 0])
        found[~found] = _behind(-d[~found, 0], loss[~found] + d[~found, 0])
        return found
    return _near_cheaper(loss, d)


def _behind(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Points with another one before them in both numbers; of equal ones the first stays."""
    order = np.lexsort([np.arange(len(first)), second, first])
    sorted_second = second[order]
    behind = np.zeros(len(first), dtype=np.bool_)
    behind[order[1:]] = sorted_second[1:] >= np.minimum.accumulate(sorted_second)[:-1]
    return behind


def _near_cheaper(loss: np.ndarray, d: np.ndarray) -> np.ndarray:
    """In several dimensions a point is held against the 100 before it in the order of the loss."""
    order = np.argsort(loss, kind="stable")
    loss, d = loss[order], d[order]
    found = np.zeros(len(loss), dtype=np.bool_)
    for step in range(1, min(len(loss), 101)):
        found[step:] |= np.abs(d[step:] - d[:-step]).sum(axis=1) <= loss[step:] - loss[:-step]
    needless = np.empty_like(found)
    needless[order] = found
    return needless
