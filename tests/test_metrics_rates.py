"""Rates by group against fairlearn, on random people with many groups and weights."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.metrics import mean_absolute_error as sklearn_mae

from evenleaf import metrics
from evenleaf.errors import InputError

MODEST = settings(max_examples=10)
AGGREGATIONS = ("difference", "ratio", "min", "max")


def people(seed: int, n_groups: int, weighted: bool) -> dict[str, Any]:
    """Every group has positives and negatives, so that every rate is defined and fairlearn's agree."""
    rng = np.random.default_rng(seed)
    n = 40 * n_groups
    group = np.arange(n) % n_groups
    y_true = (np.arange(n) // n_groups) % 2
    y_pred = (rng.random(n) < 0.3 + 0.4 * y_true * rng.random(n_groups)[group]).astype(int)
    weight = rng.uniform(0.1, 3.0, n) if weighted else None
    names = np.array([f"g{code}" for code in range(n_groups)])[group]
    return {"y_true": y_true, "y_pred": y_pred, "group": names, "weight": weight}


def call(function: Any, data: dict[str, Any], **more: Any) -> Any:
    return function(
        data["y_true"], data["y_pred"], sensitive_features=data["group"], sample_weight=data["weight"], **more
    )


@pytest.mark.needs("fairlearn")
@MODEST
@given(st.integers(0, 10_000), st.integers(2, 7), st.booleans())
def test_the_names_that_fairlearn_has_too(seed: int, n_groups: int, weighted: bool) -> None:
    import fairlearn.metrics as theirs

    data = people(seed, n_groups, weighted)
    names = [f"{name}_{how}" for name in ("demographic_parity", "equalized_odds") for how in ("difference", "ratio")]
    names += ["equal_opportunity_difference", "equal_opportunity_ratio"]
    rates = ("selection", "true_positive", "false_positive", "true_negative", "false_negative")
    names += [f"{rate}_rate_{how}" for rate in rates for how in ("difference", "ratio")]
    for name in names:
        expected = call(getattr(theirs, name), data)
        assert call(getattr(metrics, name), data) == pytest.approx(expected, abs=1e-12, nan_ok=True), name


@pytest.mark.needs("fairlearn")
@MODEST
@given(st.integers(0, 10_000), st.integers(2, 7), st.booleans())
def test_every_rate_by_group_and_every_aggregation(seed: int, n_groups: int, weighted: bool) -> None:
    import fairlearn.metrics as theirs
    from sklearn.metrics import precision_score, zero_one_loss

    data = people(seed, n_groups, weighted)
    base = {
        "accuracy": accuracy_score,
        "error_rate": zero_one_loss,
        "selection_rate": theirs.selection_rate,
        "true_positive_rate": theirs.true_positive_rate,
        "false_positive_rate": theirs.false_positive_rate,
        "true_negative_rate": theirs.true_negative_rate,
        "false_negative_rate": theirs.false_negative_rate,
        "mean_prediction": theirs.mean_prediction,
        "mean_absolute_error": sklearn_mae,
        "positive_predictive_value": lambda *a, **k: precision_score(*a, zero_division=np.nan, **k),
    }
    for name, function in base.items():
        params = {} if data["weight"] is None else {"sample_params": {"sample_weight": data["weight"]}}
        frame = theirs.MetricFrame(
            metrics=function, y_true=data["y_true"], y_pred=data["y_pred"], sensitive_features=data["group"], **params
        )
        found = metrics.rate_by_group(
            name, data["y_true"], data["y_pred"], sensitive_features=data["group"], sample_weight=data["weight"]
        )
        assert found == pytest.approx(frame.by_group.to_dict(), abs=1e-12), name
        overall = getattr(metrics, name)(data["y_true"], data["y_pred"], sample_weight=data["weight"])
        assert overall == pytest.approx(frame.overall, abs=1e-12), name
        expected = (frame.difference(), frame.ratio(), frame.group_min(), frame.group_max())
        for how, value in zip(AGGREGATIONS, expected, strict=True):
            assert call(getattr(metrics, f"{name}_{how}"), data) == pytest.approx(value, abs=1e-12, nan_ok=True)


def test_every_rate_of_the_table_is_exported_with_every_aggregation() -> None:
    for name in metrics.RATES:
        for exported in (name, *(f"{name}_{how}" for how in AGGREGATIONS)):
            function = getattr(metrics, exported)
            assert exported in metrics.__all__
            assert function.__name__ == exported
            assert function.__doc__
            assert pickle.loads(pickle.dumps(function)) is function  # noqa: S301


def test_a_group_without_positives_is_left_out_rather_than_called_zero() -> None:
    y_true, y_pred, group = [1, 1, 0, 0, 0], [1, 0, 0, 1, 0], [*"ppqqq"]
    rates = metrics.rate_by_group("true_positive_rate", y_true, y_pred, sensitive_features=group)
    assert rates["p"] == 0.5
    assert np.isnan(rates["q"])
    assert metrics.true_positive_rate_difference(y_true, y_pred, sensitive_features=group) == 0.0
    assert np.isnan(metrics.true_positive_rate_min([0, 0], [0, 1], sensitive_features=[*"pq"]))


def test_signed_means_have_no_ratio() -> None:
    y_true, y_pred, group = [0.0, 0.0], [-1.0, 2.0], [*"pq"]
    assert np.isnan(metrics.mean_error_ratio(y_true, y_pred, sensitive_features=group))
    assert metrics.mean_error_difference(y_true, y_pred, sensitive_features=group) == 3.0
    assert metrics.mean_error(y_true, y_pred, sample_weight=[3, 1]) == pytest.approx(-0.25)


def test_positive_by_name_by_text_and_by_default() -> None:
    y_true, y_pred, group = ["no", "yes", "no"], ["yes", "yes", "no"], [*"ppq"]
    assert metrics.selection_rate(y_true, y_pred) == pytest.approx(2 / 3)
    assert metrics.selection_rate(y_true, y_pred, positive="no") == pytest.approx(1 / 3)
    assert metrics.selection_rate([2, 3], [3, 3], positive="3") == 1.0  # as typed on a command line
    assert metrics.selection_rate([True, False], [1, 0]) == metrics.accuracy([True, False], [1, 1]) == 0.5
    assert metrics.selection_rate([0, 0], [0, 0]) == 0.0
    assert metrics.selection_rate([1, 1], [1, 1]) == 1.0
    assert metrics.selection_rate([-1, -1], [-1, -1]) == 0.0
    assert metrics.selection_rate_max(y_true, y_pred, sensitive_features=group) == 1.0
    with pytest.raises(InputError, match="3 classes; say which one is positive"):
        metrics.selection_rate([1, 2, 3], [1, 2, 3])
    assert metrics.accuracy([1, 2, 3], [1, 2, 1]) == pytest.approx(2 / 3)


def test_an_unknown_rate_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="no rate 'recall'; choose one of accuracy"):
        metrics.rate_by_group("recall", [0, 1], [0, 1], sensitive_features=[*"pq"])


def test_several_protected_columns_make_joint_groups() -> None:
    both = {"race": [*"ppqq"], "sex": [*"fmfm"]}
    found = metrics.rate_by_group("selection_rate", [0, 1, 0, 1], [1, 0, 1, 1], sensitive_features=both)
    assert found == {"p × f": 1.0, "p × m": 0.0, "q × f": 1.0, "q × m": 1.0}


def test_a_metric_can_be_a_scorer() -> None:
    scorer = make_scorer(metrics.accuracy_min, sensitive_features=[*"ppqq"])
    assert "accuracy_min" in repr(scorer)
