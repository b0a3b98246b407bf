"""From raw columns to a Dataset: the steps that all loaders share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenleaf.datasets.checks import column_names
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.entry import Entry
from evenleaf.errors import InputError
from evenleaf.table import Label, Outcome, Table, make_outcome
from evenleaf.table.frames import RawColumns

Names = str | Sequence[str]


def assemble(
    entry: Entry,
    columns: RawColumns,
    outcome: Outcome,
    protected: Names,
    definition: str,
    *,
    positive: Label | None = None,
    weight: np.ndarray | None = None,
) -> Dataset:
    """Set the protected columns apart from the features and encode both."""
    apart = column_names("protected", protected, list(columns))
    features = {name: values for name, values in columns.items() if name not in apart}
    if not features:
        raise InputError("every column is protected; at least one must remain to learn from")
    return Dataset(
        name=entry.name,
        features=_encode(entry, features),
        protected=_encode(entry, {name: columns[name] for name in apart}),
        outcome=outcome,
        positive=positive,
        definition=definition,
        weight=weight,
    )


def complete_rows(columns: RawColumns) -> np.ndarray:
    """Who has a value in every column."""
    return ~np.any([missing(values) for values in columns.values()], axis=0)


def missing(values: np.ndarray) -> np.ndarray:
    """Who has no value: None in a column of texts, NaN in a column of numbers."""
    if values.dtype != object:
        return np.isnan(values)
    return np.asarray(np.equal(values, None), dtype=bool)  # type: ignore[call-overload]  # far faster than one by one


def take_rows(columns: RawColumns, rows: np.ndarray) -> RawColumns:
    """Some of the rows of every column."""
    return {name: values[rows] for name, values in columns.items()}


def one_or_not(values: np.ndarray, level: str) -> np.ndarray:
    """Two levels out of many: the named one, and all others together; missing stays missing."""
    return decode(values, dict.fromkeys(set(values) - {level, None}, f"not {level}"))


def decode(values: np.ndarray, words: Mapping[str, str], unknown: str = "{}") -> np.ndarray:
    """Texts replaced by words; one that has no word is put into the pattern `unknown`."""
    decoded = np.empty(len(values), dtype=object)
    decoded[:] = [None if value is None else words.get(value, unknown.format(value)) for value in values]
    return decoded


def two_classes(entry: Entry, positive: np.ndarray, words: tuple[str, str], target: str | None = None) -> Outcome:
    """A yes-or-no outcome under its words (no, yes); both are classes even if one does not occur."""
    labels = np.where(positive, words[1], words[0])
    return make_outcome(labels, task="classification", name=target or entry.target, classes=words)


def _encode(entry: Entry, columns: RawColumns) -> Table:
    return Table.of(columns, categorical=[name for name in entry.categorical if name in columns])
