"""The planes of an ascent: each tree costs a linear function of the multipliers, and the bound is the lowest (§2)."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np

from evenleaf.solve.search.kernels.compile import EPSILON
from evenleaf.solve.search.kernels.planes import nearest_above

_EXACT, _LOWER = 0.02, 0.6  # of what is asked for beyond what is had; of what is left where that is out of reach

_NOBODY = np.zeros(0, dtype=np.int64)

Origin = TypeVar("Origin")


class Bundle(Generic[Origin]):
    """Planes over [−1, 1]ⁿ and where each comes from; of too many, the one that mattered least lately makes way.

    The last components may be facets: they are not negative, and at most 1 together with the one that owns them.

    `ceiling` is how high the lowest plane can be at most, and `mixture` the planes, with their shares, that say so.
    """

    def __init__(self, size: int, most: int, owner: np.ndarray = _NOBODY) -> None:
        self.owner, self.by_owner = owner, np.argsort(owner, kind="stable")
        self.most = most
        self.origins: list[Origin] = []
        self.constants, self.slopes = np.empty(most), np.empty((most, size))
        self.pull = np.zeros(most)
        self.idle = np.zeros(most, dtype=np.int64)
        self.ceiling = np.inf
        self.mixture: list[tuple[float, Origin]] = []

    def add(self, constant: float, slope: np.ndarray, origin: Origin) -> None:
        """Take in a plane."""
        place = len(self.origins)
        if place < self.most:
            self.origins.append(origin)
        else:
            place = int(np.argmax(self.idle))
            self.origins[place] = origin
        self.constants[place], self.slopes[place] = constant, slope
        self.pull[place], self.idle[place] = 0.0, 0

    def nearest(self, centre: np.ndarray, level: float, tolerance: float, *, again: bool) -> np.ndarray:
        """The nearest point where all planes reach a level, or close to it.

        `again`: from the same centre as before, with more planes or another level.
        """
        n = len(self.origins)
        point, pull, mixture = np.empty_like(centre), self.pull[:n], np.zeros(n)
        if not again:
            pull[:] = 0.0
        planes, owners = (self.constants[:n], self.slopes[:n]), (self.owner, self.by_owner)
        top = float(nearest_above(centre, *planes, level, tolerance, pull, point, mixture, *owners))
        self.idle[:n] = np.where(pull > 0, 0, self.idle[:n] + 1)
        if top < self.ceiling:
            self.ceiling = top
            self.mixture = [(float(mixture[k]), self.origins[k]) for k in np.flatnonzero(mixture)]
        return point

    def rise(self, centre: np.ndarray, level: float, floor: float, *, again: bool) -> tuple[np.ndarray, float] | None:
        """The nearest point at a level, or at a lower one where that is out of reach, and the level.

        None where not even the floor, which is had already, can be left behind.
        """
        point = self.nearest(centre, level, _EXACT * (level - floor), again=again)
        if self.ceiling < level:
            level = floor + _LOWER * (self.ceiling - floor)
            if level <= floor:
                return None
            point = self.nearest(centre, level, _EXACT * (level - floor), again=True)
        return point, level

    def allows_little(self, best: float, target: float, gain: float) -> bool:
        """Whether the target is out of reach, and less can be gained than that part of what is missing."""
        return self.ceiling < target - EPSILON and self.ceiling - best < gain * (target - best)
