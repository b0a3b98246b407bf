"""One column of anything to a plain numpy array.

A column comes out as float64 (NaN is missing) or as an object array of texts, truth values and numbers
(None is missing). It is always a copy: nothing here shares memory with what the caller holds.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.schema import is_missing, level_label

_DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
_NOTHING = type(None)


def column_values(name: str, data: Any, *, as_levels: bool = True) -> np.ndarray:
    """The values of a list, an array or a series; a categorical series gives its levels as texts.

    `as_levels=False` keeps the values of a categorical series as they are: a decided column of the
    categories 0 and 1 must be answered with 0 and 1, not with texts.
    """
    if type(data) is np.ndarray:
        return _from_array(name, data)
    series = as_series(data)
    if series is not None:
        return _from_series(name, series, as_levels)
    return _from_array(name, _as_array(name, data))


def as_series(data: Any) -> Any:
    """The narwhals series of a pandas, polars or pyarrow column (or array), None for anything else."""
    if type(data) is np.ndarray:
        return None
    package = type(data).__module__.partition(".")[0]
    if package == "pandas" and hasattr(data, "dtype"):
        import pandas as pd

        data = pd.Series(data)  # also a Categorical, an Index or an extension array
    elif package == "pyarrow" and hasattr(data, "dictionary_encode") and not hasattr(data, "chunks"):
        import pyarrow as pa

        data = pa.chunked_array([data])
    series = nw.from_native(data, pass_through=True, allow_series=True)
    return series if isinstance(series, nw.Series) else None


def is_categorical_series(data: Any) -> bool:
    """Whether the caller's own type says that the values are categories."""
    series = as_series(data)
    return series is not None and series.dtype in (nw.Categorical, nw.Enum)


def objects_of(values: Iterable[Any], length: int) -> np.ndarray:
    """An object array with one entry a value, even where the values are sequences themselves."""
    return np.fromiter(values, dtype=object, count=length)


def _from_series(name: str, series: Any, as_levels: bool) -> np.ndarray:
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64)  # numpy has no whole numbers that long
    if dtype.is_numeric():
        return np.array(series.to_numpy(), dtype=np.float64)
    if dtype.is_temporal():
        raise _dates(name)
    if as_levels and dtype in (nw.Categorical, nw.Enum):
        return objects_of(map(level_label, series.to_list()), len(series))
    untyped = str(getattr(series.to_native(), "dtype", "")) == "object"  # narwhals takes an empty one for text
    if dtype in (nw.String, nw.Boolean) and not untyped:
        # A column typed as text stays one where every value is missing.
        values = series.to_list()
        if set(map(type, values)) <= {str, bool, _NOTHING}:
            return objects_of(values, len(values))
        return objects_of((None if is_missing(value) else value for value in values), len(values))
    if untyped or dtype in (nw.Categorical, nw.Enum, nw.Object):
        return _from_objects(name, objects_of(series.to_list(), len(series)))
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    raise _wrong_type(name, getattr(series.to_native(), "dtype", dtype))


def _as_array(name: str, data: Any) -> np.ndarray:
    if isinstance(data, np.ma.MaskedArray):
        objects = np.array(data.data, dtype=object)
        objects[np.ma.getmaskarray(data)] = None
        return objects
    if isinstance(data, np.ndarray) or hasattr(data, "__array__"):
        return np.asarray(data)
    unordered = isinstance(data, (str, bytes, Mapping, set, frozenset))
    if unordered or not hasattr(data, "__len__") or not hasattr(data, "__iter__"):
        raise InputError(f"column {name!r} must be a list, an array or a series, not {type(data).__name__}")
    return objects_of(data, len(data))


def _from_array(name: str, array: np.ndarray) -> np.ndarray:
    if array.ndim != 1:
        raise InputError(f"column {name!r} must be one value a row, but has {array.ndim} dimensions")
    kind = array.dtype.kind
    if kind in "iuf":
        if array.dtype.itemsize <= 8:
            return array.astype(np.float64)
        with np.errstate(over="ignore"):  # a long double too large is infinite, and that is reported later
            return array.astype(np.float64)
    if kind in "bU":
        return array.astype(object)
    if kind == "S":
        return _decoded(name, array)
    if kind in "OT":
        return _from_objects(name, array.astype(object))
    if kind in "mM":
        raise _dates(name)
    raise _wrong_type(name, array.dtype)


def _decoded(name: str, array: np.ndarray) -> np.ndarray:
    try:
        return np.strings.decode(array, "utf-8").astype(object)
    except UnicodeDecodeError as error:
        raise InputError(f"column {name!r} holds bytes that are not UTF-8 text; decode it first") from error


def _from_objects(name: str, array: np.ndarray) -> np.ndarray:
    """Numbers as float64; anything else, and any mixture, stays objects for the schema to judge."""
    types = set(map(type, array))
    if str in types and types <= {str, _NOTHING}:
        return array
    if types <= {int, float}:
        return _from_numbers(name, array)
    cleaned = [_cleaned(name, row, value) for row, value in enumerate(array)]
    if any(isinstance(value, (str, bool)) for value in cleaned):
        return objects_of(cleaned, len(cleaned))
    return _from_numbers(name, [np.nan if value is None else value for value in cleaned])


def _cleaned(name: str, row: int, value: Any) -> str | bool | int | float | None:
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, _DATES):
        raise _dates(name)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (Real, Decimal)):
        return float(value)
    raise InputError(
        f"column {name!r} holds a value of the type {type(value).__name__} in row {row + 1}; "
        "turn it into a number or a text"
    )


def _from_numbers(name: str, numbers: Sequence[Any] | np.ndarray) -> np.ndarray:
    try:
        return np.fromiter(map(float, numbers), np.float64, len(numbers))
    except OverflowError as error:
        row = next(row for row, number in enumerate(numbers) if abs(number) > sys.float_info.max)
        raise InputError(f"column {name!r} holds a number in row {row + 1} that is too large") from error


def _dates(name: str) -> InputError:
    return InputError(
        f"column {name!r} holds dates or times; turn it into a number (for example days since a "
        "fixed day) or leave it out"
    )


def _wrong_type(name: str, dtype: Any) -> InputError:
    return InputError(f"column {name!r} has the type {dtype}, which cannot be used; turn it into numbers or text")
