"""Labels that are decided while people are free: the answers, the proofs, and when it is tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings

from evenleaf.problem import Problem, Shape
from evenleaf.solve import Budget
from evenleaf.solve.certify import check
from evenleaf.solve.proofs.labels import OPEN, Labels, LabelsProof, Region
from evenleaf.solve.search import SearchSolver, freedom, nodes, worker
from evenleaf.solve.search.boxes import Box, first_boxes
from evenleaf.solve.search.choosing import Choosing
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.solve.search.freedom import Freedom
from evenleaf.testing.strategies import problems
from levelled_tables import alone, answer_is_that_of_brute_force, levelled, same_for_any_number_of_workers

SOLVER = SearchSolver()


@pytest.fixture
def always() -> Iterator[None]:
    """Labels are decided in every box, however many are free and however far the bound is."""
    changed = patch.multiple(freedom, _MOST_BY_LEVEL=1.0, _MOST_BY_CUT=1.0, _LEAST_BOUND=-np.inf, _SHRINK=1.0)
    eager = patch.object(worker, "_WORTH_DECIDING", -np.inf)
    with alone(), changed, eager, patch.object(Choosing, "prefers_labels", lambda *_: True):
        yield


def joint_regions(regions: tuple[Region, ...] | list[Region]) -> int:
    """How many regions with several roots are closed by labels."""
    found = 0
    for region in regions:
        several = region.last > region.first if region.sides is None else bool((region.sides == OPEN).any())
        found += (several and region.labels is not None and not region.parts) + joint_regions(region.parts)
    return found


@pytest.mark.usefixtures("always")
def test_labels_close_several_roots_at_once_and_the_checker_agrees() -> None:
    problem = levelled()
    answer = SOLVER.solve(problem, Budget())
    assert answer.proven
    assert answer.certificate is not None
    assert isinstance(answer.certificate.proof, LabelsProof)
    assert joint_regions(answer.certificate.proof.regions) > 0
    verdict = check(answer.certificate.to_bytes(), problem)
    assert verdict.holds, verdict.reason


@pytest.mark.usefixtures("always")
def test_a_proof_without_such_labels_is_refused() -> None:
    problem = levelled()
    answer = SOLVER.solve(problem, Budget())
    assert answer.certificate is not None
    assert isinstance(answer.certificate.proof, LabelsProof)
    regions = list(answer.certificate.proof.regions)
    place = next(i for i, region in enumerate(regions) if joint_regions([region]))
    regions[place] = replace(regions[place], parts=[], labels=None)
    torn = replace(answer.certificate, proof=LabelsProof(tuple(regions)))
    verdict = check(torn, problem)
    assert not verdict.holds
    assert "does not rule out" in verdict.reason


@pytest.mark.usefixtures("always")
@given(problem=problems(task="classification", max_people=7, max_values=4, limits=False))
@settings(max_examples=60)
def test_the_answer_is_that_of_brute_force(problem: Problem) -> None:
    answer_is_that_of_brute_force(problem.with_shape(Shape(max_depth=3)))


@pytest.fixture
def impatient(always: None) -> Iterator[None]:
    """After a label or two, boxes with free people are split below the labels decided so far."""
    with patch.multiple(worker, _MOST_DECIDED=1, _MOST_LABEL_NODES=5, _MOST_BELOW=100):
        yield


def parted_labels(regions: tuple[Region, ...] | list[Region]) -> Iterator[Labels]:
    """The nodes of trees of labels below which roots are parted."""
    for region in regions:
        for node in () if region.labels is None else region.labels.nodes():
            if node.parts:
                yield node
                yield from parted_labels(node.parts)
        yield from parted_labels(region.parts)


@pytest.mark.usefixtures("impatient")
def test_roots_are_parted_below_labels_and_the_checker_agrees() -> None:
    problem = levelled(80)
    answer = SOLVER.solve(problem, Budget())
    assert answer.proven
    assert answer.certificate is not None
    assert isinstance(answer.certificate.proof, LabelsProof)
    assert any(parted_labels(answer.certificate.proof.regions))
    verdict = check(answer.certificate.to_bytes(), problem)
    assert verdict.holds, verdict.reason


@pytest.mark.usefixtures("impatient")
def test_a_proof_that_misses_roots_below_labels_is_refused() -> None:
    problem = levelled(80)
    answer = SOLVER.solve(problem, Budget())
    assert answer.certificate is not None
    assert isinstance(answer.certificate.proof, LabelsProof)
    # The checker's bound may close a node by itself; so each of them misses a part.
    for node in list(parted_labels(answer.certificate.proof.regions)):
        node.parts.pop()
    verdict = check(answer.certificate, problem)
    assert not verdict.holds
    assert "does not rule out" in verdict.reason


@pytest.mark.usefixtures("impatient")
def test_a_part_below_labels_must_lie_within_its_region() -> None:
    problem = levelled(80)
    answer = SOLVER.solve(problem, Budget())
    assert answer.certificate is not None
    assert isinstance(answer.certificate.proof, LabelsProof)
    node = next(parted_labels(answer.certificate.proof.regions))
    node.parts[0].feature = (node.parts[0].feature + 1) % 3
    assert not check(answer.certificate, problem).holds


@pytest.mark.usefixtures("impatient")
def test_parted_roots_are_the_same_for_any_number_of_workers() -> None:
    same_for_any_number_of_workers(levelled(80))


@pytest.mark.usefixtures("impatient")
@given(problem=problems(task="classification", max_people=7, max_values=4, limits=False))
@settings(max_examples=60)
def test_the_answer_with_parted_roots_is_that_of_brute_force(problem: Problem) -> None:
    answer_is_that_of_brute_force(problem.with_shape(Shape(max_depth=3)))


def box_on(problem: Problem, depth: int) -> tuple[Freedom, Box]:
    """The box of all tests on the levelled column, with a bound of 0.5."""
    compiled = compile_problem(problem)
    boxes = first_boxes(compiled, np.zeros_like(compiled.weight), 1.0, depth, walk=False)
    return Freedom(compiled, depth), replace(next(b for b in boxes if compiled.unordered[b.feature]), bound=0.5)


@pytest.fixture
def postponing(always: None) -> Iterator[None]:
    """After one decision the rest of a box with free people waits, with the label that was decided."""
    with patch.multiple(nodes, _JUDGED=1, _MOST_FORESEEN=0):
        yield


@pytest.mark.usefixtures("postponing")
def test_boxes_that_wait_with_their_labels_are_closed_in_the_end() -> None:
    problem = levelled(80)
    answer = SOLVER.solve(problem, Budget())
    assert answer.proven
    assert answer.certificate is not None
    assert isinstance(answer.certificate.proof, LabelsProof)
    waited = [node for node in parted_labels(answer.certificate.proof.regions) if len(node.parts) == 1]
    assert len(waited) > 10
    verdict = check(answer.certificate.to_bytes(), problem)
    assert verdict.holds, verdict.reason
    for node in waited:
        node.parts.clear()
    assert not check(answer.certificate, problem).holds


@pytest.mark.usefixtures("postponing")
def test_what_waits_is_the_same_for_any_number_of_workers() -> None:
    same_for_any_number_of_workers(levelled())


@pytest.mark.usefixtures("postponing")
@given(problem=problems(task="classification", max_people=7, max_values=4, limits=False))
@settings(max_examples=60)
def test_the_answer_with_boxes_that_wait_is_that_of_brute_force(problem: Problem) -> None:
    answer_is_that_of_brute_force(problem.with_shape(Shape(max_depth=3)))


def test_boxes_far_below_the_incumbent_are_split_first() -> None:
    kept, box = box_on(levelled(), 3)
    kept.most[:] = 1.0
    assert kept.allows(box, 0.6)
    assert not kept.allows(box, 0.7)


def test_failures_make_it_careful_and_successes_bold() -> None:
    kept, box = box_on(levelled(), 3)
    kept.highest[:] = kept.most[:] = 1.0
    kept.learn(box, worked=False)
    assert not kept.allows(box, 0.5)
    kept.learn(box, worked=True)
    assert kept.allows(box, 0.5)


def test_shallow_trees_never_decide_labels_while_people_are_free() -> None:
    kept, box = box_on(levelled(), 2)
    assert not kept.allows(box, 0.5)
