"""Whole trees made better part by part: given the rest, the best part of depth 2 is found exactly.

With one disparity what a part is worth depends on the rest by two numbers, its loss and its disparity, so that the part
is a question of its own (see `kernels/whole.py`). It makes good trees for searches that go deeper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.crew import ALONE
from evenleaf.solve.fronts.first_move import better_first_cut
from evenleaf.solve.fronts.front import LIMIT, PENALTY, TooMany
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.outline import from_recipe
from evenleaf.solve.fronts.sketches import decided
from evenleaf.solve.fronts.sweep import Sweep
from evenleaf.solve.fronts.tests import Sketch

_DEPTH = 2
_POINTS = 20_000
_FACTORS = (1.0, 0.94, 0.88, 0.82)  # lower targets, where a higher one makes lists too long
_LESS = 1e-9  # what is better by less is no better


@dataclass(frozen=True, eq=False)
class Polish:
    """Parts of whole trees, at multipliers that filter well."""

    lane: Lane
    oracle: Oracle
    mu: np.ndarray

    @property
    def possible(self) -> bool:
        """Whether there is one disparity, first tests are swept, and the table is large enough for it to pay."""
        return self.lane.n_dimensions == 1 and self.oracle.sweeps and self.lane.large

    def best(self, members: np.ndarray, fixed: np.ndarray, target: float, *, few: bool = False) -> Sketch | None:
        """The best tree of depth 2 for these people that with a fixed vector is worth less than the target.

        It begins with a cut (with `few` of a feature that has few) or with a subset of few levels.
        """
        if not self.oracle.crowded(members):
            return None
        sweep = self.oracle.sweep(members, ALONE)  # the first feature may show that lists are too long
        for factor in _FACTORS:
            for mode in (PENALTY,) if self.lane.limit is None else (LIMIT, PENALTY):
                # With a penalty instead of a limit lists are shorter, and its best tree is often within the limit.
                try:
                    return self._asked(sweep, fixed, factor * target, mode, few=few)
                except TooMany:
                    pass
        return None

    def _asked(self, sweep: Sweep, fixed: np.ndarray, target: float, mode: int, *, few: bool) -> Sketch | None:
        mu = self.mu[None, :] if mode == LIMIT else np.clip(self.mu[None, :], -1, 1)
        rest = fixed[0] + mu @ fixed[1:] - (self.lane.allowance(mu) if mode == LIMIT else 0.0)
        goal = np.concatenate([[target, self.lane.reach], fixed])
        prices = self.lane.prices(mu)
        _, recipes, number = sweep.whole(prices, self.oracle.least, rest, goal, _POINTS, mode, few=few)
        if number == -1:
            raise TooMany
        return from_recipe(recipes[0], self.lane) if number > 0 else None

    def polished(self, sketch: Sketch, depth: int) -> Sketch:
        """An outline that is no worse, in which no lowest part, and no first cut, can be made better by itself."""
        everybody, improved = np.arange(self.lane.compiled.n_people), True
        while improved and not self.oracle.stop[0]:
            labels = decided(sketch, everybody, self.oracle.ranks, self.oracle.sizes)
            target = float(self.lane.worth(self.lane.offset + self._sum(everybody, labels))) - _LESS
            moved = better_first_cut(sketch, self.lane, self.oracle, target)
            sketch, improved = (sketch, False) if moved is None else (moved, True)
            for path in _lowest(sketch, depth):
                labels = decided(sketch, everybody, self.oracle.ranks, self.oracle.sizes)
                members = self._who(sketch, path, everybody)
                whole, part = self._sum(everybody, labels), self._sum(members, labels[members])
                fixed = self.lane.offset + whole - part
                target = float(self.lane.worth(fixed + part)) - _LESS
                found = self.best(members, fixed, target)
                if found is not None and self._worth(found, members, fixed) < target:
                    sketch, improved = _replaced(sketch, path, found), True
        return sketch

    def _worth(self, sketch: Sketch, members: np.ndarray, fixed: np.ndarray) -> float:
        labels = decided(sketch, members, self.oracle.ranks, self.oracle.sizes)
        return float(self.lane.worth(fixed + self._sum(members, labels)))

    def _sum(self, members: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return np.asarray(self.lane.vectors[members[labels == 1], 0].sum(axis=0))

    def _who(self, sketch: Sketch, path: tuple[int, ...], members: np.ndarray) -> np.ndarray:
        """Who comes to the end of a path."""
        for side in path:
            assert isinstance(sketch, tuple)  # noqa: S101 (a path leads through tests)
            box, low, high = sketch
            members, sketch = self.oracle.part(box, members)[side], high if side else low
        return members


def _lowest(sketch: Sketch, depth: int) -> Iterator[tuple[int, ...]]:
    """The paths of what may be a tree of depth 2: parts at the bottom, and leaves above them."""
    if depth <= _DEPTH or not isinstance(sketch, tuple):
        yield ()
        return
    for side, below in enumerate(sketch[1:]):
        yield from ((side, *path) for path in _lowest(below, depth - 1))


def _replaced(sketch: Sketch, path: tuple[int, ...], new: Sketch) -> Sketch:
    if not path:
        return new
    assert isinstance(sketch, tuple)  # noqa: S101 (a path leads through tests)
    box, low, high = sketch
    if path[0]:
        return box, low, _replaced(high, path[1:], new)
    return box, _replaced(low, path[1:], new), high
