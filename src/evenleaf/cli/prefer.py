"""Choosing a tree on the terminal: which of these two would you rather defend?"""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from evenleaf.case import Case
from evenleaf.cli.show_fit import loss_text, readable_lines, tree_words
from evenleaf.errors import InputError
from evenleaf.solve import Frontier, FrontierPoint
from evenleaf.solve.preference import Choice, Preference

_ANSWERS: dict[str, Choice] = {"a": "a", "b": "b", "e": "either", "either": "either"}


def ask_preference(frontier: Frontier, case: Case) -> FrontierPoint:
    """Ask until one tree is left; the questions go to standard error, the answers come from standard input."""
    console = Console(stderr=True, highlight=False)
    preference = Preference.over(frontier)
    while (question := preference.question()) is not None:
        for name, point in (("A", question.a), ("B", question.b)):
            _offer(console, name, point, case)
        preference = preference.answer(_answer(console))
    chosen = preference.result
    number = list(frontier).index(chosen) + 1
    console.print(Text(f"\nYou would defend tree {number}:", style="bold"))
    console.print(Text(readable_lines(tree_words(chosen.tree, case))))
    return chosen


def _offer(console: Console, name: str, point: FrontierPoint, case: Case) -> None:
    figures = (
        f"{loss_text(case, point.loss)} wrong, {case.question.index} {point.discrimination:.4f}, {point.leaves} leaves"
        if case.people.outcome.classes is not None
        else f"mean error {point.loss:.5g}, {case.question.index} {point.discrimination:.4f}, {point.leaves} leaves"
    )
    console.print(Text(f"\n{name}: {figures}", style="bold"))
    console.print(Text(readable_lines(tree_words(point.tree, case))))


def _answer(console: Console) -> Choice:
    while True:
        console.print("\nWhich would you rather defend? [bold]a[/], [bold]b[/] or [bold]e[/]ither: ", end="")
        line = sys.stdin.readline()
        if not line:
            raise InputError("the questions of --prefer were not answered: standard input has ended")
        choice = _ANSWERS.get(line.strip().lower())
        if choice is not None:
            return choice
