"""Every λ's optimum: against brute force, with its intervals, its honesty out of time, and over depths."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from evenleaf.datasets import load_adult
from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment, Disparity
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Frontier, Solution, Status, Stop, frontier, frontier_over_depths, solve
from evenleaf.solve.search import SearchSolver
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems

WEIGHTS = (0.0, 0.03, 0.1, 0.2, 0.25, 0.3, 0.5, 0.7, 1.0, 1.5, 3.0, 10.0, 100.0)


@cache
def adult(n_people: int = 200) -> Problem:
    people = load_adult(race="white_or_not").sample(n_people, seed=1).people()
    return pose(people, fairness=DisparateTreatment(), shape=Shape(max_depth=2))


@cache
def adult_frontier() -> Frontier:
    return frontier(adult())


def check_shape(problem: Problem, found: Frontier) -> None:
    """The intervals cover λ ≥ 0, the trees are what they are said to be, and neighbours tie where they meet."""
    assert found.points[0].weight_from == 0
    assert found.points[-1].weight_to == np.inf
    assert found.points[-1].discrimination == pytest.approx(0, abs=1e-9)
    for point in found:
        score = problem.evaluate(point.tree)
        assert not score.violations
        assert (score.loss, score.discrimination) == (point.loss, point.discrimination)
        assert (point.tree.depth, point.tree.n_leaves) == (point.depth, point.leaves)
        assert point.solution.score is not None
        assert point.weight_from < point.weight_to
    for plain, fair in zip(found.points, found.points[1:], strict=False):
        weight = plain.weight_to
        assert weight == fair.weight_from
        assert plain.loss < fair.loss
        assert plain.discrimination > fair.discrimination
        assert plain.loss + weight * plain.discrimination == pytest.approx(fair.loss + weight * fair.discrimination)


def agrees(problem: Problem, found: Frontier) -> None:
    """At weights of our own, at every tie and inside every interval, brute force finds nothing better."""
    ties = [point.weight_from for point in found]
    inside = [(point.weight_from + min(point.weight_to, point.weight_from + 5)) / 2 for point in found]
    for weight in (*WEIGHTS, *ties, *inside):
        best = brute_force(problem.with_weight(weight))
        assert found.value(weight) == pytest.approx(best.objective, abs=1e-9 * (1 + weight))


@given(problem=problems(task="classification", forms=("weight",), max_people=7))
@settings(max_examples=40)
def test_against_brute_force(problem: Problem) -> None:
    if not SearchSolver().accepts(problem):
        return
    found = frontier(problem)
    assert found.proven
    check_shape(problem.with_weight(0), found)
    agrees(problem, found)


@given(problem=problems(task="regression", forms=("weight",), max_people=5, max_columns=2, max_depth=1))
@settings(max_examples=6)
def test_numbers_against_brute_force(problem: Problem) -> None:
    found = frontier(problem)
    assert found.proven
    check_shape(problem.with_weight(0), found)
    for weight in (0.0, 0.2, 1.0, 7.0):
        best = brute_force(problem.with_weight(weight))
        assert found.value(weight) == pytest.approx(best.objective, abs=3e-6)


def test_the_sharpest_conflict_has_two_ends() -> None:
    """The split costs 0 + 2λ and the constant 1/2: they tie at λ = 1/4, and so does everything between them."""
    people = people_from({"x": [1, 2, 3, 4, 5, 6, 7, 8]}, [0] * 4 + [1] * 4, {"g": ["a"] * 4 + ["b"] * 4})
    found = frontier(pose(people, shape=Shape(max_depth=2), fairness=DisparateImpact()))
    assert found.proven
    assert [(point.loss, point.weight_from) for point in found] == [(0.0, 0.0), (0.5, 0.25)]
    assert found.at(0.25).loss == 0.0
    assert found.at(0.26).leaves == 1


def test_one_tree_may_be_best_for_every_weight() -> None:
    people = people_from({"x": [1, 2, 1, 2]}, [0, 1, 0, 1], {"g": ["a", "a", "b", "b"]})
    found = frontier(pose(people, shape=Shape(max_depth=1), fairness=DisparateImpact()))
    assert found.proven
    (only,) = found
    assert (only.loss, only.discrimination, only.weight_from, only.weight_to) == (0.0, 0.0, 0.0, np.inf)
    assert only.solution.proven


def test_without_fairness_there_is_one_tree() -> None:
    people = people_from({"x": [1, 2, 3, 4]}, [0, 1, 1, 0], {"g": list("abab")})
    (only,) = frontier(pose(people, shape=Shape(max_depth=2)))
    assert only.loss == 0.0


def test_adult_is_proven_and_holds_the_grid_of_the_paper() -> None:
    problem, found = adult(), adult_frontier()
    assert found.proven
    assert len(found) >= 4
    check_shape(problem.with_weight(0), found)
    assert all(point.solution.proven for point in found)
    for tenth in range(0, 11, 2):
        answer = solve(problem.with_weight(tenth / 10))
        assert answer.proven
        assert found.value(tenth / 10) == pytest.approx(answer.objective, abs=1e-9)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_rounds_in_parallel_find_the_same(backend: str) -> None:
    problem, alone = adult(), adult_frontier()
    with joblib.parallel_config(backend=backend, n_jobs=2):
        together = frontier(problem)
    assert [(p.loss, p.discrimination, p.weight_to) for p in alone] == [
        (p.loss, p.discrimination, p.weight_to) for p in together
    ]
    assert together.proven


def test_out_of_time_nothing_is_claimed() -> None:
    problem = adult()
    found = frontier(problem, Budget(time_limit=1e-3))
    assert not found.proven
    check_shape(problem.with_weight(0), found)
    whole = adult_frontier()
    for weight in (0.0, 0.5, 2.0):
        assert whole.value(weight) <= found.value(weight) + 1e-9


def test_a_solve_that_is_not_proven_marks_both_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, whole = adult(), adult_frontier()
    broken = whole.points[1].weight_to

    def doubtful(asked: Problem, *args: Any, **kwargs: Any) -> Solution:
        answer = solve(asked, *args, **kwargs)
        if asked.fairness_weight == pytest.approx(broken):
            return replace(answer, bound=0.0, status=Status.FEASIBLE, stop=Stop.TIME_LIMIT)
        return answer

    monkeypatch.setattr(sys.modules["evenleaf.solve.frontier.search"], "solve", doubtful)
    found = frontier(problem)
    assert [point.loss for point in found] == [point.loss for point in whole]
    assert [point.proven for point in found] == [number not in (1, 2) for number in range(len(found))]
    assert not found.proven


def test_what_ran_out_of_its_share_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, whole = adult(), adult_frontier()
    hard = whole.points[1].weight_to
    asked_for: list[float] = []

    def slow_at_first(asked: Problem, *args: Any, **kwargs: Any) -> Solution:
        answer = solve(asked, *args, **kwargs)
        asked_for.append(asked.fairness_weight)
        if asked.fairness_weight == pytest.approx(hard) and asked_for.count(asked.fairness_weight) == 1:
            return replace(answer, bound=0.0, status=Status.FEASIBLE, stop=Stop.TIME_LIMIT)
        return answer

    monkeypatch.setattr(sys.modules["evenleaf.solve.frontier.search"], "solve", slow_at_first)
    found = frontier(problem, Budget(time_limit=600))
    assert found.proven
    assert asked_for[-1] == pytest.approx(hard)
    assert [point.loss for point in found] == [point.loss for point in whole]


def test_a_solve_is_cut_short_only_below_the_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was cut short proves nothing: every end of every interval has a solve that went through."""
    through: set[float] = set()
    cut: set[float] = set()

    def noted(asked: Problem, budget: Budget, **kwargs: Any) -> Solution:
        answer = solve(asked, budget, **kwargs)
        (cut if budget.cancelled else through).add(asked.fairness_weight)
        return answer

    monkeypatch.setattr(sys.modules["evenleaf.solve.frontier.search"], "solve", noted)
    found = frontier(adult())
    assert found.proven
    assert {point.weight_from for point in found} <= through
    assert not cut & {point.weight_from for point in found}
    assert [point.loss for point in found] == [point.loss for point in adult_frontier()]


