"""Sweeps over first tests above two stumps, against looking at every one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver, oracle, sweep
from evenleaf.solve.fronts import lane as lanes
from evenleaf.solve.fronts.engine import Engine
from evenleaf.solve.fronts.front import NONE
from evenleaf.solve.fronts.outline import from_recipe
from evenleaf.solve.fronts.sketches import decided
from evenleaf.solve.fronts.sweep import Sweep
from evenleaf.solve.fronts.tests import FREE, Box, Cuts, Levels
from evenleaf.testing import brute_force, people_from

N_PEOPLE = 24


@pytest.fixture(scope="module", autouse=True)
def few_blocks() -> Iterator[None]:
    """Blocks of several ranks, so that what is inside of them counts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "FEWEST_BLOCKS", 3)
        patch.setattr(sweep, "MOST_BLOCKS", 3)
        patch.setattr(oracle, "MOST_CUTS_TO_FORK", 0)
        yield


@dataclass(frozen=True, eq=False)
class Laid:
    """An engine over made-up people, and their sweep."""

    engine: Engine
    sweep: Sweep

    @property
    def everybody(self) -> np.ndarray:
        """All merged people."""
        return np.arange(self.engine.lane.compiled.n_people)


@st.composite
def laid_out(draw: st.DrawFn) -> Laid:
    """Two ordered features of many values, one with levels; heavy values now and then."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    spread = draw(st.sampled_from([3, 8, 30]))
    features = {
        "a": random.integers(0, 30, N_PEOPLE).astype(float),
        "b": np.maximum(random.integers(-spread, spread, N_PEOPLE), 0).astype(float),
        "c": random.choice(list("uvw"), N_PEOPLE).tolist(),
    }
    outcome = random.permutation(np.arange(N_PEOPLE) % 2)
    groups = random.permutation(np.arange(N_PEOPLE) % 3 > 0)
    people = people_from(features, outcome.tolist(), {"g": groups.astype(str).tolist()})
    engine = Engine(pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=2)), Budget(), None)
    return Laid(engine, engine.oracle.sweep(np.arange(engine.lane.compiled.n_people)))


def every_test(laid: Laid) -> Iterator[Box]:
    compiled = laid.engine.lane.compiled
    for f, (size, unordered) in enumerate(zip(compiled.sizes, compiled.unordered, strict=True)):
        if unordered:
            whole = Levels(f, frozenset(), frozenset())
            yield from whole.singles(np.ones(size, dtype=np.bool_))
        else:
            yield from (Cuts(f, cut, cut) for cut in range(size - 1))


@given(laid=laid_out(), mu=st.floats(-1, 1))
@settings(max_examples=60)
def test_cheapest_first_test(laid: Laid, mu: float) -> None:
    prices = laid.engine.lane.prices(np.array([[mu]]))
    value, test = laid.sweep.best(prices, np.inf)
    every = [float(laid.engine.oracle.below(box, laid.everybody, 2, prices)[0]) for box in every_test(laid)]
    assert value == pytest.approx(min(every), abs=1e-12)
    assert test is not None
    assert float(laid.engine.oracle.below(test, laid.everybody, 2, prices)[0]) == pytest.approx(value, abs=1e-12)
    assert laid.sweep.best(prices, min(every) - 1e-9)[1] is None


@given(laid=laid_out(), mu=st.floats(-1, 1))
@settings(max_examples=60)
def test_boxes_hold_every_cut_and_bound_it(laid: Laid, mu: float) -> None:
    prices = laid.engine.lane.prices(np.array([[mu], [0.5]]))
    boxes, values = laid.sweep.boxes(prices)
    assert len(boxes) == len(values)
    for test in every_test(laid):
        if isinstance(test, Levels):
            continue
        ranks = laid.engine.lane.compiled.ranks[test.feature]
        present = np.unique(ranks)
        cut = int(present[present <= test.low].max())
        holding = [
            value
            for box, value in zip(boxes, values, strict=True)
            if isinstance(box, Cuts) and box.feature == test.feature and box.low <= cut <= box.high
        ]
        assert holding
        exact = laid.engine.oracle.below(test, laid.everybody, 2, prices)
        assert any((value <= exact + 1e-12).all() for value in holding)


@given(
    laid=laid_out(),
    mu=st.sampled_from([-0.77, -0.1, 0.0, 0.45]),
    hundredths=st.integers(0, 30),
    least=st.sampled_from([1, 3]),
)
@settings(max_examples=60)
def test_points_below_a_target(laid: Laid, mu: float, hundredths: int, least: int) -> None:
    lane = laid.engine.lane
    prices = lane.prices(np.array([[mu], [0.3]]))
    # No sum of the people's prices is that close to the target, so that rounding decides nothing.
    target = laid.sweep.best(prices.at(0), np.inf)[0] + hundredths / 100 + 0.00123457
    rest = np.array([0.0, -0.05])
    points, recipes, number = laid.sweep.points(prices, least, rest, np.array([target]), 1 << 40, NONE)
    assert number >= 0
    found = {tuple(np.round(point, 9)) for point in points[:number]}
    assert found == set(listed(laid, least, prices.multipliers, rest, target))
    for point, recipe in zip(points[:number], recipes[:number], strict=True):
        labels = decided(from_recipe(recipe, lane), laid.everybody, lane.compiled.ranks, lane.compiled.sizes)
        assert point == pytest.approx(lane.vectors[labels == 1, 0].sum(axis=0), abs=1e-12)


def listed(
    laid: Laid, least: int, multipliers: np.ndarray, rest: np.ndarray, target: float
) -> Iterator[tuple[float, ...]]:
    """The points of all trees with a first test and two stumps or leaves, one by one."""
    to_price = np.vstack([np.ones(len(multipliers)), multipliers.T])
    for test in every_test(laid):
        left, right, free = laid.engine.oracle.part(test, laid.everybody)
        assert not len(free)
        for one, two in product(stumps(laid, left, least), stumps(laid, right, least)):
            if ((one + two) @ to_price + rest < target).all():
                yield tuple(np.round(one + two, 9))


def stumps(laid: Laid, members: np.ndarray, least: int) -> list[np.ndarray]:
    lane = laid.engine.lane
    count, vectors = lane.compiled.count, lane.vectors[:, 0]
    found = [np.zeros(vectors.shape[1]), vectors[members].sum(axis=0)] if count[members].sum() >= least else []
    for test in every_test(laid):
        sides = test.sides(int(lane.compiled.sizes[test.feature]))
        assert not (sides == FREE).any()
        left = sides[lane.compiled.ranks[test.feature, members]] == 0
        if min(count[members[left]].sum(), count[members[~left]].sum()) >= max(least, 1):
            found += [vectors[members[left]].sum(axis=0), vectors[members[~left]].sum(axis=0)]
    return found


@given(
    laid=laid_out(),
    weight=st.sampled_from([None, 0.3, 3.0]),
    limit=st.sampled_from([0.0, 0.02, 0.2]),
    least=st.sampled_from([1, 1, 3]),
)
@settings(deadline=None, max_examples=60)
def test_the_best_whole_tree_is_found_in_runs_of_cuts(
    laid: Laid, weight: float | None, limit: float, least: int
) -> None:
    """Disparities of its halves are matched for many cuts at a time, and none is lost."""
    shape = Shape(max_depth=2, min_samples_leaf=least)
    asked = pose(laid.engine.problem.people, fairness=DisparateImpact(), shape=shape)
    problem = asked.with_limit(limit) if weight is None else asked.with_weight(weight)
    with patch.object(lanes, "_MANY_CUTS", 0):  # as if the table were large
        answer = FrontSolver().solve(problem, Budget())
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)


@given(laid=laid_out(), limit=st.sampled_from([None, 0.0, 0.05]))
@settings(deadline=None, max_examples=30)
def test_polished_trees_lead_to_the_same_optimum(laid: Laid, limit: float | None) -> None:
    asked = pose(laid.engine.problem.people, fairness=DisparateImpact(), shape=Shape(max_depth=3))
    problem = asked.with_weight(0.5) if limit is None else asked.with_limit(limit)
    plain = FrontSolver().solve(problem, Budget())
    with patch.object(lanes, "_MANY_CUTS", 0):
        polished = FrontSolver().solve(problem, Budget())
    assert plain.proven
    assert polished.proven
    assert polished.objective == pytest.approx(plain.objective, abs=1e-9)
