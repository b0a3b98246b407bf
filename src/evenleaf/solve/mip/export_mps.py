"""The MPS format, free form: the one that every mixed-integer solver reads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.solve.mip.model import LinearModel

_OBJECTIVE = "OBJ_"


def mps_lines(model: LinearModel, variables: tuple[str, ...], rows: tuple[str, ...]) -> Iterator[str]:
    """The lines of the file. Numbers are written so that they read back to the last bit."""
    kinds = [_kind(lower, upper) for lower, upper in zip(model.row_lower, model.row_upper, strict=True)]
    yield "NAME evenleaf"
    yield "ROWS"
    yield f" N {_OBJECTIVE}"
    yield from (f" {kind} {name}" for kind, name in zip(kinds, rows, strict=True) if kind != "N")
    yield from _columns(model, variables, rows, kinds)
    yield from _sides(model, rows, kinds)
    yield from _bounds(model, variables)
    yield "ENDATA"


def _kind(lower: float, upper: float) -> str:
    """Equal, at Least (G), at most (L, which a range makes two-sided), or No limit: such a row is left out."""
    if upper <= lower:
        return "E"
    if np.isfinite(upper):
        return "L"
    return "G" if np.isfinite(lower) else "N"


def _columns(model: LinearModel, variables: tuple[str, ...], rows: tuple[str, ...], kinds: list[str]) -> Iterator[str]:
    matrix = model.matrix.tocsc()
    inside = False
    yield "COLUMNS"
    for column, name in enumerate(variables):
        if model.integer[column] != inside:
            inside = not inside
            yield f" MARKER_{column} 'MARKER' '{'INTORG' if inside else 'INTEND'}'"
        # The cost is written even where it is zero: it declares a variable that stands in no row.
        yield f" {name} {_OBJECTIVE} {_number(model.cost[column])}"
        part = slice(matrix.indptr[column], matrix.indptr[column + 1])
        for row, value in zip(matrix.indices[part], matrix.data[part], strict=True):
            if kinds[row] != "N":
                yield f" {name} {rows[row]} {_number(value)}"
    if inside:
        yield " MARKER_END 'MARKER' 'INTEND'"


def _sides(model: LinearModel, rows: tuple[str, ...], kinds: list[str]) -> Iterator[str]:
    """Right-hand sides and ranges. By custom the objective's is the constant with its sign turned."""
    yield "RHS"
    if model.offset:
        yield f" RHS {_OBJECTIVE} {_number(-model.offset)}"
    for name, kind, lower, upper in zip(rows, kinds, model.row_lower, model.row_upper, strict=True):
        side = upper if kind == "L" else lower
        if kind != "N" and side:
            yield f" RHS {name} {_number(side)}"
    yield "RANGES"
    for name, kind, lower, upper in zip(rows, kinds, model.row_lower, model.row_upper, strict=True):
        if kind == "L" and np.isfinite(lower):
            yield f" RNG {name} {_number(upper - lower)}"


def _bounds(model: LinearModel, variables: tuple[str, ...]) -> Iterator[str]:
    """Both bounds of every variable: readers differ in what they assume of a whole number without them."""
    yield "BOUNDS"
    for name, lower, upper in zip(variables, model.lower, model.upper, strict=True):
        if upper <= lower:
            yield f" FX BND {name} {_number(lower)}"
            continue
        yield f" LO BND {name} {_number(lower)}" if np.isfinite(lower) else f" MI BND {name}"
        yield f" UP BND {name} {_number(upper)}" if np.isfinite(upper) else f" PL BND {name}"


def _number(value: float) -> str:
    return repr(float(value))
