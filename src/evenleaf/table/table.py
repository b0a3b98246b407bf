"""A table of people: typed columns, read-only, encoded against a schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.frames import raw_columns
from evenleaf.table.schema import Column, Kind, Schema, find_name, level_label, ordered_levels

MISSING_CODE = -1
Categorical = str | Sequence[Any] | np.ndarray | None


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length: float64 with NaN for missing, or level codes with −1 for missing.

    `unseen` counts, per column, the values whose level the schema does not know; they are coded as
    missing, because an optimal tree says where the missing go but cannot say more about the unknown.
    """

    schema: Schema
    data: tuple[np.ndarray, ...]
    unseen: tuple[int, ...]

    def __post_init__(self) -> None:
        for values in self.data:
            values.flags.writeable = False

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
            return data if schema is None else data.conform(schema)
        columns = raw_columns(
            data, names if names is not None or schema is None else _array_names(data, schema)
        )
        if not columns:
            raise InputError("the table has no columns")
        if schema is None:
            schema = infer_schema(columns, categorical)
        encoded = [_encode(column, columns[_key(column.name, columns)]) for column in schema]
        return cls(schema, tuple(values for values, _ in encoded), tuple(count for _, count in encoded))

    @property
    def n_rows(self) -> int:
        """How many people."""
        return len(self.data[0]) if self.data else 0

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
        """Some of the people, in the given order; levels keep their codes."""
        return Table(self.schema, tuple(values[rows] for values in self.data), self.unseen)

    def conform(self, schema: Schema) -> Table:
        """The same people seen through another schema (levels unknown to it become missing)."""
        if schema == self.schema:
            return self
        columns = {column.name: self._raw(position) for position, column in enumerate(self.schema)}
        return Table.of(columns, schema=schema)

    def labels(self, position: int) -> list[str]:
        """The values of one column as texts, for printing."""
        return ["(missing)" if label is None else label for label in map(level_label, self._raw(position))]

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
        )


def equal_rows(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Who is the same as whom: (first row of each kind of person, kind of each row), in row order."""
    if table.n_columns == 0:
        return np.zeros(min(1, table.n_rows), dtype=np.intp), np.zeros(table.n_rows, dtype=np.intp)
    codes = np.column_stack([np.unique(values, return_inverse=True)[1] for values in table.data])
    _, first, kind = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[kind.ravel()]


def infer_schema(columns: Mapping[str, np.ndarray], categorical: Categorical = "from_dtype") -> Schema:
    """Text and truth values are categorical, numbers quantitative, unless `categorical` says otherwise."""
    declared = categorical_names(categorical, list(columns))
    return Schema(tuple(_infer(name, values, name in declared) for name, values in columns.items()))


def categorical_names(categorical: Categorical, names: list[str]) -> set[str]:
    """The columns declared categorical, from "from_dtype", a mask, positions or names."""
    if categorical is None or (isinstance(categorical, str) and categorical == "from_dtype"):
        return set()
    if isinstance(categorical, str):
        raise InputError(f"categorical must be 'from_dtype', a mask, positions or names, not {categorical!r}")
    entries = list(categorical)
    if entries and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        if len(entries) != len(names):
            raise InputError(f"the categorical mask has {len(entries)} entries for {len(names)} columns")
        return {name for name, chosen in zip(names, entries, strict=True) if chosen}
    return {_categorical_name(entry, names) for entry in entries}


def _categorical_name(entry: Any, names: list[str]) -> str:
    if isinstance(entry, str):
        return names[find_name(entry, names)]
    if isinstance(entry, (int, np.integer)):
        if not -len(names) <= entry < len(names):
            raise InputError(f"categorical column {entry} is out of range: there are {len(names)} columns")
        return names[int(entry)]
    raise InputError(f"a categorical column must be a name or a position, not {entry!r}")


def _infer(name: str, values: np.ndarray, declared: bool) -> Column:
    if values.dtype != object and not declared:
        return Column(name, Kind.QUANTITATIVE, has_missing=bool(np.isnan(values).any()))
    if not declared:
        _refuse_mixture(name, values)
    labels = [level_label(value) for value in _unique(values)]
    known = [label for label in labels if label is not None]
    return Column(name, Kind.CATEGORICAL, ordered_levels(known), len(known) < len(labels))


def _unique(values: np.ndarray) -> Iterable[Any]:
    return np.unique(values) if values.dtype != object else set(values)


def _refuse_mixture(name: str, values: np.ndarray) -> None:
    texts = {isinstance(value, str) for value in set(values) if value is not None}
    if len(texts) > 1:
        row = next(i for i, value in enumerate(values) if isinstance(value, str))
        raise InputError(
            f"column {name!r} mixes numbers and text (row {row + 1} holds {values[row]!r}); "
            "mend it, or declare the column categorical"
        )


def _encode(column: Column, values: np.ndarray) -> tuple[np.ndarray, int]:
    if column.is_categorical:
        return _encode_levels(column, values)
    if values.dtype == object:
        row = next((i for i, value in enumerate(values) if value is not None), 0)
        raise InputError(f"column {column.name!r} must hold numbers, but row {row + 1} holds {values[row]!r}")
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise InputError(
            f"column {column.name!r} holds an infinite value in row {infinite[0] + 1}"
            f"{_and_more(infinite.size)}; replace it or leave it missing"
        )
    return values.astype(np.float64), 0


def _encode_levels(column: Column, values: np.ndarray) -> tuple[np.ndarray, int]:
    position = {level: code for code, level in enumerate(column.levels)}
    if values.dtype != object:
        distinct, inverse = np.unique(values, return_inverse=True)
    else:
        seen = {value: place for place, value in enumerate(dict.fromkeys(values))}
        distinct, inverse = list(seen), np.fromiter((seen[value] for value in values), np.intp, len(values))
    labels = [level_label(value) for value in distinct]
    codes = np.array(
        [MISSING_CODE if label is None else position.get(label, MISSING_CODE) for label in labels],
        dtype=np.int32,
    )
    unknown = np.array([label is not None and label not in position for label in labels], dtype=bool)
    if not len(values):
        return np.zeros(0, dtype=np.int32), 0
    return codes[inverse], int(unknown[inverse].sum())


def _and_more(count: int) -> str:
    return f" (and in {count - 1} more)" if count > 1 else ""


def _key(name: str, columns: Mapping[str, np.ndarray]) -> str:
    names = list(columns)
    return names[find_name(name, names)]


def _array_names(data: Any, schema: Schema) -> list[str] | None:
    """An array has no names: its columns are the schema's, by position."""
    if isinstance(data, (np.ndarray, list, tuple)):
        width = np.shape(data)[1] if np.ndim(data) == 2 else None
        if width is not None and width != len(schema):
            raise InputError(f"the table has {width} columns, but {len(schema)} are expected")
        return list(schema.names)
    return None
