"""Limits that join tests, inside the exact search beyond depth 2: brute force, real data, and what time leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.datasets import load_adult
from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Solution, Status, get_solver
from evenleaf.solve.certificate import Certificate, make_certificate
from evenleaf.solve.certify import check
from evenleaf.solve.proofs.labels import DEEPEST_LIMITED
from evenleaf.solve.search import SearchSolver, rationed, rationed_pairs
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.solve.search.kernels.labels import crowded_subset
from evenleaf.solve.search.usage import deep_supply, supply_of
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Leaf, Tree
from stopped_early import figures_are_true_when_time_runs_out

SOLVER = SearchSolver()


@st.composite
def limited(draw: st.DrawFn, /, depth: int, **made: Any) -> Problem:
    """A made-up problem with one to three of the limits that join tests."""
    problem = draw(problems(task="classification", limits=False, **made))
    names = problem.people.features.schema.names
    limits: dict[str, st.SearchStrategy[Any]] = {
        "max_leaves": st.integers(2, 7),
        "min_samples_leaf": st.integers(2, 3),
        "max_features_used": st.integers(1, 2),
        "max_feature_uses": st.integers(1, 3) | st.dictionaries(st.sampled_from(names), st.integers(0, 2), min_size=1),
    }
    chosen = draw(st.lists(st.sampled_from(list(limits)), min_size=1, max_size=3, unique=True))
    shape: dict[str, Any] = {name: draw(limits[name]) for name in chosen}
    return problem.with_shape(Shape(max_depth=depth, **shape))


def agree(problem: Problem) -> None:
    """The search proves what brute force finds."""
    assert SOLVER.accepts(problem)
    answer, expected = SOLVER.solve(problem, Budget()), brute_force(problem)
    assert answer.status is expected.status
    if expected.status is Status.PROVEN:
        assert answer.objective == pytest.approx(expected.objective, abs=1e-9)
        assert answer.tree is not None
        assert problem.evaluate(answer.tree).feasible
    if answer.proven and problem.shape.max_depth <= DEEPEST_LIMITED:
        assert answer.certificate is not None
        verdict = check(answer.certificate, problem)
        assert verdict.holds, verdict.reason
        nothing_worse_is_certified(answer.certificate, problem)


def nothing_worse_is_certified(certificate: Certificate, problem: Problem) -> None:
    """The same proof for a tree that is beaten by another one is refused, whatever multipliers it has."""
    for label in range(problem.people.outcome.n_classes):
        tree = Tree(problem.people.features.schema, problem.target, (Leaf(float(label)),))
        score = problem.evaluate(tree)
        if score.feasible and score.objective > certificate.objective + 1e-6:
            forged = make_certificate(problem, tree, score.objective, certificate.tolerance, certificate.proof)
            assert not check(forged, problem).holds


@given(problem=limited(3, max_people=8, forms=("weight", "plain")))
@settings(max_examples=150)
def test_penalised_depth_three(problem: Problem) -> None:
    agree(problem)


@given(problem=limited(3, max_people=7, forms=("limit",)))
@settings(max_examples=60)
def test_constrained_depth_three(problem: Problem) -> None:
    agree(problem)


@given(problem=limited(4, max_people=5))
@settings(max_examples=25)
def test_depth_four(problem: Problem) -> None:
    agree(problem)


@given(problem=limited(3, max_people=7, max_values=5, max_classes=2))
@settings(max_examples=80)
def test_child_tests_whose_levels_pick_their_sides(problem: Problem) -> None:
    """Long lists of levels are made of short ones here, so that brute force can judge them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rationed, "_MOST_WALKED_LEVELS", 2)
        patch.setattr(rationed, "_MOST_WALKED_REFINED", 2)
        patch.setattr(rationed_pairs, "_FEW_LEVELS", 2)
        agree(problem)


def test_what_a_smaller_subtree_does_as_well_today_is_kept_for_tomorrow() -> None:
    """With people free, a leaf costs no more than a test of many levels; once they are placed, the test is needed."""
    people = people_from({"x": list("ppppqr")}, [0, 0, 0, 0, 0, 1], {"g": list("abaaaa")})
    shape = Shape(max_depth=3, max_leaves=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rationed, "_MOST_WALKED_LEVELS", 2)
        patch.setattr(rationed, "_MOST_WALKED_REFINED", 2)
        agree(pose(people, fairness=DisparateImpact(), max_discrimination=0.25, shape=shape))


@pytest.mark.long
@given(problem=limited(3, max_people=9, max_values=5))
@settings(max_examples=2000)
def test_many_limited_problems(problem: Problem) -> None:
    try:
        expected = brute_force(problem)
    except InputError:
        return  # too many trees to try
    answer = SOLVER.solve(problem, Budget())
    assert answer.status is expected.status
    assert answer.objective == pytest.approx(expected.objective, abs=1e-9)


