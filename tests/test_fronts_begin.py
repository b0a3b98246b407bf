"""How searches in the lane for few rows begin: with multipliers, with a good tree, and with shares ruled out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver, warmup
from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.engine import Engine, to_depth
from evenleaf.solve.fronts.examined import Incumbent
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.shares import ShareSearch, find_search
from evenleaf.testing import check_against_brute_force, people_from
from evenleaf.testing.strategies import problems

SOLVER = FrontSolver()


def adult(limit: float | None) -> Problem:
    people = load_adult(race="white_or_not").sample(150, seed=1).people()
    problem = pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=3))
    return problem.with_weight(1.0) if limit is None else problem.with_limit(limit)


def with_shares(sizes: tuple[int, int], seed: int, depth: int) -> Problem:
    """Exactly equal rates for two groups of these sizes."""
    random, n_people = np.random.default_rng(seed), sum(sizes)
    features = {name: random.integers(0, 7, n_people).astype(float) for name in "xy"}
    outcome = random.permutation(np.arange(n_people) % 2).tolist()
    people = people_from(features, outcome, {"g": np.repeat(["a", "b"], sizes).tolist()})
    return pose(people, fairness=DisparateImpact(), max_discrimination=0.0, shape=Shape(max_depth=depth))


@pytest.mark.parametrize("limit", [None, 0.02])
def test_a_deep_search_begins_with_a_tree_as_good_as_the_best_shallow_one(limit: float | None) -> None:
    problem = adult(limit)
    shallow = SOLVER.solve(to_depth(problem, 2), Budget())
    assert shallow.proven
    search = Engine(problem, Budget(), None)
    search.begin()
    assert search.objective <= shallow.objective + 1e-12
    assert search.bound < search.objective


@pytest.mark.parametrize("limit", [None, 0.02])
def test_a_good_start_does_not_spoil_the_multipliers(limit: float | None) -> None:
    problem = adult(limit)
    best = SOLVER.solve(problem, Budget()).tree
    plain, helped = Engine(problem, Budget(), None), Engine(problem, Budget(), best)
    assert helped.objective < plain.objective
    for search in (plain, helped):
        search.begin()
    assert plain.open[0][2].mus[0] == pytest.approx(helped.open[0][2].mus[0])


@given(problem=problems(task="classification", notions=("impact", "opportunity"), max_depth=3, max_columns=2))
@settings(max_examples=30)
def test_a_warm_up_with_some_of_the_people(problem: Problem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warmup, "_SOME", 3)
        check_against_brute_force(SOLVER.solve, problem)


@given(sizes=st.sampled_from([(8, 12), (6, 9), (10, 15), (12, 24)]), seed=st.integers(0, 1000), depth=st.integers(1, 2))
@settings(max_examples=60)
def test_what_rules_out_a_share_is_shown_by_its_multipliers(sizes: tuple[int, int], seed: int, depth: int) -> None:
    search = find_search(with_shares(sizes, seed, depth), Budget(), None, keep_proof=True)
    assert isinstance(search, ShareSearch)
    closed: list[tuple[Engine, float, np.ndarray]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "close", lambda engine, bound, mu: closed.append((engine, bound, mu)))
        search.begin()
    for engine, bound, mu in closed:
        engine.best = engine.hand.best = Incumbent()  # at which nothing is cut off
        alone = Node(-np.inf, engine.top, mu[None, :])
        assert engine.hand.looked_at(alone, Cell(alone.part, engine.lane, engine.oracle)).bound >= bound - 1e-9


@given(sizes=st.sampled_from([(4, 6), (6, 9), (8, 4)]), seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_shares_at_depth_three(sizes: tuple[int, int], seed: int) -> None:
    check_against_brute_force(SOLVER.solve, with_shares(sizes, seed, 3))
