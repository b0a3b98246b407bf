"""Rates by group with their intervals: right values, deterministic, and covering what they promise to cover."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.metrics import GroupFigure, group_rates, rate_by_group
from evenleaf.metrics.bootstrap import bootstrap_intervals

GROUP = [*"pppppppppqqqqqqqqqqqqqqqqqqqqr"]
Y = [i % 3 == 0 for i in range(30)]


def figures(*args: Any, **options: Any) -> dict[tuple[Any, str, Any], GroupFigure]:
    found = group_rates(*args, **options)
    return {(figure.group, figure.measure, figure.label): figure for figure in found.figures}


@settings(max_examples=30)
@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_values_are_the_rates_and_ends_enclose_them(seed: int, weighted: bool, numbers: bool) -> None:
    rng = np.random.default_rng(seed)
    y_pred = rng.normal(size=60) if numbers else rng.integers(0, 3, 60)
    y_true = rng.normal(size=60) if numbers else rng.integers(0, 3, 60)
    group = rng.choice([*"pqr"], 60)
    weight = rng.uniform(0.5, 2, 60) if weighted else np.ones(60)
    task: Any = "regression" if numbers else "classification"
    options: dict[str, Any] = {"task": task, "sample_weight": weight, "n_resamples": 200}
    found = figures(y_pred, y_true=y_true, sensitive_features=group, **options)
    for (label, measure, cls), figure in found.items():
        inside = np.ones(60, dtype=bool) if label is None else group == label
        assert figure.n == inside.sum()
        assert figure.share == pytest.approx(weight[inside].sum() / weight.sum())
        values = {
            "rate": y_pred == cls,
            "mean": y_pred,
            "error_rate": y_pred != y_true,
            "mean_error": y_pred - y_true,
            "mean_absolute_error": np.abs(y_pred - y_true),
        }[measure]
        assert figure.value == pytest.approx(np.average(values[inside], weights=weight[inside]))
        assert figure.low - 1e-12 <= figure.value <= figure.high + 1e-12
    assert {label for label, *_ in found} == {None, *group}


def test_error_rates_agree_with_the_table_of_rates() -> None:
    rng = np.random.default_rng(0)
    y_true, y_pred, group = rng.integers(0, 2, 90), rng.integers(0, 2, 90), rng.choice([*"pqr"], 90)
    found = figures(y_pred, y_true=y_true, sensitive_features=group)
    for name in ("error_rate", "true_positive_rate", "false_positive_rate"):
        expected = rate_by_group(name, y_true, y_pred, sensitive_features=group)
        assert {g: found[g, name, None].value for g in expected} == pytest.approx(expected)


def test_the_same_seed_gives_the_same_rows() -> None:
    options: dict[str, Any] = {"sensitive_features": GROUP, "task": "regression", "n_resamples": 50}
    for y in (Y, np.sin(np.arange(30))):
        first = group_rates(y, random_state=3, **options)
        assert first == group_rates(y, random_state=3, **options)
        assert first == group_rates(y, random_state=np.random.default_rng(3), **options)
    assert first != group_rates(y, random_state=4, **options)


def test_a_rate_has_the_quantiles_of_a_binomial() -> None:
    """Resampling n people of whom m are positive is Binomial(n, m/n): the ends are its quantiles."""
    from scipy.stats import binom

    y = np.arange(400) < 120
    found = figures(y, sensitive_features=np.arange(400) % 2, positive=True, n_resamples=20_000)[None, "rate", True]
    expected = binom.ppf([0.025, 0.975], 400, 0.3) / 400
    assert [found.low, found.high] == pytest.approx(expected, abs=0.004)


def test_both_ways_of_resampling_give_the_same_distribution() -> None:
    """Few kinds of people are drawn as counts, many as people; a tiny jitter turns the one case into the other."""
    rng = np.random.default_rng(0)
    above = (rng.random((500, 1)) < 0.4).astype(float)
    jitter = 1e-9 * rng.random((500, 1))
    ends = [
        bootstrap_intervals(
            values, np.ones((500, 1)), confidence=0.9, n_resamples=8000, rng=np.random.default_rng(seed)
        )
        for seed, values in enumerate((above, above + jitter))
    ]
    assert ends[0] == pytest.approx(ends[1], abs=0.006)
    assert ends[0][1, 0] - ends[0][0, 0] == pytest.approx(2 * 1.645 * np.sqrt(0.24 / 500), rel=0.1)


def test_blocks_do_not_change_the_kind_of_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    values, ones = np.random.default_rng(1).normal(size=(50, 2)), np.ones((50, 2))
    whole = bootstrap_intervals(values, ones, confidence=0.9, n_resamples=4000, rng=np.random.default_rng(0))
    monkeypatch.setattr("evenleaf.metrics.bootstrap._MOST_DRAWN", 130)
    parts = bootstrap_intervals(values, ones, confidence=0.9, n_resamples=4000, rng=np.random.default_rng(0))
    assert parts.shape == (2, 2)
    assert parts == pytest.approx(whole, abs=1e-12)  # the same stream of draws, cut differently


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng, hits, trials = np.random.default_rng(5), 0, 300
    for trial in range(trials):
        y = rng.random(200) < 0.3
        found = figures(y, sensitive_features=np.arange(200) % 2, positive=True, n_resamples=200, random_state=trial)
        hits += found[None, "rate", True].low <= 0.3 <= found[None, "rate", True].high
    assert 0.90 <= hits / trials <= 0.985


def test_rows_are_pure_data() -> None:
    y_true = [i % 2 for i in range(29)] + [0]  # the group r has no positives: no true positive rate
    rows = group_rates([int(v) for v in Y], y_true=y_true, sensitive_features=GROUP).rows()
    json.dumps(rows, allow_nan=False)
    assert list(rows[0]) == ["group", "n", "share", "measure", "label", "value", "low", "high"]
    (row,) = [row for row in rows if row["group"] == "r" and row["measure"] == "true_positive_rate"]
    assert (row["n"], row["value"], row["low"], row["high"]) == (1, None, None, None)


def test_everybody_may_be_left_out() -> None:
    found = group_rates(Y, sensitive_features=GROUP, positive=True, everybody=False)
    assert [figure.group for figure in found.figures] == ["p", "q", "r"]


def test_one_class_only_where_it_is_named() -> None:
    found = group_rates(["a", "b", "c", "a"], sensitive_features=[*"ppqq"], positive="b")
    assert {figure.label for figure in found.figures} == {"b"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"confidence": 1.0}, "between 0 and 1"),
        ({"confidence": 95}, "between 0 and 1"),
        ({"n_resamples": 0}, "at least 1"),
        ({"n_resamples": 10.5}, "whole number"),
        ({"positive": "maybe"}, "no class 'maybe'"),
        ({"y_true": Y[:3]}, "'y_true' has 3 rows"),
    ],
)
def test_bad_settings(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        group_rates(Y, sensitive_features=GROUP, **options)
