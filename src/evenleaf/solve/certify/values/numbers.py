"""The numbers that a proof speaks about: who is alike, what they cost, which tests there are; and that they are right.

Outcomes are scaled: the lowest is 0, the highest is 1, and so are leaf values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from evenleaf.problem import Problem
from evenleaf.solve.certify.claim import ProofError
from evenleaf.solve.certify.labels.meaning import check_tests
from evenleaf.solve.values.compiled import Compiled, compile_values

_VALUES_TRIED = 20
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Prices:
    """What multipliers make dear: a unit of everybody's value; and of each row of the disparity, s and s·μ.

    |difference| ≥ μ·difference, and the prices hold s·μ·difference for every row. Where a row is known to be inside a
    stump, it is paid for with s·|difference| instead.
    """

    person: np.ndarray
    steep: np.ndarray
    lean: np.ndarray


@dataclass(frozen=True, eq=False)
class Numbers:
    """People who are alike in features and outcome are one person, with a share of the loss and a count.

    The tests of a feature are its cuts (after each rank but the last) or its subsets: bit r − 1 of a subset's number
    plus one says whether rank r goes right; rank 0 stays left, since a subset and its complement part people alike.
    """

    compiled: Compiled
    kind: np.ndarray  # the merged person of everybody
    count: np.ndarray
    share: np.ndarray
    level: np.ndarray  # of each merged person's outcome
    levels: np.ndarray  # the outcomes that there are, in ascending order
    ranks: np.ndarray  # a row a feature
    unordered: np.ndarray
    offsets: np.ndarray  # where the tests of each feature start in a list of all
    operator: sp.csr_array  # a row a person, a column a row of the disparity
    weight: np.ndarray
    unit: float

    @classmethod
    def of(cls, problem: Problem) -> Numbers:
        """The numbers of a problem, checked against its definitions."""
        c = compile_values(problem)
        n_tests = [2 ** (len(f.values) - 1) - 1 if f.unordered else len(f.values) - 1 for f in c.features]
        operator = sp.csr_array((c.entries, c.rows, c.pointers), shape=(c.n_people, len(c.weight)))
        numbers = cls(
            compiled=c,
            kind=c.kind,
            count=np.bincount(c.kind),
            share=np.bincount(c.kind, weights=problem.people.share),
            level=c.level,
            levels=c.levels,
            ranks=c.ranks,
            unordered=c.unordered,
            offsets=np.concatenate([[0], np.cumsum(n_tests)]).astype(np.intp),
            operator=operator,
            weight=c.weight[:, 0],
            unit=(problem.target.high - problem.target.low) or 1.0,
        )
        check_tests(problem, c)  # type: ignore[arg-type]
        numbers.check(problem)
        return numbers

    @property
    def n_features(self) -> int:
        """How many ways to test a column."""
        return len(self.ranks)

    @property
    def n_tests(self) -> int:
        """How many tests there are in all; the number after the last stands for no test."""
        return int(self.offsets[-1])

    @cached_property
    def feature_of(self) -> np.ndarray:
        """The feature of each test, one more than there are for no test."""
        return np.append(np.repeat(np.arange(self.n_features), np.diff(self.offsets)), self.n_features)

    def sends_left(self, feature: int, tests: np.ndarray) -> np.ndarray:
        """Which ranks of a feature some of its tests (rows, numbered from 0) send left."""
        rank = np.arange(int(self.ranks[feature].max()) + 1)
        if not self.unordered[feature]:
            return np.asarray(rank <= tests[:, None])
        return np.asarray(((tests[:, None] + 1) >> np.maximum(rank - 1, 0)) & 1 == 0) | (rank == 0)

    @cached_property
    def row_size(self) -> np.ndarray:
        """How many people each row of the disparity compares."""
        return np.bincount(self.operator.indices, minlength=len(self.weight))

    def prices(self, mu: np.ndarray, scale: float) -> Prices:
        """What some multipliers make dear: a unit of value costs Aᵀ(scale·w∘μ) (ALGORITHM §2)."""
        steep = scale * self.weight
        return Prices(np.asarray(self.operator @ (steep * mu)), steep, steep * mu)

    def check(self, problem: Problem) -> None:
        """For some values, the numbers must give the loss and the disparity that the definitions give."""
        target, people, random = problem.target, problem.people, np.random.default_rng(0)
        factor = problem.fairness_weight if problem.max_discrimination is None else 1.0
        for trial in range(_VALUES_TRIED):
            values = random.random(len(self.count)) if trial > 1 else np.full(len(self.count), float(trial))
            decided = target.low + self.unit * values[self.kind]
            true_loss = problem.loss.value(people.outcome, decided, people.share)
            true_disparity = factor * problem.disparity.value(problem.psi(decided))
            loss = self.unit * float(self.share @ np.abs(self.levels[self.level] - values))
            disparity = self.unit * float(self.weight @ np.abs(self.operator.T @ values))
            near = _TOLERANCE * self.unit
            if not np.allclose((loss, disparity), (true_loss, true_disparity), rtol=_TOLERANCE, atol=near):
                raise ProofError("the arrays that the proof speaks about do not give the objective of the problem")
        if (self.weight * np.abs(self.operator.sum(axis=0)) > _TOLERANCE).any():
            raise ProofError("equal values for everybody would count as a disparity, which no proof here speaks about")
        ends_there = len(self.levels) > 1 and self.levels[0] == 0 and self.levels[-1] == 1
        if not (ends_there or target.low == target.high) or (np.diff(self.levels) <= 0).any():
            raise ProofError("the outcomes that the proof speaks about are not those of the problem")
