"""The LP format: the model as a person would write it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.solve.mip.export_rows import Side, legal_names
from evenleaf.solve.mip.model import LinearModel

# Some readers take no more than a few hundred characters a line.
_TERMS_A_LINE = 5


def lp_lines(model: LinearModel, variables: tuple[str, ...], sides: list[Side]) -> Iterator[str]:
    """The lines of the file.

    Readers disagree on a bare number in the objective, so a constant is the cost of one more variable, fixed to 1.
    """
    constant = legal_names([*variables, "constant"])[-1]
    yield "\\ written by evenleaf"
    yield "Minimize"
    yield from _objective(model, variables, constant)
    yield "Subject To"
    for side in sides:
        yield from _row(model, side, variables)
    yield "Bounds"
    if model.offset:
        yield f" {constant} = 1"
    for name, lower, upper in zip(variables, model.lower, model.upper, strict=True):
        yield _bounds(name, lower, upper)
    if model.integer.any():
        yield "Generals"
        yield from (f" {name}" for name, whole in zip(variables, model.integer, strict=True) if whole)
    yield "End"


def _objective(model: LinearModel, variables: tuple[str, ...], constant: str) -> Iterator[str]:
    """Every variable stands in the objective, at cost zero if need be: so each is declared, and in its order."""
    terms = [_term(cost, name) for cost, name in zip(model.cost, variables, strict=True)]
    if model.offset:
        terms.append(_term(model.offset, constant))
    yield from _wrapped(" obj:", terms)


def _row(model: LinearModel, side: Side, variables: tuple[str, ...]) -> Iterator[str]:
    part = slice(model.matrix.indptr[side.row], model.matrix.indptr[side.row + 1])
    columns, values = model.matrix.indices[part], model.matrix.data[part]
    terms = [_term(value, variables[column]) for column, value in zip(columns, values, strict=True)]
    # A row without terms still says something: 0 at least 1 is infeasible.
    yield from _wrapped(f" {side.name}:", terms or [_term(0.0, variables[0])])
    yield f"  {side.sense} {float(side.value)!r}"


def _wrapped(head: str, terms: list[str]) -> Iterator[str]:
    yield head
    for first in range(0, len(terms), _TERMS_A_LINE):
        yield "  " + " ".join(terms[first : first + _TERMS_A_LINE])


def _term(value: float, name: str) -> str:
    return f"{'-' if value < 0 else '+'} {float(abs(value))!r} {name}"


def _bounds(name: str, lower: float, upper: float) -> str:
    if not np.isfinite(lower) and not np.isfinite(upper):
        return f" {name} free"
    low = repr(float(lower)) if np.isfinite(lower) else "-infinity"
    high = repr(float(max(lower, upper))) if np.isfinite(upper) else "+infinity"
    return f" {low} <= {name} <= {high}"
