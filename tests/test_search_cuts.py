"""The cheapest of many cuts, found in runs: the same as by pricing each, with people who are free or alike, too."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.problem import Problem, Shape
from evenleaf.solve.search import children, cuts, deep
from evenleaf.solve.search.children import Children
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.testing.strategies import problems
from levelled_tables import alone, answer_is_that_of_brute_force, levelled, same_for_any_number_of_workers

tables = problems(task="classification", max_people=14, max_classes=2, max_columns=3, limits=False)


def some_children(compiled: Compiled, random: np.random.Generator, many: int) -> Children:
    """The subtrees of some people beside others who are free, with some of their cuts."""
    member = random.random(compiled.n_people) < random.choice([0.3, 0.7, 1.0])
    possible = member | (random.random(compiled.n_people) < random.choice([0.0, 0.5]))
    kept = random.choice([0.4, 1.0])
    alive = (random.random((2, int(compiled.offsets[-1]))) < kept).astype(np.uint8)
    with patch.object(children, "_MANY", many):
        return Children(compiled, member, possible, alive[0], alive[1], refines=True)


def cost_of(labels: np.ndarray, costs: np.ndarray) -> float:
    return float(costs[labels > 0].sum())


@given(problem=tables, seed=st.integers(0, 9999), block=st.integers(1, 4))
@settings(deadline=None, max_examples=300)
def test_runs_of_cuts_hide_nothing(problem: Problem, seed: int, block: int) -> None:
    compiled = compile_problem(problem)
    assume(compiled.n_features > 0)
    with patch.multiple(cuts, _PEOPLE_A_BLOCK=block, _FEWEST_BLOCKS=1):
        swept, priced = (some_children(compiled, np.random.default_rng(seed), many) for many in (0, 10**9))
    assume(swept._cuts is not None)
    assert priced._cuts is None
    random = np.random.default_rng(seed + 1)
    for _ in range(4):
        costs = np.round(random.normal(size=(compiled.n_people, 1)), random.choice([0, 3]))
        value, number = swept.best(costs)
        expected = priced.best(costs)[0]
        assert value == pytest.approx(expected, abs=1e-9)
        labels = np.zeros(compiled.n_people, dtype=np.int64)
        swept.label(number, costs, labels)
        assert cost_of(labels, costs) == pytest.approx(value, abs=1e-9)
        # What may be cheaper than a slack is the same, but for what is on its very edge.
        for slack in (expected + 0.501, expected + 1.7003, 0.1007):
            for ours, theirs in zip(swept.survivors(costs, slack), priced.survivors(costs, slack), strict=True):
                assert np.array_equal(ours, theirs)


def test_a_cut_that_parts_only_free_people_stays() -> None:
    compiled = compile_problem(levelled(30))
    ordered = int(np.flatnonzero(~compiled.unordered)[0])
    ranks = compiled.ranks[ordered]
    member = ranks <= np.median(ranks)
    every = np.ones(int(compiled.offsets[-1]), dtype=np.uint8)
    with patch.object(children, "_MANY", 0):
        subtree = Children(compiled, member, np.ones_like(member), every, every, refines=False)
    assert subtree._cuts is not None
    assert subtree._cuts.idle is not None
    costs = np.random.default_rng(0).normal(size=(compiled.n_people, 1))
    subtree.best(costs)
    kept, _ = subtree.survivors(costs, 10.0)
    mine = kept[compiled.offsets[ordered] : compiled.offsets[ordered + 1]]
    assert mine.all()


@pytest.fixture
def by_runs() -> Iterator[None]:
    """Runs everywhere, however few cuts there are."""
    short = patch.multiple(cuts, _PEOPLE_A_BLOCK=2, _FEWEST_BLOCKS=1)
    with alone(), patch.object(children, "_MANY", 0), patch.object(deep, "_DEAR", 0), short:
        yield


@pytest.mark.usefixtures("by_runs")
@given(problem=problems(task="classification", max_people=7, max_values=4, limits=False))
@settings(max_examples=80)
def test_by_runs_the_answer_is_that_of_brute_force(problem: Problem) -> None:
    answer_is_that_of_brute_force(problem.with_shape(Shape(max_depth=3)))


@pytest.mark.usefixtures("by_runs")
def test_by_runs_the_proof_is_the_same_for_any_number_of_workers() -> None:
    same_for_any_number_of_workers(levelled(90, 9))
