"""Protected columns to groups: the joint levels of all of them, or each column by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.table import Table, distinct, frozen, read_only

Grouping = Literal["joint", "each"]
_MOST_GROUPS = 200
_AND = " × "


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the people by protected columns (x_p in the paper)."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    codes: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", read_only(self.codes))

    @property
    def name(self) -> str:
        """The protected columns, for printing."""
        return _AND.join(self.columns)

    @property
    def n_groups(self) -> int:
        """How many groups."""
        return len(self.labels)

    def members(self, group: int) -> np.ndarray:
        """Who belongs to a group."""
        return self.codes == group

    def take(self, rows: np.ndarray) -> Groups:
        """The same groups for some of the people (a group may be left without members)."""
        return Groups(self.columns, self.labels, self.codes[rows])


def make_groups(protected: Table, how: Grouping = "joint") -> tuple[Groups, ...]:
    """One partition by the joint levels (as x_p is a vector), or one partition a column."""
    if how not in ("joint", "each"):
        raise InputError(f"groups must be 'joint' or 'each', not {how!r}")
    if protected.n_columns == 0:
        raise InputError("no protected column was given")
    if how == "each":
        return tuple(_joint(protected.select([name])) for name in protected.schema.names)
    return (_joint(protected),)


def require_two(groups: tuple[Groups, ...], weight: np.ndarray | None = None) -> None:
    """Discrimination is between groups: one alone cannot be compared, nor one whose weight is all zero."""
    for group in groups:
        codes = group.codes if weight is None else group.codes[np.asarray(weight) > 0]
        if not len(codes):
            raise InputError(f"protected column {group.name!r} has nobody in it")
        if codes.min() == codes.max():
            only = group.labels[codes[0]]
            raise InputError(
                f"protected column {group.name!r} has only one group ({only!r}); there is nobody to compare it with"
            )


def _joint(protected: Table) -> Groups:
    codes = np.zeros(protected.n_rows, dtype=np.intp)
    for position in range(protected.n_columns):  # the first column counts most, and there are no gaps
        ranks = _ranks(protected, position)
        codes = distinct(codes * (ranks.max(initial=0) + 1) + ranks)[1] if position else ranks
    member = np.zeros(codes.max(initial=-1) + 1, dtype=np.intp)
    member[codes] = np.arange(len(codes))  # one of each group: they all have the same label
    if len(member) > _MOST_GROUPS:
        raise InputError(
            f"protected column {_AND.join(protected.schema.names)!r} makes {len(member)} groups, "
            "too many to compare; put its values into a few bands first"
        )
    return Groups(protected.schema.names, _labels(protected.take(member)), frozen(codes))


def _labels(people: Table) -> tuple[str, ...]:
    """One label a row; values in quotes where the plain texts would give two groups the same label."""
    parts = [people.labels(position) for position in range(people.n_columns)]
    plain = tuple(_AND.join(row) for row in zip(*parts, strict=True))
    if len(set(plain)) == len(plain):
        return plain
    quoted = [
        [label if gone else repr(label) for label, gone in zip(labels, people.missing(position), strict=True)]
        for position, labels in enumerate(parts)
    ]
    return tuple(_AND.join(row) for row in zip(*quoted, strict=True))


def _ranks(protected: Table, position: int) -> np.ndarray:
    """Order of the values within a column, missing last."""
    values, missing = protected.data[position], protected.missing(position)
    return distinct(np.where(missing, np.inf, values) if np.count_nonzero(missing) else values)[1]
