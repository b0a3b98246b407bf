"""Columns that are declared, tables seen through a schema, and the table itself."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.table import Column, Kind, Schema, Table, equal_rows
from frame_makers import PEOPLE, assert_same

# --- categorical= ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("categorical", "expected"),
    [
        ("from_dtype", set()),
        (None, set()),
        ([], set()),
        (["b"], {"b"}),
        (("a", "b"), {"a", "b"}),
        ({"a"}, {"a"}),
        (np.array(["b"]), {"b"}),
        ([1], {"b"}),
        ([-1], {"b"}),
        (np.array([0]), {"a"}),
        ([True, False], {"a"}),
        (np.array([False, True]), {"b"}),
        (["a", 1], {"a", "b"}),
    ],
)
def test_ways_to_declare_categorical(categorical: Any, expected: set[str]) -> None:
    table = Table.of({"a": [1, 2], "b": [3, 4]}, categorical=categorical)
    assert {column.name for column in table.schema if column.is_categorical} == expected


@pytest.mark.parametrize(
    ("categorical", "complaint"),
    [
        ("a", "categorical must be 'from_dtype', a mask, positions or names, not 'a'"),
        (5, "categorical must be 'from_dtype', a mask, positions or names, not 5"),
        (["A"], "there is no column 'A'; did you mean 'a'?"),
        ([2], "categorical column 2 is out of range: there are 2 columns"),
        ([-3], "categorical column -3 is out of range"),
        ([True], "the categorical mask has 1 entries for 2 columns"),
        ([True, 0], "a categorical column must be a name or a position, not True"),
        ([1.5], "a categorical column must be a name or a position, not 1.5"),
        ([None], "a categorical column must be a name or a position, not None"),
        ([[0]], r"a categorical column must be a name or a position, not \[0\]"),
    ],
)
def test_wrong_ways_to_declare_categorical(categorical: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Table.of({"a": [1, 2], "b": [3, 4]}, categorical=categorical)


def test_a_mixture_may_be_declared_and_keeps_its_values_apart() -> None:
    table = Table.of({"c": [True, 1, "a", 1.0, None, 0]}, categorical=["c"])
    assert table.schema[0].levels == ("0", "1", "True", "a")
    np.testing.assert_array_equal(table.data[0], [2, 1, 3, 1, -1, 0])


def test_codes_too_long_for_a_float_are_never_merged() -> None:
    codes = [2**60, 2**60 + 1]
    with pytest.raises(InputError, match="column 'id' holds a number in row 1 that is too long for a level"):
        Table.of({"id": codes}, categorical=["id"])
    assert Table.of({"id": list(map(str, codes))}).schema[0].levels == tuple(map(str, codes))
    assert not Table.of({"id": codes}).schema[0].is_categorical


# --- with a schema ---------------------------------------------------------------------------------


def test_other_columns_are_not_even_looked_at() -> None:
    schema = Schema((Column("age", Kind.QUANTITATIVE),))
    table = Table.of({"born": [dt.date(2020, 1, 1)], "age": [3], "inf": [np.inf], "odd": [[1]]}, schema=schema)
    assert table.schema == schema
    assert table.data[0].tolist() == [3]


def test_columns_come_in_the_order_of_the_schema() -> None:
    schema = Schema((Column("b", Kind.QUANTITATIVE), Column("a", Kind.QUANTITATIVE)))
    assert np.column_stack(Table.of({"a": [1], "b": [2]}, schema=schema).data).tolist() == [[2, 1]]


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ({"Age": [1]}, "there is no column 'age'; did you mean 'Age'?"),
        ({"age": ["a"]}, "column 'age' must hold numbers, but row 1 holds 'a'"),
        ({"age": [1, None, "a"]}, "column 'age' must hold numbers, but row 3 holds 'a'"),
        ({"age": [None, True]}, "column 'age' must hold numbers, but row 2 holds True"),
        ({"age": [np.inf]}, "column 'age' holds an infinite value in row 1"),
        (np.zeros((2, 3)), "the table has 3 columns, but 1 are expected"),
        ([[1, 2]], "the table has 2 columns, but 1 are expected"),
    ],
)
def test_data_that_does_not_fit_the_schema(data: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Table.of(data, schema=Schema((Column("age", Kind.QUANTITATIVE),)))


def test_unseen_levels_are_missing_and_counted() -> None:
    schema = Schema((Column("c", Kind.CATEGORICAL, ("1", "2")), Column("d", Kind.CATEGORICAL, ("x",))))
    table = Table.of({"c": [1, 2.0, 2.5, None, 7], "d": ["x", "y", None, "y", "Y"]}, schema=schema)
    np.testing.assert_array_equal(table.data[0], [0, 1, -1, -1, -1])
    np.testing.assert_array_equal(table.data[1], [0, -1, -1, -1, -1])
    assert table.unseen == (2, 3)
    assert table.missing(0).tolist() == [False, False, True, True, True]


@given(st.lists(st.none() | st.sampled_from("abcd"), min_size=1), st.lists(st.sampled_from("abcd"), unique=True))
def test_every_value_is_known_missing_or_counted(values: list[str | None], levels: list[str]) -> None:
    table = Table.of({"c": values}, schema=Schema((Column("c", Kind.CATEGORICAL, tuple(levels)),)))
    for value, code in zip(values, table.data[0], strict=True):
        assert (levels[code] == value) if code >= 0 else (value not in levels)
    assert table.unseen[0] == sum(value is not None and value not in levels for value in values)


# --- the table itself ------------------------------------------------------------------------------


def test_choosing_columns_and_people() -> None:
    table = Table.of(PEOPLE)
    assert table.select(["city", "age"]).schema.names == ("city", "age")
    assert table.drop(["city", "age"]).schema.names == ("income", "citizen")
    assert table.take(np.array([2, 0])).labels(2) == ["Aix", "Lyon"]
    assert table.take(np.array([False, True, False, True])).labels(0) == ["41", "25"]
    assert table.labels(3) == ["True", "False", "(missing)", "True"]
    with pytest.raises(InputError, match="did you mean 'city'"):
        table.column("City")


def test_people_without_columns_are_still_counted() -> None:
    table = Table.of({"a": [1, 2, 3]})
    empty = table.drop(["a"])
    assert (empty.n_rows, empty.n_columns) == (3, 0)
    assert empty.take(np.array([0, 2])).n_rows == 2
    assert empty.take(np.array([True, False, False])).n_rows == 1
    assert Table.of({"a": [1, 2, 3]}, schema=Schema(())).n_rows == 3
    assert Table.of(np.zeros((3, 0)), schema=Schema(())).n_rows == 3
    assert table.conform(Schema(())).n_rows == 3
    first, kind = equal_rows(empty)
    assert first.tolist() == [0]
    assert kind.tolist() == [0, 0, 0]


def test_conform_sees_the_same_people_through_another_schema() -> None:
    table = Table.of({"n": [1, 2, None], "c": ["a", "b", None]})
    assert table.conform(table.schema) is table
    other = Schema((Column("c", Kind.CATEGORICAL, ("b",)), Column("n", Kind.CATEGORICAL, ("1", "2"))))
    seen = table.conform(other)
    np.testing.assert_array_equal(seen.data[0], [-1, 0, -1])
    np.testing.assert_array_equal(seen.data[1], [0, 1, -1])
    assert seen.unseen == (1, 0)
    assert seen.conform(Schema((Column("c", Kind.CATEGORICAL, ("z",)),))).unseen == (2,)
    with pytest.raises(InputError, match="column 'c' must hold numbers"):
        table.conform(Schema((Column("c", Kind.QUANTITATIVE),)))


def test_a_table_of_a_table() -> None:
    table = Table.of({"n": [1, 2, None], "c": ["a", "b", None]})
    assert Table.of(table) is table
    assert Table.of(table, categorical=["c"]) is table
    assert Table.of(table, categorical=["n"]).schema[0].levels == ("1", "2")
    assert Table.of(table, names=["u", "v"]).schema.names == ("u", "v")
    assert_same(Table.of(table, schema=table.schema), table)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, -0.0, 1.0, None]),
            st.sampled_from(["a", "b", None]),
        ),
        min_size=1,
        max_size=12,
    )
)
def test_equal_rows_are_those_that_look_the_same(rows: list[tuple[Any, Any]]) -> None:
    table = Table.of({"n": [row[0] for row in rows], "c": [row[1] for row in rows]})
    first, kind = equal_rows(table)
    seen: list[tuple[Any, Any]] = []
    for row, of_kind in zip(rows, kind, strict=True):
        if row not in seen:
            seen.append(row)
        assert seen.index(row) == of_kind
    assert [rows.index(row) for row in seen] == first.tolist()
