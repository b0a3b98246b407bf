"""Where D ≤ ε leaves only some shares of people with the second class, by counting people.

With two classes, let people be of one kind if their columns of the operator are the same. D then depends only on the
share of each kind that gets the second class. A common share is a fraction n/m of every kind's number of people m; if
these have no common divisor, it is 0 or 1. And shares that are not all the same are at least 1/(m·m') apart.
"""

from __future__ import annotations

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.certify.claim import ProofError

_MOST_ROWS, _MOST_KINDS, _LABELLINGS = 64, 64, 20
_ROUNDING = 1e-10


def fair_shares(problem: Problem) -> np.ndarray | None:
    """The shares that trees within the limit can give the second class: 0, 1/g … 1; None where there may be others."""
    limit, rows = problem.max_discrimination, problem.simplified
    if limit is None or problem.people.outcome.n_classes != 2 or not 0 < rows.n_rows <= _MOST_ROWS:
        return None
    _check_rows(problem)
    # Rows compare averages, so that both classes give a row the same difference but for its sign.
    columns = rows.matrix.toarray() * rows.weight.sum(axis=1)[:, None]
    kinds, people = np.unique(columns, axis=1, return_counts=True)
    if not 2 <= len(people) <= _MOST_KINDS:
        return None
    by_share = kinds * people
    unbalanced = float(np.abs(by_share.sum(axis=1)).sum())
    if not _least(by_share, people) > limit + FEASIBILITY_TOLERANCE + unbalanced + _ROUNDING:
        return None
    divisor = int(np.gcd.reduce(people))
    return np.arange(divisor + 1) / divisor


def _least(by_share: np.ndarray, people: np.ndarray) -> float:
    """How small ‖by_share · s‖₁ can be for shares s that are not all the same, or less."""
    largest = np.sort(people)[-2:].astype(np.float64)
    apart = 1.0 / float(largest.prod())
    if len(people) == 2:
        return float(np.abs(by_share).min(axis=1).sum()) * apart
    # ‖·‖₁ ≥ ‖·‖₂ ≥ σ·(distance to the shares without effect). If only common shares have none, the distance is that
    # to the mean, and two shares that differ by δ are together at least δ/√2 away from it.
    singular = np.linalg.svd(by_share, compute_uv=False)
    return float(singular[len(people) - 2]) * apart / np.sqrt(2.0) if len(singular) >= len(people) - 1 else 0.0


def _check_rows(problem: Problem) -> None:
    """The simplified rows must give the disparity that the definition gives."""
    random = np.random.default_rng(0)
    for _ in range(_LABELLINGS):
        psi = problem.psi(random.integers(0, 2, problem.people.n_people))
        if not np.isclose(problem.simplified.value(psi), problem.disparity.value(psi), rtol=1e-9, atol=1e-9):
            raise ProofError("the simplified rows do not give the discrimination of the problem")
