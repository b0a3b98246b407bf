"""What each column is: quantitative, or categorical with its levels. Travels as JSON with every model."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from reprlib import repr as short
from typing import Any

import numpy as np

from evenleaf.errors import InputError

# Above this a float no longer tells neighbouring whole numbers apart.
LARGEST_EXACT = 2.0**53
_NAMES_SHOWN = 10


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
        _check_text(self.name, f"the column name {self.name!a}")
        if type(self.kind) is not Kind:
            self._read_kind()
        self._check_levels()

    def _read_kind(self) -> None:
        if self.kind not in tuple(Kind):
            raise InputError(
                f"column {short(self.name)}: the kind must be 'quantitative' or 'categorical', not {short(self.kind)}"
            )
        object.__setattr__(self, "kind", Kind(self.kind))

    def _check_levels(self) -> None:
        if self.levels == ():
            return
        if not isinstance(self.levels, (list, tuple)) or not all(isinstance(level, str) for level in self.levels):
            raise InputError(f"column {self.name!r}: the levels must be a list of texts")
        object.__setattr__(self, "levels", tuple(self.levels))
        if self.kind is Kind.QUANTITATIVE and self.levels:
            raise InputError(f"column {self.name!r} is quantitative, so it cannot have levels")
        if len(set(self.levels)) != len(self.levels):
            raise InputError(f"column {self.name!r} lists a level twice")
        for level in self.levels:
            _check_text(level, f"column {self.name!r}: the level {level!a}")

    @property
    def is_categorical(self) -> bool:
        """Whether tests on this column are subsets of levels rather than thresholds."""
        return self.kind is Kind.CATEGORICAL


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
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
    """What a column may be is checked by `Column`; here only what JSON adds to that."""
    if not isinstance(entry, Mapping):
        raise InputError("each column of a schema must be an object with a name and a kind")
    unknown = set(entry) - {"name", "kind", "levels", "has_missing"}
    if unknown:
        raise InputError(f"a schema column has an unknown entry: {short(min(map(str, unknown)))}")
    name, has_missing = entry.get("name"), entry.get("has_missing", False)
    if not isinstance(name, str):
        raise InputError("each column of a schema needs a name that is a text")
    if not isinstance(has_missing, bool):
        raise InputError(f"column {short(name)}: has_missing must be true or false")
    return Column(name, entry.get("kind"), entry.get("levels", ()), has_missing)  # type: ignore[arg-type]


def check_unique(names: Iterable[str]) -> None:
    """Refuse a header that names a column twice."""
    known = list(names)
    if len(set(known)) == len(known):
        return
    seen: set[str] = set()
    for name in known:
        if name in seen:
            raise InputError(f"two columns are called {name!r}; rename one of them")
        seen.add(name)


def find_name(name: str, names: Iterable[str], what: str = "column") -> int:
    """The position of `name` among `names`, or an error that suggests the nearest spelling."""
    known = list(names)
    if name in known:
        return known.index(name)
    folded = {other.casefold(): other for other in reversed(known)}
    near = difflib.get_close_matches(str(name).casefold(), folded, n=1, cutoff=0.5)
    hint = f"did you mean {folded[near[0]]!r}?" if near else _list_of(known, what)
    raise InputError(f"there is no {what} {name!r}; {hint}")


def level_label(value: object) -> str | None:
    """The text that stands for a categorical value, None where it is missing.

    A whole number has one spelling however it is stored (1, 1.0, np.int8(1)), because a column
    of codes turns into floats as soon as one value is missing.
    """
    if isinstance(value, str):
        return value if type(value) is str else str.__str__(value)
    if is_missing(value):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_EXACT:
        return str(int(value))
    return str(value)


def is_missing(value: object) -> bool:
    """None, NaN of any type, NaT, pandas.NA and numpy's masked are missing; everything else is a value."""
    if value is None:
        return True
    if isinstance(value, (float, np.floating)):
        return math.isnan(value)
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    # pandas may not be installed, so its two missing values are known by the names of their types.
    return value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


def ordered_levels(labels: Iterable[str]) -> tuple[str, ...]:
    """Levels in a fixed order that depends on the data alone: by number where all are, else by text."""
    unique = sorted(set(labels))
    try:
        numbers = {label: float(label) for label in unique}
    except ValueError:
        return tuple(unique)
    if not all(map(math.isfinite, numbers.values())):
        return tuple(unique)  # NaN has no place in an order
    return tuple(sorted(unique, key=numbers.__getitem__))


def _list_of(names: list[str], what: str) -> str:
    if not names:
        return f"there are no {what}s"
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return f"the {what}s are {', '.join(map(repr, names[:_NAMES_SHOWN]))}{more}"


def _check_text(text: str, what: str) -> None:
    """Half of a surrogate pair cannot be printed or written to a file: refuse it at the door."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(f"{what} holds a character that is not valid text") from error
