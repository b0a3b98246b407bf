"""What every move needs to know of the problem: losses, the disparity's entries, sorted columns, merits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE, Misclassification, Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.local.design import Design
from evenleaf.solve.local.sketch import Sketch, decided, unclipped


@dataclass(frozen=True)
class Worth:
    """Loss, discrimination, the objective (infinite where D is above ε) and the merit (where that costs its price)."""

    loss: float
    discrimination: float
    objective: float
    merit: float


class Workspace:
    """A problem with what is computed from it once. `price` is what a unit of disparity costs in the merit.

    That is λ; in the form D ≤ ε no price is given, so one is guessed, and only the excess over ε pays it. For a
    while the search may change the price, and forget ε (`relaxed`), so as to get off a ridge of |·|.
    """

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self.problem, self.table, self.budget = problem, problem.people.features, budget
        self.share, self.outcome = problem.people.share, problem.people.outcome.values
        self.everybody = np.arange(problem.people.n_people)
        operator = problem.simplified
        self.matrix, self.weight = operator.matrix, operator.weight
        self.classes = np.flatnonzero(self.weight.any(axis=0))  # the columns of ψ that count
        self.entry_row = np.repeat(np.arange(operator.n_rows), np.diff(self.matrix.indptr))
        self.entry_person, self.entry_value = self.matrix.indices, self.matrix.data
        self.usual_price = problem.fairness_weight if problem.max_discrimination is None else _unit(problem)
        self.price, self.relaxed = self.usual_price, False

    @property
    def limit(self) -> float | None:
        """The ε of the moment."""
        return None if self.relaxed else self.problem.max_discrimination

    def asked(self) -> Problem:
        """The problem of the moment."""
        return self.problem.with_weight(self.price) if self.limit is None else self.problem

    @cached_property
    def design(self) -> Design:
        """The columns of linear rules, built when first needed."""
        return Design.of(self.problem)

    @cached_property
    def _loss_table(self) -> np.ndarray:
        loss = self.problem.loss
        if not isinstance(loss, Misclassification):
            raise TypeError("only classes have a table of losses")
        return self.share[:, None] * loss.table(self.problem.people.outcome)

    def losses(self, rows: np.ndarray, given: np.ndarray) -> np.ndarray:
        """What each of these people adds to the loss when given this."""
        if self.problem.target.classes is not None:
            return np.asarray(self._loss_table[rows, given])
        return np.asarray(self.share[rows] * np.abs(self.outcome[rows] - given))

    def psi(self, given: np.ndarray) -> np.ndarray:
        """The columns of ψ that count."""
        return self.problem.psi(given)[:, self.classes]

    def differences(self, given: np.ndarray) -> np.ndarray:
        """matrix·ψ (rows × counted classes)."""
        return np.asarray(self.matrix @ self.psi(given))

    @cached_property
    def row_weight(self) -> np.ndarray:
        """The weights of the counted classes."""
        return np.ascontiguousarray(self.weight[:, self.classes])

    def merit(self, loss: np.ndarray, discrimination: np.ndarray) -> np.ndarray:
        """What is minimised along a sweep: the loss and the price of disparity, or of its excess over ε."""
        if self.limit is None:
            return loss + self.price * discrimination
        return loss + self.price * np.maximum(0.0, discrimination - self.limit - FEASIBILITY_TOLERANCE / 2)

    def worth(self, sketch: Sketch) -> Worth:
        """What a tree is worth, from everybody's decision."""
        given = decided(sketch, self.table, self.everybody, self.problem.target)
        loss = float(self.losses(self.everybody, given).sum())
        discrimination = float((self.row_weight * np.abs(self.differences(given))).sum())
        merit = float(self.merit(np.asarray(loss), np.asarray(discrimination)))
        limit = self.problem.max_discrimination
        if limit is None:
            return Worth(loss, discrimination, loss + self.problem.fairness_weight * discrimination, merit)
        kept = discrimination <= limit + FEASIBILITY_TOLERANCE / 2
        return Worth(loss, discrimination, loss if kept else np.inf, merit)

    def beyond_range(self, sketch: Sketch) -> bool:
        """Whether a linear rule goes beyond the label range for somebody, which `decided` would clip."""
        target = self.problem.target
        if target.classes is not None:
            return False
        said = unclipped(sketch, self.table, self.everybody)
        slack = FEASIBILITY_TOLERANCE * ((target.high - target.low) or 1.0)
        return bool((said < target.low - slack).any() or (said > target.high + slack).any())

    @cached_property
    def _orders(self) -> dict[int, np.ndarray]:
        return {}

    def order(self, column: int) -> np.ndarray:
        """Everybody in ascending order of a quantitative column, the missing last."""
        if column not in self._orders:
            order = np.argsort(self.table.data[column], kind="stable")
            self._orders[column] = order.astype(np.int32)
        return self._orders[column]


def _unit(problem: Problem) -> float:
    """The largest cost of one decision, or 1 for numbers: loss and disparity are then of like size."""
    if isinstance(problem.loss, Misclassification):
        return float(problem.loss.matrix(problem.people.outcome.n_classes).max()) or 1.0
    return 1.0
