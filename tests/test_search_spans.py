"""Bounds on runs of cuts by people's usual labels, against every cut above every pair of stumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.solve.search.kernels.compile import INFINITE
from evenleaf.solve.search.kernels.first_tests import cuts_below, make_inputs
from evenleaf.solve.search.kernels.sheet import add_kinds, kinds, lay_out, workspace
from evenleaf.solve.search.kernels.spanned import spanned_cuts_below
from evenleaf.solve.search.kernels.spans import settle, span_bound, span_exactly, usual_labels

N_PEOPLE, UNORDERED = 26, np.array([False, False, True])
NEVER = np.zeros(1, dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Laid:
    """Made-up people, two ordered features and one with levels, and their prices."""

    ranks: np.ndarray
    price: np.ndarray
    sheet: tuple[Any, ...]

    @property
    def by_level(self) -> np.ndarray:
        """Of each row of the sheet."""
        return UNORDERED[self.sheet[0]]


@st.composite
def laid_out(draw: st.DrawFn) -> Laid:
    """Blocks of several ranks; heavy values, prices of 0, and a second feature that goes along with the first."""
    random = np.random.default_rng(draw(st.integers(0, 100_000)))
    first = np.maximum(random.integers(-draw(st.sampled_from([2, 8, 20])), 20, N_PEOPLE), 0)
    second = np.clip(first + random.integers(-2, 3, N_PEOPLE), 0, 19)
    ranks = np.array([first, second, random.integers(0, 3, N_PEOPLE)])
    price = random.integers(-4, 5, N_PEOPLE) * random.choice([0.25, 1.0])
    sizes, growth = np.array([20, 20, 3]), draw(st.sampled_from([0.0, 0.4]))
    allowed, blocks = np.ones(3, dtype=np.bool_), draw(st.integers(1, 8))
    return Laid(ranks, price, lay_out(ranks, sizes, UNORDERED, np.arange(N_PEOPLE), allowed, blocks, growth, 3))


def best_stump(laid: Laid, here: np.ndarray) -> float:
    """Of the people here, by looking at all of them."""
    best = min(0.0, laid.price[here].sum())
    for feature, unordered in zip(laid.ranks, UNORDERED, strict=True):
        if unordered:
            best = min(best, sum(min(0.0, laid.price[here & (feature == level)].sum()) for level in range(3)))
            continue
        for cut in range(20):
            left, right = laid.price[here & (feature <= cut)].sum(), laid.price[here & (feature > cut)].sum()
            best = min(best, min(0.0, left) + min(0.0, right))
    return best


def cost_of(laid: Laid, row: int, cut: int) -> float:
    """Two stumps on either side of a cut, counted without gaps."""
    left = laid.sheet[1][row] <= cut
    return best_stump(laid, left) + best_stump(laid, ~left)


@given(laid=laid_out(), seed=st.integers(0, 1000), good=st.booleans())
@settings(max_examples=60)
def test_runs_cost_no_less_than_their_bound_whatever_is_usual(laid: Laid, seed: int, good: bool) -> None:
    sheet, by_level, prices = laid.sheet, laid.by_level, laid.price[None, :]
    usual = usual_labels(sheet, by_level, prices)[0]
    if not good:
        usual = np.random.default_rng(seed).integers(0, 2, N_PEOPLE).astype(np.bool_)
    starts, edges, blocks, room = sheet[4], sheet[6], sheet[7], workspace(sheet)
    for row in np.flatnonzero(~by_level).tolist():
        n_blocks, n_ranks = int(blocks[row + 1] - blocks[row]), int(starts[row + 1] - starts[row])
        table = np.empty((n_blocks + 1, int(blocks[-1]), 4))
        add_kinds(sheet, row, laid.price, kinds(laid.price, usual), table)
        settled, own = np.empty((2, n_blocks + 1)), np.empty((3, n_blocks))
        settle(sheet, row, laid.price, usual, settled, own)
        costs = np.array([cost_of(laid, row, cut) for cut in range(n_ranks - 1)])
        for low in range(n_blocks):
            for high in range(low + 1, n_blocks + 1):
                first, last = (int(edges[blocks[row] + row + end]) - 1 for end in (low, high))
                held = costs[max(first, 0) : last + 1]
                if not len(held):
                    continue
                bound = span_bound(table, low, high, row, blocks, by_level, room, settled, own)
                read = span_exactly(
                    sheet, by_level, row, first, last, table, low, high, laid.price, usual, room, settled, own
                )
                assert bound <= read + 1e-9
                assert read <= held.min() + 1e-9


@given(laid=laid_out(), above=st.sampled_from([0.0, 0.25, 3.0]), many=st.booleans())
@settings(max_examples=60)
def test_cuts_are_found_as_without_usual_labels(laid: Laid, above: float, many: bool) -> None:
    sheet, by_level = laid.sheet, laid.by_level
    prices = np.array([laid.price, np.roll(laid.price, 1)])[: 1 + many]
    usual, inputs = usual_labels(sheet, by_level, prices), make_inputs(prices)
    for row in np.flatnonzero(~by_level).tolist():
        least = min(cost_of(laid, row, cut) for cut in range(int(sheet[4][row + 1] - sheet[4][row]) - 1))
        targets, most = np.full(len(prices), least + above + 1e-9), 1000 * many
        plain = cuts_below(sheet, by_level, row, prices, inputs, targets.copy(), INFINITE, most, NEVER)
        spanned = spanned_cuts_below(sheet, by_level, row, prices, inputs, usual, targets.copy(), INFINITE, most, NEVER)
        if many:
            found = [dict(zip(codes[:n].tolist(), costs[:n], strict=True)) for codes, costs, n in (plain, spanned)]
            assert found[0].keys() == found[1].keys()
            for code, costs in found[0].items():
                np.testing.assert_allclose(costs, found[1][code], atol=1e-12)
        else:
            assert spanned[1][spanned[2] - 1].sum() == pytest.approx(least, abs=1e-9)


def test_usual_labels_rule_out_runs_that_free_people_do_not() -> None:
    random = np.random.default_rng(3)
    ranks = np.array([random.permutation(400), random.integers(0, 2, 400)])
    price = np.where(ranks[1] == 1, -1.0, 1.0) * np.where(random.random(400) < 0.2, -1, 1)
    by_level = np.zeros(2, dtype=np.bool_)
    sheet = lay_out(ranks, np.array([400, 2]), by_level, np.arange(400), np.ones(2, dtype=np.bool_), 8, 0.0, 2)
    blocks, usual = sheet[7], usual_labels(sheet, by_level, price[None, :])[0]
    np.testing.assert_array_equal(usual, ranks[1] == 1)
    table, room = np.empty((9, int(blocks[-1]), 4)), workspace(sheet)
    add_kinds(sheet, 0, price, kinds(price, usual), table)
    settled, own = np.empty((2, 9)), np.empty((3, 8))
    settle(sheet, 0, price, usual, settled, own)
    middle = span_bound(table, 2, 6, 0, blocks, by_level, room, settled, own)
    inside = (ranks[0] >= 100) & (ranks[0] < 300)
    free = price[usual & ~inside].sum() + np.minimum(price[inside], 0.0).sum()
    assert free + 20 < middle <= price[usual].sum()
