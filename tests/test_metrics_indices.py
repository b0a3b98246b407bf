"""The indices as functions: the same numbers as the formulas, for every way of passing the same people."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fairness_by_loops as loops
from evenleaf import metrics
from evenleaf.errors import InputError
from evenleaf.table import Table
from people_strategies import Sample, samples

MODEST = settings(max_examples=40)
FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60, 70],
        "job": ["x", "y", "x", "y", "x", "y"],
        "race": ["p", "p", "p", "q", "q", "q"],
        "sex": ["f", "m", "f", "m", "f", "m"],
    }
)
Y = ["no", "no", "yes", "yes", "yes", "no"]


def task_of(sample: Sample) -> Any:
    return "regression" if sample.classes is None else "classification"


@MODEST
@given(samples(protected_columns=2), st.sampled_from(["joint", "each"]))
def test_didi(sample: Sample, groups: Any) -> None:
    found = metrics.didi(
        sample.y,
        sensitive_features=pd.DataFrame(sample.protected),
        task=task_of(sample),
        sample_weight=sample.weight,
        groups=groups,
    )
    parts = [sample.group] if groups == "joint" else list(sample.protected.values())
    expected = sum(loops.didi(sample.y, part, sample.weight, sample.classes) for part in parts)
    assert found == pytest.approx(expected, abs=1e-12)


@MODEST
@given(samples(), st.integers(1, 4), st.booleans(), st.booleans())
def test_dtdi(sample: Sample, k: int, include_self: bool, normalize: bool) -> None:
    assume(k + (not include_self) <= sample.n)
    squared = loops.exact_squared_distances(sample.quantitative, sample.categorical, sample.weight)
    near = loops.nearest(squared, k, include_self, range(sample.n))
    # Classes that nobody has add nothing, so it does not matter that the function cannot know of them.
    expected, _ = loops.dtdi(sample.y, sample.group, sample.weight, sample.classes, near, normalize)
    found = metrics.dtdi(
        sample.y,
        sample.columns,
        sensitive_features=sample.protected["g0"],
        task=task_of(sample),
        n_neighbors=k,
        include_self=include_self,
        normalize=normalize,
        sample_weight=sample.weight,
        categorical_features=[name for name in sample.columns if name.startswith("c")],
    )
    assert found == pytest.approx(expected, abs=1e-9)


@MODEST
@given(samples(regression=False), st.data())
def test_error_rates(sample: Sample, data: st.DataObject) -> None:
    classes = sample.classes or ()
    predicted = data.draw(st.lists(st.sampled_from(classes), min_size=sample.n, max_size=sample.n))
    options: dict[str, Any] = {"sensitive_features": sample.protected["g0"], "sample_weight": sample.weight}
    pairs = list(product(classes, classes))
    expected = loops.mistreatment(sample.y, predicted, sample.group, sample.weight, pairs)
    assert metrics.mistreatment(sample.y, predicted, **options) == pytest.approx(expected, abs=1e-12)
    positive = sample.y[0]
    true, guess = [c == positive for c in sample.y], [c == positive for c in predicted]
    rates = [loops.mistreatment(true, guess, sample.group, sample.weight, [(flag, True)]) for flag in (True, False)]
    options["positive"] = positive
    assert metrics.equal_opportunity(sample.y, predicted, **options) == pytest.approx(rates[0], abs=1e-12)
    assert metrics.predictive_equality(sample.y, predicted, **options) == pytest.approx(rates[1], abs=1e-12)
    assert metrics.equalized_odds(sample.y, predicted, **options) == pytest.approx(sum(rates), abs=1e-12)


def test_mistreatment_of_some_pairs() -> None:
    predicted = ["no", "yes", "yes", "no", "yes", "no"]
    found = metrics.mistreatment(Y, predicted, sensitive_features=FRAME["race"], pairs=[("no", "yes")])
    expected = loops.mistreatment(Y, predicted, FRAME["race"].tolist(), [1] * 6, [("no", "yes")])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("by_size", [True, False])
def test_conditional_parity(by_size: bool) -> None:
    found = metrics.conditional_parity(Y, FRAME, given="job", sensitive_features="race", weigh_by_size=by_size)
    strata = FRAME["job"].tolist()
    expected = loops.conditional_parity(Y, FRAME["race"].tolist(), [1] * 6, ("no", "yes"), strata, by_size)
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    "race",
    [
        FRAME["race"],
        FRAME["race"].tolist(),
        FRAME["race"].to_numpy(),
        FRAME[["race"]],
        FRAME[["race"]].to_numpy(),
        FRAME["race"].astype("category"),
        pl.Series("race", FRAME["race"].tolist()),
        {"race": FRAME["race"].tolist()},
        Table.of(FRAME[["race"]]),
        (FRAME["race"] == "q").to_numpy(),
        (FRAME["race"] == "q").astype(int).tolist(),
        [[value] for value in FRAME["race"]],
    ],
    ids=lambda value: type(value).__name__,
)
def test_protected_columns_may_come_in_any_form(race: Any) -> None:
    assert metrics.didi(Y, sensitive_features=race) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    "y", [Y, np.array(Y), pd.Series(Y), pl.Series(Y), [v == "yes" for v in Y], [int(v == "yes") for v in Y]]
)
def test_labels_may_be_texts_numbers_or_truth_values(y: Any) -> None:
    assert metrics.didi(y, sensitive_features=FRAME["race"]) == pytest.approx(2 / 3)


def test_protected_columns_never_enter_the_distance() -> None:
    bare = FRAME[["age", "job"]]
    options: dict[str, Any] = {"n_neighbors": 2}
    expected = metrics.dtdi(Y, bare, sensitive_features=FRAME["race"].tolist(), **options)
    for features, race in [
        (FRAME[["age", "job", "race"]], "race"),
        (FRAME[["age", "job", "race"]], ["race"]),
        (FRAME[["age", "job", "race"]], FRAME["race"]),
        (pl.from_pandas(FRAME[["age", "job", "race"]]), ["race"]),
    ]:
        assert metrics.dtdi(Y, features, sensitive_features=race, **options) == expected
    both = metrics.dtdi(Y, bare, sensitive_features=FRAME[["race", "sex"]], **options)
    assert metrics.dtdi(Y, FRAME, sensitive_features=["race", "sex"], **options) == both


def test_a_column_called_group_stays_where_the_values_have_no_name() -> None:
    """A list has no name; that it is called "group" in messages must not remove a column of that name."""
    features = FRAME[["age"]].rename(columns={"age": "group"})
    found = metrics.dtdi(Y, features, sensitive_features=FRAME["race"].tolist(), n_neighbors=2)
    assert found == metrics.dtdi(Y, FRAME[["age"]], sensitive_features=FRAME["race"].tolist(), n_neighbors=2)


def test_features_are_not_needed_where_they_are_not_looked_at() -> None:
    race = FRAME["race"]
    matrix = sp.csr_array(np.ones((6, 6)))
    assert metrics.dtdi(Y, None, sensitive_features=race, weights=matrix) == pytest.approx(
        metrics.didi(Y, sensitive_features=race)
    )
    assert metrics.dtdi(Y, None, sensitive_features=race, distance="outcomes") == 0.0


@pytest.mark.parametrize("y", [[0.5, 1.0, 0.25, 0.0, 1.0, 0.0], pd.Series([1.5] * 6)])
def test_numbers_with_fractions_are_not_classes(y: Any) -> None:
    with pytest.raises(InputError, match='pass task="regression"'):
        metrics.didi(y, sensitive_features=FRAME["race"])
    assert metrics.didi(y, sensitive_features=FRAME["race"], task="regression") >= 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.didi(Y, sensitive_features=None), "no sensitive_features were given"),
        (lambda: metrics.didi(Y, sensitive_features="race"), "names only where X is given"),
        (lambda: metrics.didi(Y, sensitive_features=["p", "q"]), "names only where X is given"),
        (lambda: metrics.didi(Y, sensitive_features=["p", "q", "p"]), "3 rows, but the outcome has 6"),
        (lambda: metrics.didi(Y, sensitive_features=["p"] * 6), "only one group"),
        (lambda: metrics.didi([], sensitive_features=[]), "'y' is empty"),
        (lambda: metrics.didi([*Y[:5], None], sensitive_features=FRAME["race"]), "missing in row 6"),
        (lambda: metrics.didi([1, 2, np.inf], sensitive_features=[0, 1, 1], task="regression"), "infinite in row 3"),
        (lambda: metrics.didi(Y, sensitive_features=FRAME["race"], groups="both"), "'joint' or 'each'"),  # type: ignore[arg-type]
        (lambda: metrics.didi(Y, sensitive_features=FRAME["race"], task="ranking"), "task must be"),  # type: ignore[arg-type]
        (lambda: metrics.didi(Y, sensitive_features=FRAME["race"], sample_weight=[1] * 5), "5 rows"),
        (lambda: metrics.didi(Y, sensitive_features=FRAME["race"], sample_weight=[-1] * 6), "negative in row 1"),
        (lambda: metrics.dtdi(Y, FRAME, sensitive_features="rase"), "no column 'rase'; did you mean 'race'"),
        (lambda: metrics.dtdi(Y, FRAME, sensitive_features=["race", "race"]), "twice"),
        (lambda: metrics.dtdi(Y, FRAME, sensitive_features=["race", "sx"]), "did you mean 'sex'"),
        (lambda: metrics.dtdi(Y, FRAME, sensitive_features="race"), "n_neighbors=10 is more than the table has"),
        (lambda: metrics.dtdi(Y, None, sensitive_features=FRAME["race"]), "no feature is left"),
        (lambda: metrics.dtdi(Y, FRAME[["race"]], sensitive_features="race"), "no feature is left"),
        (lambda: metrics.conditional_parity(Y, FRAME, given="jop", sensitive_features="race"), "did you mean 'job'"),
        (lambda: metrics.mistreatment(Y, Y[:5], sensitive_features=FRAME["race"]), "'y_pred' has 5"),
        (lambda: metrics.mistreatment(Y, [0, 1] * 3, sensitive_features=FRAME["race"]), "texts and the other numbers"),
        (lambda: metrics.mistreatment(Y, Y, sensitive_features=FRAME["race"], pairs=[("no", "oui")]), "no class 'oui'"),
        (lambda: metrics.equalized_odds(Y, Y, sensitive_features=FRAME["race"], positive="oui"), "no class 'oui'"),
        (lambda: metrics.equal_opportunity("abcabc", "abcabc", sensitive_features=FRAME["race"]), "not str"),
        (lambda: metrics.equal_opportunity([*"abcabc"], [*"abcabc"], sensitive_features=FRAME["race"]), "3 classes"),
    ],
)
def test_bad_inputs(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_names_that_could_be_values_are_not_guessed_at() -> None:
    two = FRAME.iloc[:2]
    with pytest.raises(InputError, match="could be names of columns or one value a person"):
        metrics.dtdi(Y[:2], two, sensitive_features=["race", "sex"], n_neighbors=1)
