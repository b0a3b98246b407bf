"""Tables from every frame: the same people give the same table, whatever their library alone can say."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.table import Column, Kind, Schema, Table
from frame_makers import (
    NAMED,
    PEOPLE,
    UNNAMED,
    Maker,
    as_dict,
    as_dict_of_pyarrow,
    as_object_array,
    as_pandas,
    as_pandas_objects,
    as_polars,
    as_pyarrow,
    as_rows,
    assert_same,
    nan,
)

# --- parity ----------------------------------------------------------------------------------------


def test_the_table_of_plain_lists_is_what_it_should_be() -> None:
    table = Table.of(PEOPLE)
    assert table.schema == Schema(
        (
            Column("age", Kind.QUANTITATIVE, has_missing=True),
            Column("income", Kind.QUANTITATIVE, has_missing=True),
            Column("city", Kind.CATEGORICAL, ("Aix", "Lyon"), has_missing=True),
            Column("citizen", Kind.CATEGORICAL, ("False", "True"), has_missing=True),
        )
    )
    np.testing.assert_array_equal(table.column("age"), [30, 41, nan, 25])
    np.testing.assert_array_equal(table.column("city"), [1, -1, 0, 1])
    np.testing.assert_array_equal(table.column("citizen"), [1, 0, -1, 1])
    assert [values.dtype for values in table.data] == [np.float64, np.float64, np.int32, np.int32]
    assert table.unseen == (0, 0, 0, 0)
    assert (table.n_rows, table.n_columns) == (4, 4)


@pytest.mark.parametrize("make", NAMED)
def test_the_same_people_give_the_same_table(make: Maker) -> None:
    assert_same(Table.of(make(PEOPLE)), Table.of(PEOPLE))


@pytest.mark.parametrize("make", UNNAMED)
def test_rows_without_names_give_the_same_table_once_named(make: Maker) -> None:
    assert_same(Table.of(make(PEOPLE), names=list(PEOPLE)), Table.of(PEOPLE))
    assert Table.of(make(PEOPLE)).schema.names == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize("make", [*NAMED, *UNNAMED])
def test_the_same_people_through_a_schema(make: Maker) -> None:
    schema = Schema(
        (
            Column("age", Kind.CATEGORICAL, ("25", "30")),
            Column("income", Kind.QUANTITATIVE),
            Column("city", Kind.CATEGORICAL, ("Lyon",)),
            Column("citizen", Kind.CATEGORICAL, ("False", "True")),
        )
    )
    table = Table.of(make(PEOPLE), schema=schema)
    assert table.schema == schema
    np.testing.assert_array_equal(table.column("age"), [1, -1, -1, 0])
    np.testing.assert_array_equal(table.column("city"), [0, -1, -1, 0])
    assert table.unseen == (1, 0, 1, 0)


@pytest.mark.parametrize("make", [*NAMED, *UNNAMED])
@pytest.mark.parametrize("values", [[3, None, 1], [1.5, None, 2.0], [True, None, False], ["b", None, "a"]])
def test_a_column_declared_categorical(make: Maker, values: list[Any]) -> None:
    table = Table.of(make({"c": values}), categorical=[0])
    assert table.schema[0].is_categorical
    assert table.schema[0].has_missing
    assert len(table.schema[0].levels) == 2
    first, _, last = table.data[0]
    assert table.data[0][1] == -1
    assert (first < last) == (values[0] < values[2])


value_lists = st.one_of(
    st.lists(st.none() | st.integers(-(2**53), 2**53), min_size=1, max_size=6),
    st.lists(st.none() | st.floats(allow_infinity=False), min_size=1, max_size=6),
    st.lists(st.none() | st.sampled_from(["a", "b", "", "nan", "1", "é"]), min_size=1, max_size=6),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=6),
)


@pytest.mark.needs("pandas", "polars", "pyarrow")
@settings(max_examples=60)
@given(value_lists, st.booleans())
def test_parity_for_any_column(values: list[Any], declared: bool) -> None:
    long = declared and any(isinstance(value, float) and abs(value) > 2**53 for value in values)
    # Too long for a level, or without a type: both have tests of their own.
    assume(not long and any(value is not None for value in values))
    categorical: Any = ["c"] if declared else "from_dtype"
    expected = Table.of({"c": values}, categorical=categorical)
    for make in (as_pandas, as_pandas_objects, as_polars, as_pyarrow, as_dict_of_pyarrow):
        assert_same(Table.of(make({"c": values}), categorical=categorical), expected)
    rows = Table.of(as_rows({"c": values}), categorical=[0] if declared else "from_dtype", names=["c"])
    assert_same(rows, expected)


# --- what each library alone can say ---------------------------------------------------------------


@pytest.mark.needs("pandas")
@pytest.mark.parametrize(
    ("values", "levels", "codes"),
    [
        (["b", None, "a"], ("a", "b"), [1, -1, 0]),
        ([3, None, 1], ("1", "3"), [1, -1, 0]),
        ([10, 9, 2], ("2", "9", "10"), [2, 1, 0]),
        ([1.5, None, 2.0], ("1.5", "2"), [0, -1, 1]),
        ([True, None, False], ("False", "True"), [1, -1, 0]),
    ],
)
def test_a_pandas_category_is_categorical_whatever_it_holds(
    values: list[Any], levels: tuple[str, ...], codes: list[int]
) -> None:
    import pandas as pd

    for data in (pd.DataFrame({"c": pd.Categorical(values)}), {"c": pd.Categorical(values)}):
        table = Table.of(data)
        assert table.schema[0] == Column("c", Kind.CATEGORICAL, levels, None in values)
        np.testing.assert_array_equal(table.data[0], codes)


@pytest.mark.needs("pandas")
def test_bands_made_by_pandas_cut_are_levels() -> None:
    import pandas as pd

    table = Table.of({"age": pd.cut(pd.Series([20, 40, 60]), [0, 30, 90])})
    assert table.schema[0].levels == ("(0, 30]", "(30, 90]")


@pytest.mark.needs("pandas")
def test_unused_categories_are_not_levels() -> None:
    import pandas as pd

    table = Table.of({"c": pd.Categorical(["b", "a"], categories=["z", "b", "a"], ordered=True)})
    assert table.schema[0].levels == ("a", "b")


@pytest.mark.needs("pandas")
@pytest.mark.parametrize("gone", ["None", "nan", "NA", "NaT", "float32"])
@pytest.mark.parametrize("values", [[1, 2], ["a", "b"], [True, False]])
def test_every_form_of_missing_in_an_object_column(values: list[Any], gone: str) -> None:
    import pandas as pd

    forms = {"None": None, "nan": nan, "NA": pd.NA, "NaT": pd.NaT, "float32": np.float32("nan")}
    column = [values[0], forms[gone], values[1]]
    expected = Table.of({"c": [values[0], None, values[1]]})
    assert_same(Table.of({"c": column}), expected)
    assert_same(Table.of(pd.DataFrame({"c": pd.Series(column, dtype=object)})), expected)


@pytest.mark.needs("polars")
def test_polars_types() -> None:
    import polars as pl

    frame = pl.DataFrame(
        {
            "categorical": pl.Series(["b", None, "a"], dtype=pl.Categorical),
            "enum": pl.Series(["b", None, "a"], dtype=pl.Enum(["b", "z", "a"])),
            "text": ["b", None, "a"],
        }
    )
    for values in Table.of(frame).data:
        np.testing.assert_array_equal(values, [1, -1, 0])
    assert {column.levels for column in Table.of(frame).schema} == {("a", "b")}
    numbers = pl.DataFrame(
        {
            "small": pl.Series([1, None], dtype=pl.UInt8),
            "huge": pl.Series([1, None], dtype=pl.Int128),
            "decimal": pl.Series([Decimal(1), None], dtype=pl.Decimal(10, 2)),
            "nan": [1.0, nan],
        }
    )
    for values in Table.of(numbers).data:
        np.testing.assert_array_equal(values, [1.0, nan])


@pytest.mark.needs("pyarrow")
def test_pyarrow_types() -> None:
    import pyarrow as pa

    table = Table.of(
        pa.table(
            {
                "codes": pa.array([3, None, 1]).dictionary_encode(),
                "chunks": pa.chunked_array([["b"], [None, "a"]]),
                "view": pa.array(["b", None, "a"], pa.string_view()),
                "long": pa.array([2**60 + 1, None, 0]),
                "half": pa.array(np.array([1, 2, 3], dtype=np.float16)),
                "none": pa.nulls(3),
            }
        )
    )
    kinds = [column.is_categorical for column in table.schema]
    assert kinds == [True, True, True, False, False, False]
    for position in range(3):
        np.testing.assert_array_equal(table.data[position], [1, -1, 0])
    np.testing.assert_array_equal(table.column("long"), [2.0**60, nan, 0])
    assert np.isnan(table.column("none")).all()


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[1], [2]], dtype=np.int8), [1.0, 2.0]),
        (np.array([[1], [2]], dtype=np.uint64), [1.0, 2.0]),
        (np.array([[0.5], [nan]], dtype=np.float32), [0.5, nan]),
        (np.array([[1], [2]], dtype=np.longdouble), [1.0, 2.0]),
        (np.array([[Decimal("0.5")], [Fraction(1, 4)]], dtype=object), [0.5, 0.25]),
        (np.array([[np.int8(1)], [np.float32(0.5)]], dtype=object), [1.0, 0.5]),
        (np.asmatrix([[1.0], [2.0]]), [1.0, 2.0]),
        (np.array([["b"], ["a"]]), [1, 0]),
        (np.array([[b"b"], ["à".encode()]]), [0, 1]),
        (np.array([["b"], ["a"]], dtype=np.dtypes.StringDType()), [1, 0]),
        (np.array([[True], [False]]), [1, 0]),
    ],
)
def test_numpy_types(array: np.ndarray, expected: list[float]) -> None:
    table = Table.of(array)
    np.testing.assert_array_equal(table.data[0], expected)
    assert table.schema[0].is_categorical == (array.dtype.kind not in "iufO")


def test_a_structured_array_has_names() -> None:
    table = Table.of(np.array([(1, "b"), (2, "a")], dtype=[("age", "i4"), ("city", "U1")]))
    assert table.schema.names == ("age", "city")
    np.testing.assert_array_equal(table.column("city"), [1, 0])


class Shade(str):
    """A text with a mind of its own about printing."""

    def __str__(self) -> str:
        return "shade"


def test_kinds_of_text_are_plain_text_inside() -> None:
    table = Table.of({"c": [Shade("red"), np.str_("blue"), "red"]})
    assert table.schema[0].levels == ("blue", "red")
    assert {type(level) for level in table.schema[0].levels} == {str}


# --- columns without a value -----------------------------------------------------------------------


@pytest.mark.needs("pandas", "polars", "pyarrow")
@pytest.mark.parametrize("make", [as_dict, as_rows, as_object_array, as_pandas, as_polars, as_pyarrow])
def test_a_column_without_a_value_or_type_is_quantitative(make: Maker) -> None:
    table = Table.of(make({"c": [None, None]}))
    assert not table.schema[0].is_categorical
    assert np.isnan(table.data[0]).all()


@pytest.mark.needs("pandas", "polars")
def test_a_column_typed_as_text_stays_categorical_without_a_value() -> None:
    import pandas as pd
    import polars as pl

    for data in (
        pd.DataFrame({"c": pd.Series([None, None], dtype="string")}),
        pd.DataFrame({"c": pd.Categorical([None, None])}),
        pl.DataFrame({"c": pl.Series([None, None], dtype=pl.String)}),
        pl.DataFrame({"c": pl.Series([None, None], dtype=pl.Boolean)}),
    ):
        table = Table.of(data)
        assert table.schema[0] == Column("c", Kind.CATEGORICAL, (), True)
        np.testing.assert_array_equal(table.data[0], [-1, -1])
        numbers = Table.of(data, schema=Schema((Column("c", Kind.QUANTITATIVE),)))
        assert np.isnan(numbers.data[0]).all()


def test_no_people_is_a_table_too() -> None:
    table = Table.of(np.zeros((0, 2)))
    assert (table.n_rows, table.n_columns) == (0, 2)
    assert Table.of({"c": np.array([], dtype=str)}).data[0].shape == (0,)
    schema = Schema((Column("c", Kind.CATEGORICAL, ("a",)),))
    assert Table.of({"c": []}, schema=schema).data[0].dtype == np.int32
