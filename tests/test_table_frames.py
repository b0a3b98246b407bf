"""Tables from every frame: the same people give the same table, and nothing of the caller's is touched."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.table import Column, Kind, Schema, Table, equal_rows
from evenleaf.table.frames import raw_columns, raw_values

Columns = dict[str, list[Any]]
PEOPLE: Columns = {
    "age": [30, 41, None, 25],
    "income": [1.5, None, 2.25, -0.5],
    "city": ["Lyon", None, "Aix", "Lyon"],
    "citizen": [True, False, None, True],
}
nan = float("nan")


def assert_same(found: Table, expected: Table) -> None:
    assert found.schema == expected.schema
    assert found.unseen == expected.unseen
    assert found.n_rows == expected.n_rows
    for values, wanted in zip(found.data, expected.data, strict=True):
        assert values.dtype == wanted.dtype
        np.testing.assert_array_equal(values, wanted)


# --- one builder a kind of frame -------------------------------------------------------------------


def as_dict(columns: Columns) -> Any:
    return columns


def as_dict_of_arrays(columns: Columns) -> Any:
    return {name: np.array(values, dtype=object) for name, values in columns.items()}


def as_rows(columns: Columns) -> Any:
    return [list(row) for row in zip(*columns.values(), strict=True)]


def as_tuples(columns: Columns) -> Any:
    return tuple(zip(*columns.values(), strict=True))


def as_object_array(columns: Columns) -> Any:
    return np.array(as_rows(columns), dtype=object)


def as_masked_array(columns: Columns) -> Any:
    rows = as_object_array(columns)
    gone = np.array([[value is None for value in row] for row in rows])
    rows[gone] = 99
    return np.ma.masked_array(rows, mask=gone)


def as_pandas(columns: Columns) -> Any:
    import pandas as pd

    return pd.DataFrame(columns, index=[7] * len(next(iter(columns.values()))))


def as_pandas_objects(columns: Columns) -> Any:
    return as_pandas({name: np.array(values, dtype=object) for name, values in columns.items()})  # type: ignore[misc]


def as_pandas_nullable(columns: Columns) -> Any:
    return as_pandas(columns).convert_dtypes()


def as_pandas_arrow(columns: Columns) -> Any:
    return as_pandas(columns).convert_dtypes(dtype_backend="pyarrow")


def as_polars(columns: Columns) -> Any:
    import polars as pl

    return pl.DataFrame(columns)


def as_polars_lazy(columns: Columns) -> Any:
    return as_polars(columns).lazy()


def as_pyarrow(columns: Columns) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def as_record_batch(columns: Columns) -> Any:
    import pyarrow as pa

    return pa.RecordBatch.from_pydict(columns)


def as_dict_of_pyarrow(columns: Columns) -> Any:
    import pyarrow as pa

    return {name: pa.array(values) for name, values in columns.items()}


def as_dict_of_series(columns: Columns) -> Any:
    import pandas as pd
    import polars as pl

    makers: list[Callable[[list[Any]], Any]] = [pd.Series, pl.Series, pd.array, list]
    return {name: make(values) for (name, values), make in zip(columns.items(), makers * len(columns), strict=False)}


NAMED = [
    as_dict,
    as_dict_of_arrays,
    pytest.param(as_pandas, marks=pytest.mark.needs("pandas")),
    pytest.param(as_pandas_objects, marks=pytest.mark.needs("pandas")),
    pytest.param(as_pandas_nullable, marks=pytest.mark.needs("pandas")),
    pytest.param(as_pandas_arrow, marks=pytest.mark.needs("pandas", "pyarrow")),
    pytest.param(as_polars, marks=pytest.mark.needs("polars")),
    pytest.param(as_polars_lazy, marks=pytest.mark.needs("polars")),
    pytest.param(as_pyarrow, marks=pytest.mark.needs("pyarrow")),
    pytest.param(as_record_batch, marks=pytest.mark.needs("pyarrow")),
    pytest.param(as_dict_of_pyarrow, marks=pytest.mark.needs("pyarrow")),
    pytest.param(as_dict_of_series, marks=pytest.mark.needs("pandas", "polars")),
]
UNNAMED = [as_rows, as_tuples, as_object_array, as_masked_array]
Maker = Callable[[Columns], Any]


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
