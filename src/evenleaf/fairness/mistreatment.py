"""Error-rate notions: disparate mistreatment (eq. 2 of the paper) and its well-known special cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenleaf.errors import InputError
from evenleaf.fairness.notion import Notion, Progress
from evenleaf.fairness.operator import Disparity
from evenleaf.fairness.parity import parity_rows
from evenleaf.table import Groups, Label, People


class _ErrorRates(Notion):
    """Notions that condition on the true class, so that they need one."""

    def check(self, people: People) -> None:
        if people.outcome.classes is None:
            raise InputError(f"{self} compares error rates between classes; {people.outcome.name!r} is a number")


@dataclass(frozen=True)
class DisparateMistreatment(_ErrorRates):
    """Σ over true y, predicted ŷ and groups p of |P(ŷ | y) − P(ŷ | y, p)|.

    `pairs` limits the sum to some (true, predicted) classes; all of them by default.
    """

    pairs: tuple[tuple[Label, Label], ...] | None = None

    def __init__(self, pairs: Sequence[tuple[Label, Label]] | None = None) -> None:
        object.__setattr__(self, "pairs", None if pairs is None else tuple((t, p) for t, p in pairs))

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:  # noqa: ARG002
        """One row a true class and group; the pairs choose its predicted classes."""
        n_classes = people.outcome.n_classes
        class_weight = np.ones((n_classes, n_classes))
        if self.pairs is not None:
            class_weight[:] = 0.0
            for true, predicted in self.pairs:
                class_weight[class_code(people, true), class_code(people, predicted)] = 1.0
        return parity_rows(groups, people.weight, people.outcome.values, class_weight)

    def __str__(self) -> str:
        return "disparate mistreatment"


@dataclass(frozen=True)
class EqualOpportunity(_ErrorRates):
    """Σ_p |TPR − TPR_p|: of those who truly are positive, the same share is found in every group."""

    positive: Label | None = None

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:  # noqa: ARG002
        """One row a group, over the people whose true class is the positive one."""
        return _positive_rate_rows(people, groups, self.positive, among_positive=True)

    def __str__(self) -> str:
        return "equal opportunity"


@dataclass(frozen=True)
class PredictiveEquality(_ErrorRates):
    """Σ_p |FPR − FPR_p|: of those who truly are not positive, the same share is wrongly taken for it."""

    positive: Label | None = None

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:  # noqa: ARG002
        """One row a group, over the people whose true class is not the positive one."""
        return _positive_rate_rows(people, groups, self.positive, among_positive=False)

    def __str__(self) -> str:
        return "predictive equality"


@dataclass(frozen=True)
class EqualizedOdds(_ErrorRates):
    """Equal opportunity plus predictive equality: both error rates alike in every group."""

    positive: Label | None = None

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:
        """The rows of both parts."""
        opportunity = EqualOpportunity(self.positive).compare(people, groups, progress)
        return opportunity + PredictiveEquality(self.positive).compare(people, groups, progress)

    def __str__(self) -> str:
        return "equalised odds"


def class_code(people: People, label: Label) -> int:
    """The code of a class label, or an error that lists the labels there are."""
    classes = people.outcome.classes or ()
    if label not in classes:
        raise InputError(f"{people.outcome.name!r} has no class {label!r}; its classes are {list(classes)}")
    return classes.index(label)


def positive_code(people: People, positive: Label | None) -> int:
    """The positive class: as named, or of two classes the last in order."""
    if positive is not None:
        return class_code(people, positive)
    if people.outcome.n_classes != 2:
        raise InputError(
            f"{people.outcome.name!r} has {people.outcome.n_classes} classes; say which one is positive, "
            f"for example positive={(people.outcome.classes or ('yes',))[-1]!r}"
        )
    return 1


def _positive_rate_rows(people: People, groups: Groups, positive: Label | None, *, among_positive: bool) -> Disparity:
    code = positive_code(people, positive)
    is_positive = people.outcome.values == code
    stratum = (is_positive == among_positive).astype(np.intp) - 1
    class_weight = np.zeros((1, people.outcome.n_classes))
    class_weight[0, code] = 1.0
    return parity_rows(groups, people.weight, stratum, class_weight)
