"""The subtrees met anywhere at one root: what one part of its proof has learnt, the next need not ask for again."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.values.shelf import Subtree

_MOST = 500


class Pool:
    """Subtrees of one side of a root, and everybody's leaf in each; of too many, the first ones make way.

    `paid`: what their stumps pay for rows of the disparity, as in `shelf.py`.
    """

    def __init__(self, n_people: int, n_rows: int) -> None:
        self.leaf = np.empty((_MOST, n_people), dtype=np.int8)
        self.paid = np.empty((_MOST, 2, n_rows))
        self.tests = np.empty((_MOST, 3), dtype=np.int64)
        self.known: set[Subtree] = set()
        self.size, self.next = 0, 0

    def add(self, subtree: Subtree, leaf: np.ndarray, paid: np.ndarray) -> None:
        """Keep a subtree; `leaf` numbers everybody's leaf, the people of the other side whatever."""
        if subtree in self.known:
            return
        if self.size == _MOST:
            self.known.discard(tuple(self.tests[self.next].tolist()))
        self.known.add(subtree)
        self.tests[self.next], self.paid[self.next] = subtree, paid
        self.leaf[self.next] = leaf[: self.leaf.shape[1]] & 3
        self.next, self.size = (self.next + 1) % _MOST, max(self.size, self.next + 1)

    def within(self, alive: np.ndarray) -> np.ndarray:
        """The subtrees whose tests are all possible: marks of the child test and of the tests below, a row each."""
        tests = np.where(self.tests[: self.size] < 0, alive.shape[1] - 1, self.tests[: self.size])
        return np.flatnonzero(alive[np.arange(3), tests].all(axis=1))
