"""Problems whose proofs over labels take work, and the nodes of such a proof, for the tests of its checker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from certified import people_without_pattern
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.proofs.labels import Labels, LabelsProof, Region
from evenleaf.solve.search import SearchSolver
from evenleaf.solve.search.solver import why_no_certificate

SOLVER = SearchSolver(certificate=True)


def is_certified(problem: Problem) -> bool:
    """Whether the search takes a problem on, and writes a certificate for it."""
    return SOLVER.accepts(problem) and not why_no_certificate(problem)


def mixed(n: int = 16, levels: int = 4, depth: int = 2, **asked: Any) -> Problem:
    """People without a pattern, so that a proof takes work; `levels` of the column c."""
    people, shape = people_without_pattern(n, levels), Shape(max_depth=depth)
    fairness = asked.pop("fairness", DisparateTreatment(n_neighbors=4))
    return pose(people, shape=shape, fairness=fairness, **(asked or {"fairness_weight": 0.3}))


def regions_of(certificate: Certificate) -> tuple[Region, ...]:
    assert isinstance(certificate.proof, LabelsProof)
    return certificate.proof.regions


def walk(regions: tuple[Region, ...] | list[Region]) -> Iterator[Region]:
    for region in regions:
        yield region
        yield from walk(region.parts)


def label_nodes(certificate: Certificate) -> Iterator[Labels]:
    stack = [region.labels for region in walk(regions_of(certificate)) if region.labels is not None]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children or ())


def every_node(certificate: Certificate) -> list[Region | Labels]:
    return [*walk(regions_of(certificate)), *label_nodes(certificate)]
