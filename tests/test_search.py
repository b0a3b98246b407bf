"""The exact search: the shelf, brute force on made-up problems, and what a limit leaves behind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.datasets import load_adult
from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Status
from evenleaf.solve.search import SearchSolver
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.solve.search.decode import decode
from evenleaf.solve.search.kernels import announce_compilation
from evenleaf.solve.search.plan import Plan
from evenleaf.testing import brute_force, check_solver, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Branch, Leaf, SubsetTest, ThresholdTest, Tree
from stopped_early import best_tree_is_kept, figures_are_true_when_time_runs_out, start_is_kept

SOLVER = SearchSolver()


def agree(problem: Problem) -> None:
    """The search proves what brute force finds, wherever it takes the problem on."""
    if not SOLVER.accepts(problem):
        return
    answer = SOLVER.solve(problem, Budget())
    expected = brute_force(problem)
    assert answer.status is expected.status
    if expected.status is Status.PROVEN:
        assert answer.objective == pytest.approx(expected.objective, abs=1e-9)
        assert answer.tree is not None
        assert problem.evaluate(answer.tree).feasible


def test_shelf() -> None:
    check_solver(SOLVER.solve, SOLVER.accepts)


@given(problem=problems(task="classification", forms=("weight", "plain")))
@settings(max_examples=150)
def test_penalised(problem: Problem) -> None:
    agree(problem)


@given(problem=problems(task="classification", forms=("limit",), max_people=6))
@settings(max_examples=60)
def test_constrained(problem: Problem) -> None:
    agree(problem)


@given(problem=problems(task="classification", max_people=10, max_values=6, max_classes=2, limits=False))
@settings(max_examples=60)
def test_many_levels(problem: Problem) -> None:
    agree(problem)


@pytest.mark.long
@given(problem=problems(task="classification", max_people=12))
@settings(max_examples=2000)
def test_many_problems(problem: Problem) -> None:
    agree(problem)


def adult_problem(n_people: int, depth: int = 2) -> Problem:
    people = load_adult().sample(n_people, seed=1).people()
    # Deep trees on few people could learn every level of a long list by heart: those columns are left out there.
    allowed = ("age", "education-num", "marital-status", "sex", "hours-per-week") if depth > 2 else None
    shape = Shape(max_depth=depth, allowed_features=allowed)
    return pose(people, fairness=DisparateTreatment(), fairness_weight=1.0, shape=shape)


def test_trace_and_bound_are_true_when_time_runs_out() -> None:
    figures_are_true_when_time_runs_out(SOLVER, adult_problem(400))


def test_cancelled_search_keeps_its_best_tree() -> None:
    best_tree_is_kept(SOLVER, adult_problem(300))


def test_gap_is_kept() -> None:
    problem = adult_problem(400)
    answer = SOLVER.solve(problem, Budget(gap=0.2))
    assert answer.gap <= 0.2


def test_start_is_never_lost() -> None:
    start_is_kept(SOLVER, adult_problem(300))


def test_weights_count_like_copies() -> None:
    people = load_adult().sample(60, seed=3).people()
    copies = np.random.default_rng(0).integers(1, 4, people.n_people)
    heavy = people.take(np.arange(people.n_people))
    weighted = pose(
        type(heavy)(heavy.features, heavy.outcome, heavy.groups, copies.astype(float)), fairness=DisparateImpact()
    )
    repeated = pose(people.take(np.repeat(np.arange(people.n_people), copies)), fairness=DisparateImpact())
    one, two = SOLVER.solve(weighted, Budget()), SOLVER.solve(repeated, Budget())
    assert one.proven
    assert two.proven
    assert one.objective == pytest.approx(two.objective, abs=1e-9)


def test_same_tree_every_time() -> None:
    problem = adult_problem(300)
    assert SOLVER.solve(problem, Budget()).tree == SOLVER.solve(problem, Budget()).tree


@given(problem=problems(task="classification", max_people=6, limits=False))
@settings(max_examples=60)
def test_depth_three(problem: Problem) -> None:
    agree(problem.with_shape(Shape(max_depth=3)))


def test_a_root_that_sends_all_one_way_makes_room_for_what_is_below() -> None:
    """Left out with everything below it, the best tree of such a box would never be offered."""
    people = people_from({"x": [0, 0, 1, 1], "z": [0, 1, 0, 1]}, [0, 1, 1, 0], {"g": ["a", "b", "a", "b"]})
    problem = pose(people, shape=Shape(max_depth=3))
    compiled = compile_problem(problem)
    everybody, lower = np.array([True, True]), np.array([True, False])
    for root in (Plan(0, everybody, parity(lower)), Plan(0, ~everybody, None, parity(lower))):
        assert problem.evaluate(decode(root, problem, compiled)).loss == pytest.approx(0.0)


def parity(lower: np.ndarray) -> Plan:
    return Plan(0, lower, Plan(1, lower), Plan(1, lower))


@given(problem=problems(task="classification", max_people=5, limits=False))
@settings(max_examples=15)
def test_depth_four(problem: Problem) -> None:
    agree(problem.with_shape(Shape(max_depth=4)))


@given(
    problem=problems(task="classification", max_people=9, max_values=5, limits=False),
    depth=st.integers(1, 2),
    least=st.integers(2, 4),
)
@settings(max_examples=60)
def test_least_people_a_leaf(problem: Problem, depth: int, least: int) -> None:
    agree(problem.with_shape(Shape(max_depth=depth, min_samples_leaf=least)))


def test_deep_tree_is_no_worse_than_a_shallow_one() -> None:
    shallow, deep = (
        SOLVER.solve(adult_problem(120, 3).with_shape(replace(adult_problem(120, 3).shape, max_depth=depth)), Budget())
        for depth in (2, 3)
    )
    assert shallow.proven
    assert deep.proven
    assert deep.objective <= shallow.objective + 1e-9


def test_many_levels_at_depth_three() -> None:
    """A column with more levels than subsets are listed for: the pairs of stumps must find what a plain list does."""
    random = np.random.default_rng(4)
    levels = random.integers(0, 13, 60)
    number = random.integers(0, 4, 60)
    labels = (((levels % 3 == 0) & (number > 1)) | ((levels % 3 == 1) & (number < 1))).astype(int)
    labels[:4] ^= 1
    people = people_from(
        {"job": [f"job {level:02d}" for level in levels], "size": number.astype(float)},
        labels,
        {"group": ["a" if bit else "b" for bit in random.integers(0, 2, 60)]},
    )
    problem = pose(people, fairness=DisparateImpact(), fairness_weight=0.5, shape=Shape(max_depth=3))
    answer = SOLVER.solve(problem, Budget(time_limit=60))
    assert answer.proven
    assert answer.bound == pytest.approx(answer.objective)
    assert answer.objective <= problem.evaluate(planted(problem)).objective + 1e-9


def planted(problem: Problem) -> Tree:
    """The tree that made the labels: jobs by their remainder of three, then the size."""
    schema = problem.people.features.schema
    codes = {rest: tuple(c for c, job in enumerate(schema[0].levels) if int(job[-2:]) % 3 == rest) for rest in (0, 1)}
    return Tree(
        schema,
        problem.target,
        (
            Branch(SubsetTest(0, codes[0], False), 1, 2),
            Branch(ThresholdTest(1, 1.5, False), 3, 4),
            Branch(SubsetTest(0, codes[1], False), 5, 6),
            Leaf(0.0),
            Leaf(1.0),
            Branch(ThresholdTest(1, 0.5, False), 7, 8),
            Leaf(0.0),
            Leaf(1.0),
            Leaf(0.0),
        ),
    )


@pytest.mark.parametrize("depth", [2, 3])
def test_any_number_of_workers_gives_the_same_answer_and_proof(depth: int) -> None:
    problem = adult_problem(150, depth)
    one, three = (SOLVER.solve(problem, Budget(n_jobs=n_jobs)) for n_jobs in (1, 3))
    assert one.tree == three.tree
    assert one.objective == three.objective
    assert one.message == three.message
    assert one.certificate.to_bytes() == three.certificate.to_bytes()


def test_little_memory_slows_but_does_not_change_the_answer() -> None:
    problem = adult_problem(300)
    plenty, little = SOLVER.solve(problem, Budget()), SearchSolver(memory=0.01).solve(problem, Budget())
    assert plenty.certificate is not None
    assert little.certificate is None
    assert "memory" in little.message
    assert little.proven
    assert little.objective == pytest.approx(plenty.objective, abs=1e-9)


def test_no_certificate_where_none_is_wanted() -> None:
    answer = SearchSolver(certificate=False).solve(adult_problem(100), Budget())
    assert answer.proven
    assert answer.certificate is None


def test_memory_must_be_positive() -> None:
    with pytest.raises(InputError, match="memory"):
        SearchSolver(memory=0)


def test_trace_rises_and_falls() -> None:
    answer = SOLVER.solve(adult_problem(300), Budget())
    bounds = [point.bound for point in answer.trace]
    objectives = [point.objective for point in answer.trace]
    assert len(answer.trace) > 1
    assert bounds == sorted(bounds)
    assert objectives == sorted(objectives, reverse=True)
    assert bounds[-1] == pytest.approx(objectives[-1])


def test_compilation_is_announced_once(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    fresh = SimpleNamespace(
        signatures=(),
        py_func=SimpleNamespace(__qualname__="never_compiled"),
        stats=SimpleNamespace(cache_path=str(tmp_path)),
    )
    assert announce_compilation(fresh)
    assert not announce_compilation(fresh)
    assert caplog.text.count("compiling once") == 1


def test_what_it_does_not_take_on() -> None:
    people = load_adult().sample(60, seed=1).people()
    linear = pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=1, branching="linear"))
    assert not SOLVER.accepts(linear)
    assert SOLVER.accepts(linear.with_shape(Shape(max_depth=3, max_leaves=5)))
