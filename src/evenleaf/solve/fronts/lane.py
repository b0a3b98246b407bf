"""A problem with few disparity rows as short vectors: what a label adds to the loss and to each row.

A person i with label k > 0 contributes the vector (loss, d₁ … d_D) more than with label 0. A tree's vector is the
sum over its people plus `offset`; its worth follows from that vector alone (ALGORITHM §10), for any number of rows:

    loss + Σ_q |d_q|              with a fairness weight (λ and the row weights are multiplied in), or
    loss where Σ_q |d_q| ≤ ε      with a limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenleaf.problem import EDGE, FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.fronts.steps import ANY_LOSS, Steps, find_steps
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.table import People, Table

_MANY_CUTS, _MANY_PEOPLE = 3_000, 10_000


@dataclass(frozen=True, eq=False)
class Prices:
    """People × labels × multipliers, with the multipliers that they belong to."""

    multipliers: np.ndarray
    table: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """People, labels but the first, multipliers."""
        return self.table.shape

    def at(self, j: int) -> Prices:
        """The prices at one of the multipliers."""
        return Prices(self.multipliers[j : j + 1], np.ascontiguousarray(self.table[:, :, j : j + 1]))

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, chosen: Any) -> np.ndarray:
        return np.asarray(self.table[chosen])


@dataclass(frozen=True, eq=False)
class Lane:
    """Arrays for the kernels. `vectors[i, k]` belongs to label k + 1; `limit` is ε, or None for the penalty."""

    compiled: Compiled
    people: People
    vectors: np.ndarray
    offset: np.ndarray
    limit: float | None
    least: int
    steps: Steps = ANY_LOSS  # the losses that trees can have
    edge: float = EDGE  # lists hold trees on the very edge of ε for fair, until `Problem.evaluate` refuses one

    @property
    def reach(self) -> float:
        """The largest disparity that counts as fair, −1 in the penalised form."""
        return -1.0 if self.limit is None else self.limit + FEASIBILITY_TOLERANCE + self.edge

    @property
    def large(self) -> bool:
        """Whether matching whole trees (`kernels/whole.py`) is worth the half minute that compiling it takes once."""
        return int(self.compiled.offsets[-1]) >= _MANY_CUTS or self.compiled.n_people >= _MANY_PEOPLE

    @property
    def cancels(self) -> bool:
        """Whether disparities must be nothing, so that of two parts of a tree one says what the other must have."""
        return self.limit is not None and self.n_dimensions > 0 and self.limit * self.compiled.count.sum() <= 1

    @cached_property
    def examples(self) -> tuple[Table, np.ndarray]:
        """One person of each kind, and what all of the kind weigh: enough to spell the tests of a tree."""
        kind = self.compiled.kind
        first = np.zeros(self.compiled.n_people, dtype=np.intp)
        first[kind[::-1]] = np.arange(len(kind))[::-1]  # of several writes to a place the last one counts
        return self.people.features.take(first), np.bincount(kind, weights=self.people.weight)

    @cached_property
    def columns(self) -> np.ndarray:
        """The table's column of each feature."""
        return np.array([feature.column for feature in self.compiled.features], dtype=np.int64)

    @property
    def n_dimensions(self) -> int:
        """How many disparities there are."""
        return int(self.vectors.shape[2]) - 1

    @property
    def n_labels(self) -> int:
        """Classes but the first."""
        return int(self.vectors.shape[1])

    def worth(self, vectors: np.ndarray) -> np.ndarray:
        """The objective of trees with these vectors, infinite where they break D ≤ ε."""
        disparity = np.abs(vectors[..., 1:]).sum(axis=-1)
        if self.limit is None:
            return np.asarray(vectors[..., 0] + disparity)
        return np.asarray(np.where(disparity <= self.reach, vectors[..., 0], np.inf))

    def allowance(self, mu: np.ndarray) -> np.ndarray:
        """What a feasible tree may gain from multipliers μ: ε·max|μ|, nothing in the penalised form."""
        if self.limit is None or not self.n_dimensions:
            return np.zeros(mu.shape[:-1])
        return np.asarray(self.reach * np.abs(mu).max(axis=-1))

    def prices(self, mus: np.ndarray) -> Prices:
        """Each person's price of each label at each μ (ALGORITHM §2)."""
        weights = np.column_stack([np.ones(len(mus)), mus])
        return Prices(np.ascontiguousarray(mus), np.ascontiguousarray(self.vectors @ weights.T))


def make_lane(problem: Problem) -> Lane:
    """Merge equal people and turn rows and labels into vectors."""
    compiled = compile_problem(problem, pairs=False)
    rows, classes = np.nonzero(compiled.weight > 0)
    dense = np.zeros((compiled.n_people, len(compiled.weight)))
    person = np.repeat(np.arange(compiled.n_people), np.diff(compiled.pointers))
    dense[person, compiled.rows] = compiled.entries
    entries = dense[:, rows] * compiled.weight[rows, classes]
    vectors = np.zeros((compiled.n_people, compiled.n_labels, 1 + len(rows)))
    vectors[:, :, 0] = compiled.base
    for label in range(1, compiled.n_labels + 1):
        sign = (classes == label).astype(float) - (classes == 0)
        vectors[:, label - 1, 1:] = entries * sign
    offset = np.concatenate([[compiled.constant], np.where(classes == 0, entries.sum(axis=0), 0.0)])
    limit, least = problem.max_discrimination, problem.shape.min_samples_leaf
    return Lane(compiled, problem.people, vectors, offset, limit, least, find_steps(problem))
