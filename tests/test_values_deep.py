"""Regression trees of depth 3: caps on people's values, cutting planes, annealing; each against what must be true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from evenleaf.datasets import load_diabetes
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.values import ValueSolver, kernels, worker
from evenleaf.solve.values.ascent import DEEP_CLIMB, LOOK, Ascent
from evenleaf.solve.values.boxes import Cap, first_boxes
from evenleaf.solve.values.caps import ValueSplit, with_ghosts
from evenleaf.solve.values.compiled import compile_values
from evenleaf.solve.values.kernels.wander import wander
from evenleaf.solve.values.limits import possible_tests
from evenleaf.solve.values.model import DualModel
from evenleaf.solve.values.oracle import Scratch
from evenleaf.solve.values.wander import Wanderer
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import Form, problems

SOLVER = ValueSolver()


def deep_problems(forms: tuple[Form, ...] = ("weight", "limit", "plain"), limits: bool = True) -> Any:
    return problems(task="regression", max_depth=3, max_columns=2, max_values=3, forms=forms, limits=limits)


def deep(problem: Problem) -> Problem:
    return problem.with_shape(replace(problem.shape, max_depth=3))


def worth_searching(problem: Problem) -> bool:
    return SOLVER.accepts(problem) and compile_values(problem).n_tests > 0 and problem.target.high > problem.target.low


@given(problem=deep_problems(), data=st.data())
@settings(max_examples=60)
def test_caps_never_rule_out_a_tree_that_keeps_them(problem: Problem, data: st.DataObject) -> None:
    """The best tree keeps caps on either side of its own values, so some first box is bounded below its objective."""
    problem = deep(problem)
    assume(worth_searching(problem))
    best = brute_force(problem)
    assume(best.tree is not None)
    assert best.tree is not None
    compiled = compile_values(problem)
    value = np.zeros(compiled.n_people)
    value[compiled.kind] = (best.tree.decide(problem.people.features) - compiled.low) / compiled.spread
    caps = []
    for _ in range(data.draw(st.integers(0, 3))):
        person, cut = data.draw(st.integers(0, compiled.n_people - 1)), data.draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
        caps.append(Cap(person, cut, bool(value[person] > cut)))
    ascent = Ascent(compiled, problem.shape, problem.max_discrimination)
    allowed = np.ones((compiled.n_features + 1, compiled.n_features + 1), dtype=np.bool_)
    target = best.objective / compiled.spread + 1.0
    bounds = [
        ascent.climb(replace(box, caps=tuple(caps)), allowed, target, effort).box.bound
        for marks in possible_tests(problem.shape, compiled)
        for box in first_boxes(compiled, marks, np.zeros_like(compiled.weight), 1.0)
        for effort in (LOOK, DEEP_CLIMB)
    ]
    constant = best.tree.depth == 0  # is in no box
    assert constant or min(bounds) <= best.objective / compiled.spread + 1e-9


def agree_while_stuck(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(worker, "DEEP_CLIMB", Effort(2, 1, 0.9))
        patch.setattr(worker, "DEEP_GLANCE", LOOK)
        patch.setattr(worker, "_MOST_CAPS", 2)
        answer = SOLVER.solve(problem, Budget())
    expected = brute_force(problem)
    assert answer.status is expected.status
    assert answer.objective == pytest.approx(expected.objective, abs=1e-8)


@given(problem=deep_problems(("weight", "plain")))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_weighted_problems_by_splits_alone(monkeypatch: pytest.MonkeyPatch, problem: Problem) -> None:
    """With bounds that give up at once, values and tests are split until nothing is left."""
    assume(SOLVER.accepts(deep(problem)))
    agree_while_stuck(deep(problem), monkeypatch)


@given(problem=deep_problems(("limit",)))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_limited_problems_by_splits_alone(monkeypatch: pytest.MonkeyPatch, problem: Problem) -> None:
    assume(SOLVER.accepts(deep(problem)))
    agree_while_stuck(deep(problem), monkeypatch)


def test_values_are_split_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same optimum, whether the bounds do most of the work or the splits of people's values."""
    people = load_diabetes().sample(14, seed=5).people()
    shape = Shape(max_depth=3, allowed_features=("bmi", "bp", "s5"), min_samples_leaf=3)
    problem = pose(people, fairness=DisparateTreatment(n_neighbors=4), fairness_weight=1.0, shape=shape)
    expected = SOLVER.solve(problem, Budget())
    made = []
    parts = ValueSplit.parts

    def counted(self, box, owner):  # type: ignore[no-untyped-def]
        made.append(self)
        return parts(self, box, owner)

    monkeypatch.setattr(ValueSplit, "parts", counted)
    monkeypatch.setattr(worker, "DEEP_CLIMB", Effort(2, 1, 0.9))
    monkeypatch.setattr(worker, "DEEP_GLANCE", LOOK)
    monkeypatch.setattr(worker, "_MOST_CAPS", 2)
    answer = SOLVER.solve(problem, Budget())
    assert made
    assert answer.proven
    assert expected.proven
    assert answer.objective == pytest.approx(expected.objective, abs=1e-8)


