"""One tree of a report: the solver's claim, and the interval of λ in which the tree is optimal, if that is known."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve import FrontierPoint, Solution
from evenleaf.tree import Tree


@dataclass(frozen=True, eq=False)
class Entry:
    """A tree with its claim; `weight_from` and `weight_to` are None for a tree that was asked for by itself."""

    tree: Tree
    solution: Solution
    proven: bool
    weight_from: float | None = None
    weight_to: float | None = None

    @classmethod
    def of_point(cls, point: FrontierPoint) -> Entry:
        """A point of the frontier."""
        return cls(point.tree, point.solution, point.proven, point.weight_from, point.weight_to)

    @classmethod
    def of_solution(cls, solution: Solution) -> Entry:
        """The answer to one question."""
        if solution.tree is None:
            raise InputError("there is no tree to report: the solver did not find one")
        return cls(solution.tree, solution, solution.proven)


def arrange(problem: Problem, points: Iterable[FrontierPoint], asked: Solution | None) -> tuple[list[Entry], int]:
    """The trees from the least loss to the least discrimination, and the place of the one that was asked for.

    A tree that was asked for and is not on the frontier (a limit ε may lie between two of its points, or the time
    ran out) takes its place by its discrimination. Without one, the middle of the frontier is shown first.
    """
    entries = [Entry.of_point(point) for point in points]
    if asked is None:
        if not entries:
            raise InputError("a report needs at least one tree")
        return entries, _shown_first(entries)
    own = Entry.of_solution(asked)
    scores = [problem.evaluate(entry.tree) for entry in entries]
    mine = problem.evaluate(own.tree)
    for place, score in enumerate(scores):
        if entries[place].tree == own.tree or _same(score.loss, mine.loss, score.discrimination, mine.discrimination):
            return entries, place
    place = sum(score.discrimination > mine.discrimination for score in scores)
    return [*entries[:place], own, *entries[place:]], place


def _shown_first(entries: list[Entry]) -> int:
    """The tree that is optimal for λ = 1, the paper's own choice of weight."""
    return next(place for place, entry in enumerate(entries) if (entry.weight_to or np.inf) >= 1.0)


def _same(loss: float, other_loss: float, value: float, other_value: float) -> bool:
    return abs(loss - other_loss) < 1e-9 and abs(value - other_value) < 1e-9
