"""What is asked: the people, the loss, the disparity, the allowed trees. `Problem.evaluate` is the one truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenleaf.errors import InputError
from evenleaf.fairness import Disparity, Notion, Progress, indicators
from evenleaf.problem.loss import Loss, default_loss
from evenleaf.problem.shape import Shape
from evenleaf.table import People
from evenleaf.tree import Target, Tree

# D ≤ ε is kept to rounding: a sum of N terms cannot be held to the last bit.
FEASIBILITY_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Score:
    """What a tree is worth for a problem, computed from the definitions."""

    loss: float
    discrimination: float
    objective: float
    violations: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        """Whether the tree keeps every limit."""
        return not self.violations


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise loss + λ·D over the trees of a shape (eq. a), or the loss alone subject to D ≤ ε."""

    people: People
    loss: Loss
    shape: Shape
    disparity: Disparity
    fairness_weight: float = 0.0
    max_discrimination: float | None = None

    @cached_property
    def target(self) -> Target:
        """What the leaves may decide."""
        return Target.of(self.people.outcome)

    @cached_property
    def simplified(self) -> Disparity:
        """The disparity with the fewest rows, for solvers."""
        return self.disparity.simplified()

    def psi(self, decided: np.ndarray) -> np.ndarray:
        """The decisions as numbers, ψ(ŷ) of ALGORITHM §1."""
        if self.people.outcome.classes is None:
            return decided[:, None]
        return indicators(decided, self.people.outcome.n_classes)

    def evaluate(self, tree: Tree) -> Score:
        """Loss, discrimination and objective of a tree, from the definitions, and the limits it breaks."""
        if tree.schema != self.people.features.schema or tree.target != self.target:
            raise InputError("the tree was made for another table: its columns or its target differ")
        decided = tree.decide(self.people.features)
        loss = self.loss.value(self.people.outcome, decided, self.people.share)
        discrimination = self.disparity.value(self.psi(decided))
        violations = self.shape.violations(tree, self.people.features)
        limit = self.max_discrimination
        if limit is None:
            return Score(loss, discrimination, loss + self.fairness_weight * discrimination, violations)
        if discrimination > limit + FEASIBILITY_TOLERANCE:
            violations = (*violations, f"the discrimination {discrimination:.6g} is more than {limit:g}")
        return Score(loss, discrimination, loss, violations)

    def with_weight(self, fairness_weight: float) -> Problem:
        """The same question with another λ; the disparity is not built again."""
        check_weight(fairness_weight)
        return self._again(replace(self, fairness_weight=fairness_weight, max_discrimination=None))

    def with_limit(self, max_discrimination: float) -> Problem:
        """The same question in the constrained form, D ≤ ε."""
        check_limit(max_discrimination)
        return self._again(replace(self, fairness_weight=0.0, max_discrimination=max_discrimination))

    def with_shape(self, shape: Shape) -> Problem:
        """The same question over other trees."""
        shape.check(self.people.features.schema)
        return self._again(replace(self, shape=shape))

    def _again(self, other: Problem) -> Problem:
        if "simplified" in self.__dict__:
            other.__dict__["simplified"] = self.simplified
        return other


def pose(
    people: People,
    *,
    loss: Loss | None = None,
    shape: Shape | None = None,
    fairness: Notion | None = None,
    fairness_weight: float | None = None,
    max_discrimination: float | None = None,
    progress: Progress | None = None,
) -> Problem:
    """Check a question and make it a `Problem`: give λ (`fairness_weight`) or ε (`max_discrimination`), not both."""
    loss, shape = loss or default_loss(people.outcome), shape or Shape()
    loss.check(people.outcome)
    shape.check(people.features.schema)
    _check_people(people, shape)
    if fairness is None:
        if fairness_weight or max_discrimination is not None:
            raise InputError("a fairness weight or limit was given, but no fairness notion to measure it by")
        nothing = Disparity.none(people.n_people, people.outcome.n_classes)
        return Problem(people, loss, shape, nothing)
    if fairness_weight is not None and max_discrimination is not None:
        raise InputError("give either fairness_weight (λ) or max_discrimination (ε), not both")
    problem = Problem(people, loss, shape, fairness.operator(people, progress))
    if max_discrimination is not None:
        return problem.with_limit(max_discrimination)
    return problem.with_weight(1.0 if fairness_weight is None else fairness_weight)


def check_weight(fairness_weight: float) -> None:
    """λ is any finite number of at least 0."""
    if not np.isfinite(fairness_weight) or fairness_weight < 0:
        raise InputError(f"fairness_weight (λ) must be a number of at least 0, not {fairness_weight}")


def check_limit(max_discrimination: float) -> None:
    """ε is any finite number of at least 0."""
    if not np.isfinite(max_discrimination) or max_discrimination < 0:
        raise InputError(f"max_discrimination (ε) must be a number of at least 0, not {max_discrimination}")


def _check_people(people: People, shape: Shape) -> None:
    outcome = people.outcome
    if people.n_people == 0:
        raise InputError("the table has no rows")
    if outcome.classes is not None and outcome.n_classes < 2:
        raise InputError(
            f"{outcome.name!r} has only one class ({outcome.classes[0]!r}); there is nothing to decide"
        )
    if outcome.classes is not None and shape.leaves == "linear":
        raise InputError("linear leaves are for numbers; a class is decided by constant leaves")