def adult_problem(n_people: int = 80, **limits: Any) -> Problem:
    people = load_adult().sample(n_people, seed=1).people()
    allowed = ("age", "education-num", "marital-status", "sex", "hours-per-week")
    shape = Shape(max_depth=3, allowed_features=allowed, **limits)
    return pose(people, fairness=DisparateTreatment(), fairness_weight=1.0, shape=shape)


LIMITS: list[dict[str, Any]] = [
    {"max_leaves": 5},
    {"min_samples_leaf": 10},
    {"max_features_used": 2},
    {"max_feature_uses": 1},
    {"max_leaves": 6, "min_samples_leaf": 5, "max_features_used": 3, "max_feature_uses": {"age": 1}},
]


@pytest.mark.parametrize("limits", LIMITS)
def test_auto_takes_the_search(limits: dict[str, Any]) -> None:
    assert get_solver("auto", adult_problem(60, **limits)).name == "search"


@pytest.fixture(scope="module")
def free() -> Solution:
    """The answer without limits."""
    return SOLVER.solve(adult_problem(), Budget())


@pytest.mark.parametrize("limits", LIMITS)
def test_people_of_adult(free: Solution, limits: dict[str, Any]) -> None:
    """A limit makes nothing better, keeps itself, is proven, and has a certificate."""
    bound = adult_problem(**limits)
    answer = SOLVER.solve(bound, Budget())
    assert free.proven
    assert answer.proven
    assert answer.objective >= free.objective - 1e-9
    assert answer.tree is not None
    assert bound.evaluate(answer.tree).feasible
    assert answer.certificate is not None
    verdict = check(answer.certificate, bound)
    assert verdict.holds, verdict.reason


def test_any_number_of_workers_gives_the_same_answer() -> None:
    problem = adult_problem(100, max_leaves=5, min_samples_leaf=4)
    one, three = (SOLVER.solve(problem, Budget(n_jobs=n_jobs)) for n_jobs in (1, 3))
    assert one.tree == three.tree
    assert one.message == three.message


def test_bound_is_true_when_time_runs_out() -> None:
    figures_are_true_when_time_runs_out(SOLVER, adult_problem(max_leaves=5, min_samples_leaf=5))


def test_limits_that_no_tree_reaches_change_nothing() -> None:
    problem = adult_problem(60)
    compiled, schema = compile_problem(problem), problem.people.features.schema
    for limits in ({"max_leaves": 8}, {"max_features_used": 7}, {"max_feature_uses": 7}):
        shape = Shape(max_depth=3, allowed_features=problem.shape.allowed_features, **limits)  # type: ignore[arg-type]
        assert deep_supply(shape, schema, compiled) is None


def test_a_use_holds_only_what_is_limited() -> None:
    """With a limit on leaves alone subtrees differ by their number of tests; nothing else is kept apart."""
    people = people_from({"x": [0, 1, 2, 3], "z": [0, 1, 0, 1]}, [0, 1, 1, 0], {"g": ["a", "b", "a", "b"]})
    problem = pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=3, max_leaves=4))
    compiled, schema = compile_problem(problem), people.features.schema
    rows, _ = supply_of(problem.shape, schema, compiled).of_three
    assert sorted((row >= 0).sum() for row in rows) == [0, 1, 2, 3]
    twice = supply_of(Shape(max_depth=3, max_feature_uses={"z": 1}), schema, compiled)
    rows, use_of = twice.of_three
    assert {tuple(row[row >= 0]) for row in rows} == {(), (0,), (0, 0), (0, 0, 0)}
    assert use_of[1, 1, 0] == -1
    assert use_of[1, 0, 0] >= 0


@given(data=st.data())
@settings(max_examples=100)
def test_levels_with_enough_people(data: st.DataObject) -> None:
    """The table of people so far against every subset of levels."""
    n_levels, n_labels = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 2))
    costs = st.sampled_from((-1.0, -0.5, 0.0, 0.25, 1.0))
    sums = np.array([[data.draw(costs) for _ in range(n_labels)] for _ in range(n_levels)])
    count = np.array([data.draw(st.integers(0, 4)) for _ in range(n_levels)], dtype=np.int64)
    least = data.draw(st.integers(1, 5))
    chosen = np.zeros(n_levels, dtype=np.bool_)
    cost, first, second = crowded_subset(sums, count, least, chosen)
    priced = np.column_stack([np.zeros(n_levels), sums])
    best = np.inf
    for bits in range(1 << n_levels):
        left = (bits >> np.arange(n_levels)) & 1 == 1
        if min(count[left].sum(), count[~left].sum()) >= least:
            pairs = [(a, b) for a in range(n_labels + 1) for b in range(n_labels + 1) if a != b]
            best = min(best, *(priced[left, a].sum() + priced[~left, b].sum() for a, b in pairs))
    if np.isinf(best):
        assert cost > 1e17
    else:
        assert cost == pytest.approx(best)
        assert priced[chosen, first].sum() + priced[~chosen, second].sum() == pytest.approx(best)
        assert min(count[chosen].sum(), count[~chosen].sum()) >= least
