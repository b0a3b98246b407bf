"""The lane for few disparity rows: the shelf, brute force on made-up problems, other solvers, and what limits leave."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateImpact, DisparateTreatment, EqualizedOdds, EqualOpportunity
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Status, get_solver
from evenleaf.solve.certify import check
from evenleaf.solve.fronts import FrontSolver, engine, lists, oracle, sweep, warmup, worker
from evenleaf.solve.fronts.clock import clock
from evenleaf.solve.fronts.lattice import only_one_label
from evenleaf.solve.mip.solve import MipSolver
from evenleaf.solve.search import SearchSolver
from evenleaf.table import People
from evenleaf.testing import check_against_brute_force, check_solver, people_from
from evenleaf.testing.strategies import problems
from stopped_early import best_tree_is_kept, figures_are_true_when_time_runs_out, start_is_kept

SOLVER = FrontSolver()
FEW_ROWS = ("impact", "conditional", "opportunity", "predictive", "odds", "mistreatment", "combination")


@pytest.fixture(scope="module", params=[(0, 2), (0, 8), (2000, 2)], ids=["boxes", "subsets one by one", "forks"])
def cramped(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lists and tables so short that tests are taken together and nodes are split all the time."""
    with pytest.MonkeyPatch.context() as patch:
        most_cuts, most_levels = request.param
        patch.setattr(oracle, "MOST_CUTS_TO_FORK", most_cuts)
        patch.setattr(oracle, "MOST_LEVELS", most_levels)
        patch.setattr(worker, "_POINTS", 8)
        patch.setattr(engine, "_MUCH_WORK", 0)
        patch.setattr(warmup, "_COARSE", 2)
        patch.setattr(oracle, "MOST_BLOCKS", 2)
        patch.setattr(oracle, "FEW_BLOCKS", 2)
        patch.setattr(lists, "MOST_SUBSETS", 2)
        patch.setattr(lists, "_MOST_SINGLES", 1)
        patch.setattr(lists, "_MOST_FORKS", 3)
        patch.setattr(sweep, "FEWEST_BLOCKS", 2)
        patch.setattr(sweep, "MOST_BLOCKS", 2)
        patch.setattr(sweep, "MOST_TESTS", 3)
        yield


def test_shelf() -> None:
    assert check_solver(SOLVER.solve, SOLVER.accepts) > 10


