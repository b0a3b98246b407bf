"""One table of rates, from which every rate overall, by group and between groups is computed.

A rate is a weighted average of something over some of the people: the true positive rate averages "was
predicted positive" over those who are positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.metrics.arguments import make_people, outcome_pair, positive_code
from evenleaf.table import Groups, Label, Outcome, Task

Needs = Literal["classes", "positive", "numbers"]


@dataclass(frozen=True, eq=False)
class Judged:
    """True and predicted values of the same people: truth values ("is positive"), class codes or numbers."""

    true: np.ndarray
    predicted: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class Rate:
    """What is averaged, over whom, and whether it is about a positive class, any classes, or numbers."""

    name: str
    needs: Needs
    counted: Callable[[Judged], np.ndarray]
    among: Callable[[Judged], np.ndarray] = lambda people: np.ones(len(people.true), dtype=bool)
    words: str = ""

    @property
    def task(self) -> Task:
        """Whether the values are read as classes or as numbers."""
        return "regression" if self.needs == "numbers" else "classification"


RATES: dict[str, Rate] = {
    rate.name: rate
    for rate in (
        Rate("accuracy", "classes", lambda p: p.predicted == p.true, words="how many are decided rightly"),
        Rate("error_rate", "classes", lambda p: p.predicted != p.true, words="how many are decided wrongly"),
        Rate("selection_rate", "positive", lambda p: p.predicted, words="how many are predicted positive"),
        Rate(
            "true_positive_rate",
            "positive",
            lambda p: p.predicted,
            lambda p: p.true,
            "of the positive, how many are predicted so",
        ),
        Rate(
            "false_positive_rate",
            "positive",
            lambda p: p.predicted,
            lambda p: ~p.true,
            "of the others, how many are wrongly predicted positive",
        ),
        Rate(
            "true_negative_rate",
            "positive",
            lambda p: ~p.predicted,
            lambda p: ~p.true,
            "of the others, how many are rightly not predicted positive",
        ),
        Rate(
            "false_negative_rate",
            "positive",
            lambda p: ~p.predicted,
            lambda p: p.true,
            "of the positive, how many are missed",
        ),
        Rate(
            "positive_predictive_value",
            "positive",
            lambda p: p.true,
            lambda p: p.predicted,
            "of those predicted positive, how many are",
        ),
        Rate("mean_prediction", "numbers", lambda p: p.predicted, words="the average prediction"),
        Rate("mean_error", "numbers", lambda p: p.predicted - p.true, words="the average of ŷ − y"),
        Rate("mean_absolute_error", "numbers", lambda p: np.abs(p.predicted - p.true), words="the average |ŷ − y|"),
    )
}


def rate_by_group(
    rate: str,
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    positive: Label | None = None,
) -> dict[str, float]:
    """A rate of `RATES` for each group; NaN where a group has nobody to average over."""
    chosen = find_rate(rate)
    true, predicted = outcome_pair(y_true, y_pred, chosen.task)
    people = make_people(true, sensitive_features, sample_weight=sample_weight)
    (groups,) = people.groups
    rates = averages(chosen, judge(chosen, true, predicted, people.weight, positive), groups)
    return dict(zip(groups.labels, rates.tolist(), strict=True))


def judge(rate: Rate, true: Outcome, predicted: Outcome, weight: np.ndarray, positive: Label | None) -> Judged:
    """The values as the rate looks at them."""
    if rate.needs != "positive":
        return Judged(true.values, predicted.values, weight)
    code = positive_code(true, positive)
    return Judged(true.values == code, predicted.values == code, weight)


def averages(rate: Rate, people: Judged, groups: Groups) -> np.ndarray:
    """The rate of each group."""
    weight = people.weight * rate.among(people)
    below = np.bincount(groups.codes, weights=weight, minlength=groups.n_groups)
    above = np.bincount(groups.codes, weights=weight * rate.counted(people), minlength=groups.n_groups)
    return np.divide(above, below, out=np.full(groups.n_groups, np.nan), where=below > 0)


def find_rate(name: str) -> Rate:
    """A rate of the table by its name."""
    if name not in RATES:
        raise InputError(f"there is no rate {name!r}; choose one of {', '.join(RATES)}")
    return RATES[name]
