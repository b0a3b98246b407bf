"""Linear tests and linear leaves: never worse than single-feature trees, better where the data ask for them."""

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
from evenleaf.solve.mip.blocks_leaves import STEEPEST, linear_rule
from evenleaf.solve.mip.blocks_linear import MARGIN, SMALLEST_MARGIN, margin_for
from evenleaf.solve.mip.instance import gather
from evenleaf.solve.mip.placement import NotEncodableError
from evenleaf.solve.mip.solve import FORMULATIONS, FormulationName, MipSolver
from evenleaf.solve.mip.terms import Terms, terms_of
from evenleaf.solve.result import Solution, Status
from evenleaf.table import Task
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Branch, Leaf, LinearTest, Term, Tree

both = pytest.mark.parametrize("formulation", sorted(FORMULATIONS))


def posed(columns: dict[str, Any], y: Any, shape: Shape, task: Task = "classification", **form: float) -> Problem:
    groups = {"g": ["a", "b"] * (len(y) // 2) + ["a"] * (len(y) % 2)}
    people = people_from(columns, y, groups, task=task)
    chosen: dict[str, Any] = form or {"fairness_weight": 0.0}
    return pose(people, shape=shape, fairness=DisparateImpact(), **chosen)


def solved(problem: Problem, formulation: FormulationName = "strong", start: Tree | None = None) -> Solution:
    """A proven answer, evaluated again."""
    solution = MipSolver(formulation).solve(problem, Budget(), start)
    assert solution.status is Status.PROVEN
    assert solution.tree is not None
    assert problem.evaluate(solution.tree) == solution.score
    assert solution.score is not None
    assert solution.score.feasible
    return solution


def linear_terms(problem: Problem) -> Terms:
    return terms_of(gather(problem, merge=True))


def diagonal(size: int = 4) -> tuple[dict[str, Any], np.ndarray]:
    """People on a grid, above and below a diagonal: one linear test parts them, no single-feature one does."""
    x, y = (side.ravel().astype(float) for side in np.mgrid[:size, :size])
    return {"x": x, "y": y}, (x + y >= size).astype(int)


@both
def test_one_linear_test_does_what_no_single_one_can(formulation: FormulationName) -> None:
    columns, y = diagonal()
    single = posed(columns, y, Shape(max_depth=1))
    linear = single.with_shape(Shape(max_depth=1, branching="linear"))
    assert brute_force(single).objective > 0.1
    solution = solved(linear, formulation)
    assert solution.objective == 0.0
    assert solution.tree is not None
    assert isinstance(solution.tree.tests[0], LinearTest)
    assert "margin" in solution.message


@both
def test_a_difference_needs_coefficients_that_add_up_to_zero(formulation: FormulationName) -> None:
    """The paper's Σ p = 1 excludes x − y ≤ 0; this formulation must not."""
    rng = np.random.default_rng(1)
    x, y = rng.permutation(14).astype(float), rng.permutation(14).astype(float)
    problem = posed({"x": x, "y": y}, (x > y).astype(int), Shape(max_depth=1, branching="linear"))
    assert solved(problem, formulation).objective == 0.0


@both
def test_levels_enter_linear_tests_one_by_one(formulation: FormulationName) -> None:
    kind = np.array(["p", "q", "r", None] * 4, dtype=object)
    x = np.repeat([0.0, 1.0, 2.0, 3.0], 4)
    shift = np.array([{"p": 0, "q": 1, "r": 2, None: 0}[k] for k in kind])
    problem = posed({"x": x, "kind": kind}, (x + shift > 2.5).astype(int), Shape(max_depth=1, branching="linear"))
    solution = solved(problem, formulation)
    assert solution.objective == 0.0
    assert solution.tree is not None
    terms = solution.tree.tests[0].terms  # type: ignore[union-attr]
    assert {term.column for term in terms} == {0, 1}


@both
@pytest.mark.parametrize("missing_label", [0, 1])
def test_missing_numbers_are_read_as_low_or_high_whichever_is_better(
    formulation: FormulationName, missing_label: int
) -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, np.nan, np.nan])
    y = np.append(np.arange(6) > 2, [missing_label, missing_label]).astype(int)
    problem = posed({"x": x}, y, Shape(max_depth=1, branching="linear"))
    assert solved(problem, formulation).objective == 0.0


@both
def test_the_known_against_the_missing_is_a_linear_test_too(formulation: FormulationName) -> None:
    x = [0.0, 1.0, 2.0, None, None, 3.0]
    problem = posed({"x": x}, [0, 0, 0, 1, 1, 0], Shape(max_depth=1, branching="linear"))
    assert solved(problem, formulation).objective == 0.0


@both
@settings(max_examples=25)
@given(problem=problems(max_people=6, max_columns=2), leaves=st.booleans(), tests=st.booleans())
def test_never_worse_than_the_single_feature_optimum(
    formulation: FormulationName, problem: Problem, leaves: bool, tests: bool
) -> None:
    single = brute_force(problem)
    numbers = problem.people.outcome.classes is None
    shape = replace(
        problem.shape,
        branching="linear" if tests or not numbers else "single",
        leaves="linear" if numbers and (leaves or not tests) else "constant",
    )
    if single.tree is None:
        return
    solution = solved(problem.with_shape(shape), formulation, single.tree)
    assert solution.objective <= single.objective + 1e-7


