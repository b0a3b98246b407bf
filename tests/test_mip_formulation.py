"""The two formulations as models: their sizes and names, and the way from trees to points and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import DisagreementError
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.greedy import greedy_tree
from evenleaf.solve.mip.formulation import Formulation
from evenleaf.solve.mip.instance import gather
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.paper import build_paper
from evenleaf.solve.mip.placement import NotEncodableError, tidied
from evenleaf.solve.mip.ranks import Ranks
from evenleaf.solve.mip.strong import build_strong
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Branch, Leaf, SubsetTest, ThresholdTest, Tree

Build = Callable[[Problem], Formulation]
both = pytest.mark.parametrize("build", [build_paper, build_strong])

AGES = [20.0, 20.0, 30.0, 40.0, 50.0, 50.0]
JOBS = ["clerk", "cook", "cook", "nurse", "clerk", "nurse"]
GROUPS = {"group": list("aababb")}


def small(shape: Shape | None = None, y: list[int] | None = None, **columns: Sequence[float | str | None]) -> Problem:
    people = people_from(columns or {"age": AGES, "job": JOBS}, y or [0, 0, 1, 1, 0, 1], GROUPS)
    return pose(people, shape=shape or Shape(max_depth=2), fairness=DisparateImpact(), fairness_weight=0.1)


def blocks(names: tuple[str, ...]) -> Counter[str]:
    """How many names begin alike, their numbers taken off."""
    return Counter("_".join(part for part in name.split("_") if not part.lstrip("j").isdigit()) for name in names)


def test_leaves_lie_to_the_left_and_right_of_their_tests() -> None:
    layout = Layout(3)
    assert (layout.n_nodes, layout.n_leaves) == (7, 8)
    assert layout.left_leaves(0).tolist() == [0, 1, 2, 3]
    assert layout.right_leaves(0).tolist() == [4, 5, 6, 7]
    assert layout.left_leaves(2).tolist() == [4, 5]
    assert layout.right_leaves(6).tolist() == [7]
    assert [layout.is_bottom(node) for node in range(7)] == [False] * 3 + [True] * 4
    assert Layout(0).leaves_below(0).tolist() == [0]


def test_the_papers_variables_are_there_by_name_and_number() -> None:
    model = build_paper(small()).model
    n, nodes, leaves, levels = 6, 3, 4, 3
    expected = {
        "z": n * leaves,
        "p": nodes * 2,
        "q": nodes,
        "g_plus": n * nodes,
        "g_minus": n * nodes,
        "w_q": n * nodes,
        "w_c": n * nodes,
        "s": nodes * levels,
        "u": leaves * 2,
        "yhat": n * 2,
        "d": 1,  # two groups and two classes collapse into one difference
    }
    assert blocks(model.variable_names) == expected
    whole = {name.split("_")[0] for name, kind in zip(model.variable_names, model.integer, strict=True) if kind}
    assert whole == {"z", "p", "w", "s", "u"}


def test_every_equation_of_the_paper_has_its_rows() -> None:
    model = build_paper(small()).model
    n, nodes, levels = 6, 3, 3
    pairs = 2 * 2  # (node, leaf) pairs on one side: two below the root, one below each of its children
    expected = {
        "b_one_feature": nodes,
        "c": n * nodes,
        "d": n * nodes,
        "e": n * nodes,
        "f": n * nodes,
        "g": n * pairs,
        "h": n * pairs,
        "i": nodes * levels,
        "j": n * nodes,
        "k": n * pairs,
        "l": n * pairs,
        "m": n,
        "one_label": 4,
        "one_class": n,
        "b_above": n * 4 * 2,
        "b_below": n * 4 * 2,
        "d_above": 1,
        "d_below": 1,
    }
    assert blocks(model.row_names) == expected
    assert len(set(model.row_names)) == model.n_rows
    assert len(set(model.variable_names)) == model.n_variables


def test_the_strong_formulation_merges_equal_people_and_needs_no_labels_for_two_classes() -> None:
    problem = small(age=[20.0, 20.0, 30.0, 30.0, 30.0, 40.0])
    formulation = build_strong(problem)
    assert formulation.instance.n_units == 3
    assert formulation.instance.count.tolist() == [2, 3, 1]
    names = blocks(formulation.model.variable_names)
    assert names["z"] == 3 * 4
    assert not {"u", "q", "g_plus", "w_q"} & set(names)
    assert formulation.model.n_variables < build_paper(problem).model.n_variables / 2


def test_people_who_differ_only_where_nobody_may_look_are_merged_too() -> None:
    shape = Shape(max_depth=1, allowed_features=["job"])
    assert build_strong(small(shape)).instance.n_units == 3
    assert build_paper(small(shape)).instance.n_units == 6


@both
@pytest.mark.parametrize(
    ("shape", "depth"),
    [
        (Shape(max_depth=0), 0),
        (Shape(max_depth=5), 5),
        (Shape(max_depth=5, max_leaves=3), 2),
        (Shape(max_depth=5, max_features_used=0), 0),
        (Shape(max_depth=5, max_feature_uses=1), 2),
        (Shape(max_depth=5, max_feature_uses={"age": 1}), 5),
        (Shape(max_depth=5, allowed_features=[]), 0),
        (Shape(max_depth=5, allowed_features=["job"], max_feature_uses={"job": 1}), 1),
    ],
)
def test_no_deeper_than_the_limits_can_use(build: Build, shape: Shape, depth: int) -> None:
    assert build(small(shape, name=list("abcdef"), age=AGES, job=JOBS) if depth == 5 else small(shape)).layout == (
        Layout(depth)
    )


def test_ranks_have_equal_gaps_that_no_solver_takes_for_nothing() -> None:
    ranks = Ranks.of(gather(small(money=[0.0, 1e-9, 1.0, 1e9, 1e9, 5.0]), merge=False))
    assert ranks.values[:, 0].tolist() == [0.0, 0.25, 0.5, 1.0, 1.0, 0.75]
    assert (ranks.gap, ranks.largest) == (0.25, 1.0)
    many = people_from({"x": np.arange(20_001.0)}, np.arange(20_001) % 2)
    ranks = Ranks.of(gather(pose(many, shape=Shape(max_depth=1)), merge=False))
    assert (ranks.gap, ranks.largest) == pytest.approx((1e-4, 2.0))


@both
@settings(max_examples=60)
@given(problem=problems(max_people=7, max_depth=3))
def test_trees_become_points_of_the_model_and_come_back(build: Build, problem: Problem) -> None:
    formulation = build(problem)
    for tree in (brute_force(problem).tree if problem.shape.max_depth < 3 else None, greedy_tree(problem)):
        if tree is not None:
            point = formulation.encode(tree)
            assert formulation.model.violation(point) <= 1e-9
            score = problem.evaluate(tree)
            claimed = formulation.model.objective(point) * formulation.scale
            assert claimed == pytest.approx(score.objective, abs=1e-9)
            back = formulation.decode(point)
            assert problem.evaluate(back).objective == pytest.approx(score.objective, abs=1e-9)
            assert back.tests == tidied(tree, problem).tests


@both
def test_a_test_of_the_known_against_the_missing_is_a_point_of_the_model(build: Build) -> None:
    problem = small(Shape(max_depth=1), y=[0, 0, 1, 0, 0, 1], age=[20.0, 30.0, None, 40.0, 20.0, None])
    schema = problem.people.features.schema
    known_left = ThresholdTest(0, 40.0, missing_left=False)
    tree = Tree(schema, problem.target, (Branch(known_left, 1, 2), Leaf(0.0), Leaf(1.0)))
    formulation = build(problem)
    point = formulation.encode(tree)
    assert formulation.model.violation(point) <= 1e-9
    assert formulation.decode(point) == tree
    # The mirror image is another spelling of the same tree.
    mirrored = Tree(schema, problem.target, (Branch(ThresholdTest(0, 10.0, True), 1, 2), Leaf(1.0), Leaf(0.0)))
    assert formulation.decode(formulation.encode(mirrored)) == tree


@both
def test_a_level_of_its_own_for_missing_categories(build: Build) -> None:
    problem = small(Shape(max_depth=1), y=[1, 0, 0, 1, 0, 1], job=[None, "cook", "cook", None, "clerk", "nurse"])
    test = SubsetTest(0, (0, 1), missing_left=False)
    tree = Tree(problem.people.features.schema, problem.target, (Branch(test, 1, 2), Leaf(0.0), Leaf(1.0)))
    assert problem.evaluate(tree).loss == 0.0
    formulation = build(problem)
    assert formulation.decode(formulation.encode(tree)) == tree


@both
def test_a_deeper_tree_is_not_a_point_of_the_model(build: Build) -> None:
    deep = greedy_tree(small(Shape(max_depth=3), y=[0, 1, 0, 1, 0, 1]))
    assert deep is not None
    assert deep.depth > 1
    with pytest.raises(NotEncodableError, match="deeper"):
        build(small(Shape(max_depth=1), y=[0, 1, 0, 1, 0, 1])).encode(deep)


@both
def test_a_test_on_a_forbidden_feature_is_not_a_point_of_the_model(build: Build) -> None:
    tree = greedy_tree(small(Shape(max_depth=1, allowed_features=["age"])))
    assert tree is not None
    assert tree.depth == 1
    with pytest.raises(NotEncodableError, match="does not know"):
        build(small(Shape(max_depth=1, allowed_features=["job"]))).encode(tree)


@both
@given(place=st.integers(0, 5))
@settings(max_examples=6)
def test_a_point_that_sends_somebody_astray_is_refused(build: Build, place: int) -> None:
    problem = small(Shape(max_depth=1), age=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    formulation = build(problem)
    schema = problem.people.features.schema
    tree = Tree(schema, problem.target, (Branch(ThresholdTest(0, 3.5), 1, 2), Leaf(0.0), Leaf(1.0)))
    point = formulation.encode(tree)
    names = formulation.model.variable_names
    tail = "_0" if build is build_strong else ""
    left, right = names.index(f"z_{place}_0{tail}"), names.index(f"z_{place}_1{tail}")
    point[[left, right]] = point[[right, left]]
    with pytest.raises(DisagreementError, match="1 people reach another leaf"):
        formulation.decode(point)


@both
def test_the_disparity_limit_is_a_row_and_the_weight_a_cost(build: Build) -> None:
    weighed, limited = build(small()).model, build(small().with_limit(0.25)).model
    assert "max_discrimination" not in blocks(weighed.row_names)
    assert blocks(limited.row_names)["max_discrimination"] == 1
    place = [name for name in weighed.variable_names if name.startswith("d_")]
    cost = dict(zip(limited.variable_names, limited.cost, strict=True))
    assert place
    assert all(cost[name] == 0.0 for name in place)


@both
def test_without_fairness_there_is_no_disparity_in_the_model(build: Build) -> None:
    problem = small().with_weight(0.0)
    assert "d" not in blocks(build(problem).model.variable_names)


@both
def test_labels_of_any_size_become_a_model_of_order_one(build: Build) -> None:
    y = np.array([1.0, 5.0, 2.0, 8.0, 3.0, 9.0])
    models = []
    for size, shift in ((1.0, 0.0), (1e7, -4e8), (1e-7, 3.0)):
        people = people_from({"age": AGES, "job": JOBS}, size * y + shift, GROUPS, task="regression")
        problem = pose(people, shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.5)
        formulation = build(problem)
        assert formulation.scale == pytest.approx(8.0 * size)
        models.append(formulation.model)
    for model in models[1:]:
        assert np.allclose(model.cost, models[0].cost)
        assert np.allclose(model.matrix.toarray(), models[0].matrix.toarray(), atol=1e-6)


@both
def test_coefficients_that_solvers_would_drop_are_not_there(build: Build) -> None:
    people = people_from(
        {"age": AGES, "job": JOBS}, [0, 0, 1, 1, 0, 1], GROUPS, weight=[1e-12, 1.0, 1e-3, 1e6, 1.0, 2.0]
    )
    problem = pose(people, shape=Shape(max_depth=1), fairness=DisparateImpact(), max_discrimination=0.1)
    assert np.abs(build(problem).model.matrix.data).min() >= 1e-9
