"""From tests to a tree: the best values for its leaves by the exact linear program, each partition solved once."""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.values.compiled import Compiled
from evenleaf.tree import Branch, Leaf, Node, Tree, tidy


class Polish:
    """Trees with their leaves at the best values there are for the tests."""

    def __init__(self, problem: Problem, compiled: Compiled) -> None:
        self.problem, self.compiled = problem, compiled
        self.known: dict[bytes, tuple[Tree, float] | None] = {}

    def tree(
        self, feature: int, left: np.ndarray, tests: np.ndarray, leaf: np.ndarray, better_than: float, seconds: float
    ) -> Tree | None:
        """The tree with these tests (numbered as in `kernels.leaves`) and its best values, if it is so good.

        `left` says which ranks of the root's feature go left, `leaf` numbers the leaf of each merged person.
        """
        key = _key(leaf)
        if key not in self.known:
            self.known[key] = self._solved(feature, left, tests, leaf, seconds)
        known = self.known[key]
        return known[0] if known is not None and known[1] < better_than else None

    def _solved(
        self, feature: int, left: np.ndarray, tests: np.ndarray, leaf: np.ndarray, seconds: float
    ) -> tuple[Tree, float] | None:
        present, number = np.unique(leaf, return_inverse=True)
        decided = best_leaves(self.problem, number.ravel()[self.compiled.kind], len(present), seconds)
        if decided is None:
            return None
        values = dict(zip(present.tolist(), decided[0].tolist(), strict=True))
        return self._grown(feature, left, tests, values), decided[1]

    def _grown(self, feature: int, left: np.ndarray, tests: np.ndarray, values: dict[int, float]) -> Tree:
        nodes: list[Node] = [Branch(self.compiled.features[feature].test(left), 1, 2)]
        nodes += [Leaf(0.0), Leaf(0.0)]
        for side in (0, 1):
            self._hang(
                nodes, 1 + side, [int(tests[side]), *map(int, tests[2 + 2 * side : 4 + 2 * side])], 4 * side, values
            )
        people = self.problem.people
        tree = Tree(people.features.schema, self.problem.target, tuple(nodes))
        return tidy(tree, people.features, people.weight)

    def _hang(self, nodes: list[Node], place: int, tests: list[int], number: int, values: dict[int, float]) -> None:
        """Put the subtree with these tests (its own, then those below) at a place; `number` is its first leaf's."""
        if not tests or tests[0] < 0:
            nodes[place] = Leaf(values.get(number, self.compiled.low))
            return
        feature, left = self.compiled.left_ranks(tests[0])
        first = len(nodes)
        nodes[place] = Branch(self.compiled.features[feature].test(left), first, first + 1)
        nodes += [Leaf(0.0), Leaf(0.0)]
        step = 2 if len(tests) > 1 else 1
        for side in (0, 1):
            below = tests[1 + side : 2 + side] if len(tests) > 1 else []
            self._hang(nodes, first + side, below, number + side * step, values)


def _key(leaf: np.ndarray) -> bytes:
    """The same for any numbering of the same parts: parts are numbered by their first person."""
    _, first, number = np.unique(leaf, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))
    return place[number.ravel()].astype(np.int8).tobytes()