def test_an_interrupted_solve_stops_the_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def interrupted(asked: Problem, *args: Any, **kwargs: Any) -> Solution:
        calls.append(asked.fairness_weight)
        answer = solve(asked, *args, **kwargs)
        return replace(answer, stop=Stop.INTERRUPTED)

    monkeypatch.setattr(sys.modules["evenleaf.solve.frontier.search"], "solve", interrupted)
    found = frontier(adult())
    assert calls == [0.0]
    assert not found.proven


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    found = frontier(adult(), on_solved=lambda done, waiting: told.append((done, waiting)))
    assert [done for done, _ in told] == list(range(1, len(told) + 1))
    assert told[-1][1] == 0
    assert len(told) >= len(found)


def test_over_depths_deeper_is_never_worse() -> None:
    by_depth = frontier_over_depths(adult(), [2, 0, 1, 1])
    assert list(by_depth) == [0, 1, 2]
    assert all(found.proven for found in by_depth.values())
    assert all(point.depth <= depth for depth, found in by_depth.items() for point in found)
    for weight in WEIGHTS:
        values = [found.value(weight) for found in by_depth.values()]
        assert values == sorted(values, reverse=True)


def test_known_trees_save_solves() -> None:
    problem = adult()
    again: list[int] = []
    found = adult_frontier()
    known = [point.tree for point in found]
    second = frontier(problem, known=known, on_solved=lambda done, _: again.append(done))
    assert [point.tree for point in second] == known
    assert len(again) == len(found)
    assert second.proven


def test_bad_input_is_refused() -> None:
    problem = adult()
    with pytest.raises(InputError, match="there is no solver 'serch'; did you mean 'search'"):
        frontier(problem, solver="serch")
    with pytest.raises(InputError, match="at least 0"):
        adult_frontier().at(-1.0)
    lopsided = Disparity(sp.csr_array(np.ones((1, 200))), np.ones((1, 2)))
    with pytest.raises(InputError, match="deciding everybody alike"):
        frontier(replace(problem, disparity=lopsided))
