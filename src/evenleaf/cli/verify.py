"""`evenleaf verify`: check a model against its table, claim by claim."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from evenleaf.cli import options as o


def verify_command(
    model: o.ModelArgument,
    table: o.TableArgument,
    again: Annotated[
        bool,
        typer.Option("--solve-again", help="Where the model carries no proof, solve the question anew to check it."),
    ] = False,
    time_limit: o.TimeLimit = 600.0,
    as_json: o.AsJson = False,
) -> None:
    """Check what a model file claims: its table, limits, figures, indices, and that no tree is better.

    Exit codes: 0 everything holds and optimality is proven, 3 everything that was checked holds but optimality is
    not proven, 1 a claim is false, 2 bad input.

    Example: evenleaf verify model.json adult.csv
    """
    from evenleaf.case import read_answer, verify_file
    from evenleaf.cli.codes import FALSE, FEASIBLE
    from evenleaf.cli.progress import late_progress
    from evenleaf.cli.show_verify import show_verification
    from evenleaf.solve import Budget

    with late_progress("looking for similar people") as progress, late_progress("checking the proof") as proving:
        budget = Budget(time_limit) if again else None
        found = verify_file(read_answer(model), table, progress=progress, proving=proving, solve_again=budget)
    if as_json:
        sys.stdout.write(json.dumps(found.to_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        show_verification(found)
    if not found.holds:
        raise typer.Exit(FALSE)
    if not found.proven:
        raise typer.Exit(FEASIBLE)
