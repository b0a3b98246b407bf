"""Tests that were cheap lately: what a glimpse at them says is true of some tree, and never too low."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.problem import Problem, Shape
from evenleaf.solve.search import children, deep, shortlist
from evenleaf.solve.search.children import Children
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.oracle import Scratch
from evenleaf.solve.search.shortlist import Shortlist
from evenleaf.solve.search.sketch import labelled, sketch
from evenleaf.solve.search.tall import make_subtree
from evenleaf.testing.strategies import problems
from levelled_tables import alone, answer_is_that_of_brute_force, levelled, same_for_any_number_of_workers

tables = problems(task="classification", max_people=14, max_classes=3, max_columns=3, limits=False)


def children_of(compiled: Compiled) -> Children:
    """The subtrees of depth 2 for everybody."""
    subtree = make_subtree(compiled, np.ones(compiled.n_people, dtype=np.bool_), 2, lambda: False)
    assert isinstance(subtree, Children)
    return subtree


def prices(compiled: Compiled, random: np.random.Generator) -> np.ndarray:
    return random.normal(size=(compiled.n_people, compiled.n_labels))


def cost_of(labels: np.ndarray, costs: np.ndarray) -> float:
    chosen = np.flatnonzero(labels)
    return float(costs[chosen, labels[chosen] - 1].sum())


@given(problem=tables, seed=st.integers(0, 999), walked=st.sampled_from([1, 2, 11]))
@settings(deadline=None, max_examples=80)
def test_a_glimpse_prices_a_subtree_that_is_there(problem: Problem, seed: int, walked: int) -> None:
    compiled, random = compile_problem(problem), np.random.default_rng(seed)
    assume(compiled.n_features > 0)
    with patch.object(children, "_MOST_WALKED_LEVELS", walked):
        subtree = children_of(compiled)
    first = prices(compiled, random)
    assert subtree.glimpse(first) is None
    for costs in (first, first + 0.3 * prices(compiled, random), prices(compiled, random)):
        best, _ = subtree.best(costs)
        for now in (costs, costs + 0.1 * prices(compiled, random)):
            glimpsed = subtree.glimpse(now)
            assert glimpsed is not None
            value, number = glimpsed
            assert subtree.is_real(number)
            labels = np.zeros(compiled.n_people, dtype=np.int64)
            subtree.label(number, now, labels)
            assert cost_of(labels, now) == pytest.approx(value, abs=1e-9)
            if now is costs:
                assert value >= best - 1e-9
            # Its tests say the same.
            everybody = np.arange(compiled.n_people)
            told = sketch(subtree.plan(number, now, labels), compiled, everybody, labels)
            assert np.array_equal(labelled(told, compiled, everybody), labels)


@given(problem=tables, seed=st.integers(0, 999))
@settings(deadline=None, max_examples=40)
def test_at_the_same_prices_a_glimpse_finds_the_best_listed_test(problem: Problem, seed: int) -> None:
    compiled = compile_problem(problem)
    assume(compiled.n_features > 0)
    subtree, costs = children_of(compiled), prices(compiled, np.random.default_rng(seed))
    best, number = subtree.best(costs)
    glimpsed = subtree.glimpse(costs)
    assert glimpsed is not None
    if number < len(subtree.moves):
        assert glimpsed[0] == pytest.approx(best, abs=1e-9)


def test_of_too_many_tests_the_one_that_was_cheap_longest_ago_makes_way() -> None:
    members, segment = np.arange(4), np.zeros((1, 4), dtype=np.int32)
    listed = Shortlist(members, segment, np.array([1]), np.array([False]))
    halves = members < 1, members >= 1
    with patch.object(shortlist, "_LONGEST", 2):
        for key in ("a", "b", "a", "c"):
            listed.add(key, 0, -1, lambda: halves)
    assert set(listed.tests) == {"a", "c"}


def test_without_tests_there_is_nothing_to_glimpse_at() -> None:
    listed = Shortlist(np.arange(2), np.zeros((1, 2), dtype=np.int32), np.array([0]), np.array([False]))
    assert listed.best(np.zeros((2, 1))) == (np.inf, -1)


def test_nothing_is_left_of_one_box_in_the_next() -> None:
    compiled = compile_problem(levelled())
    scratch = Scratch(compiled, 1, lambda: False)
    made = scratch.level(0, 0, object)
    assert scratch.level(0, 0, object) is made
    scratch.forget()
    assert scratch.level(0, 0, object) is not made


@pytest.fixture
def eager() -> Iterator[None]:
    """Glimpses everywhere, however few tests there are, and most of them believed."""
    with alone(), patch.object(deep, "_DEAR", 0), patch("evenleaf.solve.search.planes._RULED_OUT", 0.9):
        yield


@pytest.mark.usefixtures("eager")
@given(problem=problems(task="classification", max_people=7, max_values=4, limits=False))
@settings(max_examples=60)
def test_with_glimpses_the_answer_is_that_of_brute_force(problem: Problem) -> None:
    answer_is_that_of_brute_force(problem.with_shape(Shape(max_depth=3)))


@pytest.mark.usefixtures("eager")
def test_with_glimpses_the_proof_is_the_same_for_any_number_of_workers() -> None:
    same_for_any_number_of_workers(levelled(90, 9))
