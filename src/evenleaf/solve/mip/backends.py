"""The mixed-integer solvers there are, by name."""

from __future__ import annotations

from difflib import get_close_matches

from evenleaf.errors import InputError
from evenleaf.solve.mip.backend import Backend
from evenleaf.solve.mip.gurobi import Gurobi
from evenleaf.solve.mip.highs import Highs
from evenleaf.solve.mip.scip import Scip

BACKENDS: dict[str, type[Backend]] = {backend.name: backend for backend in (Highs, Gurobi, Scip)}


def available() -> list[str]:
    """The names of the solvers whose package is installed; a licence may still be missing."""
    return [name for name, backend in BACKENDS.items() if backend.installed()]


def get_backend(name: str = "auto") -> Backend:
    """The solver of that name. "auto" is HiGHS: it comes with the library, and no other is swapped in silently."""
    wanted = Highs.name if name == "auto" else name
    if wanted not in BACKENDS:
        near = get_close_matches(str(name), ["auto", *BACKENDS], n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(map(repr, ['auto', *BACKENDS]))}"
        raise InputError(f"there is no mixed-integer solver {name!r}; {hint}")
    BACKENDS[wanted].require()
    return BACKENDS[wanted]()
