"""The parts of the checker of proofs about numbers, against the definitions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.problem import Problem
from evenleaf.solve.certify.values import proof
from evenleaf.solve.certify.values.leaves import best_multipliers, cost_alone, leaf_costs, least_cost
from evenleaf.solve.certify.values.numbers import Numbers
from evenleaf.solve.certify.values.stumps import stump_costs, without_twins
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.values.recorder import _runs
from evenleaf.testing.strategies import problems
from paid_rows import Priced, some_prices
from value_proofs import usable


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_the_cheapest_value_of_a_leaf(seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = np.unique(np.concatenate([[0.0, 1.0], random.random(int(random.integers(0, 5)))]))
    mass, pull = random.random((3, len(levels))), random.normal(size=3)
    values = np.union1d(levels, np.linspace(0, 1, 50))
    dense = (mass[:, :, None] * np.abs(levels[:, None] - values)).sum(axis=1) + pull[:, None] * values
    assert least_cost(mass, pull, levels) == pytest.approx(dense.min(axis=1))


@given(problem=problems(task="regression", max_people=10, notions=("impact", "treatment")), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_stumps_cost_what_their_leaves_do(problem: Problem, seed: int) -> None:
    usable(problem)
    numbers, random = Numbers.of(problem), np.random.default_rng(seed)
    prices = some_prices(numbers, random)
    people = np.flatnonzero(random.random(len(numbers.count)) < random.choice([0.7, 0.95]))
    assume(len(people))
    least, joining = int(random.integers(1, 4)), int(random.integers(0, 2))
    every = np.ones(numbers.n_tests + 1, dtype=np.bool_)
    cost = stump_costs(numbers, people, prices, every, least, joining)
    alone = cost_alone(numbers, prices.person)
    priced = Priced.at(numbers, numbers.operator, prices.person, prices.steep, prices.lean)
    for test in range(numbers.n_tests + 1):
        parts = parted(numbers, people, test)
        total = priced.stump(parts[0], parts[1], numbers.levels, numbers.levels)
        crowd = [numbers.count[part].sum() + joining for part in parts]
        crowded = min(crowd) >= least if test < numbers.n_tests else crowd[0] >= least
        assert cost[test] == pytest.approx(total if crowded else np.inf)
        assert total >= alone[people].sum() - 1e-12


def parted(numbers: Numbers, people: np.ndarray, test: int) -> list[np.ndarray]:
    """The people left and right of a test, from the meaning of its number."""
    if test == numbers.n_tests:
        return [people, people[:0]]
    feature = int(np.searchsorted(numbers.offsets, test, side="right")) - 1
    number, rank = test - int(numbers.offsets[feature]), numbers.ranks[feature][people]
    right = rank > number
    if numbers.unordered[feature]:
        right = np.array([r > 0 and bool((number + 1) & (1 << (int(r) - 1))) for r in rank], dtype=np.bool_)
    return [people[~right], people[right]]


@given(problem=problems(task="regression", max_people=8, max_values=4), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_twins_are_left_out_and_nothing_else(problem: Problem, seed: int) -> None:
    """Of the tests of a feature that part people alike exactly one is kept, and none that does not part them."""
    usable(problem)
    numbers = Numbers.of(problem)
    people = np.flatnonzero(np.random.default_rng(seed).random(len(numbers.count)) < 0.6)
    kept = without_twins(numbers, people, np.ones(numbers.n_tests + 1, dtype=np.bool_))
    assert kept[-1]
    for feature in range(numbers.n_features):
        tests = range(int(numbers.offsets[feature]), int(numbers.offsets[feature + 1]))
        parts = {test: frozenset(tuple(part) for part in parted(numbers, people, test)) for test in tests}
        wanted = {part for part in parts.values() if () not in part}
        found = [parts[test] for test in tests if kept[test]]
        assert len(found) == len(set(found))
        assert set(found) == wanted


@given(problem=problems(task="regression", max_people=9, forms=("weight", "limit")), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_multipliers_of_a_tree_price_it_truly(problem: Problem, seed: int) -> None:
    usable(problem)
    numbers = Numbers.of(problem)
    leaf = np.random.default_rng(seed).integers(0, 3, len(numbers.count))
    _, leaf = np.unique(leaf, return_inverse=True)
    limit = problem.max_discrimination
    scaled = None if limit is None else limit / numbers.unit
    mu, scale = best_multipliers(numbers, leaf, scaled)
    cost = leaf_costs(numbers, leaf, numbers.prices(mu, scale).person) - scale * (scaled or 0.0)
    true = best_leaves(problem, leaf[numbers.kind], int(leaf.max()) + 1)
    assert true is not None
    assert cost * numbers.unit == pytest.approx(true[1], abs=1e-7)
    assert (np.abs(mu) <= 1).all()


@given(possible=st.lists(st.booleans(), min_size=1, max_size=12), seed=st.integers(0, 10**6))
@settings(max_examples=100)
def test_runs_hold_what_is_kept(possible: list[bool], seed: int) -> None:
    was = np.array(possible)
    chosen = was & (np.random.default_rng(seed).random(len(was)) < 0.5)
    held = []
    for kept in (chosen, was & ~chosen):
        runs = _runs(kept, was)
        inside = np.zeros(len(was), dtype=np.bool_)
        for start, stop in zip(runs[::2], runs[1::2], strict=True):
            inside[start:stop] = True
        assert np.array_equal(inside & was, kept)
        held.append(inside)
    assert (held[0] | held[1]).all() or not was.any()


def test_no_kernel_is_shared_with_the_search() -> None:
    files = list(Path(proof.__file__).parent.glob("*.py"))
    assert len(files) > 4
    allowed = ("values.compiled import", "search.limits import", "kernels.compile import njit")
    for file in files:
        lines = file.read_text("utf-8").splitlines()
        imports = [line for line in lines if "import" in line and ("solve.search" in line or "solve.values" in line)]
        assert all(any(words in line for words in allowed) for line in imports), file.name
