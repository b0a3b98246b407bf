"""Protected columns to groups: the joint levels of all of them, or each column by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.table import Table

Grouping = Literal["joint", "each"]
_MOST_GROUPS = 200


@dataclass(frozen=True, eq=False)
class Groups:
    """A partition of the people by protected columns (x_p in the paper)."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    codes: np.ndarray

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False

    @property
    def name(self) -> str:
        """The protected columns, for printing."""
        return " × ".join(self.columns)

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


def require_two(groups: tuple[Groups, ...]) -> None:
    """Discrimination is between groups: one alone cannot be compared."""
    for group in groups:
        if group.n_groups < 2:
            only = f" ({group.labels[0]!r})" if group.labels else ""
            raise InputError(
                f"protected column {group.name!r} has only one group{only}; there is nobody to compare it with"
            )


def _joint(protected: Table) -> Groups:
    parts = [protected.labels(position) for position in range(protected.n_columns)]
    ranks = [_ranks(protected, position) for position in range(protected.n_columns)]
    _, first, codes = np.unique(np.column_stack(ranks), axis=0, return_index=True, return_inverse=True)
    if len(first) > _MOST_GROUPS:
        names = " × ".join(protected.schema.names)
        raise InputError(
            f"protected column {names!r} makes {len(first)} groups, too many to compare; "
            "put its values into a few bands first"
        )
    labels = tuple(" × ".join(part[row] for part in parts) for row in first)
    return Groups(protected.schema.names, labels, codes.ravel())


def _ranks(protected: Table, position: int) -> np.ndarray:
    """Order of the values within a column, missing last."""
    values = protected.data[position].astype(float)
    values[protected.missing(position)] = np.inf
    return np.unique(values, return_inverse=True)[1]
