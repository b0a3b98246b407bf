"""Subtrees of depth 3 and more under limits: every test in turn, with the cheapest smaller subtrees of every use.

Exact and slow, as `tall.py` is. A feature with too many levels to list its subsets is relaxed: each level gets a
subtree of its own, and only the test itself counts as used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.children import Children
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.plan import Plan
from evenleaf.solve.search.rationed import Rationed
from evenleaf.solve.search.tall import LOWEST, Tall, make_subtree
from evenleaf.solve.search.usage import Supply, Use

_Below = tuple["Rationed | RationedTall", int]


@dataclass(frozen=True, eq=False)
class _Best:
    """The cheapest subtree of a use: a test with what it sends left (None: relaxed), and the subtrees below."""

    cost: float
    feature: int
    left_ranks: np.ndarray | None
    below: tuple[_Below, ...]
    apart: tuple[tuple[Children | Tall, int], ...] = ()


class RationedTall:
    """The cheapest subtree of a height for some people, for each use of the limits."""

    def __init__(
        self, compiled: Compiled, supply: Supply, member: np.ndarray, possible: np.ndarray, height: int,
        least_people: int, stop: Callable[[], bool],
    ) -> None:  # fmt: skip
        self.compiled, self.supply, self.height = compiled, supply, height
        self.member, self.possible, self.least_people, self.stop = member, possible, least_people, stop
        self.uses: list[Use] = []
        self.found: list[_Best | None] = []
        self.cost, self.rows = np.zeros(0), np.zeros((0, 0), dtype=np.int64)

    def price_listed(self, costs: np.ndarray, enough: float) -> float:  # noqa: ARG002
        """The cheapest subtree of each use, and of all. Told to stop, it knows no bound at all."""
        best: dict[Use, _Best | None] = {}
        least: dict[Use, float] = {}
        if self.compiled.count[self.possible].sum() >= self.least_people:
            best[()], least[()] = None, float(kernels.least_label(costs, self.member)[0])
        tests = Tall(self.compiled, self.possible, self.height, self.stop)
        for feature in range(self.compiled.n_features):
            for left_ranks, parts in tests.tests(feature):
                if self.stop():
                    best, least = {(): None}, {(): -kernels.INFINITE}
                    return self._keep(best, least)
                for use, subtree in self._below(feature, left_ranks, parts, costs):
                    if subtree.cost < least.get(use, kernels.INFINITE) - 1e-15:
                        best[use], least[use] = subtree, subtree.cost
        return self._keep(best, least)

    def price_pairs(self, enough: float) -> None:
        """Nothing is left to price: there are no pairs here."""

    def _keep(self, best: dict[Use, _Best | None], least: dict[Use, float]) -> float:
        """Drop what another subtree does as cheaply with less."""
        order = sorted(best, key=lambda use: (least[use], len(use)))
        self.uses = []
        for use in order:
            if not any(_within(other, use) for other in self.uses):
                self.uses.append(use)
        self.found = [best[use] for use in self.uses]
        self.cost = np.array([least[use] for use in self.uses])
        width = (1 << self.height) - 1
        rows = [[*use, *(-1,) * (width - len(use))] for use in self.uses]
        self.rows = np.array(rows, dtype=np.int64).reshape(len(rows), width)
        return float(self.cost.min(initial=kernels.INFINITE))

    def _below(
        self, feature: int, left_ranks: np.ndarray | None, parts: list[np.ndarray], costs: np.ndarray
    ) -> list[tuple[Use, _Best]]:
        """A test with every pair of subtrees below that keeps within the limits."""
        nothing = np.zeros(0, dtype=np.int64)
        if left_ranks is None:
            use = self.supply.joined(feature, nothing, nothing)
            members = [part & self.member for part in parts]
            apart = [make_subtree(self.compiled, part, self.height - 1, self.stop) for part in members]
            priced = [subtree.best(costs) for subtree in apart]
            chosen = tuple((subtree, number) for subtree, (_, number) in zip(apart, priced, strict=True))
            cost = sum(value for value, _ in priced)
            return [] if use is None else [(use, _Best(cost, feature, None, (), chosen))]
        one, two = (self._subtree(part) for part in parts)
        for subtree in (one, two):
            subtree.price_listed(costs, kernels.INFINITE)
            subtree.price_pairs(kernels.INFINITE)
        found = []
        for p in np.flatnonzero(one.cost < kernels.INFINITE):
            for q in np.flatnonzero(two.cost < kernels.INFINITE):
                use = self.supply.joined(feature, one.rows[p], two.rows[q])
                if use is not None:
                    below = ((one, int(p)), (two, int(q)))
                    found.append((use, _Best(float(one.cost[p] + two.cost[q]), feature, left_ranks, below)))
        return found

    def _subtree(self, possible: np.ndarray) -> Rationed | RationedTall:
        c, member, height = self.compiled, self.member & possible, self.height - 1
        if height > LOWEST:
            return RationedTall(c, self.supply, member, possible, height, self.least_people, self.stop)
        every = np.ones(int(c.offsets[-1]), dtype=np.uint8)
        return Rationed(c, self.supply, member, possible, every, every, self.least_people)

    def is_real(self, use: int) -> bool:
        """Whether the subtree is one, not a relaxation."""
        found = self.found[use]
        if found is None:
            return True
        return found.left_ranks is not None and all(below.is_real(n) for below, n in found.below)

    def label(self, use: int, costs: np.ndarray, labels: np.ndarray) -> None:
        """Label the people by the subtree."""
        found = self.found[use]
        if found is None:
            labels[self.member] = kernels.least_label(costs, self.member)[1]
            return
        for below, n in found.below:
            below.label(n, costs, labels)
        for subtree, number in found.apart:
            subtree.label(number, costs, labels)

    def plan(self, use: int, costs: np.ndarray, labels: np.ndarray) -> Plan | None:
        """The tests of the subtree."""
        found = self.found[use]
        if found is None or found.left_ranks is None:
            return None
        left, right = (below.plan(n, costs, labels) for below, n in found.below)
        return Plan(found.feature, found.left_ranks, left, right)

    def survivors(self, costs: np.ndarray, slack: float, partner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG002
        """Every cut: nothing is ruled out below a tall subtree."""
        every = np.ones(int(self.compiled.offsets[-1]), dtype=np.uint8)
        return every, every


def _within(less: Use, more: Use) -> bool:
    """Whether one use is part of another."""
    rest = list(more)
    for entry in less:
        if entry not in rest:
            return False
        rest.remove(entry)
    return True
