"""Linear leaves at sizes that no program closes: a local search from the best tree with constant leaves.

A constant leaf is a linear one without terms, so the proven optimum with constant leaves is a valid start. Its bound
is none for linear leaves, which may be better. What stays true of any tree, however clever its leaves, is that people
with equal features get equal values: the loss that this alone costs is the bound that is reported.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.local import LocalSearch
from evenleaf.solve.result import Solution
from evenleaf.solve.values.solver import ValueSolver
from evenleaf.table import equal_rows
from evenleaf.tree import Tree

_FOR_THE_START = 0.3  # of the time


class LinearLeafSearch:
    """Improves the best tree with constant leaves; it proves nothing by itself, and says how far it may be off."""

    name = "local"

    def accepts(self, problem: Problem) -> bool:
        """Numbers decided by linear leaves, with tests that the exact search takes on."""
        return problem.people.outcome.classes is None and problem.shape.leaves == "linear" and _start_possible(problem)

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The best tree found, with the bound of equal people and the gap to it."""
        limit = None if budget.time_limit is None else max(1e-3, _FOR_THE_START * budget.remaining)
        constant = ValueSolver(certificate=False).solve(_constant(problem), Budget(limit), start)
        bound = equal_people_bound(problem)
        answer = LocalSearch().solve(problem, budget, constant.tree or start, lower_bound=bound)
        said = "proven best" if constant.proven else f"within {constant.gap:.1%} of the best"
        message = (
            f"local search from the tree with constant leaves that is {said} ({constant.objective:.6g}); no tree is "
            f"below {bound:.6g}, the loss of giving equal people equal values"
        )
        return replace(answer, message=message)


def equal_people_bound(problem: Problem) -> float:
    """The least loss of any decision by the allowed features: people who are equal in them share one value.

    The discrimination is at least zero, so this bounds loss + λ·D as well as the loss subject to D ≤ ε.
    """
    people, schema = problem.people, problem.people.features.schema
    names = [schema.names[column] for column in problem.shape.allowed(schema)]
    _, kind = equal_rows(people.features.select(names))
    order = np.lexsort((people.outcome.values, kind))
    total = 0.0
    for rows in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
        outcome, share = people.outcome.values[rows], people.share[rows]
        middle = outcome[min(int(np.searchsorted(np.cumsum(share), share.sum() / 2)), len(rows) - 1)]
        total += float(share @ np.abs(outcome - middle))
    return total


def _constant(problem: Problem) -> Problem:
    return problem.with_shape(replace(problem.shape, leaves="constant"))


def _start_possible(problem: Problem) -> bool:
    return ValueSolver().accepts(_constant(problem))
