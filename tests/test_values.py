"""The exact search for regression: the shelf, brute force on made-up problems, and what a limit leaves behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from evenleaf.baselines import FairLinearRegression
from evenleaf.datasets import load_diabetes
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Status, solve
from evenleaf.solve.certify import check
from evenleaf.solve.choose import get_solver
from evenleaf.solve.values import ValueSolver
from evenleaf.solve.values.boxes import Box
from evenleaf.solve.values.branching import PlaceSplit, split_tests
from evenleaf.solve.values.kernels import best_pair
from evenleaf.solve.values.linear import LinearLeafSearch, equal_people_bound
from evenleaf.testing import brute_force, check_solver, people_from
from evenleaf.testing.strategies import problems
from stopped_early import best_tree_is_kept, figures_are_true_when_time_runs_out, start_is_kept

SOLVER = ValueSolver()


def agree(problem: Problem) -> None:
    """The search proves what brute force finds, wherever it takes the problem on."""
    assume(SOLVER.accepts(problem))
    answer, expected = SOLVER.solve(problem, Budget()), brute_force(problem)
    assert answer.status is expected.status is Status.PROVEN
    assert answer.objective == pytest.approx(expected.objective, abs=1e-8)
    assert answer.tree is not None
    assert problem.evaluate(answer.tree).feasible


def test_shelf() -> None:
    assert check_solver(SOLVER.solve, SOLVER.accepts) == 14


@given(problem=problems(task="regression", forms=("weight", "plain")))
@settings(max_examples=120)
def test_penalised(problem: Problem) -> None:
    agree(problem)


@given(problem=problems(task="regression", forms=("limit",)))
@settings(max_examples=80)
def test_constrained(problem: Problem) -> None:
    agree(problem)


@given(problem=problems(task="regression", max_depth=3, max_columns=2, max_values=3))
@settings(max_examples=80)
def test_three_levels(problem: Problem) -> None:
    agree(problem)


@given(problem=problems(task="regression", max_people=10, max_values=6, limits=False))
@settings(max_examples=40)
def test_many_levels(problem: Problem) -> None:
    agree(problem)


@pytest.mark.long
@given(problem=problems(task="regression", max_people=12))
@settings(max_examples=2000)
def test_many_problems(problem: Problem) -> None:
    agree(problem)


@pytest.mark.long
@given(problem=problems(task="regression", max_depth=3, max_people=8, max_values=3))
@settings(max_examples=1000)
def test_many_deep_problems(problem: Problem) -> None:
    agree(problem)


@pytest.mark.parametrize("seed", range(12))
def test_small_leaves_in_deep_trees(seed: int) -> None:
    """Cuts between two priced ones are ruled out by what their parts cost, which must hold for leaves of any size."""
    rng = np.random.default_rng(seed)
    n_people = int(rng.integers(8, 12))
    columns = {"x": rng.integers(0, 5, n_people).tolist(), "z": rng.integers(0, 3, n_people).tolist()}
    groups = {"g": ["a", "b", *rng.choice(["a", "b"], n_people - 2).tolist()]}
    people = people_from(columns, rng.integers(0, 6, n_people).tolist(), groups, task="regression")
    shape = Shape(max_depth=3, min_samples_leaf=int(rng.integers(2, 4)))
    problem = pose(people, fairness=DisparateImpact(), fairness_weight=float(rng.choice([0.3, 1, 3])), shape=shape)
    answer = SOLVER.solve(problem, Budget())
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-8)
    limited = problem.with_limit(float(rng.choice([0.0, 0.05, 0.2])))
    answer = SOLVER.solve(limited, Budget())
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(limited).objective, abs=1e-8)


def test_a_side_may_cost_less_than_nothing() -> None:
    """Prices may be negative: the dearer left stump with the cheap right one is the best pair that is allowed."""
    out, alive = np.array([[1.0, 2.0, 9.0], [5.0, -7.0, 9.0]]), np.ones((2, 3), dtype=np.uint8)
    allowed = np.ones((3, 3), dtype=np.bool_)
    allowed[0, 1] = False
    cheapest, where = np.empty((2, 3)), np.empty((2, 3), dtype=np.int64)
    offsets = np.array([0, 1, 2])
    assert best_pair(out, alive, allowed, offsets, cheapest, where) == (-5.0, 1, 1)


def test_splits_cover_every_test() -> None:
    """However a box is split, each of its trees is in exactly one part; also where the split came from another box."""
    alive = np.ones((2, 8), dtype=np.uint8)
    alive[0, 2:4] = 0
    owner = np.array([0, 0, 0, 1, 1, 2, 2, 3])
    box = Box(0, np.zeros(2, dtype=np.int8), alive, 0.0, np.zeros((1, 1)), 1.0)
    chosen = np.array([[0, 5], [1, 6], [4, -1]])
    for split in (split_tests(box, chosen, owner), PlaceSplit(0), PlaceSplit(1), PlaceSplit(0, 5), PlaceSplit(1, 7)):
        parts = [part.alive for _, part in split.parts(box, owner)]
        assert len(parts) > 1
        assert np.array_equal(np.sum([part[split.place] for part in parts], axis=0), alive[split.place])
        assert all(np.array_equal(part[1 - split.place], alive[1 - split.place]) for part in parts)


def diabetes(n_people: int, depth: int = 2, weight: float = 0.3, **limits: Any) -> Problem:
    people = load_diabetes().sample(n_people, seed=1).people()
    shape = Shape(max_depth=depth, **limits)
    return pose(people, fairness=DisparateTreatment(), fairness_weight=weight, shape=shape)


@pytest.mark.parametrize("weight", [0.0, 0.3, 2.0])
def test_agrees_with_the_mixed_integer_program(weight: float) -> None:
    problem = diabetes(25, depth=1, weight=weight)
    answers = [solve(problem, solver=name) for name in ("search", "mip")]
    assert all(answer.proven for answer in answers)
    assert answers[0].objective == pytest.approx(answers[1].objective, rel=1e-6)


def test_deeper_is_never_worse() -> None:
    found = [SOLVER.solve(diabetes(40, depth), Budget()) for depth in (0, 1, 2, 3)]
    assert all(answer.proven for answer in found)
    objectives = [answer.objective for answer in found]
    assert objectives == sorted(objectives, reverse=True)
    assert [answer.tree.depth for answer in found if answer.tree is not None] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("depth", "limits"),
    [
        (2, {"max_leaves": 3}),
        (2, {"max_features_used": 2}),
        (2, {"max_feature_uses": 1}),
        (2, {"max_leaves": 3, "min_samples_leaf": 8, "max_feature_uses": {"bmi": 1}}),
        (3, {"max_leaves": 5}),
        (3, {"min_samples_leaf": 6}),
        (3, {"allowed_features": ("bmi", "bp", "s5")}),
    ],
)
def test_limits_cost_something_and_are_kept(depth: int, limits: dict[str, Any]) -> None:
    free, limited = diabetes(40, depth), diabetes(40, depth, 0.3, **limits)
    best, answer = SOLVER.solve(free, Budget()), SOLVER.solve(limited, Budget())
    assert best.proven
    assert answer.proven
    assert answer.tree is not None
    assert limited.evaluate(answer.tree).feasible
    assert answer.objective >= best.objective - 1e-9
    # Whatever keeps the limits is found: with them lifted, the same tree is still no better than the best.
    assert free.evaluate(answer.tree).objective == pytest.approx(answer.objective)


def test_impact_and_treatment_together() -> None:
    people = load_diabetes().sample(80, seed=2).people()
    notion = DisparateImpact() + 0.5 * DisparateTreatment()
    answer = SOLVER.solve(pose(people, fairness=notion, fairness_weight=0.5), Budget())
    alone = SOLVER.solve(pose(people, fairness=DisparateImpact(), fairness_weight=0.5), Budget())
    assert answer.proven
    assert alone.proven
    assert answer.objective >= alone.objective - 1e-9


def test_both_forms_meet() -> None:
    """The tree of a λ is the best one with no more discrimination than it has."""
    problem = diabetes(50, weight=0.5)
    found = SOLVER.solve(problem, Budget())
    assert found.score is not None
    limited = SOLVER.solve(problem.with_limit(found.score.discrimination), Budget())
    assert limited.proven
    assert limited.objective == pytest.approx(found.score.loss, abs=1e-6)


def test_trace_and_bound_are_true_when_time_runs_out() -> None:
    for depth, n_people in ((2, 200), (3, 40)):
        figures_are_true_when_time_runs_out(SOLVER, diabetes(n_people, depth), slack=1e-7)


def test_cancelled_search_keeps_its_best_tree() -> None:
    best_tree_is_kept(SOLVER, diabetes(100))


def test_gap_is_kept() -> None:
    answer = SOLVER.solve(diabetes(200), Budget(gap=0.05))
    assert answer.gap <= 0.05


def test_start_is_never_lost() -> None:
    start_is_kept(SOLVER, diabetes(100))


def test_weights_count_like_copies() -> None:
    people = load_diabetes().sample(50, seed=3).people()
    copies = np.random.default_rng(0).integers(1, 4, people.n_people)
    weighted = type(people)(people.features, people.outcome, people.groups, copies.astype(float))
    repeated = people.take(np.repeat(np.arange(people.n_people), copies))
    one, two = (SOLVER.solve(pose(who, fairness=DisparateImpact()), Budget()) for who in (weighted, repeated))
    assert one.proven
    assert two.proven
    assert one.objective == pytest.approx(two.objective, abs=1e-7)


def test_the_unit_of_the_outcome_does_not_matter() -> None:
    columns = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "z": [3, 1, 2, 5, 4, 7, 6, 8]}
    outcome, groups = np.array([0.0, 2, 1, 5, 4, 4, 9, 7]), {"g": list("abababba")}
    found = []
    for scale, shift in ((1.0, 0.0), (1e6, -3e6), (1e-4, 5.0)):
        people = people_from(columns, (outcome * scale + shift).tolist(), groups, task="regression")
        answer = SOLVER.solve(pose(people, fairness=DisparateImpact(), fairness_weight=0.4), Budget())
        assert answer.proven
        found.append(answer.objective / scale)
    assert found == pytest.approx([found[0]] * 3, rel=1e-6)


@pytest.mark.parametrize("depth", [2, 3])
def test_same_tree_every_time(depth: int) -> None:
    problem = diabetes(30, depth)
    assert SOLVER.solve(problem, Budget()).tree == SOLVER.solve(problem, Budget()).tree


def test_what_it_does_not_take_on() -> None:
    assert not SOLVER.accepts(diabetes(30, depth=4))
    assert not SOLVER.accepts(diabetes(30, leaves="linear"))
    assert not SOLVER.accepts(diabetes(30, branching="linear"))
    many = people_from({"c": list("abcdefghijklmnopq"), "x": list(range(17))}, list(range(17)), task="regression")
    assert not SOLVER.accepts(pose(many))
    assert SOLVER.accepts(pose(many, shape=Shape(allowed_features=["x"])))
    assert SOLVER.accepts(pose(many.take(np.arange(16))))


def test_columns_of_many_levels_agree_with_the_mixed_integer_program() -> None:
    """More levels than brute force would list."""
    levels = [*"abcdefghijklmn", "a", "b", "c", "d"]
    outcome = [value * 7 % 11 for value in range(len(levels))]
    people = people_from({"c": levels}, outcome, {"g": list("ab" * 9)}, task="regression")
    problem = pose(people, fairness=DisparateImpact(), fairness_weight=0.3, shape=Shape(max_depth=1))
    answers = [solve(problem, solver=name) for name in ("search", "mip")]
    assert all(answer.proven for answer in answers)
    assert answers[0].objective == pytest.approx(answers[1].objective, abs=1e-6)
    assert answers[0].certificate is not None
    assert check(answers[0].certificate, problem).holds


def test_linear_leaves_start_from_the_best_constant_ones() -> None:
    problem = diabetes(60, depth=1, leaves="linear")
    solver = LinearLeafSearch()
    assert solver.accepts(problem)
    assert not solver.accepts(diabetes(60, depth=1))
    constant = SOLVER.solve(diabetes(60, depth=1), Budget())
    answer = solver.solve(problem, Budget(time_limit=20))
    assert answer.objective < constant.objective
    assert answer.status is Status.FEASIBLE
    assert answer.bound == pytest.approx(equal_people_bound(problem))
    assert "constant leaves that is proven best" in answer.message


def test_linear_leaves_for_many_people_are_not_left_to_the_program() -> None:
    assert isinstance(get_solver("auto", diabetes(120, depth=1, leaves="linear")), LinearLeafSearch)
    assert get_solver("auto", diabetes(30, depth=1, leaves="linear")).name == "mip"
    assert get_solver("auto", diabetes(120, depth=1, leaves="linear", branching="linear")).name == "mip"


def test_linear_leaves_are_fair_at_less_error_than_fair_linear_regression() -> None:
    """The figure of the paper at zero discrimination: fair linear regression has nothing left but its constant."""
    people = load_diabetes().sample(120, seed=4).people()
    problem = pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=1, leaves="linear"))
    model = FairLinearRegression(penalty="individual", fairness_weight=1e9)
    model._learn(people)
    decided = np.clip(model.score_of(people.features), problem.target.low, problem.target.high)
    answer = solve(problem.with_limit(1e-9), Budget(time_limit=20))
    assert answer.score is not None
    assert answer.score.discrimination <= 1e-6
    assert answer.score.loss < float(people.share @ np.abs(people.outcome.values - decided))


def test_equal_people_are_a_bound() -> None:
    people = people_from({"x": [1, 1, 1, 2, 2]}, [0, 1, 5, 3, 4], task="regression", weight=[1, 1, 2, 1, 1])
    problem = pose(people, shape=Shape(max_depth=1))
    assert equal_people_bound(problem) == pytest.approx((5 + 4 + 1) / 6)
    assert SOLVER.solve(problem, Budget()).objective == pytest.approx((5 + 4 + 1) / 6)
