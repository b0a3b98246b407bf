"""The discrimination indices of the paper and their kin, for a data set or for predictions, as plain functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from evenleaf.fairness import (
    ConditionalParity,
    DisparateImpact,
    DisparateMistreatment,
    DisparateTreatment,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    PredictiveEquality,
    indicators,
)
from evenleaf.fairness.nearest import Metric
from evenleaf.fairness.treatment import Weights
from evenleaf.metrics.arguments import find_label, make_people, outcome_pair, positive_code
from evenleaf.table import Grouping, Label, Outcome, People, Task


def didi(
    y: Any,
    *,
    sensitive_features: Any,
    task: Task = "classification",
    sample_weight: Any = None,
    groups: Grouping = "joint",
) -> float:
    """Disparate impact discrimination index (Definitions 2.2 and 2.5): the rate in each group against the rate overall.

    `y` is a decided column, or predictions. With classes it is Σ_y Σ_p |P(y) − P(y | p)|, with numbers
    Σ_p |E(y) − E(y | p)|. Several protected columns make joint groups; `groups="each"` sums over the columns.
    """
    people = make_people(y, sensitive_features, task=task, sample_weight=sample_weight, groups=groups)
    return _value(DisparateImpact(), people, people.outcome)


def dtdi(
    y: Any,
    X: Any,
    *,
    sensitive_features: Any,
    task: Task = "classification",
    n_neighbors: int = 10,
    weights: Weights = None,
    normalize: bool = True,
    metric: Metric | None = None,
    include_self: bool = True,
    bandwidth: float = 1.0,
    per_group: bool = False,
    distance: Literal["features", "outcomes"] = "features",
    sample_weight: Any = None,
    groups: Grouping = "joint",
    categorical_features: Any = "from_dtype",
) -> float:
    """Disparate treatment discrimination index (equations 3 and 4): the same comparison among similar people.

    Protected columns never enter the distance, also where they stand in `X`. `normalize=False` is the paper's
    raw sum over people; the default divides it by their number. `X` may be None where it is not looked at:
    with `distance="outcomes"`, or with a ready matrix of `weights`.
    """
    notion = DisparateTreatment(n_neighbors, weights, bandwidth, metric, include_self, per_group, distance, normalize)
    people = make_people(
        y,
        sensitive_features,
        X=X,
        task=task,
        sample_weight=sample_weight,
        groups=groups,
        categorical_features=categorical_features,
    )
    return _value(notion, people, people.outcome)


def mistreatment(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    pairs: Sequence[tuple[Label, Label]] | None = None,
    sample_weight: Any = None,
    groups: Grouping = "joint",
) -> float:
    """Disparate mistreatment: Σ over (y, ŷ) and p of |P(ŷ | y) − P(ŷ | y, p)|, zero where equation 2 holds.

    `pairs` limits the sum to some (true, predicted) classes.
    """
    true, predicted = outcome_pair(y_true, y_pred)
    known = None
    if pairs is not None:
        classes = true.classes or ()
        known = [(classes[find_label(true, t)], classes[find_label(true, p)]) for t, p in pairs]
    people = make_people(true, sensitive_features, sample_weight=sample_weight, groups=groups)
    return _value(DisparateMistreatment(known), people, predicted)


def equal_opportunity(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    positive: Label | None = None,
    sample_weight: Any = None,
    groups: Grouping = "joint",
) -> float:
    """Σ_p |TPR − TPR_p|: of those who truly are positive, is the same share found in every group?"""
    return _error_rates(EqualOpportunity, y_true, y_pred, sensitive_features, positive, sample_weight, groups)


def predictive_equality(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    positive: Label | None = None,
    sample_weight: Any = None,
    groups: Grouping = "joint",
) -> float:
    """Σ_p |FPR − FPR_p|: of those who truly are not positive, is the same share wrongly taken for it?"""
    return _error_rates(PredictiveEquality, y_true, y_pred, sensitive_features, positive, sample_weight, groups)


def equalized_odds(
    y_true: Any,
    y_pred: Any,
    *,
    sensitive_features: Any,
    positive: Label | None = None,
    sample_weight: Any = None,
    groups: Grouping = "joint",
) -> float:
    """Equal opportunity plus predictive equality."""
    return _error_rates(EqualizedOdds, y_true, y_pred, sensitive_features, positive, sample_weight, groups)


def conditional_parity(
    y_pred: Any,
    X: Any,
    *,
    given: str | Sequence[str],
    sensitive_features: Any,
    task: Task = "classification",
    weigh_by_size: bool = False,
    sample_weight: Any = None,
    groups: Grouping = "joint",
    categorical_features: Any = "from_dtype",
) -> float:
    """Disparate impact among people who agree on the columns `given` of X (conditional statistical parity)."""
    people = make_people(
        y_pred,
        sensitive_features,
        X=X,
        task=task,
        sample_weight=sample_weight,
        groups=groups,
        categorical_features=categorical_features,
    )
    return _value(ConditionalParity(given, weigh_by_size), people, people.outcome)


def psi_of(outcome: Outcome) -> np.ndarray:
    """The decisions as numbers: ψ of ALGORITHM §1."""
    if outcome.classes is None:
        return np.asarray(outcome.values[:, None])
    return indicators(outcome.values, outcome.n_classes)


def _value(notion: Notion, people: People, decided: Outcome) -> float:
    return notion.operator(people).value(psi_of(decided))


def _error_rates(
    notion: type[EqualOpportunity | PredictiveEquality | EqualizedOdds],
    y_true: Any,
    y_pred: Any,
    sensitive_features: Any,
    positive: Label | None,
    sample_weight: Any,
    groups: Grouping,
) -> float:
    true, predicted = outcome_pair(y_true, y_pred)
    label = (true.classes or ())[positive_code(true, positive)]
    people = make_people(true, sensitive_features, sample_weight=sample_weight, groups=groups)
    return _value(notion(label), people, predicted)
