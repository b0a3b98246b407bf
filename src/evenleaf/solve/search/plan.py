"""What a search found, before it is a tree: tests by feature and ranks, leaves left to be labelled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True, eq=False)
class Plan:
    """A test that sends some ranks of a feature left, and what hangs below it; None is a leaf."""

    feature: int
    left_ranks: np.ndarray
    left: Plan | None = None
    right: Plan | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """A tree met on the way, priced truly."""

    plan: Plan
    labels: np.ndarray
    objective: float


class Oracle(Protocol):
    """Bound, labels and tests of the cheapest tree of a box, and which candidates can still lead below a budget."""

    has_many_cuts: bool  # whether it takes long to tell which survive

    def best(self, enough: float) -> tuple[float, tuple[int, ...]]:
        """The cheapest tree's cost at the prices in the scratch array, infinite where there is none; which it is.

        It may be less than that where it is `enough` already.
        """

    def is_real(self, choice: tuple[int, ...]) -> bool:
        """Whether that is a tree, not only a relaxation of one."""

    def labels(self, choice: tuple[int, ...]) -> np.ndarray:
        """Everybody's label in that tree."""

    def plan(self, choice: tuple[int, ...], labels: np.ndarray) -> Plan:
        """Its tests."""

    def survivors(self, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """The roots, and the cuts a place, that some tree cheaper than the budget may have."""
