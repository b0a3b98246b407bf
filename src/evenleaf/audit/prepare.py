"""A table and the roles of its columns, made into the people of an audit, or a sentence that says why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenleaf.audit.report import ColumnNote
from evenleaf.errors import InputError
from evenleaf.metrics.arguments import no_features
from evenleaf.table import Outcome, Table, Task, find_name, infer_task, make_outcome, make_weight
from evenleaf.table.frames import RawColumns, raw_columns

AskedTask = Literal["auto", "classification", "regression"]
_MOST_CLASSES = 50


@dataclass(frozen=True, eq=False)
class Prepared:
    """Features, protected columns and outcome of the same people, row by row."""

    features: Table
    protected: Table
    outcome: Outcome
    weight: np.ndarray
    weight_name: str | None
    task_inferred: bool
    n_dropped: int

    @property
    def columns(self) -> tuple[ColumnNote, ...]:
        """What each column was taken for: the target, the protected columns, the weight, the features."""
        kind: Any = "quantitative" if self.outcome.classes is None else "categorical"
        n_classes = None if self.outcome.classes is None else len(self.outcome.classes)
        return (
            ColumnNote(self.outcome.name, "target", kind, n_classes, 0),
            *_notes(self.protected, "protected"),
            *([ColumnNote(self.weight_name, "weight", "quantitative", None, 0)] if self.weight_name else []),
            *_notes(self.features, "feature"),
        )


def prepare(
    data: Any,
    *,
    target: str,
    protected: Sequence[str],
    task: AskedTask,
    categorical: Sequence[str],
    ignore: Sequence[str],
    weight: str | None,
    drop_incomplete: bool,
    need_groups: bool = True,
) -> Prepared:
    """Give each column its role; every role must be clear. Only a tree without fairness does not need groups."""
    check_roles(target, protected, ignore, weight, need_groups=need_groups)
    columns = _kept(data, ignore)
    for name in (target, *protected, *([] if weight is None else [weight]), *categorical):
        find_name(name, columns)
    columns, n_dropped = _complete(columns) if drop_incomplete else (columns, 0)
    values = columns.pop(target)
    _refuse_missing(values, target)
    asked = _task(values, target, categorical) if task == "auto" else task
    apart = {name: columns.pop(name) for name in protected}
    counted = None if weight is None else make_weight(columns.pop(weight), len(values), weight)
    return Prepared(
        _table(columns, categorical) if columns else no_features(len(values)),
        _table(apart, categorical) if apart else no_features(len(values)),
        _outcome(values, asked, target),
        np.ones(len(values)) if counted is None else counted,
        weight,
        task == "auto",
        n_dropped,
    )


def _table(columns: RawColumns, categorical: Sequence[str]) -> Table:
    return Table.of(columns, categorical=[name for name in columns if name in categorical])


def check_roles(
    target: str, protected: Sequence[str], ignore: Sequence[str], weight: str | None, *, need_groups: bool = True
) -> None:
    """Every column has one role only."""
    if not protected and need_groups:
        raise InputError("no protected column was given: say which column tells the groups apart")
    roles: dict[str, str] = dict.fromkeys(ignore, "to be ignored")
    for name, role in [(target, "the target"), *((name, "protected") for name in protected), (weight, "the weight")]:
        if name is None:
            continue
        if roles.get(name) == role:
            raise InputError(f"column {name!r} is given as {role} twice")
        if name in roles:
            raise InputError(f"column {name!r} is {roles[name]} and also {role}; it can only be one of them")
        roles[name] = role


def _task(values: np.ndarray, target: str, categorical: Sequence[str]) -> Task:
    return "classification" if target in categorical else infer_task(values, target)


def _kept(data: Any, ignore: Sequence[str]) -> RawColumns:
    """The columns that are looked at; what the others hold does not matter."""
    if not ignore:
        return raw_columns(data)
    names = [str(name) for name in (data if isinstance(data, dict) else _header(data))]
    for name in ignore:
        find_name(name, names)
    return raw_columns(data, only=[name for name in names if name not in ignore])


def _header(data: Any) -> list[Any]:
    """The names of a frame's columns (pyarrow calls them column_names); an array's as they will be given."""
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    return list(raw_columns(data)) if names is None else list(names)


def _missing(values: np.ndarray) -> np.ndarray:
    return np.array([value is None for value in values]) if values.dtype == object else np.isnan(values)


def _refuse_missing(values: np.ndarray, target: str) -> None:
    rows = np.flatnonzero(_missing(values))
    if rows.size:
        more = f" and {rows.size - 1:,} more" if rows.size > 1 else ""
        raise InputError(
            f"column {target!r} is missing in row {rows[0] + 1}{more}; fill it in, "
            "or leave out incomplete rows with drop_incomplete=True"
        )


def _complete(columns: RawColumns) -> tuple[RawColumns, int]:
    """Only the people without a single missing value, and how many others there were."""
    gone = np.zeros(len(next(iter(columns.values()))), dtype=bool)
    for values in columns.values():
        gone |= _missing(values)
    if gone.all():
        raise InputError("every row has a missing value, so that nobody is left; ignore the columns that are empty")
    return {name: values[~gone] for name, values in columns.items()}, int(gone.sum())


def _outcome(values: Any, task: Task, target: str) -> Outcome:
    outcome = make_outcome(values, task=task, name=target)
    if outcome.classes is not None and len(outcome.classes) < 2:
        raise InputError(f"column {target!r} has only one value ({outcome.classes[0]!r}): nothing was decided")
    if outcome.classes is not None and len(outcome.classes) > _MOST_CLASSES:
        raise InputError(
            f"column {target!r} has {len(outcome.classes)} classes, too many to compare; "
            "put its values into a few bands, or take it as numbers with the task 'regression'"
        )
    return outcome


def _notes(table: Table, role: Any) -> list[ColumnNote]:
    return [
        ColumnNote(
            column.name,
            role,
            column.kind.value,
            len(column.levels) if column.is_categorical else None,
            int(table.missing(position).sum()),
        )
        for position, column in enumerate(table.schema)
    ]
