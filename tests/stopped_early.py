"""What an exact search owes to somebody who stops it early: a true bound, its best tree, and the tree it was given."""

from __future__ import annotations

import pytest

from evenleaf.problem import Problem
from evenleaf.solve import Budget, Solver, Status, Stop


def figures_are_true_when_time_runs_out(
    solver: Solver, problem: Problem, seconds: tuple[float, ...] = (0.01, 0.1, 0.3), slack: float = 1e-9
) -> None:
    """The bound and every point of the trace, against the optimum that the same search proves when it may finish."""
    optimum = solver.solve(problem, Budget())
    assert optimum.proven
    for limit in seconds:
        answer = solver.solve(problem, Budget(time_limit=limit))
        assert answer.bound <= optimum.objective + slack <= answer.objective + 2 * slack
        assert all(point.bound <= optimum.objective + slack for point in answer.trace)
        assert all(point.objective >= optimum.objective - slack for point in answer.trace)
        assert answer.proven or answer.stop is Stop.TIME_LIMIT
        assert answer.tree is not None
        assert problem.evaluate(answer.tree).feasible


def cancelled() -> Budget:
    budget = Budget()
    budget.cancel()
    return budget


def best_tree_is_kept(solver: Solver, problem: Problem) -> None:
    answer = solver.solve(problem, cancelled())
    assert answer.stop is Stop.INTERRUPTED
    assert answer.status is Status.FEASIBLE
    assert answer.tree is not None
    assert not answer.proven


def start_is_kept(solver: Solver, problem: Problem) -> None:
    best = solver.solve(problem, Budget())
    assert solver.solve(problem, cancelled(), start=best.tree).objective == pytest.approx(best.objective)
