"""What the oracles share: the people of a box on either side, by segment between the cuts that are alive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.plan import Plan

T = TypeVar("T")


class Scratch:
    """Arrays shared by all oracles, one after another."""

    def __init__(self, compiled: Compiled, least_people: int, stop: Callable[[], bool]) -> None:
        self.compiled, self.least_people, self.stop = compiled, least_people, stop
        self.costs = np.empty((compiled.n_people, compiled.n_labels))
        self._last: tuple[Box, object] | None = None
        self._levels: dict[tuple[int, int], object] = {}

    def level(self, feature: int, level: int, make: Callable[[], T]) -> T:
        """What was made for the people of one level, as long as one box and its parts are examined."""
        if (feature, level) not in self._levels:
            self._levels[feature, level] = make()
        return cast(T, self._levels[feature, level])

    def forget(self) -> None:
        """Make everything anew for the next box, whatever was done with the last one."""
        self._last = None
        self._levels.clear()

    def once(self, box: Box, make: Callable[[], T]) -> T:
        """What was made for a box with the same people and cuts; both answers about a person's label share it."""
        if self._last is not None:
            before, made = self._last
            if before.state is box.state and before.alive is box.alive and before.moving is box.moving:
                return cast(T, made)
        made = make()
        self._last = (box, made)
        return made


class Sides:
    """The people of a box on either side, and the segments between the cuts that are still alive."""

    def __init__(self, box: Box, scratch: Scratch) -> None:
        compiled = scratch.compiled
        self.compiled, self.scratch = compiled, scratch
        left, right, self.free = box.sides(compiled.ranks[box.feature])
        self.groups = (left, right)
        self.members, self.starts = zip(*(_by_group(group, len(box.moving)) for group in self.groups), strict=True)
        self.alive = box.alive.copy()
        self.place = np.zeros(self.alive.shape, dtype=np.int32)
        self.segment = np.zeros((2, compiled.n_features, compiled.n_people), dtype=np.int32)
        self.n_segments = tuple(self._segments(side) for side in (0, 1))
        self.widest = int(max(n.max(initial=1) for n in self.n_segments))

    def _segments(self, side: int) -> np.ndarray:
        c, scratch = self.compiled, self.scratch
        return kernels.segments(
            c.ranks, c.offsets, c.unordered, c.sizes, self.alive[side], self.place[side], c.count,
            scratch.least_people, (self.groups[side] >= 0) | self.free, self.segment[side],
        )  # fmt: skip


def plan_stump(
    c: Compiled, place: np.ndarray, feature: int, segment: int, member: np.ndarray, labels: np.ndarray
) -> Plan | None:
    """The stump that cuts a feature after a segment, or sends the levels with the lowest label left.

    None where there is no test (a feature that is none of ours), or nobody to ask.
    """
    if not 0 <= feature < c.n_features or not member.any():
        return None
    left = np.zeros(int(c.sizes[feature]), dtype=np.bool_)
    if c.unordered[feature]:
        left[c.ranks[feature][member & (labels == labels[member].min())]] = True
    else:
        left[: int(place[c.offsets[feature] + segment]) + 1] = True
    return Plan(feature, left)


def _by_group(group: np.ndarray, n_moving: int) -> tuple[np.ndarray, np.ndarray]:
    """Everybody who may be on a side, group by group, and where each group starts."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(n_moving + 2))
    return order[starts[0] :], starts - starts[0]
