"""A table with levels to search to depth 3, and what must be true of every answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pytest

from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, helpers
from evenleaf.solve.certify import check
from evenleaf.solve.search import SearchSolver
from evenleaf.testing import brute_force, people_from

SOLVER = SearchSolver()


def levelled(n: int = 60, levels: int = 6, depth: int = 3) -> Problem:
    """A column whose levels are of very different sizes, and numbers without a pattern."""
    number = np.arange(n)
    level = np.minimum((number * 7 % 31) ** 2 // 40, levels - 1)
    columns = {"c": [f"level {i}" for i in level], "x": number * 5 % 13, "z": number * number % 7}
    people = people_from(columns, (number * number + level) % 3 % 2, {"g": ["ab"[i] for i in number * 3 % 7 % 2]})
    return pose(people, fairness=DisparateTreatment(n_neighbors=8), fairness_weight=1.0, shape=Shape(max_depth=depth))


def answer_is_that_of_brute_force(problem: Problem) -> None:
    """With a certificate that holds, where there is one."""
    if not SOLVER.accepts(problem):
        return
    answer, expected = SOLVER.solve(problem, Budget()), brute_force(problem)
    assert answer.status is expected.status
    assert answer.objective == pytest.approx(expected.objective, abs=1e-9)
    if answer.certificate is not None:
        assert check(answer.certificate, problem).holds


@contextmanager
def alone() -> Iterator[None]:
    """No other processes are called, however long it takes: what is patched here would not be patched there."""
    with patch.object(helpers, "_PATIENCE", 1e6):
        yield


def same_for_any_number_of_workers(problem: Problem) -> None:
    """The tree, the count of bounds, and the proof to the byte."""
    one, two = (SOLVER.solve(problem, Budget(n_jobs=n)) for n in (1, 2))
    assert one.tree == two.tree
    assert one.message == two.message
    assert one.certificate is not None
    assert two.certificate is not None
    assert one.certificate.to_bytes() == two.certificate.to_bytes()
