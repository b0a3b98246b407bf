"""Disparate impact: the rate of a decision in a group against the rate overall (Definitions 2.2 and 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenleaf.errors import InputError
from evenleaf.fairness.notion import Notion, Progress
from evenleaf.fairness.operator import Disparity
from evenleaf.fairness.parity import parity_rows
from evenleaf.table import Groups, People, equal_rows


@dataclass(frozen=True)
class DisparateImpact(Notion):
    """DIDI: Σ_y Σ_p |P(y) − P(y | p)| for classes, Σ_p |E(y) − E(y | p)| for numbers."""

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:  # noqa: ARG002
        """One row a group."""
        return parity_rows(groups, people.weight, None, np.ones((1, people.outcome.n_classes)))

    def __str__(self) -> str:
        return "disparate impact"


@dataclass(frozen=True)
class ConditionalParity(Notion):
    """Disparate impact among people who agree on the columns `given` (conditional statistical parity).

    Each joint level of those columns is a stratum with DIDI's rows of its own. By default every stratum counts
    alike; `weigh_by_size=True` gives it its share of the people.
    """

    given: tuple[str, ...]
    weigh_by_size: bool = False

    def __init__(self, given: str | Sequence[str], weigh_by_size: bool = False) -> None:
        names = (given,) if isinstance(given, str) else tuple(given)
        if not names:
            raise InputError("conditional parity needs at least one column to condition on")
        object.__setattr__(self, "given", names)
        object.__setattr__(self, "weigh_by_size", weigh_by_size)

    def check(self, people: People) -> None:
        """The columns must be there."""
        people.features.select(self.given)

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:  # noqa: ARG002
        """One row a stratum and group."""
        first, stratum = equal_rows(people.features.select(self.given))
        share = np.bincount(stratum, weights=people.share, minlength=len(first)).astype(float)
        size = share if self.weigh_by_size else np.ones(len(first))
        class_weight = np.repeat(size[:, None], people.outcome.n_classes, axis=1)
        return parity_rows(groups, people.weight, stratum, class_weight)

    def __str__(self) -> str:
        return f"conditional parity given {', '.join(self.given)}"
