"""Which stumps may belong to a pair below the target: corners against every pair, and blocks against every cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.solve.fronts.kernels.corners import (
    add_corner,
    block_corners,
    may_pair,
    no_corners,
    point_corners,
    weights,
)
from evenleaf.solve.search.kernels.sheet import block_sums, lay_out

PENALTY, LIMIT = 1, 0
_pairs = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=12)


def _room() -> tuple[np.ndarray, np.ndarray]:
    return np.empty((2, 64)), np.zeros(1, dtype=np.int64)


@settings(deadline=None, max_examples=200)
@given(_pairs, st.integers(-5, 5), st.integers(-5, 5))
def test_corners_answer_for_all_points(points: list[tuple[int, int]], u: int, v: int) -> None:
    corners = _room()
    for point in points:
        add_corner(corners, float(point[0]), float(point[1]))
    number = int(corners[1][0])
    assert may_pair(corners, u - 0.5, v - 0.5) == any(a < u and b < v for a, b in points)
    assert (np.diff(corners[0][0, :number]) > 0).all()
    assert (np.diff(corners[0][1, :number]) < 0).all()


@pytest.mark.parametrize("number", [1, 500])
def test_there_is_room_for_as_many_corners_as_points(number: int) -> None:
    steps = np.random.default_rng(1).permutation(number).astype(float)
    corners = point_corners(np.column_stack([steps, -steps]), number, weights(LIMIT, 0.3))
    assert corners[1][0] == number
    assert corners[0].shape[1] >= number
    np.testing.assert_array_equal(corners[0][1, :number], np.arange(number)[::-1])


@pytest.mark.parametrize("mode", [PENALTY, LIMIT])
@pytest.mark.parametrize("mu", [-0.4, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_no_block_that_is_left_out_has_a_stump_of_use(mode: int, mu: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, sizes, unordered = 60, np.array([20, 3, 40]), np.array([False, True, False])
    ranks = np.array([rng.integers(0, size, n) for size in sizes])
    loss, disparity = rng.choice([-1.0, 1.0], n) / n, rng.choice([-0.7, 0.5], n) / n
    sheet = lay_out(ranks, sizes, unordered, np.arange(n), np.ones(3, dtype=bool), 6, 0.0, 3)
    by_level, made = unordered[sheet[0]], weights(mode, mu)
    price, own = loss + mu * disparity, np.column_stack([loss, disparity]) @ made.T
    inputs = np.column_stack([price, np.minimum(price, 0), loss, disparity, np.ones(n), np.minimum(own, 0)])
    sums = block_sums(sheet, 0, inputs)[-1]
    everything, partner = 1e9, (-0.05, 0.02)
    corners, needed = no_corners(sheet), np.zeros(sums.shape[1], dtype=bool)
    add_corner(corners, *partner)
    most_u, most_v = own.sum(axis=0) / 2 + 0.03
    block_corners(sums, sheet, by_level, made, everything, np.bool_(True), most_u, most_v, corners, needed)
    of_use = 0
    for f in (0, 2):
        for cut in range(sizes[f] - 1):
            left = ranks[f] <= cut
            block = int(sheet[8][np.flatnonzero(left)[ranks[f][left].argmax()], f]) if left.any() else -1
            for chosen in (left, ~left):
                u, v = own[chosen].sum(axis=0) + partner
                if left.any() and u < most_u and v < most_v:
                    of_use += 1
                    assert needed[block]
    assert of_use > 0
    assert not needed.all()
