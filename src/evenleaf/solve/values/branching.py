"""What to do with a root whose bound is stuck: split what is possible below it, the same way for the next root.

A stuck bound belongs to a mixture of trees with different tests. Splitting the tests of one place between them
breaks the mixture. Such a split does not depend on the root, so the proof of one root is replayed in the next one on
its feature: the same splits with the same multipliers, climbing only where that does not suffice (ALGORITHM §9.11).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.values.boxes import Box

_FADING = 0.9  # the trees met last say most about where the ascent wavers


@dataclass(frozen=True, eq=False)
class TestSplit:
    """The tests of one place in two sets; `first` marks one of them."""

    place: int
    first: np.ndarray

    def parts(self, box: Box) -> list[Box]:
        """The box with either set; a part without a test left holds no tree."""
        found = []
        for kept in (self.first, 1 - self.first):
            alive = box.alive.copy()
            alive[self.place] &= kept
            found.append(replace(box, alive=alive))
        return found


@dataclass(eq=False)
class Proof:
    """A node of the tree of splits, kept so that the next box can be proven the same way."""

    mu: np.ndarray
    scale: float
    split: TestSplit | None = None
    children: tuple[Proof, Proof] | None = None


def with_multipliers(box: Box, proof: Proof) -> Box:
    """The box with the multipliers that closed another one here."""
    return replace(box, mu=proof.mu.astype(np.float64), scale=proof.scale)


def split_tests(box: Box, chosen: np.ndarray) -> TestSplit:
    """The split that parts the trees of the mixture best: the place and the point with most of them on both sides."""
    none = box.alive.shape[1] - 1
    age = _FADING ** np.arange(len(chosen))[::-1]
    best: tuple[float, int, int] | None = None
    for place in range(len(box.alive)):
        tests = np.where(chosen[:, place] < 0, none, chosen[:, place])
        usable = box.alive[place, tests] > 0
        options, where = np.unique(tests[usable], return_inverse=True)
        if len(options) < 2:
            continue
        mass = np.cumsum(np.bincount(where.ravel(), weights=age[usable]))
        worth = np.minimum(mass[:-1], mass[-1] - mass[:-1])
        k = int(worth.argmax())
        if best is None or worth[k] > best[0]:
            best = float(worth[k]), place, int(options[k] + options[k + 1] + 1) // 2
    if best is None:
        place = int(box.alive.sum(axis=1).argmax())
        options = np.flatnonzero(box.alive[place])
        point = int(options[len(options) // 2])
    else:
        _, place, point = best
    first = np.zeros(none + 1, dtype=np.uint8)
    first[:point] = 1
    return TestSplit(place, first)
