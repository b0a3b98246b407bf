"""Both formulations against brute force: the same optimum for every loss, notion, limit and form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.budget import Budget
from evenleaf.solve.mip.solve import FORMULATIONS, FormulationName, MipSolver
from evenleaf.table import Task
from evenleaf.testing import brute_force, check_against_brute_force, people_from
from evenleaf.testing.strategies import NOTIONS, Form, problems

both = pytest.mark.parametrize("formulation", sorted(FORMULATIONS))
CLASSES_ONLY = {"opportunity", "predictive", "odds", "mistreatment"}
LIMITS: list[dict[str, Any]] = [
    {"max_leaves": 1},
    {"max_leaves": 2},
    {"max_leaves": 3},
    {"min_samples_leaf": 2},
    {"min_samples_leaf": 3},
    {"min_samples_leaf": 99},
    {"max_features_used": 0},
    {"max_features_used": 1},
    {"max_features_per_test": 0},
    {"max_features_per_test": 1},
    {"max_feature_uses": 0},
    {"max_feature_uses": 1},
    {"max_feature_uses": {"x0": 1}},
    {"max_feature_uses": {"x0": 0}},
    {"allowed_features": ["x0"]},
    {"allowed_features": []},
    {"max_leaves": 3, "max_features_used": 1, "min_samples_leaf": 2},
    {"max_leaves": 3, "max_feature_uses": 1},
]


def check(problem: Problem, formulation: FormulationName) -> None:
    check_against_brute_force(MipSolver(formulation).solve, problem)


def busy_problem(seed: int, shape: Shape) -> Problem:
    """Eight people without a pattern: many different trees are worth trying, so a limit makes a difference."""
    rng = np.random.default_rng(seed)
    n = 8
    x0 = np.where(rng.random(n) < 0.15, np.nan, rng.integers(0, 5, n))
    x1 = rng.choice(np.array(["p", "q", "r", None], dtype=object), n, p=[0.4, 0.3, 0.2, 0.1])
    task: Task = "regression" if seed % 3 == 0 else "classification"
    y = rng.integers(0, 5 if task == "regression" else 2 + seed % 2, n)
    groups = np.append(["a", "b"], rng.choice(["a", "b", "c"], n - 2))
    people = people_from({"x0": x0, "x1": x1}, y, {"g": groups}, task=task, classes=None)
    form: dict[str, Any] = {"fairness_weight": 0.2} if seed % 2 else {"max_discrimination": 0.4}
    return pose(people, shape=shape, fairness=DisparateImpact(), **form)


@settings(max_examples=150)
@given(problem=problems(max_people=7))
def test_the_strong_formulation_finds_what_brute_force_finds(problem: Problem) -> None:
    check(problem, "strong")


@settings(max_examples=80)
@given(problem=problems(max_people=6, max_columns=2))
def test_the_literal_formulation_finds_what_brute_force_finds(problem: Problem) -> None:
    check(problem, "paper")


@both
@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_limits_mean_what_they_mean_of_the_tidied_tree(formulation: FormulationName, limit: dict[str, Any]) -> None:
    for seed in (1, 2, 3):
        check(busy_problem(seed, Shape(max_depth=2, **limit)), formulation)


@pytest.mark.long
@both
@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("seed", range(4, 24))
def test_limits_on_more_people(formulation: FormulationName, limit: dict[str, Any], seed: int) -> None:
    check(busy_problem(seed, Shape(max_depth=2, **limit)), formulation)


@both
@pytest.mark.parametrize("seed", range(20, 26))
def test_people_without_a_pattern(formulation: FormulationName, seed: int) -> None:
    check(busy_problem(seed, Shape(max_depth=2)), formulation)


@both
@pytest.mark.parametrize("form", ["weight", "limit"])
@pytest.mark.parametrize("notion", NOTIONS)
def test_every_notion_in_both_forms(formulation: FormulationName, notion: str, form: Form) -> None:
    tasks = ("classification",) if notion in CLASSES_ONLY else ("classification", "regression")

    @settings(max_examples=4)
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        task = data.draw(st.sampled_from(tasks))
        kinds = problems(task=task, notions=[notion], forms=[form], max_people=7, max_columns=2, limits=False)  # type: ignore[arg-type]
        check(data.draw(kinds), formulation)

    run()


@both
@settings(max_examples=10)
@given(problem=problems(max_people=6, max_columns=1, max_values=3, max_depth=3))
def test_depth_three(formulation: FormulationName, problem: Problem) -> None:
    check(problem.with_shape(replace(problem.shape, max_depth=3)), formulation)


@settings(max_examples=10)
@given(problem=problems(max_people=7, max_columns=2))
def test_the_start_may_be_the_optimum_already(problem: Problem) -> None:
    truth = brute_force(problem)
    found = MipSolver().solve(problem, Budget(), truth.tree)
    assert found.status is truth.status
    assert found.objective == pytest.approx(truth.objective, abs=1e-9)


@pytest.mark.long
@settings(max_examples=1500)
@given(problem=problems())
def test_the_strong_formulation_on_many_problems(problem: Problem) -> None:
    check(problem, "strong")


@pytest.mark.long
@settings(max_examples=600)
@given(problem=problems())
def test_the_literal_formulation_on_many_problems(problem: Problem) -> None:
    check(problem, "paper")


@pytest.mark.long
@both
@settings(max_examples=100)
@given(problem=problems(max_people=6, max_columns=2, max_values=3, max_depth=3))
def test_depth_three_on_many_problems(formulation: FormulationName, problem: Problem) -> None:
    check(problem.with_shape(replace(problem.shape, max_depth=3)), formulation)


@pytest.mark.long
@pytest.mark.needs("scip")
@both
@settings(max_examples=150)
@given(problem=problems())
def test_scip_finds_what_brute_force_finds(formulation: FormulationName, problem: Problem) -> None:
    check_against_brute_force(MipSolver(formulation, "scip").solve, problem)
