"""Brute force over all trees of a tiny problem: slow, and plain enough to be believed.

It shares nothing with the solvers that it judges: no bounds, no merging of people, no simplified operator.
"""

from __future__ import annotations

import time

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve.result import Solution, Status, Stop, confirm
from evenleaf.testing.decisions import TIE, decide_classes, decide_numbers
from evenleaf.testing.skeletons import Forest, Skeleton
from evenleaf.tree import tidy

_MOST_TREES = 200_000
_MOST_LABELLED = 20_000_000


def brute_force(problem: Problem) -> Solution:
    """The best tree of a tiny problem, found by trying all of them; ties are broken as DESIGN says.

    A problem with linear tests or leaves, or with too many trees to try, is an `InputError`.
    """
    started = time.perf_counter()
    forest = Forest(problem)
    forest.count(_MOST_TREES)  # refuses what would take for ever
    skeletons = forest.skeletons()
    _check_labellings(problem, skeletons)
    decide = decide_numbers if problem.people.outcome.classes is None else decide_classes
    decided = decide(problem, skeletons)
    if not decided:
        return Solution(
            None, None, float("inf"), Status.INFEASIBLE, Stop.FINISHED, "brute force", time.perf_counter() - started
        )
    least = min(answer.objective for answer in decided)
    best = min((answer for answer in decided if answer.objective <= least + TIE), key=lambda a: a.skeleton.rank)
    people = problem.people
    tree = tidy(forest.tree(best.skeleton, best.values), people.features, people.weight)
    score = confirm(problem, tree, best.objective)
    seconds = time.perf_counter() - started
    return Solution(tree, score, score.objective, Status.PROVEN, Stop.FINISHED, "brute force", seconds)


def count_trees(problem: Problem, most: int = _MOST_TREES) -> int:
    """How many choices of tests the depth, the allowed features and the people per leaf leave.

    Tests of one column that part the people of a node in the same way are counted once. The limits on leaves and
    on uses of features are not looked at, nor are the decisions in the leaves.
    """
    return Forest(problem).count(most)


def _check_labellings(problem: Problem, skeletons: list[Skeleton]) -> None:
    if problem.people.outcome.classes is None:
        return
    if sum(problem.people.outcome.n_classes ** len(skeleton.leaves) for skeleton in skeletons) > _MOST_LABELLED:
        raise InputError("there are too many trees and classes to try; give fewer people or classes, or less depth")
