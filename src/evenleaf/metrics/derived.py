"""Every rate of the table × every way to make one number of its groups, as functions with one signature.

`f(y_true, y_pred, *, sensitive_features, sample_weight=None, positive=None)`; a group without anybody to
average over (no positives, for a true positive rate) is left out of the comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from evenleaf.metrics.arguments import outcome_pair
from evenleaf.metrics.rates import averages, find_rate, judge, rate_by_group
from evenleaf.table import Groups, Label, make_weight

AGGREGATIONS: dict[str, Callable[[np.ndarray], float]] = {
    "difference": lambda rates: float(rates.max() - rates.min()),
    "ratio": lambda rates: float(rates.min() / rates.max()) if rates.min() >= 0 < rates.max() else float("nan"),
    "min": lambda rates: float(rates.min()),
    "max": lambda rates: float(rates.max()),
}
_AGGREGATION_WORDS = {
    "difference": "the largest difference between two groups",
    "ratio": "the smallest ratio between two groups (NaN where all are zero or one is negative)",
    "min": "the least of all groups",
    "max": "the most of all groups",
}


class OverallRate(Protocol):
    """A rate of everybody."""

    def __call__(self, y_true: Any, y_pred: Any, *, sample_weight: Any = None, positive: Label | None = None) -> float:
        """The rate."""
        ...


class GroupRate(Protocol):
    """A rate by group, made into one number."""

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        positive: Label | None = None,
    ) -> float:
        """The number."""
        ...


def overall(name: str) -> OverallRate:
    """The function that computes a rate of everybody."""
    rate = find_rate(name)

    def function(y_true: Any, y_pred: Any, *, sample_weight: Any = None, positive: Label | None = None) -> float:
        true, predicted = outcome_pair(y_true, y_pred, rate.task)
        weight = make_weight(sample_weight, len(true.values))
        everybody = Groups((), ("everybody",), np.zeros(len(true.values), dtype=np.intp))
        return float(averages(rate, judge(rate, true, predicted, weight, positive), everybody)[0])

    return _named(function, name, f"{_sentence(rate.words)} (everybody).")


def aggregated(name: str, aggregation: str) -> GroupRate:
    """The function that computes a rate by group and makes one number of it."""
    aggregate = AGGREGATIONS[aggregation]

    def function(
        y_true: Any,
        y_pred: Any,
        *,
        sensitive_features: Any,
        sample_weight: Any = None,
        positive: Label | None = None,
    ) -> float:
        rates = rate_by_group(
            name,
            y_true,
            y_pred,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            positive=positive,
        )
        known = np.array([value for value in rates.values() if not np.isnan(value)])
        return aggregate(known) if len(known) else float("nan")

    words = f"{_sentence(find_rate(name).words)}: {_AGGREGATION_WORDS[aggregation]}."
    return _named(function, f"{name}_{aggregation}", words)


def aggregated_all(name: str) -> tuple[GroupRate, GroupRate, GroupRate, GroupRate]:
    """The four functions of a rate: difference, ratio, min, max."""
    return (
        aggregated(name, "difference"),
        aggregated(name, "ratio"),
        aggregated(name, "min"),
        aggregated(name, "max"),
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _named(function: Any, name: str, words: str) -> Any:
    """The function under the name by which it is imported, so that it prints and pickles as such."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = "evenleaf.metrics"
    function.__doc__ = words
    return function


def equalized_odds_difference(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    positive: Label | None = None,
) -> float:
    """The larger of the differences in true and in false positive rates."""
    options = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, "positive": positive}
    parts = (true_positive_rate_difference, false_positive_rate_difference)
    return float(np.max([part(y_true, y_pred, **options) for part in parts]))


def equalized_odds_ratio(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    sample_weight: Any = None,
    positive: Label | None = None,
) -> float:
    """The smaller of the ratios of true and of false positive rates."""
    options = {"sensitive_features": sensitive_features, "sample_weight": sample_weight, "positive": positive}
    parts = (true_positive_rate_ratio, false_positive_rate_ratio)
    return float(np.min([part(y_true, y_pred, **options) for part in parts]))


accuracy = overall("accuracy")
error_rate = overall("error_rate")
selection_rate = overall("selection_rate")
true_positive_rate = overall("true_positive_rate")
false_positive_rate = overall("false_positive_rate")
true_negative_rate = overall("true_negative_rate")
false_negative_rate = overall("false_negative_rate")
positive_predictive_value = overall("positive_predictive_value")
mean_prediction = overall("mean_prediction")
mean_error = overall("mean_error")
mean_absolute_error = overall("mean_absolute_error")

accuracy_difference, accuracy_ratio, accuracy_min, accuracy_max = aggregated_all("accuracy")
error_rate_difference, error_rate_ratio, error_rate_min, error_rate_max = aggregated_all("error_rate")
selection_rate_difference, selection_rate_ratio, selection_rate_min, selection_rate_max = aggregated_all(
    "selection_rate"
)
true_positive_rate_difference, true_positive_rate_ratio, true_positive_rate_min, true_positive_rate_max = (
    aggregated_all("true_positive_rate")
)
false_positive_rate_difference, false_positive_rate_ratio, false_positive_rate_min, false_positive_rate_max = (
    aggregated_all("false_positive_rate")
)
true_negative_rate_difference, true_negative_rate_ratio, true_negative_rate_min, true_negative_rate_max = (
    aggregated_all("true_negative_rate")
)
false_negative_rate_difference, false_negative_rate_ratio, false_negative_rate_min, false_negative_rate_max = (
    aggregated_all("false_negative_rate")
)
(
    positive_predictive_value_difference,
    positive_predictive_value_ratio,
    positive_predictive_value_min,
    positive_predictive_value_max,
) = aggregated_all("positive_predictive_value")
mean_prediction_difference, mean_prediction_ratio, mean_prediction_min, mean_prediction_max = aggregated_all(
    "mean_prediction"
)
mean_error_difference, mean_error_ratio, mean_error_min, mean_error_max = aggregated_all("mean_error")
mean_absolute_error_difference, mean_absolute_error_ratio, mean_absolute_error_min, mean_absolute_error_max = (
    aggregated_all("mean_absolute_error")
)

# The names by which the literature knows them.
demographic_parity_difference = selection_rate_difference
demographic_parity_ratio = selection_rate_ratio
equal_opportunity_difference = true_positive_rate_difference
equal_opportunity_ratio = true_positive_rate_ratio
