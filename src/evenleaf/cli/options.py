"""The options that several commands share, each written once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evenleaf.cli.audit import Grouping, Task

__all__ = ["Branching", "Grouping", "LeafModel", "SolverChoice", "Task"]

_MANY = "repeat for several"
_DATA, _FAIRNESS, _TREES, _SOLVING, _OUTPUT = "The table", "Fairness", "The trees", "Solving", "Output"


class Branching(StrEnum):
    """What a question may look at."""

    single = "single"
    linear = "linear"


class LeafModel(StrEnum):
    """What a leaf holds."""

    constant = "constant"
    linear = "linear"


class SolverChoice(StrEnum):
    """Who answers."""

    auto = "auto"
    fronts = "fronts"
    search = "search"
    mip = "mip"
    local = "local"
    greedy = "greedy"


TableArgument = Annotated[
    str, typer.Argument(metavar="TABLE", help="CSV, TSV (also .gz) or Parquet file; - is CSV on standard input.")
]
ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file that fit has written.")]

Test = Annotated[
    str | None,
    typer.Option(metavar="TABLE", help="New people: how do the trees do among them?", rich_help_panel=_DATA),
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column to decide.", rich_help_panel=_DATA)]
Protected = Annotated[
    list[str],
    typer.Option(metavar="COLUMN", help=f"A column that tells the groups apart ({_MANY}).", rich_help_panel=_DATA),
]
TaskOption = Annotated[Task, typer.Option(help="Is the target a class or a number?", rich_help_panel=_DATA)]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL", help="The class whose rate is shown [default: the last of two].", rich_help_panel=_DATA
    ),
]
Categorical = Annotated[
    list[str],
    typer.Option(metavar="COLUMN", help=f"Numbers that are codes, not amounts ({_MANY}).", rich_help_panel=_DATA),
]
Ignore = Annotated[
    list[str], typer.Option(metavar="COLUMN", help=f"A column not to look at ({_MANY}).", rich_help_panel=_DATA)
]
Weight = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Says how many people a row stands for.", rich_help_panel=_DATA),
]
Missing = Annotated[
    list[str],
    typer.Option(
        metavar="TEXT", help=f"Stands for no value, besides empty, ? and NA ({_MANY}).", rich_help_panel=_DATA
    ),
]
DropIncomplete = Annotated[
    bool, typer.Option("--drop-incomplete", help="Leave out rows with gaps.", rich_help_panel=_DATA)
]

Fairness = Annotated[
    list[str],
    typer.Option(
        metavar="NOTION",
        help=(
            "didi, dtdi, dtdi-outcomes, mistreatment, equal-opportunity, predictive-equality, equalized-odds or none; "
            "repeat to add up, 0.5*didi counts half."
        ),
        rich_help_panel=_FAIRNESS,
    ),
]
Groups = Annotated[
    Grouping,
    typer.Option(help="Several protected columns: their joint levels, or each by itself.", rich_help_panel=_FAIRNESS),
]
Neighbors = Annotated[
    int,
    typer.Option(min=1, help="How many similar people to compare each person with.", rich_help_panel=_FAIRNESS),
]
FairnessWeight = Annotated[
    float | None,
    typer.Option(
        "--fairness-weight",
        "-w",
        metavar="λ",
        help="How much a unit of the index weighs against wrong decisions [default: 1].",
        rich_help_panel=_FAIRNESS,
    ),
]
MaxDiscrimination = Annotated[
    float | None,
    typer.Option(metavar="ε", help="Ask for an index of at most this instead.", rich_help_panel=_FAIRNESS),
]

Depth = Annotated[int, typer.Option(min=0, help="The most questions for any person.", rich_help_panel=_TREES)]
BranchingOption = Annotated[
    Branching, typer.Option(help="Questions about one column, or about a weighted sum.", rich_help_panel=_TREES)
]
LeavesOption = Annotated[
    LeafModel, typer.Option("--leaf-model", help="A leaf holds a value, or a formula.", rich_help_panel=_TREES)
]
MaxLeaves = Annotated[int | None, typer.Option(min=1, help="The most leaves.", rich_help_panel=_TREES)]
MinPeople = Annotated[int, typer.Option(min=1, help="The fewest people a leaf.", rich_help_panel=_TREES)]
MaxFeatures = Annotated[
    int | None, typer.Option(min=0, help="The most columns that a tree may ask about.", rich_help_panel=_TREES)
]
MaxUses = Annotated[
    int | None, typer.Option(min=0, help="The most questions about one column.", rich_help_panel=_TREES)
]
Only = Annotated[
    list[str],
    typer.Option(
        metavar="COLUMN", help=f"A column that the tree may ask about ({_MANY}) [default: all].", rich_help_panel=_TREES
    ),
]

SolverOption = Annotated[
    SolverChoice,
    typer.Option(help="auto takes an exact one; local and greedy prove nothing.", rich_help_panel=_SOLVING),
]
TimeLimit = Annotated[
    float,
    typer.Option(min=0.001, metavar="SECONDS", help="Then the best so far, with its gap.", rich_help_panel=_SOLVING),
]
Gap = Annotated[
    float, typer.Option(min=0, help="Stop once no tree can be better by more than this part.", rich_help_panel=_SOLVING)
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Cores to use; -1 is all of them.", rich_help_panel=_SOLVING)]
Seed = Annotated[int, typer.Option(help="For whatever is drawn at random.", rich_help_panel=_SOLVING)]

Report = Annotated[
    Path | None,
    typer.Option(metavar="FILE.html", help="Write the page for decision-makers, one file.", rich_help_panel=_OUTPUT),
]
IncludeRows = Annotated[
    bool,
    typer.Option(
        "--include-rows",
        help="Show single people in the page: personal data leaves the table.",
        rich_help_panel=_OUTPUT,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Pure data on standard output instead of tables.", rich_help_panel=_OUTPUT)
]
