"""What each column is: quantitative, or categorical with its levels. Travels as JSON with every model."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evenleaf.errors import InputError


class Kind(StrEnum):
    """The paper's two kinds of features: F_q (ordered numbers) and F_c (unordered levels)."""

    QUANTITATIVE = "quantitative"
    CATEGORICAL = "categorical"


@dataclass(frozen=True)
class Column:
    """One column: its name, its kind, the levels seen in training and whether any value was missing."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()
    has_missing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError("a column needs a name that is a non-empty text")
        if self.kind is Kind.QUANTITATIVE and self.levels:
            raise InputError(f"column {self.name!r} is quantitative, so it cannot have levels")
        if len(set(self.levels)) != len(self.levels):
            raise InputError(f"column {self.name!r} lists a level twice")

    @property
    def is_categorical(self) -> bool:
        """Whether tests on this column are subsets of levels rather than thresholds."""
        return self.kind is Kind.CATEGORICAL


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        check_unique([column.name for column in self.columns])

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __getitem__(self, position: int) -> Column:
        return self.columns[position]

    @property
    def names(self) -> tuple[str, ...]:
        """The column names, in order."""
        return tuple(column.name for column in self.columns)

    def position(self, name: str) -> int:
        """Where a column stands; a misspelt name is answered with the nearest one."""
        return find_name(name, self.names)

    def to_json(self) -> list[dict[str, Any]]:
        """Plain lists and dicts, ready for `json.dumps`."""
        return [
            {
                "name": column.name,
                "kind": str(column.kind),
                "has_missing": column.has_missing,
                **({"levels": list(column.levels)} if column.is_categorical else {}),
            }
            for column in self.columns
        ]

    @classmethod
    def from_json(cls, data: object) -> Schema:
        """Read back what `to_json` wrote; anything else is an `InputError`."""
        if not isinstance(data, list):
            raise InputError("a schema must be a list of columns")
        return cls(tuple(_column_from_json(entry) for entry in data))


def _column_from_json(entry: object) -> Column:
    if not isinstance(entry, Mapping):
        raise InputError("each column of a schema must be an object with a name and a kind")
    unknown = set(entry) - {"name", "kind", "levels", "has_missing"}
    if unknown:
        raise InputError(f"a schema column has an unknown entry: {sorted(map(str, unknown))[0]!r}")
    name, kind = entry.get("name"), entry.get("kind")
    levels, has_missing = entry.get("levels", []), entry.get("has_missing", False)
    if kind not in set(Kind):
        raise InputError(f"column {name!r}: the kind must be 'quantitative' or 'categorical', not {kind!r}")
    if not isinstance(name, str):
        raise InputError("each column of a schema needs a name that is a text")
    if not isinstance(levels, list) or not all(isinstance(level, str) for level in levels):
        raise InputError(f"column {name!r}: the levels must be a list of texts")
    if not isinstance(has_missing, bool):
        raise InputError(f"column {name!r}: has_missing must be true or false")
    return Column(name, Kind(kind), tuple(levels), has_missing)


def check_unique(names: Iterable[str]) -> None:
    """Refuse a header that names a column twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"two columns are called {name!r}; rename one of them")
        seen.add(name)


def find_name(name: str, names: Iterable[str]) -> int:
    """The position of `name` among `names`, or an error that suggests the nearest spelling."""
    known = list(names)
    if name in known:
        return known.index(name)
    folded = {other.casefold(): other for other in known}
    near = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}?" if near else f"the columns are {', '.join(map(repr, known))}"
    raise InputError(f"there is no column {name!r}; {hint}")


def level_label(value: object) -> str | None:
    """The text that stands for a categorical value, None where it is missing.

    A whole number has one spelling however it is stored (1, 1.0, np.int8(1)), because a column
    of codes turns into floats as soon as one value is missing.
    """
    if isinstance(value, str):
        return value
    if is_missing(value):
        return None
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def is_missing(value: object) -> bool:
    """None, NaN, NaT and pandas.NA are missing; everything else is a value."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    try:
        return bool(value != value)  # noqa: PLR0124 (NaT and numpy's NaN differ from themselves)
    except TypeError:
        return True  # pandas.NA refuses to be true or false


def ordered_levels(labels: Iterable[str]) -> tuple[str, ...]:
    """Levels in a fixed order that depends on the data alone: by number where all are, else by text."""
    unique = sorted(set(labels))
    try:
        return tuple(sorted(unique, key=float))
    except ValueError:
        return tuple(unique)
