"""Tables of flags: cheapest trees read off sums against people one by one, and lists of several disparities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Shape, pose
from evenleaf.solve.fronts.flag_trees import flag_slot, outline
from evenleaf.solve.fronts.kernels.needless import undominated
from evenleaf.solve.fronts.lane import make_lane
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.sketches import decided
from test_fronts_shallow import random_people


@given(
    seed=st.integers(0, 10_000),
    depth=st.integers(0, 3),
    n_groups=st.integers(2, 4),
    least=st.sampled_from([1, 4]),
    part=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_cheapest_trees(seed: int, depth: int, n_groups: int, least: int, part: bool) -> None:
    people = random_people(seed, 60, 5, n_groups, weighted=bool(seed % 2))
    shape = Shape(max_depth=3, min_samples_leaf=least)
    lane = make_lane(pose(people, fairness=DisparateImpact(), max_discrimination=0.1, shape=shape))
    draw = np.random.default_rng(seed)
    allowed = np.array(draw.random(len(lane.compiled.sizes)) < 0.9)
    oracle = Oracle(lane, allowed, least, lambda: False)
    assert oracle.flags is not None
    members = np.flatnonzero(draw.random(lane.compiled.n_people) < (0.6 if part else 2.0))
    mu = draw.normal(size=lane.n_dimensions)
    tree = flag_slot(oracle.flags, members, depth).cheapest(mu, least, allowed)

    prices = lane.prices(mu[None, :])
    assert tree.value == pytest.approx(float(oracle.value(members, depth, prices)[0]), abs=1e-12)
    assert tree.vector[0] + mu @ tree.vector[1:] == pytest.approx(tree.value, abs=1e-12)
    labels = decided(outline(tree, oracle.flags.flipped), members, oracle.ranks, oracle.sizes)
    np.testing.assert_allclose(lane.vectors[members[labels == 1], 0].sum(axis=0), tree.vector, atol=1e-12)


@given(seed=st.integers(0, 10_000), n_points=st.integers(1, 60), width=st.integers(3, 5))
@settings(max_examples=80, deadline=None)
def test_of_equal_disparities_the_cheapest_stays(seed: int, n_points: int, width: int) -> None:
    draw = np.random.default_rng(seed)
    points = draw.integers(0, 3, (n_points, width)) / 7.0
    points[:, 1:] += draw.choice([0.0, 1e-17], (n_points, width - 1))
    keep = undominated(points, 0, 64)
    kept = points[keep]
    for point in points:
        twins = np.abs(kept[:, 1:] - point[1:]).sum(axis=1) < 1e-13
        assert twins.sum() == 1
        assert kept[twins, 0][0] <= point[0]
