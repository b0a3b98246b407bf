"""Trees of at most depth 2 over columns of two values: sums over pairs of columns decide, so every tree is looked at.

There is no bound to climb to and nothing to split: a few thousand trees a column are added up from counts of people
(ALGORITHM §10.2). Multipliers are wanted only where the proof is written down for somebody who checks it.
"""

from __future__ import annotations

import numpy as np

from evenleaf.problem import EDGE, FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.fronts.bits import Bits, find_bits
from evenleaf.solve.fronts.kernels.bits import parted
from evenleaf.solve.fronts.kernels.shallow import LEAF, best_shallow
from evenleaf.tree import Branch, Leaf, Node, SubsetTest, Test, ThresholdTest, Tree, tidy

_MOST_FEATURES = 256  # beyond this, looking at every tree takes longer than bounds do


class Shallow:
    """The whole search, from counts."""

    def __init__(self, problem: Problem, bits: Bits) -> None:
        self.problem, self.bits = problem, bits
        self.sums, self.total = bits.sums()

    def search(self) -> tuple[float, int, list[int], list[int]]:
        """What a best tree is worth, its first test, and the stumps below it."""
        shape, limit = self.problem.shape, self.problem.max_discrimination
        found = best_shallow(
            self.sums,
            self.total,
            self.bits.kinds.offset,
            shape.max_depth,
            float(shape.min_samples_leaf),
            -1.0 if limit is None else limit + FEASIBILITY_TOLERANCE + EDGE,
            np.inf,
        )
        return float(found[0]), int(found[1]), found[2].tolist(), found[3].tolist()

    def best(self) -> tuple[float, Tree]:
        """What a best tree is worth, and the tree; that of one label for all is always allowed."""
        worth, root, near, far = self.search()
        nodes: list[Node] = []
        if root == LEAF:
            nodes.append(Leaf(float(near[1])))
        else:
            self._test(nodes, root, near, far)
        return worth, self._tidied(Tree(self.problem.people.features.schema, self.problem.target, tuple(nodes)))

    def _test(self, nodes: list[Node], f: int, with_bit: list[int], without: list[int]) -> None:
        """Append a test and both parts below it; the lower value goes left."""
        place = len(nodes)
        test = self._crude_test(f)
        nodes.append(Leaf(0.0))  # the test is put here once it is known where its right part begins
        low, high = (without, with_bit) if self.bits.second[f] else (with_bit, without)
        self._append(nodes, low)
        nodes[place] = Branch(test, place + 1, len(nodes))
        self._append(nodes, high)

    def _crude_test(self, f: int) -> Test:
        """A test that parts the two values; in its canonical form it is spelled afterwards."""
        column, lower = self.bits.features[f], self.bits.lower[f]
        if self.problem.people.features.schema[column].is_categorical:
            return SubsetTest(column, (int(lower),), False)
        return ThresholdTest(column, lower, False)

    def _append(self, nodes: list[Node], stump: list[int]) -> None:
        g, flagged, others = stump
        if g == LEAF:
            nodes.append(Leaf(float(flagged)))
        else:
            self._test(nodes, g, [LEAF, flagged, flagged], [LEAF, others, others])

    def _tidied(self, tree: Tree) -> Tree:
        """The canonical form, found with one person of each sort that the tests tell apart, and the weight of all."""
        people = self.problem.people
        sort, columns = np.zeros(people.n_people, dtype=np.uint8), sorted(tree.feature_uses)
        for number, column in enumerate(columns):
            values = people.features.data[column]
            sort |= (values != values[0]).view(np.uint8) << np.uint8(number)
        first, weight = parted(sort, people.weight, 1 << len(columns))
        present = first >= 0
        return tidy(tree, people.features.take(first[present]), weight[present])


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
