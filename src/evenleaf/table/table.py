"""A table of people: typed columns, read-only, encoded against a schema."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.frames import RawColumns, count_rows, raw_columns
from evenleaf.table.infer import Categorical, categorical_names, distinct_labels, infer_schema
from evenleaf.table.schema import Column, Schema, level_label

__all__ = [
    "MISSING_CODE",
    "Categorical",
    "Table",
    "categorical_names",
    "distinct",
    "equal_rows",
    "frozen",
    "infer_schema",
    "read_only",
]

MISSING_CODE = -1
_NARROW = 1 << 20  # whole numbers below this are their own codes
_FEW_KEYS = 1 << 12  # a table of so many keys is never too large
_LARGEST_KEY = 1 << 62


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length: float64 with NaN for missing, or level codes with −1 for missing.

    `unseen` counts, per column, the values whose level the schema does not know; they are coded as
    missing, because an optimal tree says where the missing go but cannot say more about the unknown.
    `length` remembers how many people there are where no column is left to tell.
    """

    schema: Schema
    data: tuple[np.ndarray, ...]
    unseen: tuple[int, ...]
    length: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", tuple(read_only(values) for values in self.data))

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        schema: Schema | None = None,
        categorical: Categorical = "from_dtype",
        names: list[str] | None = None,
    ) -> Table:
        """Encode a frame, a dict of columns or an array; columns are inferred unless a schema is given.

        With a schema, its columns are looked up by name (an array: by position) and every other column
        is ignored. `categorical` is "from_dtype", a mask, positions or names, as in scikit-learn.
        """
        if isinstance(data, Table):
            return data._again(schema, categorical, names)
        columns = raw_columns(data, names, only=None if schema is None else schema.names)
        if schema is None:
            if not columns:
                raise InputError("the table has no columns")
            schema = infer_schema(columns, categorical)
        encoded = [_encode(column, columns[column.name]) for column in schema]
        length = len(encoded[0][0]) if encoded else count_rows(data)
        data, unseen = tuple(frozen(values) for values, _ in encoded), tuple(count for _, count in encoded)
        return cls(schema, data, unseen, length)

    @property
    def n_rows(self) -> int:
        """How many people."""
        return len(self.data[0]) if self.data else self.length or 0

    @property
    def n_columns(self) -> int:
        """How many columns."""
        return len(self.schema)

    def column(self, name: str) -> np.ndarray:
        """The values (or level codes) of one column."""
        return self.data[self.schema.position(name)]

    def missing(self, position: int) -> np.ndarray:
        """Who has no value in that column."""
        values = self.data[position]
        return values < 0 if self.schema[position].is_categorical else np.isnan(values)

    def select(self, names: Iterable[str]) -> Table:
        """The named columns, in that order."""
        return self._at([self.schema.position(name) for name in names])

    def drop(self, names: Iterable[str]) -> Table:
        """All columns but the named ones."""
        gone = {self.schema.position(name) for name in names}
        return self._at([position for position in range(self.n_columns) if position not in gone])

    def take(self, rows: np.ndarray) -> Table:
        """Some of the people, in the given order; levels keep their codes, `unseen` still counts them all."""
        length = len(np.empty(self.n_rows, dtype=bool)[rows])
        return Table(self.schema, tuple(frozen(values[rows]) for values in self.data), self.unseen, length)

    def conform(self, schema: Schema) -> Table:
        """The same people seen through another schema (levels unknown to it become missing)."""
        if schema == self.schema:
            return self
        table = Table.of(self._columns(), schema=schema) if len(schema) else self._at([])
        before = [self.unseen[self.schema.position(name)] for name in schema.names]
        unseen = tuple(old + new for old, new in zip(before, table.unseen, strict=True))
        return Table(schema, table.data, unseen, self.n_rows)

    def labels(self, position: int) -> list[str]:
        """The values of one column as texts, for printing."""
        return ["(missing)" if label is None else label for label in map(level_label, self._raw(position))]

    def _again(self, schema: Schema | None, categorical: Categorical, names: list[str] | None) -> Table:
        """What `of` makes of a table: itself, unless something else is asked of it."""
        if schema is not None and names is None:
            return self.conform(schema)
        declared = categorical_names(categorical, list(self.schema.names if names is None else names))
        if names is None and all(self.schema[self.schema.position(name)].is_categorical for name in declared):
            return self
        return Table.of(self._columns(), schema=schema, categorical=categorical, names=names)

    def _columns(self) -> RawColumns:
        return {column.name: self._raw(position) for position, column in enumerate(self.schema)}

    def _raw(self, position: int) -> np.ndarray:
        column, values = self.schema[position], self.data[position]
        if not column.is_categorical:
            return values
        return np.array([*column.levels, None], dtype=object)[values]

    def _at(self, positions: list[int]) -> Table:
        return Table(
            Schema(tuple(self.schema[position] for position in positions)),
            tuple(self.data[position] for position in positions),
            tuple(self.unseen[position] for position in positions),
            self.n_rows,
        )


