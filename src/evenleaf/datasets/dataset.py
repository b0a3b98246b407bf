"""A loaded data set: features, protected columns and outcome of the same people, kept apart."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evenleaf.errors import InputError
from evenleaf.files import write_whole
from evenleaf.table import Grouping, Label, Outcome, People, Table, make_groups, make_weight
from evenleaf.table.frames import RawColumns

WEIGHT_COLUMN = "sample_weight"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """The people of a data set; protected columns are in `protected` and never in `features`.

    `positive` is the class a classification is about (None for regression), `definition` says in words
    how the groups were made, and `weight` is None where everybody counts the same.
    """

    name: str
    features: Table
    protected: Table
    outcome: Outcome
    positive: Label | None
    definition: str
    weight: np.ndarray | None = None

    def __repr__(self) -> str:
        protected = ", ".join(self.protected.schema.names)
        return (
            f"Dataset({self.name!r}: {self.n_people:,} people, {self.features.n_columns} features, "
            f"protected {protected}, {self.outcome.task} of {self.outcome.name!r})"
        )

    @property
    def n_people(self) -> int:
        """How many people."""
        return len(self.outcome.values)

    def people(self, groups: Grouping = "joint") -> People:
        """The same as a question's people: groups from the joint protected columns, or one partition each."""
        weight = make_weight(self.weight, self.n_people)
        return People(self.features, self.outcome, make_groups(self.protected, groups), weight)

    def take(self, rows: np.ndarray) -> Dataset:
        """Some of the people, in the given order; levels and classes keep their codes."""
        return replace(
            self,
            features=self.features.take(rows),
            protected=self.protected.take(rows),
            outcome=self.outcome.take(rows),
            weight=None if self.weight is None else self.weight[rows],
        )

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """A random n of the people without replacement, in their order; the same for the same seed."""
        if not 1 <= n <= self.n_people:
            raise InputError(f"a sample of {n} cannot be drawn from {self.n_people} people")
        rng = np.random.default_rng(seed)
        return self.take(np.sort(rng.choice(self.n_people, size=n, replace=False)))

    def frame_columns(self) -> RawColumns:
        """Features, protected columns, outcome (and weight, if any) as plain columns, ready for a frame."""
        columns = {
            **_raw(self.features),
            **_raw(self.protected),
            self.outcome.name: _outcome_values(self.outcome),
        }
        if self.weight is not None:
            columns[WEIGHT_COLUMN] = self.weight.copy()
        return columns

    def to_csv(self, path: str | Path) -> None:
        """Write `frame_columns` as CSV, whole or not at all; a missing value is an empty cell."""
        place = Path(path)
        if not place.parent.is_dir():
            raise InputError(f"there is no folder {place.parent} to write {place.name} into")
        columns = self.frame_columns()
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*map(_cells, columns.values()), strict=True))
        write_whole(place, [text.getvalue().encode("utf-8")])


def _raw(table: Table) -> RawColumns:
    columns: RawColumns = {}
    for column, values in zip(table.schema, table.data, strict=True):
        if column.is_categorical:
            columns[column.name] = np.array([*column.levels, None], dtype=object)[values]
        else:
            columns[column.name] = values.copy()
    return columns


def _outcome_values(outcome: Outcome) -> np.ndarray:
    if outcome.classes is None:
        return outcome.values.copy()
    return np.array(outcome.classes, dtype=object)[outcome.values]


def _cells(values: np.ndarray) -> list[str]:
    if values.dtype == object:
        return ["" if value is None else str(value) for value in values]
    return ["" if np.isnan(value) else _number(value) for value in values.tolist()]


def _number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
