"""What the oracle answers with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.fronts.tests import Box, Sketch


class OutOfTime(Exception):  # noqa: N818 (it is no error: the node stays open)
    """The budget was spent in the middle of a table."""


@dataclass(frozen=True, eq=False)
class Children:
    """The boxes of first tests of a slot and what each costs at each multipliers."""

    boxes: list[Box]
    values: np.ndarray

    def least(self) -> np.ndarray:
        """The cheapest box at each multipliers."""
        return np.asarray(self.values.min(axis=0, initial=np.inf))


@dataclass(frozen=True, eq=False)
class Cheapest:
    """A tree at given prices: what it costs, the label of each member, and its outline."""

    value: float
    labels: np.ndarray
    sketch: Sketch


@dataclass(frozen=True, eq=False)
class ForkTable:
    """The levels that somebody has (their people, their side) and the stumps that may hang below."""

    levels: np.ndarray
    numbered: np.ndarray
    heads: np.ndarray
    sides: np.ndarray
    stumps: np.ndarray
    costs: np.ndarray

    def at(self, j: int) -> np.ndarray:
        """The costs at one multipliers, level by stump."""
        return np.ascontiguousarray(self.costs[:, :, j].T)

    def turned(self) -> np.ndarray:
        """The costs by multipliers, level and stump."""
        return np.ascontiguousarray(self.costs.transpose(2, 1, 0))
