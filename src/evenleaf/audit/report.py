"""What an audit found. Frozen, comparable, and the same as JSON: `to_json()` has stable keys and no NaN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import isnan
from typing import Any, Literal

from evenleaf.table import Label, Task

FORMAT = "evenleaf-audit"
VERSION = 1

How = Literal["joint", "each", "alone", "without"]


@dataclass(frozen=True)
class ColumnNote:
    """One column as it was read: its kind, its role, how many levels and how many missing values."""

    name: str
    role: Literal["target", "protected", "weight", "feature"]
    kind: Literal["quantitative", "categorical"]
    n_levels: int | None
    n_missing: int


@dataclass(frozen=True)
class IndexNote:
    """The value of an index, and how many of its comparisons found nobody to compare with (they count as 0)."""

    index: str
    value: float
    n_terms: int
    empty_terms: int


@dataclass(frozen=True)
class GroupNote:
    """One group: its size, its rates (or mean) with intervals, and what it contributes to each index."""

    group: str
    n: int
    share: float
    figures: tuple[Mapping[str, Any], ...]
    contributions: Mapping[str, float]


@dataclass(frozen=True)
class View:
    """One way to put people into groups, the indices for it, and (except for "without") its groups.

    `how` is "joint" (the joint levels of all protected columns), "each" (the sum over single columns), "alone"
    (one column by itself) or "without" (all but one, taken the same way as the first view).
    """

    how: How
    columns: tuple[str, ...]
    without: str | None
    n_groups: int
    indices: tuple[IndexNote, ...]
    groups: tuple[GroupNote, ...] = ()

    def value(self, index: str) -> float | None:
        """The value of an index, None where it was not computed."""
        return next((note.value for note in self.indices if note.index == index), None)


@dataclass(frozen=True)
class AuditReport:
    """How a data set treats its groups. The first view is the answer; the others put it into perspective."""

    target: str
    task: Task
    task_inferred: bool
    classes: tuple[Label, ...] | None
    positive: Label | None
    n_people: int
    n_dropped: int
    overall: tuple[Mapping[str, Any], ...]
    columns: tuple[ColumnNote, ...]
    views: tuple[View, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = field(default=())

    def index(self, name: str) -> float | None:
        """The value of "didi" or "dtdi" for all protected columns, None where it was not computed."""
        return self.views[0].value(name)

    def to_json(self) -> dict[str, Any]:
        """Plain lists and dicts, ready for `json.dumps`; what cannot be computed is None."""
        return {"format": FORMAT, "version": VERSION, **_plain(asdict(self))}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and isnan(value) else value
