"""`evenleaf fit`: the best small tree for a table, with a proof."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenleaf.cli import options as o


def fit_command(
    table: o.TableArgument,
    target: o.Target,
    protected: o.Protected = [],  # noqa: B006 (typer copies it)
    out: Annotated[
        Path | None, typer.Option(metavar="MODEL.json", help="Write the model file.", rich_help_panel="Output")
    ] = None,
    report: o.Report = None,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the tree: .svg, or .pdf and .png.", rich_help_panel="Output"),
    ] = None,
    test: o.Test = None,
    task: o.TaskOption = o.Task.auto,
    positive: o.Positive = None,
    categorical: o.Categorical = [],  # noqa: B006
    ignore: o.Ignore = [],  # noqa: B006
    weight: o.Weight = None,
    missing: o.Missing = [],  # noqa: B006
    drop_incomplete: o.DropIncomplete = False,
    fairness: o.Fairness = ["dtdi"],  # noqa: B006
    groups: o.Groups = o.Grouping.joint,
    neighbors: o.Neighbors = 10,
    fairness_weight: o.FairnessWeight = None,
    max_discrimination: o.MaxDiscrimination = None,
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
    """Learn the best small tree, with a proof that no other is better.

    Exit codes: 0 proven optimal, 3 a tree without proof, 4 no tree keeps the limits, 2 bad input.
    Ctrl-C once stops the search, and the best tree so far is shown and written.

    Example: evenleaf fit adult.csv --target income --protected race --out model.json --report page.html
    """
    from evenleaf.cli.solving import fit_and_show

    fit_and_show(table, locals())
