"""Problems whose proofs about few disparity rows take work, and searches and checks that have little room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from certified import people_without_pattern
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.certify.fronts import forks, lists, proof, slots
from evenleaf.solve.fronts import FrontSolver, oracle, worker
from evenleaf.solve.fronts import lists as search_lists
from evenleaf.solve.proofs.fronts import FrontsProof, Step, walk

SOLVER = FrontSolver()
FEW_ROWS = ("impact", "conditional", "opportunity", "predictive", "odds", "mistreatment", "combination")


def mixed(n: int = 40, depth: int = 2, **asked: Any) -> Problem:
    """People without a pattern, so that a proof takes work."""
    people, shape = people_without_pattern(n, groups="abc"), Shape(max_depth=depth)
    return pose(people, shape=shape, fairness=DisparateImpact(), **(asked or {"fairness_weight": 0.3}))


def steps_of(certificate: Certificate) -> list[Step]:
    assert isinstance(certificate.proof, FrontsProof)
    return list(walk(certificate.proof.top))


@contextmanager
def cramped() -> Iterator[None]:
    """Lists and tables so short in the search that parts are made smaller all the time."""
    with (
        patch.object(worker, "_POINTS", 8),
        patch.multiple(oracle, MOST_BLOCKS=2, FEW_BLOCKS=2, MOST_LEVELS=2),
        patch.multiple(search_lists, MOST_SUBSETS=2, _MOST_SINGLES=1, _MOST_FORKS=3),
    ):
        yield


@contextmanager
def strict() -> Iterator[None]:
    """A checker with short lists and few levels that are tried one by one, which has to make very many parts."""
    with (
        patch.multiple(lists, MOST_POINTS=6, _MOST_FORKS=6, _MOST_TESTS=4),
        patch.multiple(slots, MOST_LISTED_LEVELS=2, _FEW=2),
        patch.multiple(forks, _MOST_SPELT=2, _SHOWN=1),
        patch.object(proof, "_MOST_OWN", 100_000),
    ):
        yield
