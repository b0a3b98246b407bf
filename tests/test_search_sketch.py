"""Subtrees that are handed from a box to its parts: the same labels, and true costs with the people who come in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.problem import Problem, Shape
from evenleaf.solve import Budget
from evenleaf.solve.search import kernels
from evenleaf.solve.search.ascent import AT_FREE
from evenleaf.solve.search.boxes import FREE, Box, first_boxes
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.deep import DeepOracle
from evenleaf.solve.search.model import Model
from evenleaf.solve.search.planes import PlaneClimb
from evenleaf.solve.search.sketch import labelled
from evenleaf.solve.search.worker import Worker
from evenleaf.testing.strategies import problems

tables = problems(task="classification", max_people=12, max_classes=3, max_columns=3, limits=False)


def boxes_with_free_people(compiled: Compiled) -> list[Box]:
    return [box for box in first_boxes(compiled, np.zeros_like(compiled.weight), 1.0, 3, walk=False) if box.has_free]


def worker_for(problem: Problem) -> Worker:
    """To depth 3, with an aim that is hardly ever reached."""
    problem = problem.with_shape(Shape(max_depth=3))
    worker = Worker(problem, compile_problem(problem), Budget())
    worker.begin(None, 1.0, frozenset())
    return worker


def climbed_boxes(worker: Worker) -> Iterator[Box]:
    """Those that are still open, with what was reached."""
    for box in boxes_with_free_people(worker.compiled):
        reached = worker.climb(box, AT_FREE).box
        if reached.bound < 1.0 and reached.live.any():
            yield reached


@given(problem=tables, seed=st.integers(0, 999))
@settings(deadline=None, max_examples=60)
def test_the_tests_of_a_part_give_its_people_the_labels_that_they_had(problem: Problem, seed: int) -> None:
    worker = worker_for(problem)
    c, scratch = worker.compiled, worker.ascent.scratch
    scratch.costs[:] = np.random.default_rng(seed).normal(size=scratch.costs.shape)
    for box in boxes_with_free_people(c):
        oracle = DeepOracle(box, scratch, 2)
        _, choice = oracle.best(np.inf)
        labels = oracle.labels(choice)
        numbers = (*choice, *oracle.own)
        assert len(oracle.places) == len(oracle.subtrees) == len(numbers)
        for part, (subtree, number) in enumerate(zip(oracle.subtrees, numbers, strict=True)):
            members = np.flatnonzero(subtree.member)
            if subtree.is_real(number):  # a relaxation may give the people of a leaf several labels
                assert np.array_equal(labelled(oracle.tests(choice, labels, part), c, members), labels[members])


@given(problem=tables)
@settings(deadline=None, max_examples=60)
def test_a_subtree_that_is_recalled_costs_what_it_costs_with_the_newcomers(problem: Problem) -> None:
    worker = worker_for(problem)
    c, checked = worker.compiled, 0
    for reached in climbed_boxes(worker):
        for part in worker._split(reached):
            climb = PlaneClimb(worker.ascent.ground, part, DeepOracle(part, worker.ascent.scratch, 2), (), 1.0)
            climb._recall(())
            assert {piece.part for piece in climb.model.pieces} <= set(range(climb.model.n_parts))
            for piece in climb.model.pieces:
                assert piece.top is not None
                _check_costs(climb.model, c, piece.members, labelled(piece.top, c, piece.members), piece.part)
                checked += 1
    assume(checked)


def _check_costs(model: Model, c: Compiled, members: np.ndarray, labels: np.ndarray, part: int) -> None:
    """Whoever is in the part by now is priced, at any multipliers."""
    assert np.array_equal(members, model.members[part])
    mu = np.random.default_rng(len(members)).uniform(-1, 1, c.weight.shape)
    costs = np.empty_like(c.base)
    kernels.dual_costs(c.pointers, c.rows, c.entries, c.weight, 1.0, mu, c.base, costs)
    chosen = np.flatnonzero(labels)
    expected = costs[members[chosen], labels[chosen] - 1].sum()
    known = [piece for piece in model.pieces if piece.part == part and np.array_equal(piece.labels, labels)]
    assert known
    assert known[0].constant + known[0].slope @ mu[model.used] == pytest.approx(expected, abs=1e-9)


@given(problem=tables)
@settings(deadline=None, max_examples=40)
def test_what_is_known_in_a_box_is_handed_to_its_parts(problem: Problem) -> None:
    worker, handed = worker_for(problem), 0
    for reached in climbed_boxes(worker):
        free = {-1 - int(level) for level in np.flatnonzero(reached.state == FREE)}
        for part in worker._split(reached):
            assert part.known is reached.known
            assert {sketch.place for sketch in part.known} <= {0, 1} | free
            handed += len(part.known)
    assume(handed)
