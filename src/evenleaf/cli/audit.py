"""`evenleaf audit`: how the decisions in a table differ between groups."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer

_MANY = "repeat for several"


class Task(StrEnum):
    """What the target column holds."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Grouping(StrEnum):
    """How several protected columns make groups."""

    joint = "joint"
    each = "each"


class Index(StrEnum):
    """Which index to compute."""

    didi = "didi"
    dtdi = "dtdi"
    all = "all"


def audit_command(
    table: Annotated[
        str, typer.Argument(metavar="TABLE", help="CSV, TSV (also .gz) or Parquet file; - is CSV on standard input.")
    ],
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The column that was decided.")],
    protected: Annotated[
        list[str], typer.Option(metavar="COLUMN", help=f"A column that tells the groups apart ({_MANY}).")
    ],
    task: Annotated[Task, typer.Option(help="Is the target a class or a number?")] = Task.auto,
    positive: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The class whose rate is shown [default: the last of two].")
    ] = None,
    categorical: Annotated[
        list[str], typer.Option(metavar="COLUMN", help=f"Numbers that are codes, not amounts ({_MANY}).")
    ] = [],  # noqa: B006 (typer copies it)
    ignore: Annotated[
        list[str], typer.Option(metavar="COLUMN", help=f"A column not to compare people by ({_MANY}).")
    ] = [],  # noqa: B006
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column that says how many people a row stands for.")
    ] = None,
    groups: Annotated[
        Grouping, typer.Option(help="Several protected columns: their joint levels, or each by itself.")
    ] = Grouping.joint,
    neighbors: Annotated[int, typer.Option(min=1, help="How many similar people to compare each person with.")] = 10,
    missing: Annotated[
        list[str],
        typer.Option(metavar="TEXT", help=f"Stands for no value, besides empty, ? and NA ({_MANY})."),
    ] = [],  # noqa: B006
    index: Annotated[Index, typer.Option(help="DIDI alone takes no search for similar people.")] = Index.all,
    drop_incomplete: Annotated[bool, typer.Option("--drop-incomplete", help="Leave out rows with gaps.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Pure data on standard output instead of tables.")] = False,
) -> None:
    """How do the decisions in a table differ between groups?

    DIDI compares each group's rate with everybody's; DTDI does so among similar people. Both are 0 where nothing
    differs. An index describes the table; it is not a verdict.

    Example: evenleaf audit adult.csv --target income --protected race --protected sex
    """
    from evenleaf.audit import audit_file
    from evenleaf.cli.progress import late_progress
    from evenleaf.table.read import MISSING_MARKERS

    with late_progress("looking for similar people") as progress:
        report = audit_file(
            table,
            target=target,
            protected=protected,
            missing=[*MISSING_MARKERS, *missing],
            categorical=categorical,
            ignore=ignore,
            weight=weight,
            task=task.value,
            groups=groups.value,
            n_neighbors=neighbors,
            positive=positive,
            index=index.value,
            drop_incomplete=drop_incomplete,
            progress=progress,
        )
    if as_json:
        sys.stdout.write(json.dumps({"table": table, **report.to_json()}, indent=2, allow_nan=False) + "\n")
        return
    from evenleaf.cli.show_audit import show_audit

    show_audit(report, table)
