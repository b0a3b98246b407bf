"""The MPS format, free form: the one that every mixed-integer solver reads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.solve.mip.export_rows import Side
from evenleaf.solve.mip.model import LinearModel

_OBJECTIVE = "obj_"
_KINDS = {"=": "E", "<=": "L", ">=": "G"}


def mps_lines(model: LinearModel, variables: tuple[str, ...], sides: list[Side]) -> Iterator[str]:
    """The lines of the file."""
    yield "NAME evenleaf"
    yield "ROWS"
    yield f" N {_OBJECTIVE}"
    yield from (f" {_KINDS[side.sense]} {side.name}" for side in sides)
    yield from _columns(model, variables, sides)
    yield from _right_hand_sides(model, sides)
    yield from _bounds(model, variables)
    yield "ENDATA"


def _columns(model: LinearModel, variables: tuple[str, ...], sides: list[Side]) -> Iterator[str]:
    matrix = model.matrix[[side.row for side in sides]].tocsc()
    inside = False
    yield "COLUMNS"
    for column, name in enumerate(variables):
        if model.integer[column] != inside:
            inside = not inside
            yield f" MARKER_{column} 'MARKER' '{'INTORG' if inside else 'INTEND'}'"
        # The cost is written even where it is zero: it declares a variable that stands in no row.
        yield f" {name} {_OBJECTIVE} {float(model.cost[column])!r}"
        part = slice(matrix.indptr[column], matrix.indptr[column + 1])
        for number, value in zip(matrix.indices[part], matrix.data[part], strict=True):
            yield f" {name} {sides[number].name} {float(value)!r}"
    if inside:
        yield " MARKER_END 'MARKER' 'INTEND'"


def _right_hand_sides(model: LinearModel, sides: list[Side]) -> Iterator[str]:
    """By custom the objective's is its constant with the sign turned."""
    yield "RHS"
    if model.offset:
        yield f" RHS {_OBJECTIVE} {-float(model.offset)!r}"
    yield from (f" RHS {side.name} {float(side.value)!r}" for side in sides if side.value)


def _bounds(model: LinearModel, variables: tuple[str, ...]) -> Iterator[str]:
    """Both bounds of every variable: readers differ in what they assume of a whole number without them."""
    yield "BOUNDS"
    for name, lower, upper in zip(variables, model.lower, model.upper, strict=True):
        if upper <= lower:
            yield f" FX BND {name} {float(lower)!r}"
            continue
        yield f" LO BND {name} {float(lower)!r}" if np.isfinite(lower) else f" MI BND {name}"
        yield f" UP BND {name} {float(upper)!r}" if np.isfinite(upper) else f" PL BND {name}"
