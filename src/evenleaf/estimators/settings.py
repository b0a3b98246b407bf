"""From an estimator's parameters to the objects that the rooms below take: notion, budget, seed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from evenleaf.errors import InputError
from evenleaf.fairness import (
    DisparateImpact,
    DisparateMistreatment,
    DisparateTreatment,
    Notion,
)
from evenleaf.solve import Budget, TracePoint
from evenleaf.solve.result import relative_gap
from evenleaf.table import find_name

NOTIONS: dict[str, type[Notion]] = {
    "didi": DisparateImpact,
    "dtdi": DisparateTreatment,
    "mistreatment": DisparateMistreatment,
}
_LARGEST_SEED = 2**31 - 1


def as_notion(fairness: Any) -> Notion | None:
    """A notion as it is, or by its short name."""
    if fairness is None or isinstance(fairness, Notion):
        return fairness
    if isinstance(fairness, str):
        return NOTIONS[list(NOTIONS)[find_name(fairness, NOTIONS, what="fairness notion")]]()
    raise InputError(f"fairness must be None, a notion such as DisparateImpact(), or its name, not {fairness!r}")


def make_budget(
    time_limit: float | None, gap: float, n_jobs: int | None, random_state: Any, verbose: int | bool
) -> Budget:
    """One budget for one fit; the clock starts here."""
    return Budget(
        time_limit,
        gap,
        1 if n_jobs is None else n_jobs,
        seed_of(random_state),
        _Narrator() if verbose else None,
    )


def seed_of(random_state: Any) -> int:
    """A whole number for the solvers; None is 0, because the same question should have the same answer."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(_LARGEST_SEED))


class _Narrator:
    """A line a second about the search, for `verbose`."""

    def __init__(self) -> None:
        self.last = -np.inf

    def __call__(self, point: TracePoint) -> None:
        """Say what is known, unless something was said just now."""
        if point.seconds - self.last < 1.0:
            return
        self.last = point.seconds
        gap = relative_gap(point.objective, point.bound)
        sys.stderr.write(
            f"{point.seconds:8.1f} s   objective {point.objective:.6f}   bound {point.bound:.6f}   gap {gap:.2%}\n"
        )
