"""The same people as every kind of frame, for the tests of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from evenleaf.table import Table

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
