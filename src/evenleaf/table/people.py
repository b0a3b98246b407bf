"""The people a question is about: what is known of each, what was decided, to which group they belong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.frames import raw_values
from evenleaf.table.groups import Groups
from evenleaf.table.schema import is_missing
from evenleaf.table.table import Table

Task = Literal["classification", "regression"]
Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Outcome:
    """The decided column: class codes with their labels, or (classes is None) numbers."""

    name: str
    values: np.ndarray
    classes: tuple[Label, ...] | None

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    @property
    def task(self) -> Task:
        """Classification where there are classes, regression where there are numbers."""
        return "regression" if self.classes is None else "classification"

    @property
    def n_classes(self) -> int:
        """How many columns ψ has: the classes, or one for a number."""
        return 1 if self.classes is None else len(self.classes)

    def take(self, rows: np.ndarray) -> Outcome:
        """The outcome of some of the people."""
        return replace(self, values=self.values[rows])


@dataclass(frozen=True, eq=False)
class People:
    """Features, outcome, groups and sample weights of the same people, row by row."""

    features: Table
    outcome: Outcome
    groups: tuple[Groups, ...]
    weight: np.ndarray

    def __post_init__(self) -> None:
        self.weight.flags.writeable = False
        n_people = len(self.outcome.values)
        _same_length("the sample weight", len(self.weight), n_people)
        if self.features.n_columns:
            _same_length("the table", self.features.n_rows, n_people)
        for group in self.groups:
            _same_length(f"protected column {group.name!r}", len(group.codes), n_people)

    @property
    def n_people(self) -> int:
        """How many people."""
        return len(self.outcome.values)

    @property
    def share(self) -> np.ndarray:
        """Each person's part of the total weight (1/N without weights)."""
        return self.weight / self.weight.sum()

    def take(self, rows: np.ndarray) -> People:
        """Some of the people."""
        groups = tuple(group.take(rows) for group in self.groups)
        return People(self.features.take(rows), self.outcome.take(rows), groups, self.weight[rows])


def make_outcome(y: Any, *, task: Task, name: str = "y", classes: tuple[Label, ...] | None = None) -> Outcome:
    """Encode the decided column; a missing or infinite value is an error that names its row."""
    if task == "regression":
        return Outcome(name, _numbers(y, name), None)
    if task != "classification":
        raise InputError(f"task must be 'classification' or 'regression', not {task!r}")
    values = raw_values(y, name)
    _refuse_missing(values, name)
    if values.dtype != object and not np.all(np.isfinite(values)):
        _numbers(y, name)
    labels = [_label(value) for value in values]
    known = tuple(sorted(set(labels), key=_sort_key)) if classes is None else classes
    position = {label: code for code, label in enumerate(known)}
    stranger = next((label for label in labels if label not in position), None)
    if stranger is not None:
        raise InputError(
            f"{name!r} holds the label {stranger!r}, which is not among the classes {list(known)}"
        )
    return Outcome(name, np.array([position[label] for label in labels], dtype=np.intp), known)


def make_weight(weight: Any, n_people: int, name: str = "sample_weight") -> np.ndarray:
    """Non-negative finite weights with a positive sum; ones where none were given."""
    if weight is None:
        return np.ones(n_people)
    values = _numbers(weight, name)
    _same_length(f"{name!r}", len(values), n_people)
    if (values < 0).any():
        raise InputError(f"{name!r} is negative in row {np.flatnonzero(values < 0)[0] + 1}")
    if values.sum() <= 0:
        raise InputError(f"{name!r} is zero for everybody")
    return values


def infer_task(y: Any, name: str = "y") -> Task:
    """Classification for texts, truth values and whole numbers of at most 20 values; else regression."""
    values = raw_values(y, name)
    if values.dtype == object:
        return "classification"
    known = values[~np.isnan(values)]
    whole = bool(np.all(known == np.round(known)))
    return "classification" if whole and len(np.unique(known)) <= 20 else "regression"


def _numbers(y: Any, name: str) -> np.ndarray:
    values = raw_values(y, name)
    _refuse_missing(values, name)
    if values.dtype == object:
        if all(isinstance(value, (bool, np.bool_)) for value in values):
            return values.astype(float)
        raise InputError(f"{name!r} must hold numbers, but row 1 holds {values[0]!r}")
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise InputError(
            f"{name!r} is infinite in row {infinite[0] + 1}; every value must be a finite number"
        )
    return values


def _refuse_missing(values: np.ndarray, name: str) -> None:
    if values.dtype != object:
        rows = np.flatnonzero(np.isnan(values))
    else:
        rows = np.flatnonzero([is_missing(value) for value in values])
    if rows.size:
        more = f" and {rows.size - 1} more" if rows.size > 1 else ""
        raise InputError(
            f"{name!r} is missing in row {rows[0] + 1}{more}; remove those rows or fill the value in"
        )


def _label(value: Any) -> Label:
    """A whole number is one label however it is stored."""
    if hasattr(value, "item"):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value  # type: ignore[no-any-return]


def _sort_key(label: Label) -> tuple[bool, float, str]:
    return (True, 0.0, label) if isinstance(label, str) else (False, float(label), "")


def _same_length(what: str, length: int, expected: int) -> None:
    if length != expected:
        raise InputError(f"{what} has {length} rows, but the outcome has {expected}")
