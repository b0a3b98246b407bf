"""The parts of local search: sweeps and gains against direct evaluation, planes against the tests they become."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.budget import Budget
from evenleaf.solve.local.allowance import allowance
from evenleaf.solve.local.axis import axis_proposals
from evenleaf.solve.local.choice import Choice
from evenleaf.solve.local.design import Design, Plane
from evenleaf.solve.local.directions import fitted_directions, random_direction
from evenleaf.solve.local.leaf_models import LeafModels
from evenleaf.solve.local.model_splits import model_splits
from evenleaf.solve.local.planes import PlaneMoves
from evenleaf.solve.local.simplify import without_needless_features
from evenleaf.solve.local.sketch import (
    Fork,
    at,
    decided,
    fold,
    leaves_of,
    paths,
    reached,
    replaced,
    rows_at,
    unfold,
)
from evenleaf.solve.local.workspace import Workspace
from evenleaf.table import People
from evenleaf.testing import people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Leaf, LinearTest, SubsetTest, Term, Test, ThresholdTest


def worth_of(problem: Problem, given: np.ndarray) -> float:
    """Loss + λ·D from the definitions."""
    people = problem.people
    loss = problem.loss.value(people.outcome, given, people.share)
    return loss + problem.fairness_weight * problem.disparity.value(problem.psi(given))


@st.composite
def choices(draw: st.DrawFn, /, **options: Any) -> Choice:
    """Any two decisions for any of the people of a tiny problem."""
    problem = draw(problems(forms=("weight", "plain"), **options))
    n = problem.people.n_people
    classes = problem.people.outcome.classes
    value: Any = st.integers(0, len(classes) - 1) if classes is not None else st.sampled_from([0.0, 0.5, 1.0, -1.0])
    given = [np.array(draw(st.lists(value, min_size=n, max_size=n))) for _ in range(3)]
    rows = np.flatnonzero(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    leaf = st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)).map(lambda x: np.array(x, dtype=int))
    space = Workspace(problem, Budget())
    return Choice(space, rows, given[0], given[1][rows], given[2][rows], draw(leaf), draw(leaf))


@given(choices(max_people=10), st.data())
@settings(max_examples=200)
def test_a_sweep_is_what_evaluating_every_step_would_say(choice: Choice, data: st.DataObject) -> None:
    n, problem = len(choice.rows), choice.space.problem
    start = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    order = np.array(data.draw(st.permutations(range(n))), dtype=int)[: data.draw(st.integers(0, n))]
    merits = choice.sweep(start, order)
    side = start.copy()
    for turn in range(len(order) + 1):
        given = choice.elsewhere.copy()
        given[choice.rows] = np.where(side, choice.left, choice.right)
        ends = [*np.bincount(choice.left_leaf[side]), *np.bincount(choice.right_leaf[~side])]
        if all(count == 0 or count >= problem.shape.min_samples_leaf for count in ends):
            assert merits[turn] == pytest.approx(worth_of(problem, given), abs=1e-9)
        else:
            assert merits[turn] == np.inf
        if turn < len(order):
            side[order[turn]] = ~side[order[turn]]


@pytest.mark.parametrize("notion", [DisparateImpact(), DisparateTreatment(n_neighbors=4)])
def test_the_two_ways_to_sweep_agree(notion: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = root_choice(linear_space(fairness=notion))
    order = np.random.default_rng(1).permutation(len(choice.rows))[:40]
    start = np.arange(len(choice.rows)) % 3 == 0
    found = []
    for factor in (0, 10**6):  # always sorted, always as a table
        monkeypatch.setattr("evenleaf.solve.local.choice._DENSE", factor)
        found.append(choice.sweep(start, order))
    assert found[0] == pytest.approx(found[1], abs=1e-12)
    assert np.ptp(found[0]) > 0


@given(choices(limits=False), st.data())
@settings(max_examples=150)
def test_linear_gains_never_promise_too_little(choice: Choice, data: st.DataObject) -> None:
    """|t| ≥ sign(t₀)·t: what the slope promises for any sides is at most the truth (ALGORITHM §2)."""
    n, problem, space = len(choice.rows), choice.space.problem, choice.space
    side = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    all_right, sides = choice.elsewhere.copy(), choice.elsewhere.copy()
    all_right[choice.rows] = choice.right
    sides[choice.rows] = np.where(side, choice.left, choice.right)
    slope = np.sign(space.differences(choice.elsewhere)) * space.row_weight
    first = problem.loss.value(problem.people.outcome, all_right, problem.people.share)
    first += problem.fairness_weight * float((slope * space.differences(all_right)).sum())
    assert first + choice.gains()[0][side].sum() <= worth_of(problem, sides) + 1e-9


@given(choices(limits=False))
@settings(max_examples=100)
def test_gains_of_one_person_alone_are_exact(choice: Choice) -> None:
    if len(choice.gains()) == 1:
        return  # no price on disparity: the gains are the losses
    problem = choice.space.problem
    linear, mean = choice.gains()
    for place, row in enumerate(choice.rows):
        worths = []
        for decision in (choice.left[place], choice.right[place]):
            alone = choice.elsewhere.copy()
            alone[row] = decision
            worths.append(worth_of(problem, alone))
        assert 2 * mean[place] - linear[place] == pytest.approx(worths[0] - worths[1], abs=1e-9)


def mixed_people(n: int = 60, *, missing: bool = True) -> People:
    rng = np.random.default_rng(7)
    x, z = rng.standard_normal(n) * 3 + 5, rng.standard_normal(n)
    city = rng.choice(["p", "q", "r"], n).astype(object)
    y = (x - 5 + 2 * z + 2 * (city == "q") > 0.5).astype(int)
    if missing:
        x[::7], city[::11] = np.nan, None
    return people_from({"x": x, "z": z, "city": city, "flat": np.ones(n)}, y, {"g": rng.choice(["a", "b"], n)})


def linear_space(problem: Problem | None = None, **fairness: Any) -> Workspace:
    shape = Shape(max_depth=2, branching="linear")
    return Workspace(problem or pose(mixed_people(), shape=shape, **fairness), Budget())


def some_tests() -> list[Test]:
    return [
        ThresholdTest(0, 5.1),
        SubsetTest(2, (0,), False),
        SubsetTest(2, (1, 2), True),
        LinearTest((Term(0, 0.5, fill=4.0), Term(1, -1.0), Term(2, 0.3, level=1)), 1.7),
    ]


def test_a_design_has_no_column_that_says_nothing() -> None:
    design = linear_space().design
    assert design.feature.tolist() == [0, 1, 2, 2, 2]
    assert np.abs(design.matrix[:, :2].mean(axis=0)).max() < 1e-12
    assert set(np.unique(design.matrix[:, 2:])) == {0.0, 1.0}


@pytest.mark.parametrize("test", some_tests())
def test_a_test_becomes_a_plane_and_is_a_test_again(test: Test) -> None:
    people = mixed_people(missing=False)
    space = linear_space(pose(people, shape=Shape(branching="linear")))
    plane = space.design.plane(test)
    left = test.goes_left(people.features, space.everybody)
    assert ((space.design.matrix @ plane.beta <= plane.cut) == left).all()
    again, swapped = space.design.test(plane)
    assert ((again.goes_left(people.features, space.everybody) != swapped) == left).all()
    assert type(again) is type(test)


def test_a_falling_plane_over_one_number_swaps_its_sides() -> None:
    space = linear_space()
    beta = np.array([-2.0, 0, 0, 0, 0])
    test, swapped = space.design.test(Plane(beta, 0.3))
    assert isinstance(test, ThresholdTest)
    assert swapped
    left = test.goes_left(space.table, space.everybody) != swapped
    assert (left == (space.design.matrix @ beta <= 0.3)).all()


def test_coefficients_are_at_most_one() -> None:
    space = linear_space()
    test, _ = space.design.test(Plane(np.array([30.0, -400.0, 7.0, 0.0, 1.0]), 2.0))
    assert isinstance(test, LinearTest)
    assert max(abs(term.coefficient) for term in test.terms) == 1.0


def test_many_levels_leave_out_the_rarest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenleaf.solve.local.design._MOST_CELLS", 60 * 4)
    design = Design.of(pose(mixed_people()))
    codes = mixed_people().features.data[2]
    commonest = np.argsort(-np.bincount(codes[codes >= 0]), kind="stable")[:2]
    assert set(design.level[2:].tolist()) == set(commonest.tolist())
    assert design.feature.tolist() == [0, 1, 2, 2]


def root_choice(space: Workspace, labels: tuple[float, float] = (0.0, 1.0)) -> Choice:
    n = len(space.everybody)
    kind: Any = float if space.problem.target.classes is None else int
    left, right = (np.full(n, label, dtype=kind) for label in labels)
    return Choice(space, space.everybody, right, left, right, np.zeros(n, dtype=int), np.zeros(n, dtype=int))


NOTIONS = [{}, {"fairness": DisparateImpact()}, {"fairness": DisparateTreatment(n_neighbors=5), "fairness_weight": 0.5}]


@pytest.mark.parametrize("fairness", NOTIONS)
def test_every_proposal_has_the_merit_it_claims(fairness: dict[str, Any]) -> None:
    """The sweep's promise against the proposed test, routed and evaluated."""
    space = linear_space(**fairness)
    choice = root_choice(space)
    moves = PlaneMoves(choice, allowance(space.problem, Leaf(0.0), ()))
    rng = np.random.default_rng(0)
    start = space.design.plane(some_tests()[3])
    cuts = [moves.along(beta) for beta in [*fitted_directions(moves, rng), random_direction(moves, None, rng)]]
    found = [*axis_proposals(choice, range(4), 8), *moves.changes(start, 8), *moves.changes(start, 8, without=0)]
    found += [cut for cut in cuts if cut is not None]
    assert len(found) > 15
    for proposal in found:
        left = proposal.test.goes_left(space.table, space.everybody) != proposal.swapped
        assert proposal.merit == pytest.approx(worth_of(space.problem, np.where(left, 0, 1)), abs=1e-9)


