"""Which kind each column is, where no schema says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.schema import LARGEST_EXACT, Column, Kind, Schema, find_name, level_label, ordered_levels

Categorical = str | Sequence[Any] | np.ndarray | None


def infer_schema(columns: Mapping[str, np.ndarray], categorical: Categorical = "from_dtype") -> Schema:
    """Text and truth values are categorical, numbers quantitative, unless `categorical` says otherwise."""
    declared = categorical_names(categorical, list(columns))
    return Schema(tuple(_infer(name, values, name in declared) for name, values in columns.items()))


def categorical_names(categorical: Categorical, names: list[str]) -> set[str]:
    """The columns declared categorical, from "from_dtype", a mask, positions or names."""
    if categorical is None or (isinstance(categorical, str) and categorical == "from_dtype"):
        return set()
    if isinstance(categorical, str) or not hasattr(categorical, "__iter__"):
        raise InputError(f"categorical must be 'from_dtype', a mask, positions or names, not {categorical!r}")
    entries = list(categorical)
    if entries and all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        if len(entries) != len(names):
            raise InputError(f"the categorical mask has {len(entries)} entries for {len(names)} columns")
        return {name for name, chosen in zip(names, entries, strict=True) if chosen}
    return {_categorical_name(entry, names) for entry in entries}


def distinct_labels(name: str, values: np.ndarray) -> tuple[list[str | None], np.ndarray]:
    """The different labels of a column (None is missing), and which of them each row has."""
    if values.dtype != object:
        _refuse_long(name, values)
        distinct, inverse = np.unique(values, return_inverse=True)
        return [level_label(value) for value in distinct], inverse
    labels = _labels(values)
    place = {label: position for position, label in enumerate(dict.fromkeys(labels))}
    return list(place), np.fromiter(map(place.__getitem__, labels), np.intp, len(labels))


def _labels(values: np.ndarray) -> list[str | None]:
    """Labels are compared, not values: Python holds True, 1 and 1.0 for the same key of a dict."""
    plain = set(map(type, values)) <= {str, type(None)}
    return list(values) if plain else [level_label(value) for value in values]


def _categorical_name(entry: Any, names: list[str]) -> str:
    if isinstance(entry, str):
        return names[find_name(entry, names)]
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        if not -len(names) <= entry < len(names):
            raise InputError(f"categorical column {entry} is out of range: there are {len(names)} columns")
        return names[int(entry)]
    raise InputError(f"a categorical column must be a name or a position, not {entry!r}")


def _infer(name: str, values: np.ndarray, declared: bool) -> Column:
    if values.dtype != object and not declared:
        return Column(name, Kind.QUANTITATIVE, has_missing=bool(np.count_nonzero(np.isnan(values))))
    if not declared:
        _refuse_mixture(name, values)
    labels, _ = distinct_labels(name, values)
    known = [label for label in labels if label is not None]
    return Column(name, Kind.CATEGORICAL, ordered_levels(known), len(known) < len(labels))


def _refuse_mixture(name: str, values: np.ndarray) -> None:
    sorts = {kind: _sort_of(kind) for kind in set(map(type, values)) - {type(None)}}
    if len(set(sorts.values())) > 1:
        odd = "text" if str in sorts else "truth values"
        other = "truth values" if set(sorts.values()) == {"text", "truth values"} else "numbers"
        row = next(row for row, value in enumerate(values) if sorts.get(type(value)) == odd)
        raise InputError(
            f"column {name!r} mixes {other} and {odd} (row {row + 1} holds {values[row]!r}); "
            "mend it, or declare the column categorical"
        )


def _sort_of(kind: type) -> str:
    return {str: "text", bool: "truth values"}.get(kind, "numbers")


def _refuse_long(name: str, values: np.ndarray) -> None:
    """Two codes longer than a float can hold would silently become one level."""
    rows = np.flatnonzero(np.isfinite(values) & (np.abs(values) > LARGEST_EXACT))
    if rows.size:
        raise InputError(
            f"column {name!r} holds a number in row {rows[0] + 1} that is too long for a level; turn it into text"
        )
