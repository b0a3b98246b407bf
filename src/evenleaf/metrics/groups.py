"""What happens in each group, with bootstrap intervals: rates of each class or means, and error rates."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.metrics.arguments import make_people, one_outcome, outcome_pair, positive_code
from evenleaf.metrics.bootstrap import bootstrap_intervals
from evenleaf.metrics.rates import RATES, Judged, judge
from evenleaf.table import Label, Outcome, Task


@dataclass(frozen=True)
class GroupFigure:
    """One figure of one group (None: of everybody) with its interval.

    `measure` is "rate" (of the class `label`), "mean", or one of the error rates.
    """

    group: str | None
    n: int
    share: float
    measure: str
    label: Label | None
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class GroupFigures:
    """The figures of everybody and of each group, in that order."""

    columns: tuple[str, ...]
    confidence: float
    n_resamples: int
    figures: tuple[GroupFigure, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Pure data, one dict a figure; a figure that cannot be computed is None."""
        return [
            {key: None if isinstance(value, float) and isnan(value) else value for key, value in asdict(figure).items()}
            for figure in self.figures
        ]


@dataclass(frozen=True, eq=False)
class _Measure:
    """A ratio of sums: what each person adds above and below the line."""

    name: str
    label: Label | None
    above: np.ndarray
    below: np.ndarray


def group_rates(
    y_pred: Any,
    *,
    sensitive_features: Any,
    y_true: Any = None,
    positive: Label | None = None,
    task: Task = "classification",
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: int | np.random.Generator = 0,
    sample_weight: Any = None,
    everybody: bool = True,
) -> GroupFigures:
    """How often each class comes up in each group (or the mean, for numbers), with percentile intervals.

    The people of each group are resampled `n_resamples` times. `positive` keeps the rate of one class only;
    `everybody=False` leaves out the figures of all groups together, which otherwise come first.
    With `y_true` error rates are added. A small group has too few people to resample: a bootstrap interval
    says little there, and nothing at all about a group of one.
    """
    _check(confidence, n_resamples)
    true: Outcome | None = None
    if y_true is None:
        predicted = y_pred if isinstance(y_pred, Outcome) else one_outcome(y_pred, task, "y_pred")
    else:
        true, predicted = outcome_pair(y_true, y_pred, task)
    people = make_people(predicted, sensitive_features, sample_weight=sample_weight)
    (groups,) = people.groups
    measures = _decided(predicted, positive, people.weight)
    if true is not None:
        measures += _errors(true, predicted, positive, people.weight)
    parts: list[tuple[str | None, np.ndarray]] = [(None, np.ones(people.n_people, dtype=bool))] if everybody else []
    parts += [(label, groups.members(code)) for code, label in enumerate(groups.labels)]
    figures = _figures(measures, parts, people.weight, confidence, n_resamples, np.random.default_rng(random_state))
    return GroupFigures(groups.columns, confidence, n_resamples, tuple(figures))


def _check(confidence: float, n_resamples: int) -> None:
    if not 0 < confidence < 1:
        raise InputError(f"confidence must be between 0 and 1, such as 0.95, not {confidence!r}")
    if isinstance(n_resamples, bool) or not isinstance(n_resamples, (int, np.integer)) or n_resamples < 1:
        raise InputError(f"n_resamples must be a whole number of at least 1, not {n_resamples!r}")


def _decided(outcome: Outcome, positive: Label | None, weight: np.ndarray) -> list[_Measure]:
    if outcome.classes is None:
        return [_Measure("mean", None, weight * outcome.values, weight)]
    codes = range(outcome.n_classes) if positive is None else [positive_code(outcome, positive)]
    return [_Measure("rate", outcome.classes[code], weight * (outcome.values == code), weight) for code in codes]


def _errors(true: Outcome, predicted: Outcome, positive: Label | None, weight: np.ndarray) -> list[_Measure]:
    if true.classes is None:
        names = ["mean_error", "mean_absolute_error"]
    elif positive is None and true.n_classes != 2:
        names = ["error_rate"]
    else:
        names = ["error_rate", "true_positive_rate", "false_positive_rate"]
    measures = []
    for name in names:
        rate = RATES[name]
        judged: Judged = judge(rate, true, predicted, weight, positive)
        below = weight * rate.among(judged)
        measures.append(_Measure(name, None, below * rate.counted(judged), below))
    return measures


def _figures(
    measures: list[_Measure],
    parts: list[tuple[str | None, np.ndarray]],
    weight: np.ndarray,
    confidence: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> list[GroupFigure]:
    above = np.column_stack([measure.above for measure in measures])
    below = np.column_stack([measure.below for measure in measures])
    figures = []
    for label, inside in parts:
        ends = bootstrap_intervals(
            above[inside], below[inside], confidence=confidence, n_resamples=n_resamples, rng=rng
        )
        share = float(weight[inside].sum() / weight.sum())
        blank = GroupFigure(label, int(inside.sum()), share, "", None, np.nan, np.nan, np.nan)
        for column, measure in enumerate(measures):
            bottom = below[inside, column].sum()
            value = float(above[inside, column].sum() / bottom) if bottom > 0 else np.nan
            low, high = ends[:, column].tolist()
            figures.append(replace(blank, measure=measure.name, label=measure.label, value=value, low=low, high=high))
    return figures
