"""Any frame to plain numpy columns: the only place that knows pandas, polars, pyarrow or numpy tables.

A column comes out as float64 (NaN is missing) or as an object array of Python values (None is missing).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.table.schema import is_missing

RawColumns = dict[str, np.ndarray]


def raw_columns(data: Any, names: list[str] | None = None) -> RawColumns:
    """The columns of a pandas, polars or pyarrow frame, a dict of columns, or a two-dimensional array."""
    if sp.issparse(data):
        raise InputError("a sparse matrix was given; pass a dense array or a data frame")
    if isinstance(data, Mapping):
        return _named([(name, _from_values(str(name), values)) for name, values in data.items()], names)
    frame = nw.from_native(data, pass_through=True, eager_only=False)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame):
        pairs = [(name, _from_series(str(name), frame.get_column(name))) for name in frame.columns]
        return _named(pairs, names)
    return _from_array(data, names)


def raw_values(data: Any, name: str) -> np.ndarray:
    """One column: a series, a list, a one-dimensional array, or a frame with a single column."""
    series = nw.from_native(data, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return _from_series(name, series)
    if isinstance(series, (nw.DataFrame, nw.LazyFrame)) or isinstance(data, Mapping):
        columns = raw_columns(data)
        if len(columns) != 1:
            raise InputError(f"{name!r} must be one column, but a table of {len(columns)} was given")
        return next(iter(columns.values()))
    values = np.asarray(data, dtype=object) if _is_listlike(data) else np.asarray(data)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(f"{name!r} must be one column of values, but has {values.ndim} dimensions")
    return _from_values(name, values)


def _named(pairs: list[tuple[Any, np.ndarray]], names: list[str] | None) -> RawColumns:
    labels = [str(name) for name, _ in pairs] if names is None else names
    if len(labels) != len(pairs):
        raise InputError(f"{len(labels)} column names were given for {len(pairs)} columns")
    if len(set(labels)) != len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise InputError(f"two columns are called {twice!r}; rename one of them")
    lengths = {len(values) for _, values in pairs}
    if len(lengths) > 1:
        raise InputError(f"the columns have different lengths: {sorted(lengths)}")
    return dict(zip(labels, (values for _, values in pairs), strict=True))


def _from_array(data: Any, names: list[str] | None) -> RawColumns:
    array = np.asarray(data, dtype=object) if _is_listlike(data) else np.asarray(data)
    if array.ndim != 2:
        raise InputError(
            f"a table needs rows and columns, but what was given has {array.ndim} dimension(s); "
            "reshape a single column with .reshape(-1, 1)"
        )
    if np.iscomplexobj(array):
        raise InputError("complex numbers were given; a table holds real numbers or text")
    labels = [f"x{position}" for position in range(array.shape[1])] if names is None else names
    return _named([(label, _from_values(label, array[:, j])) for j, label in enumerate(labels)], None)


def _is_listlike(data: Any) -> bool:
    """Lists go through objects: numpy would turn [1, "a"] into two texts."""
    return isinstance(data, (list, tuple))


def _from_series(name: str, series: Any) -> np.ndarray:
    dtype = series.dtype
    if dtype.is_numeric():
        return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if dtype.is_temporal():
        raise InputError(
            f"column {name!r} holds dates or times; turn it into a number (for example days since a "
            "fixed day) or leave it out"
        )
    if dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean, nw.Object):
        return _from_values(name, series.to_list())
    raise InputError(f"column {name!r} has the type {dtype}, which is neither numbers nor text")


def _from_values(name: str, values: Any) -> np.ndarray:
    """Numbers as float64; texts and truth values as objects; a mixture stays objects for the schema to judge."""
    array = values if isinstance(values, np.ndarray) else _object_array(values)
    if array.ndim != 1:
        raise InputError(f"column {name!r} must be one value a row")
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    if array.dtype.kind == "b":
        return array.astype(object)
    if array.dtype.kind in "US":
        return array.astype(str).astype(object)
    if array.dtype.kind != "O":
        raise InputError(f"column {name!r} has the type {array.dtype}, which is neither numbers nor text")
    return _from_objects(array)


def _object_array(values: Any) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array


def _from_objects(array: np.ndarray) -> np.ndarray:
    cleaned = _object_array([None if is_missing(value) else value for value in array])
    kinds = {type(value) for value in cleaned if value is not None}
    if kinds and all(
        issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds - {bool, np.bool_}
    ):
        if not kinds & {bool, np.bool_}:
            return np.array([np.nan if value is None else float(value) for value in cleaned])
    elif not kinds:
        return np.full(len(cleaned), np.nan)
    return cleaned
