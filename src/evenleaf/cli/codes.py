"""Exit codes: they tell a proof, a tree without one, no tree, and bad input apart."""

from __future__ import annotations

import typer

from evenleaf.solve import Status

PROVEN, FALSE, BAD_INPUT, FEASIBLE, INFEASIBLE = 0, 1, 2, 3, 4

_CODES = {Status.PROVEN: PROVEN, Status.FEASIBLE: FEASIBLE, Status.UNKNOWN: FEASIBLE, Status.INFEASIBLE: INFEASIBLE}


def leave(status: Status) -> None:
    """End the command with the code of a status; proven is the ordinary end."""
    if _CODES[status]:
        raise typer.Exit(_CODES[status])
