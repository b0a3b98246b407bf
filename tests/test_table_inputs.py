"""What may be given as a table: nothing of the caller's is touched, and what is no table is refused in plain words."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.table import Column, Kind, Schema, Table
from evenleaf.table.frames import raw_columns, raw_values
from frame_makers import PEOPLE, nan

# --- nothing of the caller's is touched ------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_changed_later_does_not_change_the_table(order: Any) -> None:
    array = np.array([[1.0, 2.0], [3.0, 4.0]], order=order)
    table = Table.of(array)
    array[:] = 99
    np.testing.assert_array_equal(np.column_stack(table.data), [[1, 2], [3, 4]])
    assert array.flags.writeable


def test_columns_changed_later_do_not_change_the_table() -> None:
    numbers, words, labels = np.array([1.0, 2.0]), np.array(["a", "b"], dtype=object), ["x", "y"]
    data = {"number": numbers, "word": words, "label": labels}
    table = Table.of(data)
    numbers[0], words[0], labels[0] = 99.0, "z", "z"
    data["more"] = [1, 2]
    np.testing.assert_array_equal(table.column("number"), [1, 2])
    assert table.labels(1) == ["a", "b"]
    assert table.labels(2) == ["x", "y"]
    raw = raw_columns({"word": words})
    words[1] = "y"
    assert raw["word"].tolist() == ["z", "b"]


@pytest.mark.needs("pandas")
def test_a_frame_changed_later_does_not_change_the_table() -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    before = frame.copy(deep=True)
    table, column = Table.of(frame), raw_values(frame["a"], "a")
    pd.testing.assert_frame_equal(frame, before)
    frame.iloc[0, 0] = 99.0
    frame["c"] = 1
    np.testing.assert_array_equal(table.column("a"), [1, 2])
    np.testing.assert_array_equal(column, [1, 2])


def test_a_list_changed_later_does_not_change_the_table() -> None:
    rows = [[1, "a"], [2, "b"]]
    table = Table.of(rows)
    rows[0][0] = 99
    rows.append([3, "c"])
    np.testing.assert_array_equal(table.data[0], [1, 2])


def test_the_arrays_of_a_table_are_read_only() -> None:
    table = Table.of(PEOPLE)
    for view in (table, table.select(["age"]), table.take(np.array([0])), table.drop(["age"])):
        for values in view.data:
            with pytest.raises(ValueError, match="read-only"):
                values[0] = 1


def test_a_table_made_by_hand_copies_what_is_still_writeable() -> None:
    mine = np.array([1.0, 2.0])
    table = Table(Schema((Column("a", Kind.QUANTITATIVE),)), (mine,), (0,))
    mine[0] = 99
    np.testing.assert_array_equal(table.data[0], [1, 2])


# --- names -----------------------------------------------------------------------------------------


@pytest.mark.needs("pandas", "pyarrow")
def test_a_name_used_twice() -> None:
    import pandas as pd
    import pyarrow as pa

    for data in (
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=pd.Index(["a", "a"])),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
        pa.record_batch([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ):
        with pytest.raises(InputError, match="two columns are called 'a'; rename one of them"):
            Table.of(data)
    for numbers in ({1: [1], "1": [2]}, pd.DataFrame([[1, 2]], columns=[1, "1"])):
        with pytest.raises(InputError, match="two columns are called '1'"):
            Table.of(numbers)


@pytest.mark.needs("pandas")
def test_names_that_are_not_texts() -> None:
    import pandas as pd

    assert Table.of(pd.DataFrame([[1, 2]])).schema.names == ("0", "1")
    assert Table.of({1: [1], None: [2]}).schema.names == ("1", "None")
    assert Table.of(pd.DataFrame([[1]], columns=[0.5])).schema.names == ("0.5",)
    parts = pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])
    with pytest.raises(InputError, match=r"name \('a', 'b'\) has 2 parts; join them into one text"):
        Table.of(pd.DataFrame([[1, 2]], columns=parts))
    with pytest.raises(InputError, match="non-empty text"):
        Table.of({"": [1]})


@pytest.mark.parametrize("data", [np.zeros((1, 2)), {"a": [1], "b": [2]}, [[1, 2]]])
def test_names_given_must_fit(data: Any) -> None:
    assert Table.of(data, names=["u", "v"]).schema.names == ("u", "v")
    assert Table.of(data, names=np.array(["u", "v"])).schema.names == ("u", "v")  # type: ignore[arg-type]
    for names in (["u"], ["u", "v", "w"], []):
        with pytest.raises(InputError, match=f"{len(names)} column names were given for 2 columns"):
            Table.of(data, names=names)
    with pytest.raises(InputError, match="must be a list of names, not the text 'uv'"):
        Table.of(data, names="uv")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two columns are called 'u'"):
        Table.of(data, names=["u", "u"])


# --- what is no table ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "a table was expected .*, not NoneType"),
        (5, "a table was expected .*, not int"),
        ("people.csv", "a table was expected .*, not str"),
        (object(), "a table was expected .*, not object"),
        ({1, 2}, "a table was expected .*, not set"),
        ((row for row in [[1]]), "a table was expected .*, not generator"),
        ([], "the table has no rows"),
        ([1, 2], "has 1 dimension"),
        (np.zeros(3), r"reshape a single column with \.reshape\(-1, 1\)"),
        (np.zeros((2, 2, 2)), "has 3 dimension"),
        ([[1, 2], [3]], "row 2 has 1 values where the first has 2"),
        ([np.zeros(2), np.zeros(2), np.zeros(3)], "row 3 has 3 values where the first has 2"),
        ([{"a": 1}, {"a": 2}], "the rows are dicts; pass one dict of columns, or a data frame"),
        (np.zeros((2, 0)), "the table has no columns"),
        ({}, "the table has no columns"),
        (sp.csr_array(np.eye(2)), "a sparse matrix was given"),
        ({"a": 5}, "column 'a' must be a list, an array or a series, not int"),
        ({"a": None}, "column 'a' must be a list, an array or a series, not NoneType"),
        ({"a": "xyz"}, "column 'a' must be a list, an array or a series, not str"),
        ({"a": {1, 2}}, "column 'a' must be a list, an array or a series, not set"),
        ({"a": {"b": [1]}}, "column 'a' must be a list, an array or a series, not dict"),
        ({"a": iter([1])}, "column 'a' must be a list, an array or a series, not list_iterator"),
        ({"a": np.zeros((2, 1))}, "column 'a' must be one value a row, but has 2 dimensions"),
        ({"a": [1], "b": [1, 2]}, r"the columns have different lengths: \[1, 2\]"),
    ],
)
def test_what_is_no_table(data: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Table.of(data)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ([[1, 2], [3, 4]], "column 'c' holds a value of the type list in row 1; turn it into a number or a text"),
        (["a", {}], "holds a value of the type dict in row 2"),
        ([None, b"a"], "holds a value of the type bytes in row 2"),
        ([1j], "holds a value of the type complex in row 1"),
        ([object()], "holds a value of the type object in row 1"),
        ([np.zeros(2), np.zeros(2)], "holds a value of the type ndarray in row 1"),
        (np.array([1j]), "column 'c' has the type complex128, which cannot be used"),
        (np.zeros(1, dtype="V3"), "column 'c' has the type"),
        (np.array([b"\xff"]), "column 'c' holds bytes that are not UTF-8 text"),
        ([1, 10**400], "column 'c' holds a number in row 2 that is too large"),
        ([None, -(10**400)], "column 'c' holds a number in row 2 that is too large"),
        ([None, dt.date(2020, 1, 1)], "column 'c' holds dates or times; turn it into a number"),
        ([dt.datetime(2020, 1, 1)], "column 'c' holds dates or times"),
        ([dt.timedelta(1)], "column 'c' holds dates or times"),
        ([np.datetime64("2020-01-01")], "column 'c' holds dates or times"),
        (np.array(["2020-01-01"], dtype="M8[ns]"), "column 'c' holds dates or times"),
        (np.array([1], dtype="m8[D]"), "column 'c' holds dates or times"),
        (["a", 1], r"column 'c' mixes numbers and text \(row 1 holds 'a'\); mend it, or declare"),
        ([1, True], r"column 'c' mixes numbers and truth values \(row 2 holds True\)"),
        (["a", True], r"column 'c' mixes truth values and text \(row 1 holds 'a'\)"),
        ([1, True, "a"], r"column 'c' mixes numbers and text \(row 3 holds 'a'\)"),
        ([1.0, np.inf], "column 'c' holds an infinite value in row 2; replace it or leave it missing"),
        ([-np.inf, 0, np.inf], r"column 'c' holds an infinite value in row 1 \(and in 1 more\)"),
    ],
)
def test_values_that_cannot_be_used(values: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Table.of({"c": values})


@pytest.mark.needs("pandas", "polars", "pyarrow")
def test_types_that_cannot_be_used() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    day = dt.date(2020, 1, 1)
    dates = [
        pd.DataFrame({"c": pd.to_datetime(pd.Series(["2020-01-01", None]))}),
        pd.DataFrame({"c": pd.Series([day, None], dtype=object)}),
        pd.DataFrame({"c": pd.to_timedelta([1, 2])}),
        pl.DataFrame({"c": [day]}),
        pl.DataFrame({"c": [dt.time(1)]}),
        pl.DataFrame({"c": [dt.timedelta(1)]}),
        pa.table({"c": [day]}),
        {"c": pa.array([day])},
        {"c": pl.Series([day])},
    ]
    for data in dates:
        with pytest.raises(InputError, match="column 'c' holds dates or times"):
            Table.of(data)
    others = {
        "Sparse": pd.DataFrame({"c": pd.arrays.SparseArray([1, 0])}),
        "period": pd.DataFrame({"c": pd.period_range("2020", periods=2, freq="D")}),
        "complex128": pd.DataFrame({"c": [1j]}),
        "List": pl.DataFrame({"c": [[1]]}),
        "Struct": pl.DataFrame({"c": [{"a": 1}]}),
        "Binary": pl.DataFrame({"c": [b"a"]}),
    }
    for name, data in others.items():
        with pytest.raises(InputError, match=f"column 'c' has the type {name}.*, which cannot be used"):
            Table.of(data)


# --- one column ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        [1, None, 2],
        (1, None, 2),
        np.array([1, nan, 2]),
        np.array([[1], [nan], [2]]),
        [[1], [None], [2]],
        np.ma.masked_array([1, 9, 2], mask=[False, True, False]),
        {"c": [1, None, 2]},
    ],
)
def test_one_column_from_anything(data: Any) -> None:
    np.testing.assert_array_equal(raw_values(data, "c"), [1, nan, 2])


@pytest.mark.needs("pandas", "polars", "pyarrow")
def test_one_column_from_frames() -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    values = [1, None, 2]
    for data in (
        pd.Series(values),
        pd.Series(values, dtype="Int64"),
        pd.Series(values, dtype="category"),
        pd.Index(values),
        pd.array(values),
        pd.DataFrame({"c": values}),
        pd.DataFrame({"c": pd.Categorical(values)}),
        pl.Series(values),
        pl.DataFrame({"c": values}),
        pl.LazyFrame({"c": values}),
        pa.array(values),
        pa.chunked_array([values]),
        pa.table({"c": values}),
    ):
        np.testing.assert_array_equal(raw_values(data, "c"), [1, nan, 2])


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (None, "no 'y' was given"),
        (5, "'y' must be a column of values, not int"),
        ("abc", "'y' must be a column of values, not str"),
        ({1, 2}, "'y' must be a column of values, not set"),
        (np.zeros((2, 2)), "'y' must be one column of values, but has 2 dimensions"),
        ([[1, 2], [3, 4]], "'y' must be one column of values, but has 2 dimensions"),
        ({"a": [1], "b": [2]}, "'y' must be one column, but a table of 2 was given"),
        ([1, [2]], "column 'y' holds a value of the type list in row 2"),
    ],
)
def test_what_is_not_one_column(data: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        raw_values(data, "y")
