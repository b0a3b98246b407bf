"""A problem that tells about the trees that solvers weigh: for a display, and for keeping them when one stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from evenleaf.problem import Problem, Score
from evenleaf.tree import Tree

OnScore = Callable[[Score], None]
OnTree = Callable[[Tree, Score], None]


@dataclass(frozen=True, eq=False)
class WatchedProblem(Problem):
    """The same problem; `on_tree` hears of every tree that is evaluated."""

    on_tree: OnTree = lambda tree, score: None  # noqa: ARG005 (the names tell what is passed)

    @classmethod
    def of(cls, problem: Problem, on_tree: OnTree) -> WatchedProblem:
        """Watch a problem; what it has computed already is kept."""
        watched = cls(**_parts(problem), on_tree=on_tree)
        if "simplified" in problem.__dict__:
            watched.__dict__["simplified"] = problem.simplified
        return watched

    def evaluate(self, tree: Tree) -> Score:
        """As ever, and the score is passed on."""
        score = super().evaluate(tree)
        self.on_tree(tree, score)
        return score

    def __reduce__(self) -> tuple[object, ...]:
        """Another process has nobody to tell: there it is the plain problem."""
        return replace, (Problem(**_parts(self)),)


def only_better(on_score: OnScore) -> OnTree:
    """Pass on the scores of trees that keep the limits and are better than those before."""
    best = [float("inf")]

    def tell(_: Tree, score: Score) -> None:
        if score.feasible and score.objective < best[0]:
            best[0] = score.objective
            on_score(score)

    return tell


@dataclass
class Undominated:
    """The trees seen so far that no other beats in both loss and discrimination."""

    kept: list[tuple[Tree, Score]] = field(default_factory=list)

    def add(self, tree: Tree, score: Score) -> None:
        """Keep a tree if it is worth it, and drop those that it beats."""
        if not score.feasible or any(_beats(other, score) for _, other in self.kept):
            return
        self.kept = [entry for entry in self.kept if not _beats(score, entry[1])] + [(tree, score)]

    @property
    def trees(self) -> list[Tree]:
        """The trees themselves."""
        return [tree for tree, _ in self.kept]


def _beats(one: Score, other: Score) -> bool:
    return one.loss <= other.loss and one.discrimination <= other.discrimination


def _parts(problem: Problem) -> dict[str, Any]:
    return {part.name: getattr(problem, part.name) for part in fields(Problem)}
