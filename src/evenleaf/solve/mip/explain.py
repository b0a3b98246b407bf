"""Why nothing is possible: the fewest limits that contradict each other, in the user's words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.greedy import greedy_tree
from evenleaf.solve.mip.backends import get_backend
from evenleaf.solve.mip.strong import build_strong

_FREE: dict[str, Any] = {
    "max_leaves": None,
    "min_samples_leaf": 1,
    "max_feature_uses": None,
    "max_features_used": None,
    "max_features_per_test": None,
    "allowed_features": None,
}


def explain_infeasible(problem: Problem, budget: Budget | None = None, backend: str = "auto") -> str:
    """Name a minimal set of limits that no tree keeps: dropped one at a time, each is needed for the contradiction.

    Where time runs out the set may hold limits that are not needed, and the text says so.
    """
    budget = Budget() if budget is None else budget
    kept, sure = limits_of(problem), True
    current = problem
    for name in limits_of(problem):
        if name not in kept:
            continue
        without = _drop(current, name)
        found = has_tree(without, budget, backend)
        if found is False:
            kept.remove(name)
            current = without
        sure &= found is not None
    wanted = " and ".join(f"{name}={_value(problem, name)!r}" for name in kept)
    doubt = "" if sure else " (time ran out before every limit was tried; fewer may do)"
    what = f"a tree of depth at most {problem.shape.max_depth}"
    return f"no tree keeps these limits together: {wanted}, for {what}{doubt}; relax one of them"


def limits_of(problem: Problem) -> list[str]:
    """The limits that were set, by the names of the options."""
    names = [name for name, free in _FREE.items() if getattr(problem.shape, name) != free]
    return names if problem.max_discrimination is None else [*names, "max_discrimination"]


def has_tree(problem: Problem, budget: Budget, backend: str = "auto") -> bool | None:
    """Whether any tree keeps the limits of a problem; None where the time does not suffice to tell."""
    if greedy_tree(problem) is not None:
        return True
    if budget.exhausted:
        return None
    model = build_strong(problem).model
    anything = replace(model, cost=np.zeros(model.n_variables))
    result = get_backend(backend).solve(anything, replace(budget, on_progress=None, trace=[]))
    if result.x is not None:
        return True
    return False if result.infeasible else None


def _drop(problem: Problem, name: str) -> Problem:
    if name == "max_discrimination":
        return problem.with_weight(0.0)
    return problem.with_shape(replace(problem.shape, **{name: _FREE[name]}))


def _value(problem: Problem, name: str) -> Any:
    return problem.max_discrimination if name == "max_discrimination" else getattr(problem.shape, name)