def test_changes_without_a_feature_do_not_bring_it_back() -> None:
    space = linear_space()
    moves = PlaneMoves(root_choice(space), allowance(space.problem, Leaf(0.0), ()))
    found = moves.changes(space.design.plane(some_tests()[3]), 8, without=0)
    assert found
    assert all(0 not in proposal.test.columns for proposal in found)


def test_an_allowance_counts_what_other_tests_use() -> None:
    people = mixed_people()
    shape = Shape(branching="linear", max_features_used=2, max_features_per_test=2, max_feature_uses={"z": 1})
    problem = pose(people, shape=shape)
    sketch = Fork(ThresholdTest(1, 0.0), Leaf(0.0), Leaf(1.0))
    beside = allowance(problem, sketch, (True,))
    assert beside.usable == {0, 2, 3}  # z has been used as often as it may be
    assert beside.permits({0})
    assert not beside.permits({0, 2})  # with z that would be three features
    itself = allowance(problem, sketch, ())
    assert itself.permits({0, 1})
    assert itself.choose([3, 1, 0], 9) == [3, 1]


def test_sketches_fold_route_and_decide_like_trees() -> None:
    people = mixed_people()
    problem = pose(people)
    inner = Fork(SubsetTest(2, (0, 1), True), Leaf(1.0), Leaf(0.0))
    sketch = Fork(ThresholdTest(0, 5.0, False), inner, Leaf(1.0))
    tree, everybody = fold(problem, sketch), np.arange(people.n_people)
    assert unfold(tree) == sketch
    assert list(paths(sketch)) == [(), (True,), (True, True), (True, False), (False,)]
    assert (decided(sketch, people.features, everybody, problem.target) == tree.decide(people.features)).all()
    order = [node for node, part in enumerate(tree.nodes) if isinstance(part, Leaf)]
    assert (np.array(order)[reached(sketch, people.features, everybody)] == tree.apply(people.features)).all()
    there = rows_at(sketch, (True, False), people.features)
    assert (reached(sketch, people.features, there) == 1).all()
    assert leaves_of(replaced(sketch, (True,), Leaf(0.0))) == [Leaf(0.0), Leaf(1.0)]
    assert at(sketch, (True,)) == inner


