"""`evenleaf predict`: decide about the people of a table, however long it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenleaf.cli import options as o

if TYPE_CHECKING:
    from evenleaf.case import Tally

_HUNG_UP = 141  # as a shell reports a program that wrote into a closed pipe


def predict_command(
    model: o.ModelArgument,
    table: o.TableArgument,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Where to write: .csv or .tsv; - is standard output.")
    ] = Path("-"),
    only: Annotated[bool, typer.Option("--only", help="The predictions alone, without the table's columns.")] = False,
    why: Annotated[bool, typer.Option("--why", help="Add the rule that decided, in words.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line instead of CSV.")] = False,
) -> None:
    """Decide about every person of a table; rows stream by, so it may be larger than memory.

    The column predicted_TARGET is added. Protected columns are not needed. A level that the tree has never seen
    counts as missing, and the end says how many there were.

    Example: evenleaf predict model.json new.csv --out decided.csv
    """
    from evenleaf.case import Tally, predict_lines, read_answer
    from evenleaf.cli.outputs import check_place, write_pieces

    answer, tally = read_answer(model), Tally()
    delimiter = "\t" if out.suffix.lower() == ".tsv" else ","
    lines = predict_lines(answer, table, tally, as_json=as_json, only=only, why=why, delimiter=delimiter)
    if str(out) == "-":
        _print(lines)
    else:
        check_place(out)
        write_pieces(out, lines)
    _tell(tally, out)


def _print(pieces: Iterable[bytes]) -> None:
    """Write to standard output; whoever reads it may leave early, as `head` does, and that is no error."""
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError as error:
        # What Python still wants to write at its end goes nowhere instead of failing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(_HUNG_UP) from error


def _tell(tally: Tally, out: Path) -> None:
    """How many people, and what the tree had never seen: on standard error, so that the output stays pure."""
    from evenleaf.cli.run import readable

    for column, count in tally.unseen.items():
        values = "1 value" if count == 1 else f"{count:,} values"
        line = f"{values} of {column!r} unknown to the tree and treated as missing"
        sys.stderr.write(readable(line) + "\n")
    if str(out) != "-":
        sys.stderr.write(readable(f"{tally.n_people:,} people decided; wrote {out}") + "\n")
