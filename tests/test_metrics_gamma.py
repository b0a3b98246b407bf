"""γ(x), the local rate of one's own group minus the local rate overall, person by person."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fairness_by_loops as loops
from evenleaf.errors import InputError
from evenleaf.metrics import gamma
from people_strategies import Sample, samples


@settings(max_examples=60)
@given(samples(), st.integers(1, 5), st.booleans())
def test_gamma_is_the_difference_of_two_local_rates(sample: Sample, k: int, include_self: bool) -> None:
    assume(k + (not include_self) <= sample.n)
    positive = None if sample.classes is None else sample.y[0]
    found = gamma(
        sample.y,
        sample.columns,
        sensitive_features=sample.protected["g0"],
        positive=positive,
        task="regression" if sample.classes is None else "classification",
        n_neighbors=k,
        include_self=include_self,
        sample_weight=sample.weight,
        categorical_features=[name for name in sample.columns if name.startswith("c")],
    )
    squared = loops.exact_squared_distances(sample.quantitative, sample.categorical, sample.weight)
    near = loops.nearest(squared, k, include_self, range(sample.n))
    values = [float(v) for v in sample.y] if positive is None else [float(v == positive) for v in sample.y]
    empty = 0
    for j in range(sample.n):
        local = [near[i][j] * sample.weight[i] for i in range(sample.n)]
        own = [w if g == sample.group[j] else 0.0 for w, g in zip(local, sample.group, strict=True)]
        here, everywhere = loops.average(values, own), loops.average(values, local)
        empty += here is None
        expected = 0.0 if here is None or everywhere is None else here - everywhere
        assert found.values[j] == pytest.approx(expected, abs=1e-9)
    assert found.empty == empty
    assert np.asarray(found).tolist() == found.values.tolist()
    assert len(found) == sample.n


def test_everybody_alike_leaves_no_gap() -> None:
    found = gamma([1] * 4 + [0], {"age": [1, 2, 3, 4, 5]}, sensitive_features=[*"pqpqp"], n_neighbors=1)
    assert found.values.tolist() == [0.0] * 5
    assert found.empty == 0


def test_the_result_cannot_be_changed() -> None:
    found = gamma([1, 0], {"age": [1, 2]}, sensitive_features=[*"pq"], n_neighbors=2)
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 3.0


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([1, 2, 3], {}, "3 classes; say which one is positive"),
        ([1.5, 2.0, 3.0], {}, 'task="regression"'),
        ([1, 2, 3], {"task": "regression", "positive": 1}, "the task is regression"),
        ([1, 0, 1], {"sensitive_features": [*"ppp"]}, "only one group"),
    ],
)
def test_bad_inputs(y: Any, options: dict[str, Any], message: str) -> None:
    settings: dict[str, Any] = {"sensitive_features": [*"ppq"], "n_neighbors": 2} | options
    with pytest.raises(InputError, match=message):
        gamma(y, {"age": [1, 2, 3]}, **settings)