def read_only(values: np.ndarray) -> np.ndarray:
    """The same values, safe from writing; a copy where the caller could still write to them."""
    if values.flags.writeable:
        values = values.copy()
        values.flags.writeable = False
    return values


def frozen(values: np.ndarray) -> np.ndarray:
    """The same array, which nobody else holds yet: so that `read_only` need not copy it again."""
    values.flags.writeable = False
    return values


def equal_rows(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Who is the same as whom: (first row of each kind of person, kind of each row), in row order."""
    key, size = np.zeros(table.n_rows, dtype=np.int64), 1
    for values in table.data:
        code, n_codes = _codes(values)
        if size * n_codes > _LARGEST_KEY:  # number what there is so far without gaps, and go on
            first, key = _kinds(key, size)
            size = len(first)
        key, size = key * n_codes + code, size * n_codes
    return _kinds(key, size)


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different values of a column in ascending order, and the place of each value among them."""
    whole = _whole_numbers(values)
    if whole is None or whole[2] > len(values):
        known, place = np.unique(values, return_inverse=True)
        return known, place.ravel()
    code, low, n_codes = whole
    if n_codes <= 2:  # the lowest and the highest are there
        return np.arange(low, low + n_codes).astype(values.dtype), code
    present = np.bincount(code, minlength=n_codes) > 0
    known = np.flatnonzero(present) + low
    return known.astype(values.dtype), code if len(known) == n_codes else (np.cumsum(present) - 1)[code]


def _codes(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Whole numbers from 0 for the different values of a column, and how many they may be."""
    if not len(values):
        return np.zeros(0, dtype=np.int64), 1
    whole = _whole_numbers(values)
    if whole is not None:
        return whole[0], whole[2]
    known, code = np.unique(values, return_inverse=True)
    return code.astype(np.int64), len(known)


def _whole_numbers(values: np.ndarray) -> tuple[np.ndarray, int, int] | None:
    """Levels, flags, counts and years are codes already: counted from the lowest, which one that is, how many.

    None for anything else; NaN compares as nothing and is sorted with the rest.
    """
    if not len(values):
        return None
    low, high = values.min(), values.max()
    if not (low > -_NARROW and high < _NARROW):
        return None
    whole = values.astype(np.int64)
    if values.dtype.kind != "i" and np.count_nonzero(whole != values):
        return None
    if low != 0:
        whole -= int(low)
    return whole, int(low), int(high) - int(low) + 1


def _kinds(key: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The first row of each different key, in row order, and the kind of each row; keys are below `size`."""
    n_rows = len(key)
    if size > 16 * n_rows + _FEW_KEYS:
        key = np.unique(key, return_inverse=True)[1]
        size = n_rows
    first_of = np.full(max(size, 1), n_rows, dtype=np.intp)
    first_of[key[::-1]] = np.arange(n_rows)[::-1]  # of several writes to a place the last one counts: the first row
    first = np.sort(first_of[first_of < n_rows])
    rank = np.empty(max(size, 1), dtype=np.intp)
    rank[key[first]] = np.arange(len(first))
    return first, rank[key]


def _encode(column: Column, values: np.ndarray) -> tuple[np.ndarray, int]:
    if column.is_categorical:
        return _encode_levels(column, values)
    if values.dtype == object:
        values = _all_missing(column, values)
    is_infinite = np.isinf(values)
    if np.count_nonzero(is_infinite):
        infinite = np.flatnonzero(is_infinite)
        more = f" (and in {infinite.size - 1} more)" if infinite.size > 1 else ""
        raise InputError(
            f"column {column.name!r} holds an infinite value in row {infinite[0] + 1}{more}; "
            "replace it or leave it missing"
        )
    return values, 0


def _all_missing(column: Column, values: np.ndarray) -> np.ndarray:
    """A column without a single value is as good as numbers; one text among them is not."""
    for row, value in enumerate(values):
        if isinstance(value, (str, bool)):
            raise InputError(f"column {column.name!r} must hold numbers, but row {row + 1} holds {value!r}")
    return np.full(len(values), np.nan)


def _encode_levels(column: Column, values: np.ndarray) -> tuple[np.ndarray, int]:
    position = {level: code for code, level in enumerate(column.levels)}
    labels, place = distinct_labels(column.name, values)
    if not labels:
        return np.zeros(0, dtype=np.int32), 0
    codes = np.array([MISSING_CODE if label is None else position.get(label, MISSING_CODE) for label in labels])
    unknown = np.array([label is not None and label not in position for label in labels])
    return codes[place].astype(np.int32), int(unknown[place].sum())
