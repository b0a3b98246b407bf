"""People from plain columns, for problems written out by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenleaf.table import Grouping, Label, People, Table, Task, make_groups, make_outcome, make_weight


def people_from(
    features: Mapping[str, Any],
    y: Any,
    protected: Mapping[str, Any] | None = None,
    *,
    task: Task = "classification",
    classes: tuple[Label, ...] | None = None,
    groups: Grouping = "joint",
    weight: Any = None,
) -> People:
    """The people of columns given as lists or arrays: texts are levels, numbers are quantities, None is missing."""
    return People(
        Table.of(dict(features)),
        make_outcome(y, task=task, classes=classes),
        () if protected is None else make_groups(Table.of(dict(protected)), groups),
        make_weight(weight, len(y)),
    )
