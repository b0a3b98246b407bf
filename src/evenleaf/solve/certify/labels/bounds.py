"""What the trees of a set cost at least, at given prices; and which of their tests may lead below a budget.

The cheapest tree is found by trying every test in every place. A test that no tree cheaper than the budget has is
dropped, and is not tried again further down in the proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.certify.labels.pairs import Listed, cheapest_pairs
from evenleaf.solve.certify.labels.roots import Roots, cuts
from evenleaf.solve.certify.labels.spelling import cheapest_spelt_out
from evenleaf.solve.certify.labels.stumps import People, Stumps
from evenleaf.solve.search.compiled import Compiled

# Of a test below the root: with more levels, each picks its side for a pair of stumps, or is on its own.
_MOST_LISTED_CHILD_LEVELS, _MOST_LISTED_TALL_LEVELS = 11, 9
CELLS = 1 << 20  # so many numbers are worked on at a time


@dataclass(eq=False)
class Subtree:
    """The cheapest subtree of depth 2 for some people: over all, with each child cut, and with each stump cut."""

    best: float
    with_child: np.ndarray
    with_stump: np.ndarray
    chosen: list[tuple[int, Listed]]  # children whose many levels pick their sides, with the number of the cut


class Bounds:
    """Finds the cheapest trees of a problem. `allowed[f]` tells which stumps may hang below a root on feature f."""

    def __init__(self, compiled: Compiled, depth: int, least_people: int, allowed: list[np.ndarray]) -> None:
        self.compiled, self.depth, self.least_people, self.allowed = compiled, depth, least_people, allowed
        self.stumps, self.n_cuts = Stumps(compiled), int(compiled.offsets[-1])
        self.every = np.ones(self.n_cuts, dtype=np.bool_)
        self.any_pair = np.ones((compiled.n_features + 1, compiled.n_features + 1), dtype=np.bool_)

    def every_cut(self) -> np.ndarray:
        """All cuts in all places, for one root: the stumps left and right; in deeper trees first the child tests."""
        return np.ones((2 if self.depth <= 2 else 4, 1, self.n_cuts), dtype=np.bool_)

    def survivors(self, roots: Roots, alive: np.ndarray, prices: np.ndarray, budget: float) -> tuple[Roots, np.ndarray]:
        """The roots, and for each the cuts a place, that some tree cheaper than the budget may have."""
        people = People(prices, self.compiled.ranks, self.compiled.count)
        part = roots.part[self.compiled.ranks[roots.feature]]
        if self.depth > 2:
            return self._deep(roots, alive, people, part, budget)
        if self.compiled.unordered[roots.feature] and roots.open.any():
            return self._levels_choose(roots, alive, people, part, budget)
        return self._shallow(roots, alive, people, part, budget)

    def _shallow(
        self, roots: Roots, alive: np.ndarray, people: People, part: np.ndarray, budget: float
    ) -> tuple[Roots, np.ndarray]:
        """Depth 2 or less: a root and two stumps. People who are not placed take their cheapest label each."""
        budget -= people.only(roots.open[part]).alone
        # Who is not placed may join any leaf, so leaves are counted only where everybody is placed.
        least = 1 if roots.open.any() else self.least_people
        allowed = self.allowed[roots.feature]
        best, uses = self.stumps.pairs(people, part, roots.left, roots.right, alive, allowed, least)
        left = np.zeros((2, len(roots), self.n_cuts), dtype=np.bool_)
        for numbers, cost in uses:
            left[:, :, numbers] = cost < budget
        below = best < budget
        return roots.keep(below), left[:, below]

    def _levels_choose(
        self, roots: Roots, alive: np.ndarray, people: People, part: np.ndarray, budget: float
    ) -> tuple[Roots, np.ndarray]:
        """Depth 2, a root with open levels: for a pair of stumps each level goes to the cheaper one (§9.8)."""
        n_parts = roots.left.shape[1]
        sides = [self.stumps.listed(people, part, n_parts, alive[side, 0], roots.feature) for side in (0, 1)]
        placed = [sides[0].placed(roots.left[0], roots.open), sides[1].placed(roots.right[0], roots.open)]
        _, *least = cheapest_pairs(placed[0], placed[1], self.allowed[roots.feature], -np.inf, budget)
        left = np.zeros_like(alive)
        for side in (0, 1):
            numbers = sides[side].cuts[least[side] < budget]
            left[side, 0, numbers[numbers >= 0]] = True
        below = np.array([bool((least[0] < budget).any())])
        return roots.keep(below), left[:, below]

    def _deep(
        self, roots: Roots, alive: np.ndarray, people: People, part: np.ndarray, budget: float
    ) -> tuple[Roots, np.ndarray]:
        """Depth 3 or more, one root: a subtree on either side.

        Who is not placed takes the cheapest label; but an open level stays together, so it costs no less than the
        best subtree that it could have for itself.
        """
        if self.compiled.unordered[roots.feature]:
            apart = [people.only(part == number) for number in np.flatnonzero(roots.open)]
            budget -= sum(self._least(level, self.depth - 1) for level in apart)
        else:
            budget -= people.only(roots.open[part]).alone
        below, left = self._sides(roots, alive, people, part, budget)
        return roots.keep(below), left[:, below]

    def _sides(
        self, roots: Roots, alive: np.ndarray, people: People, part: np.ndarray, budget: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Whether the root may stay below the budget, and the cuts that some tree below it has."""
        members = [people.only(goes[0][part]) for goes in (roots.left, roots.right)]
        if self.depth > 3:
            return np.array([sum(self._least(side, self.depth - 1) for side in members) < budget]), alive
        joining = people.only(roots.open[part])
        sides = [self._subtree(members[side], alive[side, 0], alive[2 + side, 0], joining) for side in (0, 1)]
        below = np.array([sides[0].best + sides[1].best < budget])
        left = np.zeros_like(alive)
        if below[0]:
            for side in (0, 1):
                left[side, 0], left[2 + side, 0] = self._kept(sides[side], budget - sides[1 - side].best)
        return below, left

    def is_ruled_out(self, roots: Roots, alive: np.ndarray, prices: np.ndarray, budget: float) -> bool:
        """Whether a root of depth 3 that may stay below the budget does not, once every subset below it is one."""
        if self.depth != 3 or roots.open.any() or len(roots) > 1:
            return False
        people = People(prices, self.compiled.ranks, self.compiled.count)
        part = roots.part[self.compiled.ranks[roots.feature]]
        members = [people.only(goes[0][part]) for goes in (roots.left, roots.right)]
        sides = [self._subtree(members[side], alive[side, 0], alive[2 + side, 0]) for side in (0, 1)]
        for side in (0, 1):
            sides[side].best = self._spelt_out(
                members[side], alive[side, 0], alive[2 + side, 0], sides[side], budget - sides[1 - side].best
            )
        return sides[0].best + sides[1].best >= budget

    def _spelt_out(
        self, people: People, child_alive: np.ndarray, alive: np.ndarray, tree: Subtree, budget: float
    ) -> float:
        """The cheapest subtree below the budget, or the budget, with the subsets below many levels spelt out."""
        best = min(budget, float(people.prices.sum(axis=1).min()), float(tree.with_child.min(initial=np.inf)))
        for f in range(self.compiled.n_features):
            for _, tests in self._tests(f, people, child_alive, _MOST_LISTED_CHILD_LEVELS, 1):
                if tests.open.any():
                    part = tests.part[people.ranks[f]]
                    best = cheapest_spelt_out(self.stumps, people, part, len(tests.open), alive, f, best)
        return best

    def _subtree(
        self, people: People, child_alive: np.ndarray, alive: np.ndarray, joining: People | None = None
    ) -> Subtree:
        """One label for all, or a child test with a stump or a leaf on either part; every child test is tried.

        Who may be `joining` costs nothing here, but a child test that parts only them must not be ruled out.
        """
        whole = people.prices.sum(axis=1).min()
        tree = Subtree(float(whole), np.full(self.n_cuts, np.inf), np.full(self.n_cuts, np.inf), [])
        places = np.broadcast_to(alive, (2, 1, self.n_cuts))
        at_a_time = max(1, CELLS // max(int(alive.sum()), self.any_pair.size))
        for f in range(self.compiled.n_features):
            parts_joining = joining is not None and len(np.union1d(people.ranks[f], joining.ranks[f])) > 1
            most = _MOST_LISTED_CHILD_LEVELS
            for numbers, tests in self._tests(f, people, child_alive, most, at_a_time, parts_joining):
                part = tests.part[people.ranks[f]]
                if tests.open.any():
                    listed = self.stumps.listed(people, part, len(tests.open), alive, f)
                    tree.chosen.append((int(numbers[0]), listed))
                    continue
                best, uses = self.stumps.pairs(people, part, tests.left, tests.right, places, self.any_pair)
                np.minimum.at(tree.with_child, np.broadcast_to(numbers, best.shape), best)
                for stumps, cost in uses:
                    tree.with_stump[stumps] = np.minimum(tree.with_stump[stumps], cost.min(axis=(0, 1)))
        tree.best = min(tree.best, float(tree.with_child.min(initial=np.inf)))
        for _, listed in tree.chosen:
            tree.best = cheapest_pairs(listed.all_open(), listed.all_open(), self.any_pair, tree.best, -np.inf)[0]
        return tree

    def _kept(self, tree: Subtree, budget: float) -> tuple[np.ndarray, np.ndarray]:
        """The child cuts and the stump cuts that a subtree cheaper than the budget has."""
        children, stumps = tree.with_child < budget, tree.with_stump < budget
        for number, listed in tree.chosen:
            both = listed.all_open()
            _, *least = cheapest_pairs(both, both, self.any_pair, -np.inf, budget)
            below = np.minimum(*least) < budget
            children[number] |= bool(below.any())
            stumps[listed.cuts[below & (listed.cuts >= 0)]] = True
        return children, stumps

    def _least(self, people: People, height: int) -> float:
        """The cheapest subtree of a height. Taller ones than 2: every test, and on its parts all smaller subtrees."""
        if height <= 2:
            return self._subtree(people, self.every, self.every).best
        best = float(people.prices.sum(axis=1).min())
        for f in range(self.compiled.n_features):
            for _, test in self._tests(f, people, self.every, _MOST_LISTED_TALL_LEVELS, 1):
                part = test.part[people.ranks[f]]
                alone = test.open[part]  # levels too many to list: each gets a subtree of its own
                groups = [alone & (part == level) for level in np.unique(part[alone])]
                groups += [side[0][part] for side in (test.left, test.right)]
                total = people.alone
                for member in map(people.only, groups):
                    if total < best:  # else it is no better whatever the others cost
                        total += self._least(member, height - 1) - member.alone
                best = min(best, total)
        return best

    def _tests(
        self, f: int, people: People, alive: np.ndarray, most_listed: int, at_a_time: int, parts_joining: bool = False
    ) -> Iterator[tuple[np.ndarray, Roots]]:
        """The tests on a feature below the root, some at a time, with the numbers of their cuts.

        A subset of levels that parts none of these people is left out, unless it may part people who join them.
        """
        start, size = int(self.compiled.offsets[f]), int(self.compiled.sizes[f])
        after = np.flatnonzero(alive[start : int(self.compiled.offsets[f + 1])])
        if not len(after):
            return
        if not self.compiled.unordered[f]:
            for some in np.array_split(after, -(-len(after) // at_a_time)):
                yield start + some, cuts(f, size, some)
            return
        present = np.unique(people.ranks[f])
        part = np.searchsorted(present, np.arange(size))
        if len(present) > most_listed:
            nobody = np.zeros((1, len(present) + 1), dtype=np.bool_)
            yield np.array([start]), Roots(f, part, nobody, nobody)
        elif len(present) > 1:
            # Of a subset and its complement one is enough: the first level goes right.
            number = 2 * np.arange(1, 1 << (len(present) - 1))
            left = (number[:, None] >> np.arange(len(present) + 1)) & 1 == 1
            for some in np.array_split(left, -(-len(left) // at_a_time)):
                yield np.array([start]), Roots(f, part, some, ~some)
        elif parts_joining:
            nobody = np.zeros((1, len(present) + 1), dtype=np.bool_)
            yield np.array([start]), Roots(f, part, nobody, ~nobody)
