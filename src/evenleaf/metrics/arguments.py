"""What callers of a metric pass in (lists, arrays, series, frames, names of columns), made into `People`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table import (
    Grouping,
    Groups,
    Label,
    Outcome,
    People,
    Schema,
    Table,
    Task,
    make_groups,
    make_outcome,
    make_weight,
)

_NO_NAME = "group"


@dataclass(frozen=True, eq=False)
class Protected:
    """The protected columns, and their names where they are columns of X (so that they leave it)."""

    table: Table
    in_features: tuple[str, ...] = ()


def make_people(
    y: Any,
    sensitive_features: Any,
    *,
    X: Any = None,
    task: Task = "classification",
    sample_weight: Any = None,
    groups: Grouping = "joint",
    categorical_features: Any = "from_dtype",
) -> People:
    """The people a metric is about; protected columns never stay among the features.

    `sensitive_features` may also be `Groups` that were made before.
    """
    outcome = y if isinstance(y, Outcome) else one_outcome(y, task)
    n_people = len(outcome.values)
    features = None if X is None else Table.of(X, categorical=categorical_features)
    weight = make_weight(sample_weight, n_people)
    if isinstance(sensitive_features, Groups):
        return People(no_features(n_people) if features is None else features, outcome, (sensitive_features,), weight)
    protected = protected_columns(sensitive_features, features, n_people)
    features = no_features(n_people) if features is None else features.drop(protected.in_features)
    return People(features, outcome, make_groups(protected.table, groups), weight)


def no_features(n_people: int) -> Table:
    """A table without columns, for metrics that do not look at features."""
    return Table(Schema(()), (), (), n_people)


def one_outcome(y: Any, task: Task, name: str = "y") -> Outcome:
    """A decided or predicted column; numbers with fractions are no classes unless the caller says so."""
    if task not in get_args(Task):
        raise InputError(f"task must be 'classification' or 'regression', not {task!r}")
    outcome = make_outcome(y, task=task, name=name)
    fraction = next((label for label in outcome.classes or () if isinstance(label, float)), None)
    if fraction is not None:
        raise InputError(f'{name!r} holds numbers such as {fraction!r}, not classes; pass task="regression"')
    return outcome


def outcome_pair(y_true: Any, y_pred: Any, task: Task = "classification") -> tuple[Outcome, Outcome]:
    """What is true and what was predicted, with the same classes for both."""
    true, predicted = one_outcome(y_true, task, "y_true"), one_outcome(y_pred, task, "y_pred")
    if len(true.values) != len(predicted.values):
        raise InputError(f"'y_true' has {len(true.values)} rows, but 'y_pred' has {len(predicted.values)}")
    if true.classes is None or predicted.classes is None:
        return true, predicted
    if {isinstance(label, str) for label in true.classes} != {isinstance(label, str) for label in predicted.classes}:
        raise InputError("one of 'y_true' and 'y_pred' holds texts and the other numbers; give both the same labels")
    classes = _both_of_two(_all_classes(true.classes, predicted.classes))
    return _recoded(true, classes), _recoded(predicted, classes)


def _all_classes(first: tuple[Label, ...], second: tuple[Label, ...]) -> tuple[Label, ...]:
    """The labels of both in order; truth values beside numbers are the numbers 0 and 1."""
    labels = [*first, *second]
    if len({isinstance(label, bool) for label in labels}) > 1:
        labels = [int(label) if isinstance(label, bool) else label for label in labels]
    return make_outcome(labels, task="classification").classes or ()


def _both_of_two(classes: tuple[Label, ...]) -> tuple[Label, ...]:
    """Where everybody is 0 (or 1, or −1), the class that nobody has is still there to be counted."""
    if classes in ((0,), (1,)):
        return (0, 1)
    return (-1, 1) if classes == (-1,) else classes


def _recoded(outcome: Outcome, classes: tuple[Label, ...]) -> Outcome:
    position = np.array([classes.index(label) for label in outcome.classes or ()], dtype=np.intp)
    return replace(outcome, values=position[outcome.values], classes=classes)


def find_label(outcome: Outcome, label: Any) -> int:
    """The code of a class, found by the label or by its text (as typed on a command line)."""
    classes = outcome.classes or ()
    if label in classes:
        return classes.index(label)
    texts = [str(known) for known in classes]
    if str(label) in texts:
        return texts.index(str(label))
    raise InputError(f"{outcome.name!r} has no class {label!r}; its classes are {list(classes)}")


def positive_code(outcome: Outcome, positive: Label | None) -> int:
    """The positive class: as named, or of two classes the last in order."""
    if positive is not None:
        return find_label(outcome, positive)
    if outcome.n_classes != 2:
        raise InputError(
            f"{outcome.name!r} has {outcome.n_classes} classes; say which one is positive, "
            f"for example positive={(outcome.classes or ('yes',))[-1]!r}"
        )
    return 1


def protected_columns(sensitive_features: Any, features: Table | None, n_people: int) -> Protected:
    """A series, list, array or frame with one value a person; or names of columns of X."""
    if sensitive_features is None:
        raise InputError("no sensitive_features were given: say which columns are protected")
    names = _names(sensitive_features, features, n_people)
    if names is not None:
        if features is None:
            raise InputError("sensitive_features may be names only where X is given; pass the values instead")
        return Protected(features.select(names), tuple(names))
    table = _as_table(sensitive_features)
    if features is None:
        return Protected(table)
    # A column that is passed by value and also stands in X under the same name is protected there too.
    return Protected(table, tuple(name for name in table.schema.names if _stands_in(name, table, features)))


def _stands_in(name: str, table: Table, features: Table) -> bool:
    return name in features.schema.names and not (name == _NO_NAME and table.n_columns == 1)


def _names(given: Any, features: Table | None, n_people: int) -> list[str] | None:
    """The names of columns, where that is what was given: a text, or a list of texts that is not one a person."""
    if isinstance(given, str):
        return [given]
    if not isinstance(given, (list, tuple)) or not given or not all(isinstance(entry, str) for entry in given):
        return None
    known = set(given) <= set(() if features is None else features.schema.names)
    if len(given) == n_people:
        if known and len(set(given)) == len(given):
            raise InputError(
                "sensitive_features could be names of columns or one value a person; pass a frame or an array"
            )
        return None
    if len(set(given)) != len(given):
        if known:
            raise InputError("sensitive_features names a column twice")
        return None
    return list(given)


def _as_table(given: Any) -> Table:
    """Any table as it is; a single column under its own name, where it has one."""
    if isinstance(given, Table):
        return given
    if _dimensions(given) != 1:
        return Table.of(given)
    name = getattr(given, "name", None)
    return Table.of({name if isinstance(name, str) and name else _NO_NAME: given})


def _dimensions(given: Any) -> int:
    """1 for a column, 2 for a table."""
    if isinstance(given, (list, tuple)):
        return 2 if given and isinstance(given[0], (list, tuple, np.ndarray)) else 1
    shape = getattr(given, "shape", None)
    return len(shape) if shape is not None else 2 if hasattr(given, "columns") or hasattr(given, "keys") else 1
