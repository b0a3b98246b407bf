"""A fitted tree or a whole trade-off on the terminal: what was read, the figures, the tree in words, the files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenleaf.case import Answered, Case
from evenleaf.cli.run import readable
from evenleaf.solve import Frontier, Solution, Status
from evenleaf.tree import Branch, Tree, tree_text

_MOST_NAMES = 12


def console() -> Console:
    """Standard output, without guesses about what to colour."""
    return Console(highlight=False)


def show_case(case: Case) -> None:
    """The people, and what each column was taken for: the reader can overrule it before anything is believed."""
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in _facts(case):
        grid.add_row(name, Text(readable(text)))
    console().print(grid)


def _facts(case: Case) -> Iterator[tuple[str, str]]:
    dropped = f" ({case.n_dropped:,} incomplete rows left out)" if case.n_dropped else ""
    yield "people", f"{case.people.n_people:,} in {case.source}{dropped}"
    guessed = " (inferred; --task overrides)" if case.task_inferred else ""
    yield "target", f"{case.people.outcome.name}: {case.people.outcome.task}{guessed}"
    for title, role, kind in (
        ("protected", "protected", None),
        ("weight", "weight", None),
        ("quantitative", "feature", "quantitative"),
        ("categorical", "feature", "categorical"),
    ):
        columns = [note for note in case.columns if note.role == role and kind in (None, note.kind)]
        if columns:
            yield title, _listed([_described(note) for note in columns])


def _described(note: Any) -> str:
    levels = f" ({note.n_levels} levels)" if note.n_levels is not None else ""
    return f"{note.name}{levels}" + (f" [{note.n_missing:,} missing]" if note.n_missing else "")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def show_answered(answered: Answered) -> None:
    """The tree in words with head counts and its figures, or the table of all trees."""
    screen = console()
    if answered.solution is not None:
        _show_solution(answered.case, answered.solution, answered.fresh, screen)
    elif answered.frontier is not None:
        _show_frontier(answered.case, answered.frontier, answered.fresh, screen)


def _show_solution(case: Case, solution: Solution, fresh: Case | None, screen: Console) -> None:
    screen.print()
    if solution.tree is None or solution.score is None:
        screen.print(Text(_no_tree(solution), style="bold"))
        return
    screen.print(Text(readable_lines(tree_words(solution.tree, case))))
    screen.print()
    grid = Table.grid(padding=(0, 2), pad_edge=True)
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for name, value in [*_figures(case, solution), *_fresh_figures(case, solution.tree, fresh)]:
        grid.add_row(name, Text(readable(value)))
    screen.print(grid)
    screen.print()
    screen.print(Text(_meaning(solution), style="dim"))


def _figures(case: Case, solution: Solution) -> Iterator[tuple[str, str]]:
    score = solution.score
    if score is None:
        return
    yield _loss_name(case), loss_text(case, score.loss)
    if case.question.fair:
        yield case.question.index, f"{score.discrimination:.4f}"
        yield "objective", _objective(case, score.objective)
    yield "status", _status(solution)
    yield "solver", f"{solution.solver}, {solution.seconds:.1f} s"


def _fresh_figures(case: Case, tree: Tree, fresh: Case | None) -> Iterator[tuple[str, str]]:
    if fresh is None:
        return
    loss, discrimination, _ = fresh.figures(tree)
    index = f", {case.question.index} {discrimination:.4f}" if case.question.fair else ""
    wrong = "" if case.people.outcome.classes is None else " wrong"
    yield "new people", f"{loss_text(case, loss)}{wrong}{index} ({fresh.people.n_people:,} in {fresh.source})"


def _objective(case: Case, objective: float) -> str:
    if case.question.max_discrimination is not None:
        return f"{objective:.4f} with {case.question.index} at most {case.question.max_discrimination:g}"
    return f"{objective:.4f} with λ = {case.problem.fairness_weight:g}"


def _status(solution: Solution) -> str:
    if solution.proven:
        return "proven optimal"
    return f"not proven ({solution.stop}): another tree could be better by at most {solution.gap:.2%}"


def _no_tree(solution: Solution) -> str:
    if solution.status is Status.INFEASIBLE:
        return "No tree keeps the limits: that is proven. Loosen one of them."
    return f"No tree was found ({solution.stop}). Give it more time."


def _meaning(solution: Solution) -> str:
    if solution.proven:
        return "Optimal for the question that was asked, on these people; the test is new people."
    return "A valid tree, and the best one found; nothing says that it is the best there is."


def _show_frontier(case: Case, frontier: Frontier, fresh: Case | None, screen: Console) -> None:
    table = Table(box=SIMPLE_HEAD, pad_edge=True, show_edge=False)
    new = [] if fresh is None else ["among new", f"{case.question.index} there"]
    for name in ("tree", _loss_name(case), case.question.index, *new, "leaves", "best for λ", "status"):
        table.add_column(name, justify="left" if name in ("tree", "status") else "right")
    for number, point in enumerate(frontier, 1):
        end = "∞" if np.isinf(point.weight_to) else f"{point.weight_to:.3g}"
        status = "proven" if point.proven else f"not proven, gap {point.solution.gap:.1%}"
        table.add_row(
            str(number),
            loss_text(case, point.loss),
            f"{max(0.0, point.discrimination):.4f}",
            *_fresh_cells(case, point.tree, fresh),
            str(point.leaves),
            f"{point.weight_from:.3g} – {end}",
            status,
        )
    screen.print()
    screen.print(table)
    ends = "all proven" if frontier.proven else "not all proven"
    trees = "1 tree" if len(frontier) == 1 else f"{len(frontier)} trees"
    screen.print(Text(f"{trees}, {ends}, {frontier.seconds:.1f} s", style="dim"))


def _fresh_cells(case: Case, tree: Tree, fresh: Case | None) -> list[str]:
    if fresh is None:
        return []
    loss, discrimination, _ = fresh.figures(tree)
    return [loss_text(case, loss), f"{discrimination:.4f}"]


def _loss_name(case: Case) -> str:
    return "mean absolute error" if case.people.outcome.classes is None else "wrong decisions"


def loss_text(case: Case, loss: float) -> str:
    """A loss in the unit of its task."""
    return f"{loss:.5g}" if case.people.outcome.classes is None else f"{loss:.2%}"


def tree_words(tree: Tree, case: Case) -> str:
    """The tree in words, with the number of people at each leaf."""
    people = np.bincount(tree.apply(case.people.features), minlength=len(tree.nodes))
    return tree_text(tree, lambda node: "" if isinstance(tree.nodes[node], Branch) else f"{people[node]:,} people")


def readable_lines(text: str) -> str:
    """As `readable`, line by line."""
    return "\n".join(readable(line) for line in text.split("\n"))


def show_files(paths: Sequence[Path]) -> None:
    """Which files were written."""
    screen = console()
    for path in paths:
        screen.print(Text.assemble(("wrote ", "dim"), readable(str(path))), soft_wrap=True)
