"""Subtrees of depth 3 and more: every test in turn, with the best smaller subtree on either part.

Exact, and slow: it makes the bound of trees of depth 4 honest, and proves them on small tables. A feature with too
many levels to list its subsets is relaxed: each level gets a subtree of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import gray_code
from evenleaf.solve.search.children import Children
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.plan import Plan

_MOST_LISTED_LEVELS = 9
LOWEST = 2  # the height at which `Children` does it all at once


@dataclass(frozen=True, eq=False)
class _Best:
    """The cheapest test: what it sends left, and the subtrees below with their numbers."""

    feature: int
    left_ranks: np.ndarray | None  # None: relaxed, every level by itself
    below: list[tuple[Children | Tall, int]]


class Tall:
    """The cheapest subtree of a height for some people."""

    def __init__(self, compiled: Compiled, member: np.ndarray, height: int, stop: Callable[[], bool]) -> None:
        self.compiled, self.member, self.height, self.stop = compiled, member, height, stop
        self.found: _Best | None = None

    def best(self, costs: np.ndarray) -> tuple[float, int]:
        """Its cost, and a number: −1 one label for all, 0 a test. Told to stop, it knows no bound at all."""
        value, self.found = kernels.least_label(costs, self.member)[0], None
        free = np.minimum(costs.min(axis=1), 0.0)
        for feature in range(self.compiled.n_features):
            for left_ranks, parts in self.tests(feature):
                if self.stop():
                    return -kernels.INFINITE, -1
                total, below = 0.0, []
                rest = float(free[self.member].sum())
                for part in parts:
                    subtree = make_subtree(self.compiled, part, self.height - 1, self.stop)
                    rest -= float(free[part].sum())
                    cost, number = subtree.best(costs)
                    total += cost
                    below.append((subtree, number))
                    if total + rest >= value:
                        break  # even with all others as cheap as can be
                if total + rest < value - 1e-15:
                    value, self.found = total, _Best(feature, left_ranks, below)
        return value, -1 if self.found is None else 0

    def tests(self, feature: int) -> Iterator[tuple[np.ndarray | None, list[np.ndarray]]]:
        """The ranks that each test sends left, and the people of its parts."""
        c = self.compiled
        ranks, size = c.ranks[feature], int(c.sizes[feature])
        present = np.flatnonzero(np.bincount(ranks[self.member], minlength=size))
        left = np.zeros(size, dtype=np.bool_)
        if len(present) < 2:
            return
        if c.unordered[feature] and len(present) > _MOST_LISTED_LEVELS:
            yield None, [self.member & (ranks == level) for level in present]
            return
        for move in gray_code(len(present) - 1) + 1 if c.unordered[feature] else range(len(present) - 1):
            left[present[move]] ^= True
            if not c.unordered[feature]:
                left[: present[move] + 1] = True
            goes_left = left[ranks]
            yield left.copy(), [self.member & goes_left, self.member & ~goes_left]

    def is_real(self, number: int) -> bool:
        """Whether the subtree is one, not a relaxation."""
        if number < 0 or self.found is None:
            return True
        return self.found.left_ranks is not None and all(below.is_real(n) for below, n in self.found.below)

    def label(self, number: int, costs: np.ndarray, labels: np.ndarray) -> None:
        """Label the people by the subtree."""
        if number < 0 or self.found is None:
            labels[self.member] = kernels.least_label(costs, self.member)[1]
            return
        for below, n in self.found.below:
            below.label(n, costs, labels)

    def plan(self, number: int, costs: np.ndarray, labels: np.ndarray) -> Plan | None:
        """The tests of the subtree."""
        if number < 0 or self.found is None or self.found.left_ranks is None:
            return None
        left, right = (below.plan(n, costs, labels) for below, n in self.found.below)
        return Plan(self.found.feature, self.found.left_ranks, left, right)

    def survivors(self, costs: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002
        """Every cut: nothing is ruled out below a tall subtree."""
        every = np.ones(int(self.compiled.offsets[-1]), dtype=np.uint8)
        return every, every


def make_subtree(compiled: Compiled, member: np.ndarray, height: int, stop: Callable[[], bool]) -> Children | Tall:
    """What finds the cheapest subtree of a height for some people."""
    if height > LOWEST:
        return Tall(compiled, member, height, stop)
    every = np.ones(int(compiled.offsets[-1]), dtype=np.uint8)
    return Children(compiled, member, member, every, every, refines=False)
