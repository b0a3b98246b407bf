"""Local search as a whole: never worse than its start, better where data is made so, always valid and honest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment, EqualOpportunity, Notion
from evenleaf.problem import Misclassification, Problem, Shape, pose
from evenleaf.solve.budget import Budget
from evenleaf.solve.greedy import greedy_tree
from evenleaf.solve.local import LocalSearch, trivial_bound
from evenleaf.solve.result import Solution, Status, Stop, TracePoint
from evenleaf.table import People
from evenleaf.testing import SHELF, check_against_brute_force, check_solver, people_from
from evenleaf.testing.strategies import fairness_notions, peoples, problems, shapes
from evenleaf.tree import Leaf, LinearTest, Tree
from evenleaf.tree.questions import weighted_sum

QUICK = LocalSearch(patience=2)


def solved(problem: Problem, start: Tree | None = None, *, search: LocalSearch = QUICK, **budget: Any) -> Solution:
    solution = search.solve(problem, Budget(**budget), start)
    assert solution.tree is not None
    assert solution.score == problem.evaluate(solution.tree)
    assert solution.score is not None
    assert solution.score.feasible
    assert solution.bound <= solution.objective
    return solution


def greedy_objective(problem: Problem) -> float:
    tree = greedy_tree(problem)
    assert tree is not None
    return problem.evaluate(tree).objective


def diagonal_people(n: int = 200, seed: int = 0) -> People:
    """Two numbers whose sum decides; the group leans on one of them."""
    rng = np.random.default_rng(seed)
    x, z, noise = rng.random(n), rng.random(n), rng.random(n)
    group = np.where(x + 0.5 * rng.random(n) > 0.75, "a", "b")
    return people_from({"x": x, "z": z, "noise": noise}, (x + z > 1).astype(int), {"g": group})


def bent_people(n: int = 200, seed: int = 0) -> People:
    """Two straight pieces that meet at x = 0, and nothing else to say."""
    rng = np.random.default_rng(seed)
    x, z = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
    y = np.where(x <= 0, 1 - x + 0.5 * z, 1 + 2 * x - 0.5 * z)
    return people_from({"x": x, "z": z}, y, {"g": rng.choice(["a", "b"], n)}, task="regression")


LINEAR = Shape(max_depth=2, branching="linear")


def test_a_diagonal_is_found() -> None:
    people = diagonal_people()
    problem = pose(people, shape=Shape(max_depth=1, branching="linear"))
    assert greedy_objective(problem) > 0.1
    solution = solved(problem)
    assert solution.objective == 0.0
    assert solution.stop is Stop.GAP  # nothing is below zero
    assert solution.tree is not None
    assert isinstance(solution.tree.tests[0], LinearTest)
    assert solution.tree.tests[0].columns == (0, 1)  # the noise is not needed


@pytest.mark.parametrize("notion", [DisparateImpact(), DisparateTreatment(n_neighbors=5)])
def test_linear_tests_help_fairness_too(notion: Notion) -> None:
    people = diagonal_people()
    single = pose(people, shape=Shape(max_depth=2), fairness=notion, fairness_weight=0.3)
    linear = single.with_shape(LINEAR)
    assert solved(linear).objective < solved(single).objective - 0.01


def test_a_categorical_column_takes_part_in_a_linear_test() -> None:
    rng = np.random.default_rng(0)
    x, city = rng.random(150), rng.choice(["p", "q", "r"], 150)
    y = (x + 0.4 * (city == "q") > 0.7).astype(int)
    problem = pose(people_from({"x": x, "city": city}, y), shape=Shape(max_depth=1, branching="linear"))
    assert solved(problem).objective == 0.0


def test_missing_numbers_read_as_the_mean() -> None:
    people = diagonal_people()
    x = people.features.data[0].copy()
    x[::5] = np.nan
    gaps = people_from({"x": x, "z": people.features.data[1]}, people.outcome.values)
    solution = solved(pose(gaps, shape=Shape(max_depth=1, branching="linear")))
    assert solution.tree is not None
    tests = [test for test in solution.tree.tests if isinstance(test, LinearTest)]
    fills = [term.fill for test in tests for term in test.terms if term.column == 0]
    assert fills == [pytest.approx(np.nanmean(x))]


def test_straight_pieces_are_found() -> None:
    problem = pose(bent_people(), shape=Shape(max_depth=1, leaves="linear"))
    assert greedy_objective(problem) > 0.2
    solution = solved(problem, search=LocalSearch(patience=5))
    assert solution.objective < 0.02


def test_slanted_pieces_need_both() -> None:
    rng = np.random.default_rng(0)
    x, z = rng.uniform(-1, 1, 200), rng.uniform(-1, 1, 200)
    y = np.where(x + z <= 0, 1 + x, 1 - x + z)
    people = people_from({"x": x, "z": z}, y, task="regression")
    allowed = (
        Shape(max_depth=1, branching="linear"),
        Shape(max_depth=1, leaves="linear"),
        Shape(max_depth=1, branching="linear", leaves="linear"),
    )
    objectives = [solved(pose(people, shape=shape)).objective for shape in allowed]
    assert objectives[2] < 0.3 * min(objectives[:2])


@pytest.mark.parametrize("form", [{"fairness_weight": 0.3}, {"max_discrimination": 0.2}, {"max_discrimination": 0.0}])
def test_linear_leaves_are_optimal_for_their_tests(form: dict[str, float]) -> None:
    """Without tests the leaf is the whole program: solved again here the plain way."""
    people = bent_people(60)
    problem = pose(people, shape=Shape(max_depth=0, leaves="linear"), fairness=DisparateImpact(), **form)  # type: ignore[arg-type]
    inputs = np.column_stack([np.ones(60), *people.features.data])
    y, rows, weight = people.outcome.values, problem.disparity.matrix @ inputs, problem.disparity.weight[:, 0]
    eye, other = np.eye(60), np.eye(len(rows))
    left = np.block(
        [
            [inputs, -eye, np.zeros((60, len(rows)))],
            [-inputs, -eye, np.zeros((60, len(rows)))],
            [rows, np.zeros((len(rows), 60)), -other],
            [-rows, np.zeros((len(rows), 60)), -other],
            [inputs, np.zeros((60, 60 + len(rows)))],
            [-inputs, np.zeros((60, 60 + len(rows)))],
            [np.zeros((1, 63)), weight[None, :]],
        ]
    )
    limit = form.get("max_discrimination", np.inf)
    zeros = np.zeros(2 * len(rows))
    right = np.concatenate([y, -y, zeros, np.full(60, y.max()), np.full(60, -y.min()), [min(limit, 1e9)]])
    cost = np.concatenate([np.zeros(3), people.share, form.get("fairness_weight", 0.0) * weight])
    truth = linprog(cost, A_ub=left, b_ub=right, bounds=[(None, None)] * 3 + [(0, None)] * (60 + len(rows)))
    assert solved(problem).objective == pytest.approx(truth.fun, abs=1e-6)


@pytest.mark.parametrize("form", [{"fairness_weight": 0.3}, {"max_discrimination": 0.1}])
def test_linear_rules_stay_in_the_label_range(form: dict[str, float]) -> None:
    people = bent_people()
    shape = Shape(max_depth=2, branching="linear", leaves="linear")
    solution = solved(pose(people, shape=shape, fairness=DisparateImpact(), **form), time_limit=5.0)  # type: ignore[arg-type]
    tree = solution.tree
    assert tree is not None
    leaf = tree.apply(people.features)
    for position, node in enumerate(tree.nodes):
        rows = np.flatnonzero(leaf == position)
        if isinstance(node, Leaf) and len(rows):
            raw = node.value + weighted_sum(node.terms, people.features, rows)
            assert raw.min() >= tree.target.low - 1e-7
            assert raw.max() <= tree.target.high + 1e-7
    far = tree.predict({"x": [-1e6, 1e6], "z": [1e6, -1e6]})
    assert far.min() >= tree.target.low
    assert far.max() <= tree.target.high


@given(st.data())
@settings(max_examples=40)
def test_any_linear_problem_is_answered_validly_and_no_worse_than_greedily(data: st.DataObject) -> None:
    people = data.draw(peoples(task=data.draw(st.sampled_from(["classification", "regression"])), max_people=14))
    limits = data.draw(shapes(people, max_depth=2))
    leaves: Any = (
        "constant" if people.outcome.classes is not None else data.draw(st.sampled_from(["constant", "linear"]))
    )
    shape = Shape(**{**vars(limits), "branching": "linear", "leaves": leaves})
    form = data.draw(st.sampled_from([{"fairness_weight": 0.2}, {"max_discrimination": 0.1}]))
    problem = pose(people, shape=shape, fairness=data.draw(fairness_notions(people)), **form)  # type: ignore[arg-type]
    start = greedy_tree(problem)
    solution = QUICK.solve(problem, Budget(), start)
    if start is None:
        assert solution.status is Status.UNKNOWN
        return
    assert solution.score is not None
    assert solution.score.violations == ()
    assert solution.objective <= problem.evaluate(start).objective
    assert solution.status is Status.FEASIBLE


@given(problems(max_depth=2))
@settings(max_examples=40)
def test_single_features_and_constant_leaves_never_beat_brute_force(problem: Problem) -> None:
    check_against_brute_force(QUICK.solve, problem, exact=False)


def test_the_shelf() -> None:
    assert check_solver(QUICK.solve, QUICK.accepts, exact=False) == len(SHELF)


def test_most_of_the_shelf_is_solved_to_the_optimum() -> None:
    feasible = [entry for entry in SHELF if entry.feasible]
    found = [LocalSearch(patience=4).solve(entry.build(), Budget()).objective for entry in feasible]
    best = sum(value <= entry.objective + 1e-6 for value, entry in zip(found, feasible, strict=True))
    assert best >= 0.8 * len(feasible)


def four_features(n: int = 150) -> People:
    rng = np.random.default_rng(1)
    columns = {name: rng.random(n) for name in ("p", "q", "r", "s")}
    city = rng.choice(["u", "v", "w"], n)
    y = (columns["p"] + columns["q"] - columns["r"] + 0.3 * (city == "v") > 0.6).astype(int)
    return people_from({**columns, "city": city}, y, {"g": rng.choice(["a", "b", "c"], n)})


@pytest.mark.parametrize(
    "limit",
    [
        {"max_features_per_test": 2},
        {"max_features_used": 2},
        {"max_feature_uses": 1},
        {"max_feature_uses": {"p": 0, "q": 1}},
        {"allowed_features": ["q", "city", "s"]},
        {"min_samples_leaf": 30},
        {"max_leaves": 3},
        {"max_features_per_test": 2, "max_features_used": 3, "max_feature_uses": 1, "min_samples_leaf": 10},
        {"max_features_per_test": 0},
        {"max_depth": 0},
    ],
)
def test_every_limit_is_kept_with_linear_tests(limit: dict[str, Any]) -> None:
    shape = Shape(**{"max_depth": 3, "branching": "linear", **limit})
    problem = pose(four_features(), shape=shape, fairness=DisparateImpact(), fairness_weight=0.1)
    solution = solved(problem)
    assert solution.score is not None
    assert solution.score.violations == ()
    assert solution.objective <= greedy_objective(problem)


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("notion", [DisparateImpact(), DisparateTreatment(n_neighbors=5), EqualOpportunity()])
def test_the_constrained_form_is_kept(notion: Notion, limit: float) -> None:
    problem = pose(diagonal_people(), shape=LINEAR, fairness=notion, max_discrimination=limit)
    solution = solved(problem, time_limit=5.0)
    assert solution.score is not None
    assert solution.score.discrimination <= limit + 1e-9
    assert solution.objective <= greedy_objective(problem)


def test_many_classes_and_costs() -> None:
    rng = np.random.default_rng(3)
    x, z = rng.random(120), rng.random(120)
    y = (x + z > 0.7).astype(int) + (x + z > 1.3).astype(int)
    costs = Misclassification([[0.1, 1, 4], [1, 0.1, 1], [4, 1, 0.1]])
    problem = pose(people_from({"x": x, "z": z}, y), loss=costs, shape=LINEAR)
    solution = solved(problem)
    assert trivial_bound(problem) == pytest.approx(0.1)
    assert solution.bound == pytest.approx(0.1)
    assert solution.objective < greedy_objective(problem) - 0.02


def test_a_good_start_is_not_lost() -> None:
    people = diagonal_people()
    problem = pose(people, shape=Shape(max_depth=1, branching="linear"))
    best = solved(problem).tree
    assert best is not None
    budget = Budget()
    budget.cancel()
    assert LocalSearch().solve(problem, budget, best).tree == best


def test_a_start_that_breaks_a_limit_is_left_aside() -> None:
    people = diagonal_people()
    deep = solved(pose(people, shape=Shape(max_depth=2, branching="linear"))).tree
    shallow = pose(people, shape=Shape(max_depth=1))
    solution = solved(shallow, deep)
    assert solution.tree is not None
    assert solution.tree.depth <= 1


@pytest.mark.parametrize("leaves", ["constant", "linear"])
def test_the_same_seed_gives_the_same_tree(leaves: Any) -> None:
    shape = Shape(max_depth=2, branching="linear", leaves=leaves)
    problem = pose(bent_people(80), shape=shape, fairness=DisparateImpact(), fairness_weight=0.2)
    first, second = (solved(problem, seed=4).tree for _ in range(2))
    assert first == second


@pytest.mark.parametrize("leaves", ["constant", "linear"])
def test_no_time_still_gives_a_tree(leaves: Any) -> None:
    problem = pose(bent_people(), shape=Shape(max_depth=2, branching="linear", leaves=leaves))
    solution = solved(problem, time_limit=1e-6)
    assert solution.stop is Stop.TIME_LIMIT


def test_endless_patience_ends_with_the_time() -> None:
    problem = pose(four_features(), shape=Shape(max_depth=3, branching="linear"))
    solution = solved(problem, search=LocalSearch(patience=10**6), time_limit=0.5)
    assert solution.stop in (Stop.TIME_LIMIT, Stop.GAP)
    assert solution.seconds >= 0.5 or solution.stop is Stop.GAP


def test_cancelling_gives_the_best_so_far() -> None:
    problem = pose(four_features(), shape=LINEAR)
    budget = Budget()
    budget.on_progress = lambda _: budget.cancel()
    solution = LocalSearch().solve(problem, budget)
    assert solution.stop is Stop.INTERRUPTED
    assert solution.tree is not None


def test_ctrl_c_gives_the_best_so_far() -> None:
    seen: list[TracePoint] = []

    def interrupt(point: TracePoint) -> None:
        seen.append(point)
        if len(seen) == 2:
            raise KeyboardInterrupt

    solution = LocalSearch().solve(pose(four_features(), shape=LINEAR), Budget(on_progress=interrupt))
    assert solution.stop is Stop.INTERRUPTED
    assert solution.status is Status.FEASIBLE
    assert solution.objective == seen[-1].objective


def test_a_bound_of_the_caller_is_passed_on() -> None:
    problem = pose(four_features(), shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.1)
    best = solved(problem).objective
    solution = LocalSearch(patience=1).solve(problem, Budget(), lower_bound=0.9 * best)
    assert solution.bound == 0.9 * best
    assert solution.gap == pytest.approx(1 - 0.9 * best / solution.objective)
    assert f"{0.9 * best:.6g}" in solution.message
    met = LocalSearch().solve(problem, Budget(gap=0.2), lower_bound=0.9 * best)
    assert met.stop is Stop.GAP


def test_a_bound_above_a_tree_is_an_error() -> None:
    with pytest.raises(InputError, match="is no bound for this problem"):
        LocalSearch().solve(pose(four_features(), shape=LINEAR), Budget(), lower_bound=0.9)


def test_the_message_claims_no_proof() -> None:
    solution = solved(pose(four_features(), shape=LINEAR))
    assert solution.status is Status.FEASIBLE
    assert "proves nothing by itself" in solution.message
    assert solution.solver == "local"
    objectives = [point.objective for point in solution.trace]
    assert objectives == sorted(objectives, reverse=True)


def test_a_table_without_features_has_a_constant_tree() -> None:
    people = people_from({"x": [1.0, 1.0, 1.0]}, [0, 1, 1], {"g": ["a", "b", "a"]})
    solution = solved(pose(people, shape=LINEAR, fairness=DisparateImpact()))
    assert solution.tree is not None
    assert solution.tree.nodes == (Leaf(1.0),)
