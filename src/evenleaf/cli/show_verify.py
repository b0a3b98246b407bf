"""A verification on the terminal: one line a check, then what it all means."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenleaf.case import Verdict, Verification
from evenleaf.cli.run import readable

_SIGNS = {Verdict.HOLDS: ("✓", "green"), Verdict.FAILS: ("✗", "bold red"), Verdict.UNCHECKED: ("–", "yellow")}


def show_verification(found: Verification) -> None:
    """Print every check and the conclusion."""
    console = Console(highlight=False)
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for check in found.checks:
        sign, style = _SIGNS[check.verdict]
        grid.add_row(Text(sign, style=style), check.what, Text(readable(check.words)))
    console.print(grid)
    console.print()
    console.print(Text(_conclusion(found), style="bold"))


def _conclusion(found: Verification) -> str:
    if not found.holds:
        return "A claim of this model is false for this table."
    if found.proven:
        return "Everything that the model claims holds: of all the trees allowed, none is better on these people."
    return "Everything that was checked holds. That no tree is better was not proven."