def test_model_splits_find_the_bend() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(-1, 1, 200), rng.standard_normal(200)
    people = people_from({"noise": noise, "x": x}, np.abs(x), task="regression")
    space = Workspace(pose(people, shape=Shape(leaves="linear")), Budget())
    best = model_splits(space, space.everybody, [0, 1], 2, rng)[0]
    assert isinstance(best, ThresholdTest)
    assert best.column == 1
    assert abs(best.threshold) < 0.15


def test_softened_leaves_keep_the_limit() -> None:
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 80)
    x = rng.random(80) + (group == "a")
    people = people_from({"x": x}, x, {"g": group}, task="regression")
    problem = pose(people, shape=Shape(leaves="linear"), fairness=DisparateImpact(), max_discrimination=0.1)
    space = Workspace(problem, Budget())
    rule = Leaf(0.0, (Term(0, 1.0),))
    assert space.worth(rule).objective == np.inf
    assert space.worth(LeafModels(space).softened(rule)).discrimination == pytest.approx(0.1)


def test_needless_features_are_dropped() -> None:
    space = linear_space()
    needless = LinearTest((Term(0, 1e-9), Term(1, 1.0)), 0.123)
    sketch = Fork(needless, Leaf(0.0), Leaf(1.0))
    simple = without_needless_features(space, sketch)
    assert isinstance(simple, Fork)
    assert simple.test.columns == (1,)
    assert space.worth(simple).objective <= space.worth(sketch).objective


def test_a_feature_stays_where_dropping_it_would_clip_a_rule() -> None:
    """Without z the second person would go to the steep rule, which says 20 and would be clipped to the right 1."""
    people = people_from({"x": [0.0, 10.0, 10.0], "z": [0.0, 1.0, 1.0]}, [0.0, 1.0, 1.0], task="regression")
    space = linear_space(pose(people, shape=Shape(max_depth=1, branching="linear", leaves="linear")))
    steep, flat = Leaf(0.0, (Term(0, 2.0),)), Leaf(1.0)
    sketch = Fork(LinearTest((Term(0, 0.001), Term(1, 1.0)), 0.5), steep, flat)
    trial = replaced(sketch, (), Fork(ThresholdTest(0, 99.0), steep, flat))
    assert space.worth(trial).objective == space.worth(sketch).objective == 0.0
    assert space.beyond_range(trial)
    assert not space.beyond_range(sketch)
    assert not space.beyond_range(without_needless_features(space, sketch))
