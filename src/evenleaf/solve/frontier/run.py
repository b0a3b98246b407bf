"""The doors to the trade-off: for one shape of trees, or for several depths."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.choose import SolverName
from evenleaf.solve.frontier.result import Frontier
from evenleaf.solve.frontier.search import FrontierSearch, OnSolved
from evenleaf.tree import Tree


def frontier(
    problem: Problem,
    budget: Budget | None = None,
    solver: SolverName | str = "auto",
    options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    *,
    known: Iterable[Tree] = (),
    on_solved: OnSolved | None = None,
) -> Frontier:
    """Every λ's optimum for a problem; its own λ or ε is not looked at.

    The λ where two neighbours tie do not depend on each other, so they are solved through joblib: `n_jobs` at a
    time, or wherever `joblib.parallel_config` sends them. `known` trees need not be found again. `on_solved` is
    told how many solves are done and how many are waiting.
    """
    return FrontierSearch(problem.with_weight(0.0), budget or Budget(), solver, options, n_jobs, on_solved).run(known)


def frontier_over_depths(
    problem: Problem,
    depths: Iterable[int],
    budget: Budget | None = None,
    solver: SolverName | str = "auto",
    options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    *,
    on_solved: OnSolved | None = None,
) -> dict[int, Frontier]:
    """The trade-off for each largest depth: loss, discrimination and size, the paper's three objectives.

    A shallow tree is also a deep one, so each frontier starts from the trees of the one before.
    """
    budget = budget or Budget()
    found: dict[int, Frontier] = {}
    known: list[Tree] = []
    for depth in sorted(set(depths)):
        asked = problem.with_shape(replace(problem.shape, max_depth=depth))
        found[depth] = frontier(asked, budget, solver, options, n_jobs, known=known, on_solved=on_solved)
        known += [point.tree for point in found[depth]]
    return found
