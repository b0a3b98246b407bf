"""The two ways through a box, one person at a time and row by row, give the same sums and keep the same cuts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.solve.search.kernels import find_cut
from evenleaf.solve.search.kernels import sweep as kernels


def box(seed: int, n_people: int, n_parts: int, n_segments: int) -> dict[str, np.ndarray]:
    """People in the parts of a root (part 0 settled) and in the segments of a feature, with prices."""
    random = np.random.default_rng(seed)
    group = random.integers(0, n_parts + 1, n_people).astype(np.int32)
    order = np.argsort(group, kind="stable")
    return {
        "prices": random.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 2.0], (n_people, 1)),
        "group": group,
        "order": order,
        "starts": np.searchsorted(group[order], np.arange(n_parts + 2)),
        "segment": random.integers(0, n_segments, n_people).astype(np.int32),
        "on_side": random.random(n_parts) < 0.5,
        "moves": random.integers(0, n_parts, 2 * n_parts) if n_parts else np.zeros(0, dtype=np.int64),
        "slack": random.uniform(-4, 1, 2 * n_parts + 1),
    }


def on_side_at(made: dict[str, np.ndarray], root: int) -> np.ndarray:
    here = made["on_side"].copy()
    for part in made["moves"][:root]:
        here[part] = not here[part]
    return np.concatenate([[True], here])[made["group"]]


@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(0, 5), st.integers(2, 9), st.booleans())
def test_both_ways_find_the_best_stump(seed: int, n_people: int, n_parts: int, size: int, levels: bool) -> None:
    made = box(seed, n_people, n_parts, size)
    n_roots = len(made["moves"]) + 1
    live = np.ones(n_roots, dtype=np.bool_)
    few, many, totals = np.empty(n_roots), np.empty(n_roots), np.zeros((n_roots, 1))
    across = kernels._few_cross_levels if levels else kernels._few_cross
    across(
        made["prices"], made["starts"], made["order"], made["segment"], size, made["moves"], made["on_side"], live, few
    )
    kernels._root_totals(made["prices"], np.arange(n_people), made["group"], made["moves"], made["on_side"], totals)
    h, run = np.empty((n_parts + 1, size, 1)), np.empty((size, 1))
    kernels._scan(
        made["prices"], np.arange(n_people), made["group"], made["segment"], size, levels,
        made["moves"], made["on_side"], live, totals, many, h, run,
    )  # fmt: skip
    np.testing.assert_allclose(few, many, atol=1e-12)


@given(st.integers(0, 10_000), st.integers(0, 40), st.integers(0, 5), st.integers(2, 9))
def test_exactly_the_cuts_below_the_slack_are_kept(seed: int, n_people: int, n_parts: int, size: int) -> None:
    made = box(seed, n_people, n_parts, size)
    n_roots = len(made["moves"]) + 1
    keep = np.zeros(size, dtype=np.uint8)
    kernels._mark_few(
        made["prices"], made["starts"], made["order"], made["segment"], size, made["moves"], 0, n_roots - 1,
        made["on_side"].copy(), np.ones(n_roots, dtype=np.bool_), np.full(n_roots, -np.inf), made["slack"],
        np.arange(size), keep,
    )  # fmt: skip
    expected = np.zeros(size, dtype=np.uint8)
    for root in range(n_roots):
        here = on_side_at(made, root)
        for cut in range(size - 1):
            below = made["prices"][here & (made["segment"] <= cut)].sum()
            above = made["prices"][here & (made["segment"] > cut)].sum()
            expected[cut] |= min(below, above) < made["slack"][root]
    np.testing.assert_array_equal(keep, expected)


def test_the_best_cut_is_found_where_it_is() -> None:
    prices = np.array([[-1.0], [-1.0], [3.0], [-0.5]])
    segment = np.array([0, 1, 2, 3], dtype=np.int32)
    assert find_cut(prices, np.array([True, True, True, True]), segment, 4) == 1