@settings(max_examples=15)
@given(problem=problems(max_people=6, max_columns=2, max_depth=1), leaves=st.booleans())
def test_both_formulations_agree_on_linear_trees(problem: Problem, leaves: bool) -> None:
    numbers = problem.people.outcome.classes is None
    shape = replace(problem.shape, branching="linear", leaves="linear" if numbers and leaves else "constant")
    wide = problem.with_shape(shape)
    if brute_force(problem).tree is None:
        return
    first, second = solved(wide, "paper"), solved(wide, "strong")
    assert first.objective == pytest.approx(second.objective, abs=1e-6)


@both
def test_a_line_in_each_leaf(formulation: FormulationName) -> None:
    """y rises on the left of 5 and falls on its right: two lines, no two constants."""
    x = np.arange(10.0)
    y = np.where(x < 5, 2 * x, 20 - 2 * x)
    single = posed({"x": x}, y, Shape(max_depth=1), "regression")
    linear = single.with_shape(Shape(max_depth=1, leaves="linear"))
    solution = solved(linear, formulation)
    assert solution.objective == pytest.approx(0.0, abs=1e-7)
    assert brute_force(single).objective > 1.0
    assert "label ranges" in solution.message


@both
def test_linear_tests_and_linear_leaves_together(formulation: FormulationName) -> None:
    columns, side = diagonal()
    y = np.where(side == 1, 3.0 + columns["x"], -columns["y"])
    problem = posed(columns, y, Shape(max_depth=1, branching="linear", leaves="linear"), "regression")
    assert solved(problem, formulation).objective == pytest.approx(0.0, abs=1e-7)
    for lesser in (Shape(max_depth=1, leaves="linear"), Shape(max_depth=1, branching="linear")):
        assert solved(problem.with_shape(lesser), formulation).objective > 0.01


@both
def test_a_linear_leaf_alone_is_a_least_absolute_line(formulation: FormulationName) -> None:
    x = np.arange(8.0)
    y = 3.0 * x - 7.0
    y[3] += 0.8
    problem = posed({"x": x}, y, Shape(max_depth=0, leaves="linear"), "regression")
    solution = solved(problem, formulation)
    assert solution.objective == pytest.approx(0.1, abs=1e-9)
    assert solution.tree is not None
    leaf = solution.tree.nodes[0]
    assert isinstance(leaf, Leaf)
    assert (leaf.value, leaf.terms[0].coefficient) == pytest.approx((-7.0, 3.0))


@both
def test_linear_leaves_stay_in_the_label_range_for_everybody_they_decide(formulation: FormulationName) -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 20.0])
    y = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 4.0])
    solution = solved(posed({"x": x}, y, Shape(max_depth=0, leaves="linear"), "regression"), formulation)
    assert solution.tree is not None
    leaf = solution.tree.nodes[0]
    assert isinstance(leaf, Leaf)
    slope = sum(term.coefficient for term in leaf.terms)
    assert leaf.value >= -1e-9
    assert leaf.value + 20.0 * slope <= 4.0 + 1e-7


@both
@pytest.mark.parametrize("limit", [0.0, 0.3, 1.0])
def test_a_disparity_limit_holds_for_linear_leaves(formulation: FormulationName, limit: float) -> None:
    rng = np.random.default_rng(3)
    x = np.arange(12.0)
    y = x + np.tile([0.0, 6.0], 6) + rng.random(12)
    shape = Shape(max_depth=1, leaves="linear", min_samples_leaf=3)
    solution = solved(posed({"x": x}, y, shape, "regression", max_discrimination=limit), formulation)
    assert solution.score is not None
    assert solution.score.discrimination <= limit + 1e-9


@both
@pytest.mark.parametrize(
    ("limits", "possible"),
    [
        ({"max_features_per_test": 1}, False),
        ({"max_features_per_test": 2}, True),
        ({"max_features_used": 1}, False),
        ({"max_features_used": 2}, True),
        ({"max_feature_uses": {"y": 0}}, False),
        ({"max_leaves": 1}, False),
        ({"max_leaves": 2}, True),
        ({"allowed_features": ["x"]}, False),
        ({"min_samples_leaf": 7}, False),
        ({"min_samples_leaf": 6}, True),
    ],
    ids=str,
)
def test_limits_hold_for_linear_tests(formulation: FormulationName, limits: dict[str, Any], possible: bool) -> None:
    columns, y = diagonal()
    problem = posed(columns, y, Shape(max_depth=1, branching="linear", **limits))
    assert (solved(problem, formulation).objective == 0.0) is possible


