"""What is asked: the people, the loss, the disparity, the allowed trees. `Problem.evaluate` is the one truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.fairness import Disparity, Notion, Progress, indicators
from evenleaf.problem.loss import Loss, default_loss
from evenleaf.problem.shape import Shape
from evenleaf.problem.whole import WholeRows, find_whole
from evenleaf.table import People
from evenleaf.tree import Target, Tree

# D ≤ ε is kept to rounding: a sum of N terms cannot be held to the last bit.
FEASIBILITY_TOLERANCE = 1e-9
EDGE = 1e-12  # so close to the limit, sums of floating-point numbers do not tell


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

    @cached_property
    def whole(self) -> WholeRows | None:
        """The disparity in whole numbers, where it can be had."""
        return None if self.people.outcome.classes is None else find_whole(self.disparity, self.people.weight)

    def psi(self, decided: np.ndarray) -> np.ndarray:
        """The decisions as numbers, ψ(ŷ) of ALGORITHM §1."""
        if self.people.outcome.classes is None:
            return decided[:, None]
        return indicators(decided, self.people.outcome.n_classes)

    def evaluate(self, tree: Tree) -> Score:
        """Loss, discrimination and objective of a tree, from the definitions, and the limits it breaks."""
        if tree.schema != self.people.features.schema or tree.target != self.target:
            raise InputError("the tree was made for another table: its columns or its target differ")
        reached = tree.apply(self.people.features)
        decided = tree.decide(self.people.features, reached)
        loss = self.loss.value(self.people.outcome, decided, self.people.share)
        discrimination = self.disparity.value(self.psi(decided))
        violations = self.shape.violations(tree, self.people.features, reached)
        limit = self.max_discrimination
        if limit is None:
            return Score(loss, discrimination, loss + self.fairness_weight * discrimination, violations)
        if self._too_much(discrimination, decided, limit):
            violations = (*violations, f"the discrimination {discrimination:.6g} is more than {limit:g}")
        return Score(loss, discrimination, loss, violations)

    def _too_much(self, discrimination: float, decided: np.ndarray, limit: float) -> bool:
        """Whether D > ε, to the tolerance; on its very edge by whole numbers, where people have whole weights."""
        excess = discrimination - (limit + FEASIBILITY_TOLERANCE)
        if abs(excess) > EDGE or self.whole is None:
            return excess > 0
        return self.whole.value(decided) > Fraction(limit) + Fraction(FEASIBILITY_TOLERANCE)

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
        check_shape(shape, self.people)
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
    loss = default_loss(people.outcome) if loss is None else loss
    shape = Shape() if shape is None else shape
    _check_kinds(loss, shape, fairness)
    _check_people(people)
    loss.check(people.outcome)
    check_shape(shape, people)
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
    _not_negative("fairness_weight (λ)", fairness_weight)


def check_limit(max_discrimination: float) -> None:
    """ε is any finite number of at least 0."""
    _not_negative("max_discrimination (ε)", max_discrimination)


def check_shape(shape: Shape, people: People) -> None:
    """The shape's names must be columns, and its leaves must suit the outcome."""
    shape.check(people.features.schema)
    if people.outcome.classes is not None and shape.leaves == "linear":
        raise InputError("linear leaves are for numbers; a class is decided by constant leaves")


def _not_negative(name: str, value: Any) -> None:
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not np.isfinite(value) or value < 0:
        raise InputError(f"{name} must be a number of at least 0, not {value!r}")


def _check_kinds(loss: Any, shape: Any, fairness: Any) -> None:
    """A text where an object belongs is answered here, not by an attribute error further down."""
    if not isinstance(loss, Loss):
        raise InputError(f"the loss must be Misclassification() or AbsoluteError(), not {loss!r}")
    if not isinstance(shape, Shape):
        raise InputError(f"the shape must be a Shape, not {shape!r}")
    if fairness is not None and not isinstance(fairness, Notion):
        raise InputError(f"fairness must be a notion such as DisparateImpact(), not {fairness!r}")


def _check_people(people: People) -> None:
    outcome = people.outcome
    if people.n_people == 0:
        raise InputError("the table has no rows")
    if outcome.classes is not None and outcome.n_classes < 2:
        raise InputError(f"{outcome.name!r} has only one class ({outcome.classes[0]!r}); there is nothing to decide")
