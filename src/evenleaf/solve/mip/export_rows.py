"""What both file formats share: names that are legal in each, and rows with one side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.mip.model import LinearModel

_LONGEST_NAME = 100
# Words that begin a section, name one of ours, or stand for a number.
_RESERVED = re.compile(
    r"(bin|binary|binaries|bnd|bounds?|end|free|gen|generals?|inf|infinity|int|integers?|max|maxim(is|iz)e|maximum|"
    r"min|minim(is|iz)e|minimum|obj_?|ranges?|rhs|rng|sec|semis?|semi_continuous|sos[12]?|st|subject|such|that|to)$",
    re.IGNORECASE,
)
# What could be read as a number: 2x, or e5 after a coefficient.
_NUMERIC = re.compile(r"[0-9]|[eE]([0-9]|$)")


@dataclass(frozen=True)
class Side:
    """One side of a row: its place in the matrix, a legal name, =, <= or >=, and the number it is held to."""

    row: int
    name: str
    sense: str
    value: float


def one_sided(model: LinearModel) -> list[Side]:
    """The rows as either format can say them. Not every reader takes two sides at once, so such a row is two."""
    sides = [side for row in range(model.n_rows) for side in _sides(model, row)]
    names = legal_names(side.name for side in sides)
    return [replace(side, name=name) for side, name in zip(sides, names, strict=True)]


def _sides(model: LinearModel, row: int) -> Iterator[Side]:
    name, lower, upper = model.row_names[row], float(model.row_lower[row]), float(model.row_upper[row])
    if upper <= lower:
        yield Side(row, name, "=", lower)
        return
    both = np.isfinite(lower) and np.isfinite(upper)
    if np.isfinite(lower):
        yield Side(row, f"{name}__low" if both else name, ">=", lower)
    if np.isfinite(upper):
        yield Side(row, f"{name}__high" if both else name, "<=", upper)


def legal_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names as both formats allow them, in the same order, each one different."""
    taken: set[str] = set()
    result = []
    for name in names:
        legal = _distinct(_legal(name), taken)
        taken.add(legal)
        result.append(legal)
    return tuple(result)


def _legal(name: str) -> str:
    """Letters, digits and underscores, and neither a reserved word nor something like a number."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)[:_LONGEST_NAME]
    if not plain or _RESERVED.match(plain) or _NUMERIC.match(plain):
        return f"n_{plain}"
    return plain


def _distinct(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}__{number}" in taken:
        number += 1
    return f"{name}__{number}"
