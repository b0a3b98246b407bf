"""The LP format: the model as a person would write it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.solve.mip.model import LinearModel

# Some readers take no more than a few hundred characters a line.
_TERMS_A_LINE = 5


def lp_lines(model: LinearModel, variables: tuple[str, ...], rows: tuple[str, ...]) -> Iterator[str]:
    """The lines of the file. A row with two sides becomes two rows, since not every reader takes both in one."""
    yield "\\ written by evenleaf"
    yield "Minimize"
    yield from _objective(model, variables)
    yield "Subject To"
    for row, name in enumerate(rows):
        yield from _row(model, row, name, variables)
    yield "Bounds"
    for name, lower, upper in zip(variables, model.lower, model.upper, strict=True):
        yield _bounds(name, lower, upper)
    if model.integer.any():
        yield "Generals"
        yield from (f" {name}" for name, whole in zip(variables, model.integer, strict=True) if whole)
    yield "End"


def _objective(model: LinearModel, variables: tuple[str, ...]) -> Iterator[str]:
    """Every variable stands in the objective, at cost zero if need be: so each is declared, and in its order."""
    terms = [_term(cost, name) for cost, name in zip(model.cost, variables, strict=True)]
    if model.offset:
        terms.append(_term(model.offset, ""))
    yield from _wrapped(" obj:", terms, "")


def _row(model: LinearModel, row: int, name: str, variables: tuple[str, ...]) -> Iterator[str]:
    part = slice(model.matrix.indptr[row], model.matrix.indptr[row + 1])
    columns, values = model.matrix.indices[part], model.matrix.data[part]
    terms = [_term(value, variables[column]) for column, value in zip(columns, values, strict=True)]
    # A row without terms still says something: 0 at least 1 is infeasible.
    terms = terms or [_term(0.0, variables[0])]
    lower, upper = model.row_lower[row], model.row_upper[row]
    if upper <= lower:
        yield from _wrapped(f" {name}:", terms, f"= {_number(lower)}")
        return
    two_sided = np.isfinite(lower) and np.isfinite(upper)
    if np.isfinite(lower):
        yield from _wrapped(f" {name}{'__low' if two_sided else ''}:", terms, f">= {_number(lower)}")
    if np.isfinite(upper):
        yield from _wrapped(f" {name}{'__high' if two_sided else ''}:", terms, f"<= {_number(upper)}")


def _wrapped(head: str, terms: list[str], tail: str) -> Iterator[str]:
    yield head
    for first in range(0, len(terms), _TERMS_A_LINE):
        yield "  " + " ".join(terms[first : first + _TERMS_A_LINE])
    if tail:
        yield f"  {tail}"


def _term(value: float, name: str) -> str:
    return f"{'-' if value < 0 else '+'} {_number(abs(value))} {name}".rstrip()


def _bounds(name: str, lower: float, upper: float) -> str:
    if not np.isfinite(lower) and not np.isfinite(upper):
        return f" {name} free"
    low = _number(lower) if np.isfinite(lower) else "-infinity"
    high = _number(max(lower, upper)) if np.isfinite(upper) else "+infinity"
    return f" {low} <= {name} <= {high}"


def _number(value: float) -> str:
    return repr(float(value))