@given(problem=problems(task="classification", notions=FEW_ROWS))
@settings(max_examples=100)
def test_any_form(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, forms=("limit",), max_groups=4))
@settings(max_examples=60)
def test_constrained(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_depth=3, max_columns=2, max_values=3, max_groups=4)
)
@settings(max_examples=60)
def test_depth_three(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(
    problem=problems(
        task="classification", notions=FEW_ROWS, max_depth=3, max_columns=3, max_values=2, max_classes=2, max_groups=4
    )
)
@settings(max_examples=100)
def test_two_values_a_column(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(problem=problems(task="classification", max_people=10, max_values=6, max_classes=2, limits=False))
@settings(max_examples=60)
def test_many_levels(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_groups=4))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_short_lists(cramped: None, problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_depth=3, max_columns=2, max_values=3)
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_short_lists_at_depth_three(cramped: None, problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@pytest.mark.long
@given(problem=problems(task="classification", max_people=10, max_groups=4))
@settings(max_examples=2000)
def test_many_problems(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@pytest.mark.long
@given(problem=problems(task="classification", max_depth=3, max_columns=2, max_values=3, max_groups=4))
@settings(max_examples=2000)
def test_many_problems_of_depth_three(problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


@pytest.mark.long
@given(problem=problems(task="classification", max_people=8, max_groups=4))
@settings(max_examples=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_many_problems_with_short_lists(cramped: None, problem: Problem) -> None:
    check_against_brute_force(SOLVER.solve, problem)


def adult(n_people: int, seed: int = 1) -> People:
    return load_adult(race="white_or_not").sample(n_people, seed=seed).people()


def parity(n_people: int, **settings: float) -> Problem:
    depth = int(settings.pop("depth", 2))
    return pose(adult(n_people), fairness=DisparateImpact(), shape=Shape(max_depth=depth), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_agrees_with_the_search_for_many_rows(weight: float) -> None:
    problem = parity(200, fairness_weight=weight)
    one, two = SOLVER.solve(problem, Budget()), SearchSolver().solve(problem, Budget())
    assert one.proven
    assert two.proven
    assert one.objective == pytest.approx(two.objective, abs=1e-9)


def small_table(seed: int, n_people: int = 40) -> People:
    draw = np.random.default_rng(seed)
    features = {f"x{i}": draw.integers(0, 3, n_people).astype(float) for i in range(3)}
    y = ((features["x0"] > 0) ^ (draw.random(n_people) < 0.25)).astype(int)
    return people_from(features, y.tolist(), {"g": draw.choice(list("abc"), n_people).tolist()})


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("form", [{"fairness_weight": 0.3}, {"max_discrimination": 0.3}])
def test_agrees_with_the_mixed_integer_program(seed: int, form: dict[str, float]) -> None:
    shape = Shape(max_depth=2)
    problem = pose(small_table(seed), fairness=EqualizedOdds(1), shape=shape, **form)  # type: ignore[arg-type]
    one, two = SOLVER.solve(problem, Budget()), MipSolver().solve(problem, Budget(time_limit=120))
    assert one.proven
    assert two.proven
    assert one.objective == pytest.approx(two.objective, abs=1e-7)


def test_depth_four_is_never_worse_than_depth_three() -> None:
    people = small_table(3, 60)
    answers = [
        SOLVER.solve(
            pose(people, fairness=EqualOpportunity(1), max_discrimination=0.1, shape=Shape(max_depth=k)), Budget()
        )
        for k in (1, 2, 3, 4)
    ]
    assert all(answer.proven for answer in answers)
    assert all(deep.objective <= flat.objective + 1e-9 for flat, deep in pairwise(answers))


def test_trace_and_bound_are_true_when_time_runs_out() -> None:
    figures_are_true_when_time_runs_out(SOLVER, parity(300, fairness_weight=1.0), seconds=(0.01, 0.05, 0.2))


def test_cancelled_search_keeps_its_best_tree() -> None:
    best_tree_is_kept(SOLVER, parity(300, fairness_weight=1.0))


def test_start_is_never_lost() -> None:
    start_is_kept(SOLVER, parity(200, fairness_weight=1.0))


def test_gap_is_kept() -> None:
    assert SOLVER.solve(parity(300, fairness_weight=1.0), Budget(gap=0.2)).gap <= 0.2


def test_same_tree_every_time() -> None:
    problem = parity(200, max_discrimination=0.05)
    assert SOLVER.solve(problem, Budget()).tree == SOLVER.solve(problem, Budget()).tree


def test_weights_count_like_copies() -> None:
    people = adult(60, seed=3)
    copies = np.random.default_rng(0).integers(1, 4, people.n_people)
    heavy = People(people.features, people.outcome, people.groups, copies.astype(float))
    one = SOLVER.solve(pose(heavy, fairness=DisparateImpact()), Budget())
    two = SOLVER.solve(
        pose(people.take(np.repeat(np.arange(people.n_people), copies)), fairness=DisparateImpact()), Budget()
    )
    assert one.proven
    assert two.proven
    assert one.objective == pytest.approx(two.objective, abs=1e-9)


def sized(sizes: tuple[int, ...]) -> People:
    """Groups of these sizes, one feature that tells every person apart."""
    groups = [f"g{number}" for number, size in enumerate(sizes) for _ in range(size)]
    n_people = len(groups)
    outcome = np.random.default_rng(5).permutation(np.arange(n_people) % 2)
    return people_from({"x": np.arange(n_people, dtype=float)}, outcome.tolist(), {"g": groups})


@pytest.mark.parametrize(
    ("sizes", "limit", "only"),
    [((3, 4), 0.0, True), ((4, 6), 0.0, False), ((2, 3, 4), 0.0, True), ((3, 4), 0.5, False)],
)
def test_groups_without_a_common_divisor_leave_one_label(sizes: tuple[int, ...], limit: float, only: bool) -> None:
    problem = pose(sized(sizes), fairness=DisparateImpact(), max_discrimination=limit)
    assert only_one_label(problem) is only
    check_against_brute_force(SOLVER.solve, problem)


def test_people_outside_a_notion_are_not_bound_by_divisors() -> None:
    problem = pose(sized((3, 4)), fairness=EqualOpportunity(1), max_discrimination=0.0)
    assert not only_one_label(problem)
    check_against_brute_force(SOLVER.solve, problem)


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("limit", [0.0, 0.01, 0.3])
def test_a_limit_that_every_tree_keeps_is_none(limit: float, depth: int) -> None:
    """Every kind of people is half of either group, so that no tree can treat the groups unequally."""
    number = np.arange(240) // 2
    people = people_from({"x": number}, number == 61, {"g": ["ab"[i] for i in np.arange(240) % 2]})
    shape = Shape(max_depth=depth)
    limited = pose(people, fairness=DisparateImpact(), max_discrimination=limit, shape=shape)
    answer = SOLVER.solve(limited, Budget())
    free = SOLVER.solve(pose(people, fairness=DisparateImpact(), fairness_weight=0.0, shape=shape), Budget())
    assert answer.status is free.status is Status.PROVEN
    assert answer.objective == pytest.approx(free.objective, abs=1e-9)
    assert answer.certificate is not None
    assert check(answer.certificate, limited).holds


def test_clock_stops_long_kernels() -> None:
    stop = np.zeros(1, dtype=np.bool_)
    with clock(0.01, stop):
        while not stop[0]:
            pass
    assert stop[0]
    with clock(np.inf, stop):
        assert not stop[0]


def test_auto_takes_it_for_few_rows_only() -> None:
    people = adult(60)
    assert get_solver("auto", pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=3))).name == "fronts"
    assert get_solver("auto", pose(people, fairness=DisparateTreatment())).name == "search"


def test_what_it_does_not_take_on() -> None:
    people = adult(60)
    assert not SOLVER.accepts(pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=5)))
    assert not SOLVER.accepts(pose(people, fairness=DisparateImpact(), shape=Shape(branching="linear")))
