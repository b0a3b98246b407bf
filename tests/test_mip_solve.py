"""The mixed-integer solver as a whole: what it claims, when it stops, and what it says where nothing is possible."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from evenleaf.errors import DisagreementError, InputError
from evenleaf.fairness import DisparateImpact, Disparity
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.budget import Budget
from evenleaf.solve.greedy import greedy_tree
from evenleaf.solve.mip.backends import get_backend
from evenleaf.solve.mip.explain import explain_infeasible, limits_of
from evenleaf.solve.mip.polish import polished
from evenleaf.solve.mip.solve import FORMULATIONS, FormulationName, MipSolver, decoded
from evenleaf.solve.mip.strong import build_strong
from evenleaf.solve.result import PROOF_TOLERANCE, Status, Stop, TracePoint
from evenleaf.table import Task
from evenleaf.testing import brute_force, people_from
from evenleaf.tree import Branch, Leaf, ThresholdTest, Tree

both = pytest.mark.parametrize("formulation", sorted(FORMULATIONS))


def random_problem(
    n: int, *, seed: int = 0, task: Task = "classification", scale: float = 1.0, depth: int = 2
) -> Problem:
    rng = np.random.default_rng(seed)
    columns = {"a": rng.integers(0, 8, n).astype(float), "b": rng.integers(0, 6, n).astype(float)}
    group = rng.choice(["g", "h"], n)
    score = columns["a"] / 8 + (group == "g") * 0.3 + rng.normal(0, 0.4, n)
    y = (score > 0.6).astype(int) if task == "classification" else scale * np.round(score, 2)
    people = people_from(columns, y, {"group": group}, task=task)
    return pose(people, shape=Shape(max_depth=depth), fairness=DisparateImpact(), fairness_weight=0.1)


def impossible(**limits: Any) -> Problem:
    """Rows that count everybody: whatever is decided, D = N, so no limit below N can be kept."""
    people = people_from({"x": [0.0, 1.0, 2.0, 3.0]}, [0, 1, 0, 1], {"g": list("abab")})
    problem = pose(people, shape=Shape(max_depth=1, **limits), fairness=DisparateImpact(), max_discrimination=1.0)
    return replace(problem, disparity=Disparity(sp.csr_array(np.ones((1, 4))), np.ones((1, 2))))


def only_by_a_test(**limits: Any) -> Problem:
    """Rows that count the first two people decided 1 and the others decided 0: only a test keeps both from it."""
    problem = impossible(**limits)
    people = people_from({"x": [0.0, 1.0, 2.0, 3.0]}, [0, 0, 1, 1], {"g": list("abab")})
    rows = sp.csr_array(np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]]))
    weight = np.array([[0.0, 1.0], [1.0, 0.0]])
    return replace(problem, people=people, disparity=Disparity(rows, weight), max_discrimination=0.5)


@both
def test_a_proof_is_claimed_only_where_the_bound_meets_the_tree(formulation: FormulationName) -> None:
    problem = random_problem(10)
    solution = MipSolver(formulation).solve(problem, Budget())
    assert solution.proven
    assert solution.objective - solution.bound <= PROOF_TOLERANCE
    assert solution.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)
    assert (solution.gap, solution.stop) == (0.0, Stop.FINISHED)
    assert formulation in solution.solver
    assert "highs" in solution.solver


def check_trace(trace: tuple[TracePoint, ...], objective: float) -> None:
    assert trace
    bounds, objectives = [point.bound for point in trace], [point.objective for point in trace]
    assert bounds == sorted(bounds)
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == pytest.approx(objective, abs=1e-6)


@both
@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6])
def test_the_trace_and_the_bound_are_in_the_units_of_the_labels(formulation: FormulationName, scale: float) -> None:
    problem = random_problem(12, task="regression", scale=scale, depth=1)
    budget = Budget()
    solution = MipSolver(formulation).solve(problem, budget)
    assert solution.proven
    assert solution.objective == pytest.approx(brute_force(problem).objective, rel=1e-6)
    assert solution.bound == pytest.approx(solution.objective, rel=1e-6)
    assert [point.objective for point in solution.trace][-1] == pytest.approx(solution.objective, rel=1e-6)
    check_trace(
        tuple(TracePoint(p.seconds, p.bound / scale, p.objective / scale) for p in solution.trace),
        solution.objective / scale,
    )


def test_a_time_limit_returns_the_best_tree_with_an_honest_gap() -> None:
    problem = random_problem(150, depth=3)
    solution = MipSolver().solve(problem, Budget(time_limit=1.0))
    assert solution.status is Status.FEASIBLE
    assert solution.stop is Stop.TIME_LIMIT
    assert solution.tree is not None
    assert problem.evaluate(solution.tree) == solution.score
    assert 0.0 <= solution.bound < solution.objective
    assert 0.0 < solution.gap <= 1.0
    greedy = greedy_tree(problem)
    assert greedy is not None
    assert solution.objective <= problem.evaluate(greedy).objective


def test_a_gap_that_is_wide_enough_ends_the_search() -> None:
    solution = MipSolver().solve(random_problem(40), Budget(gap=0.9))
    assert solution.tree is not None
    assert solution.gap <= 0.9 + 1e-9
    assert solution.stop in (Stop.GAP, Stop.FINISHED)


def test_cancelled_from_the_progress_callback() -> None:
    def cancel(_: TracePoint) -> None:
        budget.cancel()

    budget = Budget(on_progress=cancel)
    problem = random_problem(150, depth=3)
    solution = MipSolver().solve(problem, budget)
    assert solution.status is Status.FEASIBLE
    assert solution.stop is Stop.INTERRUPTED
    assert budget.cancelled


@both
def test_never_worse_than_the_start_and_a_bad_start_does_no_harm(formulation: FormulationName) -> None:
    problem = random_problem(10)
    truth = brute_force(problem)
    schema = problem.people.features.schema
    poor = Tree(schema, problem.target, (Branch(ThresholdTest(1, 0.5), 1, 2), Leaf(1.0), Leaf(0.0)))
    for start in (None, poor, truth.tree):
        assert MipSolver(formulation).solve(problem, Budget(), start).objective == pytest.approx(truth.objective)


@both
def test_a_start_that_breaks_a_limit_is_not_used(formulation: FormulationName) -> None:
    problem = random_problem(10)
    deep = brute_force(problem).tree
    assert deep is not None
    assert deep.n_leaves > 2
    narrow = problem.with_shape(Shape(max_depth=2, max_leaves=2))
    solution = MipSolver(formulation).solve(narrow, Budget(), deep)
    assert solution.proven
    assert solution.objective == pytest.approx(brute_force(narrow).objective)


def test_options_go_to_the_solver() -> None:
    solution = MipSolver(options={"mip_max_nodes": 0, "mip_heuristic_effort": 0.0}).solve(
        random_problem(150, depth=3), Budget(time_limit=20)
    )
    assert solution.status is Status.FEASIBLE
    with pytest.raises(InputError, match="mip_max_nodes"):
        MipSolver(options={"mip_max_node": 1}).solve(random_problem(10), Budget())


def test_unknown_formulations_and_solvers_are_refused() -> None:
    with pytest.raises(InputError, match="'strong' or 'paper'"):
        MipSolver("weak")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="highs"):
        MipSolver(backend="higs").solve(random_problem(10), Budget())


@both
def test_nothing_possible_is_said_with_the_limit_that_forbids_it(formulation: FormulationName) -> None:
    solution = MipSolver(formulation).solve(impossible(max_leaves=2, min_samples_leaf=2), Budget())
    assert solution.status is Status.INFEASIBLE
    assert (solution.tree, solution.score, solution.bound) == (None, None, np.inf)
    assert "max_discrimination=1.0" in solution.message
    assert "max_leaves" not in solution.message
    assert "min_samples_leaf" not in solution.message


@pytest.mark.parametrize(
    ("limits", "named"),
    [
        ({"max_leaves": 1}, {"max_leaves"}),
        ({"min_samples_leaf": 3}, {"min_samples_leaf"}),
        ({"max_feature_uses": 0}, {"max_feature_uses"}),
        ({"max_features_used": 0}, {"max_features_used"}),
        ({"max_features_per_test": 0}, {"max_features_per_test"}),
        ({"allowed_features": []}, {"allowed_features"}),
        ({"max_leaves": 1, "allowed_features": ["x"]}, {"max_leaves"}),
    ],
    ids=str,
)
def test_the_fewest_limits_that_contradict_are_named(limits: dict[str, Any], named: set[str]) -> None:
    assert MipSolver().solve(only_by_a_test(), Budget()).proven
    problem = only_by_a_test(**limits)
    solution = MipSolver().solve(problem, Budget())
    assert solution.status is Status.INFEASIBLE
    found = {name for name in limits_of(problem) if f"{name}=" in solution.message}
    assert found == named | {"max_discrimination"}


def test_two_limits_that_forbid_alone_are_not_both_named() -> None:
    message = explain_infeasible(only_by_a_test(max_leaves=1, max_features_used=0))
    assert ("max_leaves=" in message) != ("max_features_used=" in message)


def test_no_time_to_explain_is_admitted() -> None:
    budget = Budget()
    budget.cancel()
    assert "time ran out" in explain_infeasible(impossible(max_leaves=2), budget)


def test_a_false_claim_is_not_believed() -> None:
    problem = random_problem(10)
    formulation = build_strong(problem)
    best = brute_force(problem).tree
    assert best is not None
    point = formulation.encode(best)
    model = replace(formulation.model, offset=-0.01)
    with pytest.raises(DisagreementError, match="claims"):
        decoded(replace(formulation, model=model), point)


@pytest.mark.parametrize("limit", [0.0, 0.05, 0.2])
def test_leaf_values_are_polished_to_the_last_digit(limit: float) -> None:
    problem = random_problem(14, task="regression", depth=1).with_limit(limit)
    best = brute_force(problem)
    assert best.tree is not None
    nudged = [
        replace(node, value=node.value * (1 + 1e-6) + 1e-7) if isinstance(node, Leaf) else node
        for node in best.tree.nodes
    ]
    tree = polished(problem, Tree(best.tree.schema, best.tree.target, tuple(nudged)))
    score = problem.evaluate(tree)
    assert score.feasible
    assert score.objective == pytest.approx(best.objective, abs=1e-9)


def test_classes_have_nothing_to_polish() -> None:
    problem = random_problem(8)
    tree = greedy_tree(problem)
    assert tree is not None
    assert polished(problem, tree) is tree


@pytest.mark.needs("scip")
@both
def test_scip_agrees(formulation: FormulationName) -> None:
    problem = random_problem(12)
    first = MipSolver(formulation, "scip").solve(problem, Budget())
    second = MipSolver(formulation, "highs").solve(problem, Budget())
    assert first.proven
    assert second.proven
    assert first.objective == pytest.approx(second.objective, abs=1e-7)


def test_the_default_solver_is_highs() -> None:
    assert get_backend(MipSolver().backend).name == "highs"
