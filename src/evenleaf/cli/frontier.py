"""`evenleaf frontier`: the best tree for every weight on fairness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenleaf.cli import options as o


def frontier_command(
    table: o.TableArgument,
    target: o.Target,
    protected: o.Protected,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the trees as .json, or their figures as .csv.", rich_help_panel="Output"
        ),
    ] = None,
    report: o.Report = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the trade-off: .svg, or .pdf and .png.", rich_help_panel="Output"),
    ] = None,
    prefer: Annotated[
        bool,
        typer.Option(
            "--prefer",
            help="Choose by a few questions on the terminal: which would you rather defend?",
            rich_help_panel="Output",
        ),
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL.json", help="Write the tree that --prefer led to.", rich_help_panel="Output"),
    ] = None,
    test: o.Test = None,
    task: o.TaskOption = o.Task.auto,
    positive: o.Positive = None,
    categorical: o.Categorical = [],  # noqa: B006 (typer copies it)
    ignore: o.Ignore = [],  # noqa: B006
    weight: o.Weight = None,
    missing: o.Missing = [],  # noqa: B006
    drop_incomplete: o.DropIncomplete = False,
    fairness: o.Fairness = ["dtdi"],  # noqa: B006
    groups: o.Groups = o.Grouping.joint,
    neighbors: o.Neighbors = 10,
    depth: o.Depth = 2,
    branching: o.BranchingOption = o.Branching.single,
    leaf_model: o.LeavesOption = o.LeafModel.constant,
    max_leaves: o.MaxLeaves = None,
    min_people: o.MinPeople = 1,
    max_features: o.MaxFeatures = None,
    max_uses: o.MaxUses = None,
    only: o.Only = [],  # noqa: B006
    solver: o.SolverOption = o.SolverChoice.auto,
    time_limit: o.TimeLimit = 600.0,
    gap: o.Gap = 0.0,
    jobs: o.Jobs = 1,
    seed: o.Seed = 0,
    include_rows: o.IncludeRows = False,
    as_json: o.AsJson = False,
) -> None:
    """Learn every tree that is best for some weight on fairness: the whole trade-off.

    Exit codes: 0 all of it proven, 3 some tree without proof, 2 bad input.

    Example: evenleaf frontier adult.csv --target income --protected race --report page.html
    """
    from evenleaf.cli.solving import frontier_and_show

    frontier_and_show(table, locals())
