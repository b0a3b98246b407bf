"""The one door to all solvers: what auto takes, and what is refused."""

from __future__ import annotations

import pytest

from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Status, get_solver, solve
from evenleaf.testing import people_from

COLUMNS = {"x": [0, 1, 2, 3, 4, 5], "level": ["p", "q", "p", "q", "r", "r"]}
GROUPS = {"g": ["a", "b", "a", "b", "a", "b"]}


def classes(**shape: object) -> Problem:
    people = people_from(COLUMNS, [0, 0, 1, 1, 0, 1], GROUPS)
    return pose(people, fairness=DisparateImpact(), fairness_weight=0.3, shape=Shape(**shape))  # type: ignore[arg-type]


def numbers(**shape: object) -> Problem:
    people = people_from(COLUMNS, [0.0, 1.0, 2.0, 2.0, 5.0, 4.0], GROUPS, task="regression")
    return pose(people, fairness=DisparateImpact(), fairness_weight=0.3, shape=Shape(**shape))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("problem", "name"),
    [
        (classes(max_depth=2), "fronts"),
        (classes(max_depth=4), "fronts"),
        (classes(max_depth=5), "search"),
        (classes(max_depth=1, branching="linear"), "mip"),
        (classes(max_depth=2, min_samples_leaf=2), "fronts"),
        (numbers(max_depth=1), "search"),
        (numbers(max_depth=3), "search"),
        (numbers(max_depth=4), "mip"),
        (numbers(max_depth=1, leaves="linear"), "mip"),
    ],
)
def test_auto_takes_an_exact_solver(problem: Problem, name: str) -> None:
    assert get_solver("auto", problem).name == name


def test_both_exact_solvers_agree() -> None:
    problem = classes(max_depth=2)
    answers = [solve(problem, solver=name) for name in ("search", "mip")]
    assert all(answer.proven for answer in answers)
    assert answers[0].objective == pytest.approx(answers[1].objective, abs=1e-7)


@pytest.mark.parametrize("name", ["greedy", "local"])
def test_heuristics_never_claim_a_proof(name: str) -> None:
    problem = classes(max_depth=2)
    answer = solve(problem, Budget(time_limit=5), solver=name)
    assert answer.status is Status.FEASIBLE
    assert answer.objective >= solve(problem).objective - 1e-9


def test_a_start_is_handed_on() -> None:
    problem = classes(max_depth=2)
    best = solve(problem)
    assert solve(problem, solver="greedy", start=best.tree).objective == pytest.approx(best.objective)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("serach", None, "there is no solver 'serach'; did you mean 'search'?"),
        ("auto", {"backend": "highs"}, "solver_options need a solver"),
        ("mip", {"backnd": "highs"}, "the mip solver does not take these options"),
        ("mip", {"formulation": "weak"}, "the formulation must be 'strong' or 'paper'"),
    ],
)
def test_bad_requests(name: str, options: dict[str, str] | None, words: str) -> None:
    with pytest.raises(InputError, match=words.replace("?", r"\?")):
        solve(classes(max_depth=1), solver=name, options=options)


def test_a_solver_that_cannot_is_refused_not_replaced() -> None:
    with pytest.raises(InputError, match="the search solver cannot answer this problem"):
        solve(classes(max_depth=1, branching="linear"), solver="search")