def test_the_margin_follows_the_gaps_of_the_data_down_to_a_floor() -> None:
    shape = Shape(max_depth=1, branching="linear")
    wide = posed({"x": [0.0, 1.0, 2.0, 3.0]}, [0, 1, 0, 1], shape)
    assert margin_for(linear_terms(wide)) == pytest.approx(MARGIN)
    close = posed({"x": [0.0, 0.0005, 0.5, 1.0]}, [0, 1, 0, 1], shape)
    assert margin_for(linear_terms(close)) == pytest.approx(0.0005)
    closer = posed({"x": [0.0, 1e-7, 0.5, 1.0]}, [0, 1, 0, 1], shape)
    assert margin_for(linear_terms(closer)) == pytest.approx(SMALLEST_MARGIN)


@both
def test_a_start_outside_the_margin_is_kept_but_not_called_proven(formulation: FormulationName) -> None:
    x, y = [0.0, 0.0, 0.0, 1e-7, 0.5, 1.0], [0, 0, 1, 1, 1, 1]
    problem = posed({"x": x}, y, Shape(max_depth=1, branching="linear"))
    test = LinearTest((Term(0, 1.0),), 5e-8)
    start = Tree(problem.people.features.schema, problem.target, (Branch(test, 1, 2), Leaf(0.0), Leaf(1.0)))
    solution = MipSolver(formulation).solve(problem, Budget(), start)
    assert solution.tree == start
    assert solution.objective == pytest.approx(1 / 6)
    assert (solution.status, solution.bound) == (Status.FEASIBLE, 0.0)
    assert "outside the model" in solution.message


def test_columns_too_far_from_zero_for_their_range_are_left_out_of_linear_rules() -> None:
    columns = {"far": [1e12, 1e12 + 1, 1e12 + 2, 1e12 + 3], "near": [0.0, 1.0, 2.0, 5.0]}
    problem = posed(columns, [0, 1, 0, 1], Shape(max_depth=1, branching="linear"))
    assert linear_terms(problem).column.tolist() == [1]
    alone = posed({"far": columns["far"]}, [0, 1, 0, 1], Shape(max_depth=1, branching="linear"))
    solution = MipSolver().solve(alone, Budget())
    # A single-feature test on the column is still better than no test, but the model cannot vouch for it.
    assert solution.objective == 0.25
    assert solution.status is Status.FEASIBLE
    assert "outside the model" in solution.message


@given(data=st.data())
@settings(max_examples=40)
def test_linear_rules_are_written_for_the_columns_as_they_are_and_read_back(data: st.DataObject) -> None:
    columns = {"x": [2.0, 5.0, None, 11.0], "kind": ["p", "q", "r", "p"]}
    problem = posed(columns, [1.0, 2.0, 3.0, 5.0], Shape(max_depth=1, leaves="linear"), "regression")
    instance = gather(problem, merge=False)
    rule = linear_rule(instance, terms_of(instance))
    free = rule.high > 0
    numbers = data.draw(st.lists(st.integers(-8, 8), min_size=rule.size, max_size=rule.size))
    u = np.where(free, np.array(numbers) / 4.0, 0.0)
    leaf = rule.leaf(u, instance)
    again = rule.coefficients(leaf, instance)
    assert again is not None
    if u[1:].any():
        assert np.allclose(again, u)
        tree = Tree(problem.people.features.schema, problem.target, (leaf,))
        expected = np.clip(rule.design @ u, 0.0, 1.0) * instance.scale + problem.target.low
        assert np.allclose(tree.decide(problem.people.features), expected)


def test_a_leaf_that_names_every_level_is_read_without_the_redundant_one() -> None:
    columns = {"kind": ["p", "q", "r", "p"]}
    problem = posed(columns, [1.0, 2.0, 3.0, 5.0], Shape(max_depth=0, leaves="linear"), "regression")
    instance = gather(problem, merge=False)
    rule = linear_rule(instance, terms_of(instance))
    leaf = Leaf(1.0, (Term(0, 0.5, 0), Term(0, 1.0, 1), Term(0, 2.0, 2)))
    u = rule.coefficients(leaf, instance)
    assert u is not None
    assert (u >= rule.low).all()
    assert (u <= rule.high).all()
    assert (rule.design @ u * instance.scale + 1.0).tolist() == pytest.approx([1.5, 2.0, 3.0, 1.5])
    assert rule.high[-1] == STEEPEST


@both
def test_a_linear_leaf_that_reads_the_missing_otherwise_is_not_a_point_of_the_model(
    formulation: FormulationName,
) -> None:
    columns = {"x": [0.0, 1.0, 2.0, None]}
    problem = posed(columns, [0.0, 1.0, 2.0, 3.0], Shape(max_depth=0, leaves="linear"), "regression")
    model = FORMULATIONS[formulation](problem)
    for fill, known in ((1.0, True), (0.0, False)):  # 1 is the median
        tree = Tree(problem.people.features.schema, problem.target, (Leaf(0.5, (Term(0, 0.5, fill=fill),)),))
        if known:
            assert model.model.violation(model.encode(tree)) <= 1e-9
            assert model.decode(model.encode(tree)) == tree
        else:
            with pytest.raises(NotEncodableError, match="leaf"):
                model.encode(tree)
    constant = FORMULATIONS[formulation](problem.with_shape(Shape(max_depth=0)))
    with pytest.raises(NotEncodableError, match="leaf"):
        constant.encode(tree)