def test_a_ghost_costs_nothing_on_its_side_and_much_on_the_other() -> None:
    people = load_diabetes().sample(20, seed=0).people()
    compiled = compile_values(pose(people, shape=Shape(max_depth=3)))
    for above in (False, True):
        more, ghosts = with_ghosts(compiled, (Cap(3, 0.4, above),), 1.0)
        assert more.n_people == compiled.n_people + 1
        assert np.array_equal(more.ranks[:, -1], compiled.ranks[:, 3])
        assert np.allclose(more.levels[more.level[:-1]], compiled.levels[compiled.level])
        assert more.count[-1] == 0
        cost = [more.share[-1] * abs(u - 0.4) + ghosts.prices[0] * u + ghosts.offset for u in (0.1, 0.4, 0.9)]
        assert cost[1] == pytest.approx(0.0)
        assert (cost[0] > 0.5, cost[2] > 0.5) == (above, not above)
        assert cost[2 if above else 0] == pytest.approx(0.0)


def test_model_is_highest_where_its_planes_meet() -> None:
    model = DualModel(1, 1, None)
    model.add(0, 1.0, 0.0, np.array([1.0]))
    model.add(0, 1.0, 0.0, np.array([-3.0]))
    mu, scale, promised = model.best_near(np.array([0.3]), 1.0, 2.0) or pytest.fail("no point")
    assert (mu[0], scale, promised) == pytest.approx((0.0, 1.0, 1.0))
    assert model.mixture == pytest.approx([0.75, 0.25])
    mu, _, promised = model.best_near(np.array([-0.5]), 1.0, 0.1) or pytest.fail("no point")
    assert (mu[0], promised) == pytest.approx((-0.4, 0.6))


def test_model_of_a_limit_moves_the_scale_too() -> None:
    """θ ≤ 1 + z with |z| ≤ s costs ε·s: worth it while ε is below the slope."""
    model = DualModel(1, 1, 0.25)
    model.add(0, 1.0, 0.0, np.array([1.0]))
    mu, scale, promised = model.best_near(np.array([0.0]), 1.0, 0.5) or pytest.fail("no point")
    assert mu[0] == pytest.approx(1.0 if scale <= 0.505 else 0.505 / scale)
    assert promised == pytest.approx(1.0 + 0.505 - 0.25 * scale)


@given(problem=deep_problems(("weight", "plain"), limits=False))
@settings(max_examples=40)
def test_what_annealing_finds_is_a_tree(problem: Problem) -> None:
    """The program for the leaves' values does no worse than the values met, and no tree is better than the best."""
    problem = deep(problem)
    assume(worth_searching(problem))
    compiled = compile_values(problem)
    wanderer = Wanderer(compiled, 1.0)
    tests = wanderer.run(60, 0.05, 0)
    tree = wanderer.tree(problem, tests, np.inf)
    assert tree is not None
    objective = problem.evaluate(tree).objective
    assert objective >= brute_force(problem).objective - 1e-9
    rng = np.random.default_rng(0)
    met, *_ = wander(tests, rng.random(8), wanderer.people, wanderer.rows, 0, 1.0, 0.5, rng)
    assert objective <= met * compiled.spread + 1e-9


def test_annealing_is_the_same_every_time() -> None:
    problem = pose(load_diabetes().sample(40, seed=1).people(), shape=Shape(max_depth=3))
    wanderer = Wanderer(compile_values(problem), 1.0)
    assert np.array_equal(wanderer.run(200, 0.02, 3), wanderer.run(200, 0.02, 3))


def test_annealing_stops_when_it_is_told_to() -> None:
    problem = pose(load_diabetes().sample(40, seed=1).people(), shape=Shape(max_depth=3))
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) == 2

    tests = Wanderer(compile_values(problem), 1.0).run(10**9, 0.02, 3, stop)
    assert len(asked) == 2
    assert tests.shape == (7, 2)


@pytest.mark.parametrize("seed", range(4))
def test_stumps_cost_what_their_leaves_cost_one_by_one(seed: int) -> None:
    """Every cut below a test, against the least of all values tried in each of its two leaves."""
    rng = np.random.default_rng(seed)
    problem = pose(load_diabetes().sample(30, seed=seed).people(), shape=Shape(max_depth=3))
    c, part = compile_values(problem), rng.integers(0, 3, 30)
    scratch = Scratch(c, problem.shape)
    scratch.costs[:] = rng.normal(0.0, 1.0, c.n_people) * c.share
    alive = (rng.random((2, c.n_tests + 1)) < 0.7).astype(np.uint8)
    least = np.full((2, c.n_features + 1), -kernels.INFINITE)
    kernels.stumps(
        scratch.people, scratch.tables, c.orders, part, 0, alive, scratch.busy(alive), True,
        kernels.INFINITE, scratch.out, least, scratch.best, scratch.work, scratch.within,
    )  # fmt: skip
    paid = c.share[:, None] * np.abs(c.levels[c.level][:, None] - c.levels) + scratch.costs[:, None] * c.levels
    for s in (0, 1):
        expected = {-1.0: paid[part == s].sum(axis=0).min()} if alive[s, -1] else {}
        for test in np.flatnonzero(alive[s, :-1]):
            feature, left = c.left_ranks(int(test))
            goes = left[c.ranks[feature]]
            low, high = paid[(part == s) & goes], paid[(part == s) & ~goes]
            if len(low) and len(high):
                expected[float(test)] = low.sum(axis=0).min() + high.sum(axis=0).min()
                assert scratch.out[s, test] == pytest.approx(expected[float(test)], abs=1e-12)
            else:
                assert scratch.out[s, test] == kernels.INFINITE
        assert scratch.best[s, 0] == pytest.approx(min(expected.values()), abs=1e-12)
        assert expected[scratch.best[s, 1]] == pytest.approx(scratch.best[s, 0], abs=1e-12)
