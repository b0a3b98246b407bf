"""Any table to plain numpy columns: the only place that knows pandas, polars, pyarrow or numpy tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.table.schema import check_unique, find_name
from evenleaf.table.values import as_series, column_values, objects_of

RawColumns = dict[str, np.ndarray]


def raw_columns(data: Any, names: Iterable[str] | None = None, *, only: Sequence[str] | None = None) -> RawColumns:
    """The columns of a pandas, polars or pyarrow frame, a dict of columns, or a two-dimensional array.

    `only` asks for some columns: the others are not looked at, so they may hold anything. An array has
    no names, so there `only` names its columns by position.
    """
    found, columns = _columns(data, only if names is None else None)
    labels = _labels(found, len(columns), names, only)
    native = dict(zip(labels, columns, strict=True))
    wanted = labels if only is None else [labels[find_name(name, labels)] for name in only]
    values = {label: column_values(label, native[label]) for label in wanted}
    lengths = {len(column) for column in values.values()}
    if len(lengths) > 1:
        raise InputError(f"the columns have different lengths: {sorted(lengths)}")
    return values


def raw_values(data: Any, name: str) -> np.ndarray:
    """One column: a series, a list, a one-dimensional array, or a table with a single column."""
    if data is None:
        raise InputError(f"no {name!r} was given")
    if as_series(data) is not None:
        return column_values(name, data, as_levels=False)
    if isinstance(data, Mapping) or _frame(data) is not None:
        columns = _columns(data)[1]
        if len(columns) != 1:
            raise InputError(f"{name!r} must be one column, but a table of {len(columns)} was given")
        return column_values(name, columns[0], as_levels=False)
    array = _array(data)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 0:
        raise InputError(f"{name!r} must be a column of values, not {type(data).__name__}")
    if array.ndim != 1:
        raise InputError(f"{name!r} must be one column of values, but has {array.ndim} dimensions")
    return column_values(name, array)


def count_rows(data: Any) -> int:
    """How many people a table holds, whatever its columns are."""
    columns = _columns(data)[1]
    if columns:
        return len(columns[0])
    return 0 if isinstance(data, Mapping) else len(data)


def _columns(data: Any, only: Sequence[str] | None = None) -> tuple[list[Any] | None, list[Any]]:
    """The names (None where there are none, as in an array) and the columns, not looked at yet.

    Of a frame, columns that are not wanted are not even fetched: a tree looks at few of many.
    """
    if sp.issparse(data):
        raise InputError("a sparse matrix was given; pass a dense array or a data frame")
    if isinstance(data, Mapping):
        return list(data), list(data.values())
    frame = _frame(data)
    if frame is not None:
        wanted = None if only is None else set(only)
        fetched = [frame.get_column(n) if wanted is None or _label(n) in wanted else None for n in frame.columns]
        return list(frame.columns), fetched
    array = _array(data)
    if array.dtype.names and array.ndim == 1:
        return list(array.dtype.names), [array[name] for name in array.dtype.names]
    _check_table(data, array)
    return None, [array[:, position] for position in range(array.shape[1])]


def _frame(data: Any) -> Any:
    """The narwhals frame of a pandas, polars or pyarrow table, None for anything else."""
    if type(data) is np.ndarray:
        return None  # narwhals asks one library after the other whether it knows the array
    from_arrow = type(data).__module__.partition(".")[0] == "pyarrow" and hasattr(data, "schema")
    try:
        frame = nw.from_arrow(data, backend="pyarrow") if from_arrow else nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        check_unique(map(str, data.schema.names if from_arrow else data.columns))
        raise
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    return frame if isinstance(frame, nw.DataFrame) else None


def _array(data: Any) -> np.ndarray:
    """Lists go through objects: numpy would turn [1, "a"] into two texts."""
    if isinstance(data, np.ma.MaskedArray):
        return data
    if not isinstance(data, (list, tuple)):
        return np.asarray(data)
    try:
        return np.asarray(data, dtype=object)
    except ValueError:
        return objects_of(data, len(data))  # rows of different lengths


def _check_table(data: Any, array: np.ndarray) -> None:
    if array.ndim == 0:
        raise InputError(
            f"a table was expected (a data frame, a dict of columns or rows of values), not {type(data).__name__}"
        )
    if array.ndim == 1 and isinstance(data, (list, tuple)):
        _check_rows(data)
    if array.ndim != 2:
        raise InputError(
            f"a table needs rows and columns, but what was given has {array.ndim} dimension(s); "
            "reshape a single column with .reshape(-1, 1)"
        )


def _check_rows(rows: Sequence[Any]) -> None:
    if not rows:
        raise InputError("the table has no rows")
    if any(isinstance(row, Mapping) for row in rows):
        raise InputError("the rows are dicts; pass one dict of columns, or a data frame")
    widths = [len(row) if hasattr(row, "__len__") and not isinstance(row, str) else None for row in rows]
    odd = next((number for number, width in enumerate(widths) if width != widths[0]), None)
    if odd is not None and widths[0] is not None and widths[odd] is not None:
        raise InputError(f"row {odd + 1} has {widths[odd]} values where the first has {widths[0]}")


def _labels(found: list[Any] | None, width: int, names: Iterable[str] | None, only: Sequence[str] | None) -> list[str]:
    if isinstance(names, str):
        raise InputError(f"the column names must be a list of names, not the text {names!r}")
    if names is not None:
        labels = [_label(name) for name in names]
    elif found is not None:
        labels = [_label(name) for name in found]
    elif only is None:
        labels = [f"x{position}" for position in range(width)]
    elif len(only) != width:
        raise InputError(f"the table has {width} columns, but {len(only)} are expected")
    else:
        labels = list(only)
    if len(labels) != width:
        raise InputError(f"{len(labels)} column names were given for {width} columns")
    check_unique(labels)
    return labels


def _label(name: Any) -> str:
    if isinstance(name, tuple):
        raise InputError(f"the column name {name!r} has {len(name)} parts; join them into one text")
    return str.__str__(name) if isinstance(name, str) else str(name)
