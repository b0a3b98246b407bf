"""People: outcomes of every type, weights, lengths that must agree, the task guessed from the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.table import Outcome, People, Table, infer_task, make_groups, make_outcome, make_weight

nan = float("nan")


def people(n: int = 3, **changes: Any) -> People:
    parts: dict[str, Any] = {
        "features": Table.of({"age": np.arange(n)}),
        "outcome": make_outcome(np.arange(n) % 2, task="classification"),
        "groups": make_groups(Table.of({"sex": ["F", "M"] * n}).take(np.arange(n))),
        "weight": np.ones(n),
    }
    return People(**{**parts, **changes})


# --- classes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["no", "yes", "no"], ("no", "yes"), [0, 1, 0]),
        (["yes", "no"], ("no", "yes"), [1, 0]),
        ([10, 9, 10], (9, 10), [1, 0, 1]),
        (["10", "9"], ("10", "9"), [0, 1]),
        ([1.0, 0.0], (0, 1), [1, 0]),
        ([1.5, 0.5], (0.5, 1.5), [1, 0]),
        ([-1, 1], (-1, 1), [0, 1]),
        ([True, False], (False, True), [1, 0]),
        (np.array([2, 1], dtype=np.int8), (1, 2), [1, 0]),
        (np.array(["b", "a"]), ("a", "b"), [1, 0]),
        (np.array([True, False]), (False, True), [1, 0]),
        (np.array([[1], [0]]), (0, 1), [1, 0]),
        ((1, 0), (0, 1), [1, 0]),
        (["only"], ("only",), [0]),
        (["", "a"], ("", "a"), [0, 1]),
    ],
)
def test_classes_are_the_labels_in_order(y: Any, classes: tuple[Any, ...], codes: list[int]) -> None:
    outcome = make_outcome(y, task="classification", name="hired")
    assert outcome.classes == classes
    assert [type(label) for label in outcome.classes or ()] == [type(label) for label in classes]
    assert outcome.values.tolist() == codes
    assert outcome.values.dtype == np.intp
    assert (outcome.name, outcome.task, outcome.n_classes) == ("hired", "classification", len(classes))


@pytest.mark.needs("pandas", "polars", "pyarrow")
@pytest.mark.parametrize("values", [["b", "a", "b"], [2, 1, 2], [True, False, True], [1.5, 0.5, 1.5]])
def test_the_same_labels_from_every_frame(values: list[Any]) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    for y in (
        values,
        np.array(values),
        np.array(values, dtype=object),
        pd.Series(values, index=[5, 5, 5]),
        pd.Series(values, dtype=object),
        pd.Series(values, dtype="category"),
        pd.Series(values).convert_dtypes(),
        pd.Index(values),
        pd.DataFrame({"y": values}),
        pl.Series(values),
        pl.DataFrame({"y": values}),
        pa.array(values),
        pa.chunked_array([values[:1], values[1:]]),
    ):
        outcome = make_outcome(y, task="classification")
        assert outcome.classes == (values[1], values[0])
        assert [type(label) for label in outcome.classes] == [type(values[0])] * 2
        assert outcome.values.tolist() == [1, 0, 1]


@pytest.mark.needs("pandas")
def test_a_category_of_numbers_is_answered_with_numbers() -> None:
    import pandas as pd

    outcome = make_outcome(pd.Series([1, 0, 1], dtype="category"), task="classification")
    assert outcome.classes == (0, 1)
    assert isinstance(outcome.classes[0], int)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        ([1, nan, None], "'hired' is missing in row 2 and 1 more; remove those rows or fill the value in"),
        ([True, None], "'hired' is missing in row 2; remove those rows or fill the value in"),
        (np.array([nan, 1.0]), "'hired' is missing in row 1;"),
        (np.ma.masked_array([0, 1], mask=[False, True]), "'hired' is missing in row 2;"),
        ([0.0, np.inf], "'hired' is infinite in row 2; every value must be a finite number"),
        ([-np.inf, 0.0], "'hired' is infinite in row 1;"),
        ([], "'hired' is empty"),
        (np.array([], dtype=str), "'hired' is empty"),
        (None, "no 'hired' was given"),
        (1, "'hired' must be a column of values, not int"),
        ([[0, 1], [1, 0]], "'hired' must be one column of values, but has 2 dimensions"),
        ({"a": [0], "b": [1]}, "'hired' must be one column, but a table of 2 was given"),
        ([1, 10**400], "column 'hired' holds a number in row 2 that is too large"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "column 'hired' holds dates or times"),
        ([1j], "column 'hired' holds a value of the type complex in row 1"),
    ],
)
def test_an_outcome_that_cannot_be_used(task: Any, y: Any, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        make_outcome(y, task=task, name="hired")
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        (["yes", None], "'y' is missing in row 2;"),
        (["yes", 1], "'y' mixes texts, truth values or numbers; use one of them for every label"),
        ([True, 1, 0], "'y' mixes texts, truth values or numbers"),
        ([True, "True"], "'y' mixes texts, truth values or numbers"),
        ([2**60, 2**60 + 1], "'y' holds a number in row 1 too long for a label; turn it into text"),
    ],
)
def test_labels_that_cannot_be_used(y: Any, complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        make_outcome(y, task="classification")
    assert complaint in str(caught.value)


def test_given_classes_keep_their_order_and_may_be_without_people() -> None:
    outcome = make_outcome(["a", "c"], task="classification", classes=("c", "b", "a"))
    assert outcome.classes == ("c", "b", "a")
    assert outcome.values.tolist() == [2, 0]
    assert outcome.n_classes == 3
    array = make_outcome([1.0, 0.0], task="classification", classes=np.array([0, 1]))  # type: ignore[arg-type]
    assert array.classes == (0, 1)
    assert [type(label) for label in array.classes] == [int, int]
    words = make_outcome(["a"], task="classification", classes=np.array(["a", "b"]))  # type: ignore[arg-type]
    assert [type(label) for label in words.classes or ()] == [str, str]


def test_a_label_outside_the_given_classes() -> None:
    with pytest.raises(InputError) as caught:
        make_outcome(["a", "z"], task="classification", classes=("a", "b"), name="hired")
    assert str(caught.value) == ("'hired' holds the label 'z' in row 2, which is not among the classes ['a', 'b']")
    with pytest.raises(InputError, match="holds the label '1' in row 1"):
        make_outcome(["1"], task="classification", classes=(0, 1))
    with pytest.raises(InputError, match=r"the classes of 'y' list a label twice: \['a', 'a'\]"):
        make_outcome(["a"], task="classification", classes=("a", "a"))


@given(st.lists(st.integers(-5, 5), min_size=1) | st.lists(st.sampled_from(["a", "b", "", "1"]), min_size=1))
def test_codes_give_the_labels_back(y: list[Any]) -> None:
    outcome = make_outcome(y, task="classification")
    assert outcome.classes is not None
    assert list(outcome.classes) == sorted(set(y))
    assert [outcome.classes[code] for code in outcome.values] == y


# --- numbers ---------------------------------------------------------------------------------------


@pytest.mark.needs("pandas", "polars", "pyarrow")
def test_numbers_from_every_frame() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = [1.5, 0.5, 2.0]
    for y in (
        values,
        np.array(values, dtype=np.float32),
        np.array(values, dtype=object),
        pd.Series(values),
        pd.Series(values, dtype="Float64"),
        pd.Series(values, dtype="category"),
        pl.Series(values),
        pa.array(values),
        pa.table({"y": values}),
    ):
        outcome = make_outcome(y, task="regression", name="risk")
        assert outcome.values.tolist() == values
        assert outcome.values.dtype == np.float64
        assert (outcome.classes, outcome.task, outcome.n_classes) == (None, "regression", 1)


def test_truth_values_are_numbers_in_a_regression() -> None:
    assert make_outcome([True, False], task="regression").values.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("y", "complaint"),
    [
        (["1", "2"], "'y' must hold numbers, but row 1 holds '1'"),
        ([1, 2, "a"], "'y' must hold numbers, but row 3 holds 'a'"),
        ([True, "a"], "'y' must hold numbers, but row 2 holds 'a'"),
    ],
)
def test_texts_are_not_numbers(y: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make_outcome(y, task="regression")


def test_an_unknown_task() -> None:
    with pytest.raises(InputError, match="task must be 'classification' or 'regression', not 'ranking'"):
        make_outcome([1], task="ranking")  # type: ignore[arg-type]


@pytest.mark.needs("pandas")
def test_an_outcome_is_not_the_callers_array() -> None:
    import pandas as pd

    array, series = np.array([1.0, 2.0]), pd.Series([1.0, 2.0])
    outcomes = [make_outcome(array, task="regression"), make_outcome(series, task="regression")]
    weights = [make_weight(array, 2), make_weight(series, 2)]
    mine = np.array([0, 1])
    by_hand = Outcome("y", mine, (0, 1))
    array[0], series.iloc[0], mine[0] = 99.0, 99.0, 1
    assert [outcome.values.tolist() for outcome in outcomes] == [[1, 2], [1, 2]]
    assert [weight.tolist() for weight in weights] == [[1, 2], [1, 2]]
    assert by_hand.values.tolist() == [0, 1]
    with pytest.raises(ValueError, match="read-only"):
        outcomes[0].values[0] = 1


# --- weights ---------------------------------------------------------------------------------------


def test_weights() -> None:
    assert make_weight(None, 3).tolist() == [1, 1, 1]
    assert make_weight([0, 2, 0.5], 3).tolist() == [0, 2, 0.5]
    assert make_weight([True, False], 2).tolist() == [1, 0]
    assert make_weight([5e-324, 0], 2).tolist() == [5e-324, 0]


@pytest.mark.parametrize(
    ("weight", "complaint"),
    [
        ([1, 2], "'sample_weight' has 2 rows, but the outcome has 3"),
        ([1, 2, 3, 4], "'sample_weight' has 4 rows, but the outcome has 3"),
        ([1, -1, -2], "'sample_weight' is negative in row 2"),
        ([0, 0, 0], "'sample_weight' is zero for everybody"),
        ([1, nan, 1], "'sample_weight' is missing in row 2"),
        ([1, 1, np.inf], "'sample_weight' is infinite in row 3"),
        ([1e308, 1e308, 1e308], "'sample_weight' is so large that it cannot be added up"),
        (["1", "1", "1"], "'sample_weight' must hold numbers, but row 1 holds '1'"),
        (2.0, "'sample_weight' must be a column of values, not float"),
        ([], "'sample_weight' is empty"),
    ],
)
def test_weights_that_cannot_be_used(weight: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make_weight(weight, 3)


# --- the task --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"], "classification"),
        (["1.5", "2.5"], "classification"),
        ([True, False], "classification"),
        ([True, None], "classification"),
        ([0, 1, 1], "classification"),
        ([0.0, 1.0, nan], "classification"),
        (list(range(20)), "classification"),
        (list(range(21)), "regression"),
        ([0.0, 0.5], "regression"),
        (np.linspace(0, 1, 50), "regression"),
        (np.array([1, 2], dtype=np.uint8), "classification"),
    ],
)
def test_the_task_is_guessed_from_the_values(y: Any, task: str) -> None:
    assert infer_task(y) == task


@pytest.mark.needs("pandas")
def test_a_category_is_a_class_whatever_it_holds() -> None:
    import pandas as pd

    for values in ([0.5, 1.5], list(range(30)), ["a", "b"]):
        assert infer_task(pd.Series(values, dtype="category")) == "classification"
        assert infer_task(pd.Categorical(values)) == "classification"


# --- people ----------------------------------------------------------------------------------------


def test_everything_about_the_same_people() -> None:
    everybody = people(4, weight=np.array([1.0, 1.0, 0.0, 2.0]))
    assert everybody.n_people == 4
    assert everybody.share.tolist() == [0.25, 0.25, 0.0, 0.5]
    few = everybody.take(np.array([3, 0]))
    assert few.n_people == 2
    assert few.features.column("age").tolist() == [3, 0]
    assert few.outcome.values.tolist() == [1, 0]
    assert few.groups[0].codes.tolist() == [1, 0]
    assert few.weight.tolist() == [2, 1]
    assert everybody.take(np.array([True, False, False, False])).n_people == 1


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"weight": np.ones(2)}, "the sample weight has 2 rows, but the outcome has 3"),
        ({"features": Table.of({"age": [1]})}, "the table has 1 rows, but the outcome has 3"),
        ({"groups": make_groups(Table.of({"sex": ["F", "M"]}))}, "protected column 'sex' has 2 rows"),
    ],
)
def test_lengths_must_agree(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        people(3, **changes)


def test_people_may_be_without_features_or_groups() -> None:
    bare = people(3, features=Table.of({"age": [1, 2, 3]}).drop(["age"]), groups=())
    assert bare.n_people == 3
    assert bare.take(np.array([0])).features.n_rows == 1


def test_a_share_needs_somebody_with_weight() -> None:
    some = people(3, weight=np.array([0.0, 0.0, 1.0]))
    assert some.share.tolist() == [0, 0, 1]
    with pytest.raises(InputError, match="nobody has a positive weight"):
        _ = some.take(np.array([0, 1])).share


def test_the_weight_is_read_only_and_not_the_callers() -> None:
    mine = np.ones(3)
    everybody = people(3, weight=mine)
    mine[0] = 99
    assert everybody.weight.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        everybody.weight[0] = 1
