"""Options checked in the words of whoever called."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from evenleaf.errors import InputError
from evenleaf.table import find_name


def one_of(what: str, value: str, allowed: Sequence[str]) -> str:
    """The value, if it is among the allowed ones; else an error that suggests the nearest."""
    if value in allowed:
        return value
    near = difflib.get_close_matches(str(value), allowed, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(map(repr, allowed))}"
    raise InputError(f"{value!r} is not {what}; {hint}")


def column_names(what: str, given: str | Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """One or several column names, each known and none twice; one name may stand without a list."""
    chosen = [given] if isinstance(given, str) else list(given)
    for name in chosen:
        find_name(name, known)
        if chosen.count(name) > 1:
            raise InputError(f"{what} names the column {name!r} twice")
    if not chosen:
        raise InputError(f"{what} names no column; the columns are {', '.join(map(repr, known))}")
    return tuple(chosen)
