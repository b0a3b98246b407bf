"""People from plain lists, for problems written out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenleaf.table import Grouping, Label, People, Table, Task, make_groups, make_outcome, make_weight


def people_from(
    features: Mapping[str, Sequence[Any]],
    y: Sequence[Any],
    protected: Mapping[str, Sequence[Any]] | None = None,
    *,
    task: Task = "classification",
    classes: tuple[Label, ...] | None = None,
    groups: Grouping = "joint",
    weight: Sequence[float] | None = None,
) -> People:
    """The people of a table given as lists: texts are levels, numbers are quantities, None is missing."""
    return People(
        Table.of(dict(features)),
        make_outcome(list(y), task=task, classes=classes),
        () if protected is None else make_groups(Table.of(dict(protected)), groups),
        make_weight(None if weight is None else list(weight), len(y)),
    )
