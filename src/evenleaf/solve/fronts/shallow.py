"""Trees of at most depth 2 over columns of two values: sums over pairs of columns decide, so every tree is looked at.

There is no bound to climb to and nothing to split: a few thousand trees a column are added up from counts of people
(ALGORITHM §10.2). Multipliers are wanted only where the proof is written down for somebody who checks it.
"""

from __future__ import annotations

from operator import mul, sub

from evenleaf.problem import EDGE, FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.fronts.bits import Bits, find_bits
from evenleaf.solve.fronts.kernels.shallow import LEAF, best_counted
from evenleaf.tree import Branch, Leaf, Node, SubsetTest, Test, ThresholdTest, Tree, threshold_between

_MOST_FEATURES = 256  # beyond this, looking at every tree takes longer than bounds do


class Shallow:
    """The whole search, from counts."""

    def __init__(self, problem: Problem, bits: Bits) -> None:
        self.problem, self.bits = problem, bits

    def search(self) -> tuple[float, int, list[int], list[int]]:
        """What a best tree is worth, its first test, and the stumps below it."""
        shape, limit, kinds = self.problem.shape, self.problem.max_discrimination, self.bits.kinds
        worth, root, near, far = best_counted(
            self.bits.counts,
            kinds.heads,
            kinds.vectors,
            kinds.offset,
            shape.max_depth,
            float(shape.min_samples_leaf),
            -1.0 if limit is None else limit + FEASIBILITY_TOLERANCE + EDGE,
        )
        return worth, root, near.tolist(), far.tolist()

    def best(self) -> tuple[float, Tree]:
        """What a best tree is worth, and the tree; that of one label for all is always allowed."""
        worth, root, near, far = self.search()
        nodes = tuple(self._spelled(root, near, far))
        return worth, Tree(self.problem.people.features.schema, self.problem.target, nodes)

    def _spelled(self, root: int, near: list[int], far: list[int]) -> list[Node]:
        """The nodes in the canonical form, that of `tidy`; on either side of each test there is somebody."""
        if root == LEAF or near == far == [LEAF, near[1], near[1]]:
            return [Leaf(float(near[1]))]
        flagged = self.bits.counts[:, root, root].tolist()
        others = _without(self.bits.kinds.heads.tolist(), flagged)
        test, low, high = self._test(root, flagged, others), (far, others, False), (near, flagged, True)
        if not self.bits.upper_is_set[root]:
            low, high = high, low
        left = self._stump(1, root, *low)
        right = self._stump(1 + len(left), root, *high)
        return [Branch(test, 1, 1 + len(left)), *left, *right]

    def _stump(self, place: int, root: int, stump: list[int], people: list[int], with_bit: bool) -> list[Node]:
        """The nodes of a stump from a place on, for so many people of each kind, those with the root's bit or not."""
        g, label, other = stump
        if g == LEAF:
            return [Leaf(float(label))]
        both = self.bits.counts[:, root, g].tolist()
        flagged = both if with_bit else _without(self.bits.counts[:, g, g].tolist(), both)
        low, high = (other, label) if self.bits.upper_is_set[g] else (label, other)
        test = self._test(g, flagged, _without(people, flagged))
        return [Branch(test, place + 1, place + 2), Leaf(float(low)), Leaf(float(high))]

    def _test(self, f: int, flagged: list[int], others: list[int]) -> Test:
        """The lower value goes left; what nobody has goes with the heavier side."""
        column, (lower, upper) = self.bits.features[f], self.bits.ends[f]
        left, right = (others, flagged) if self.bits.upper_is_set[f] else (flagged, others)
        heavier_left = sum(map(mul, _without(left, right), self.bits.kinds.weight.tolist())) >= 0
        described = self.problem.people.features.schema[column]
        if not described.is_categorical:
            return ThresholdTest(column, threshold_between(lower, upper), heavier_left)
        levels = range(len(described.levels))
        named = (level for level in levels if level == lower or (heavier_left and level != upper))
        return SubsetTest(column, tuple(named), heavier_left)


def _without(people: list[int], some: list[int]) -> list[int]:
    """How many of each kind are left without some of them; kinds are few, and lists then faster than arrays."""
    return list(map(sub, people, some))


def find_shallow(problem: Problem) -> Shallow | None:
    """The search where it applies: depth 1 or 2, columns of two values, no limit that couples tests."""
    shape = problem.shape
    coupled = (shape.max_leaves, shape.max_feature_uses, shape.max_features_used, shape.max_features_per_test)
    if not 1 <= shape.max_depth <= 2 or any(limit is not None for limit in coupled):
        return None
    if not 0 < len(shape.allowed(problem.people.features.schema)) <= _MOST_FEATURES:
        return None
    bits = find_bits(problem)
    return None if bits is None else Shallow(problem, bits)
