"""The people a question is about: what is known of each, what was decided, to which group they belong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.frames import raw_values
from evenleaf.table.groups import Groups
from evenleaf.table.schema import LARGEST_EXACT
from evenleaf.table.table import Table, distinct, frozen, read_only
from evenleaf.table.values import is_categorical_series

Task = Literal["classification", "regression"]
Label = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Outcome:
    """The decided column: class codes with their labels, or (classes is None) numbers."""

    name: str
    values: np.ndarray
    classes: tuple[Label, ...] | None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))

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
        object.__setattr__(self, "weight", read_only(self.weight))
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
        total = self.weight.sum()
        if not total > 0:
            raise InputError("nobody has a positive weight")
        return self.weight / total

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
    labels, place = _told_apart(_class_values(y, name))
    known = _classes(labels, name) if classes is None else _given_classes(classes, name)
    position = {label: code for code, label in enumerate(known)}
    strange = [label not in position for label in labels]
    if any(strange):
        row = int(np.array(strange)[place].argmax())
        raise InputError(
            f"{name!r} holds the label {labels[place[row]]!r} in row {row + 1}, "
            f"which is not among the classes {list(known)}"
        )
    codes = np.array([position[label] for label in labels], dtype=np.intp)
    return Outcome(name, frozen(codes.take(place)), known)


def _told_apart(values: np.ndarray) -> tuple[list[Label], np.ndarray]:
    """The labels that there are, perhaps several times, and the place of each row's label among them."""
    if values.dtype == object:
        return [_label(value) for value in values], np.arange(len(values))
    numbers, place = distinct(values)
    return [_label(number) for number in numbers], place


def make_weight(weight: Any, n_people: int, name: str = "sample_weight") -> np.ndarray:
    """Non-negative finite weights with a positive sum; ones where none were given."""
    if weight is None:
        return np.ones(n_people)
    values = _numbers(weight, name)
    _same_length(repr(name), len(values), n_people)
    if (values < 0).any():
        raise InputError(f"{name!r} is negative in row {np.flatnonzero(values < 0)[0] + 1}")
    if not values.any():
        raise InputError(f"{name!r} is zero for everybody")
    with np.errstate(over="ignore"):
        if np.isinf(values.sum()):
            raise InputError(f"{name!r} is so large that it cannot be added up; divide it by its largest value")
    return values


def infer_task(y: Any, name: str = "y") -> Task:
    """Classification for texts, truth values, categories and whole numbers of at most 20 values; else regression."""
    values = raw_values(y, name)
    if values.dtype == object or is_categorical_series(y):
        return "classification"
    known = values[~np.isnan(values)]
    whole = bool(np.all(known == np.round(known)))
    return "classification" if whole and len(np.unique(known)) <= 20 else "regression"


def _present(y: Any, name: str) -> np.ndarray:
    """The values of a column that must have one for everybody."""
    values = raw_values(y, name)
    _refuse_missing(values, name)
    return values


def _refuse_missing(values: np.ndarray, name: str) -> None:
    if not len(values):
        raise InputError(f"{name!r} is empty")
    gone = [value is None for value in values] if values.dtype == object else np.isnan(values)
    rows = np.flatnonzero(gone)
    if rows.size:
        more = f" and {rows.size - 1} more" if rows.size > 1 else ""
        raise InputError(f"{name!r} is missing in row {rows[0] + 1}{more}; remove those rows or fill the value in")


def _numbers(y: Any, name: str) -> np.ndarray:
    values = _present(y, name)
    if values.dtype == object:
        row = next((row for row, value in enumerate(values) if isinstance(value, str)), None)
        if row is not None:
            raise InputError(f"{name!r} must hold numbers, but row {row + 1} holds {values[row]!r}")
        values = values.astype(np.float64)
    _refuse_infinite(values, name)
    return values


def _class_values(y: Any, name: str) -> np.ndarray:
    values = raw_values(y, name)
    if values.dtype != object and len(values) and np.abs(values).max() <= LARGEST_EXACT:
        return values  # nor is any of them missing: that would be the largest
    _refuse_missing(values, name)
    if values.dtype != object:
        _refuse_infinite(values, name)
        long = np.flatnonzero(np.abs(values) > LARGEST_EXACT)
        if long.size:
            raise InputError(f"{name!r} holds a number in row {long[0] + 1} too long for a label; turn it into text")
    return values


def _refuse_infinite(values: np.ndarray, name: str) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if infinite.size:
        raise InputError(f"{name!r} is infinite in row {infinite[0] + 1}; every value must be a finite number")


def _classes(labels: list[Label], name: str) -> tuple[Label, ...]:
    """The labels in order; a mixture is refused, because Python holds 1 and True for the same label."""
    sorts = {type(label) if isinstance(label, (str, bool)) else float for label in labels}
    if len(sorts) > 1:
        raise InputError(f"{name!r} mixes texts, truth values or numbers; use one of them for every label")
    return tuple(sorted(set(labels)))


def _given_classes(classes: Iterable[Label], name: str) -> tuple[Label, ...]:
    known = tuple(_label(label) for label in classes)
    if len(set(known)) != len(known):
        raise InputError(f"the classes of {name!r} list a label twice: {list(known)}")
    return known


def _label(value: Any) -> Label:
    """A whole number is one label however it is stored."""
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _same_length(what: str, length: int, expected: int) -> None:
    if length != expected:
        raise InputError(f"{what} has {length} rows, but the outcome has {expected}")
