"""Better trees from good ones: change one test at a time to the best there is, exactly priced (ALGORITHM §4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.plan import Found, Plan

GAIN = 1e-12  # what is better by less is no better


@dataclass
class Node:
    """A test in place (feature −1: none yet), its ranks on the left, and the two labels that end below it."""

    feature: int
    left_ranks: np.ndarray
    labels: list[int]


class Descent:
    """Coordinate descent over the tests of a full tree of some depth, kept as a heap: children of p are 2p+1, 2p+2."""

    def __init__(self, compiled: Compiled, depth: int, limit: float | None) -> None:
        self.compiled, self.depth = compiled, depth
        self.limit = -1.0 if limit is None else limit
        self.n_tests = (1 << depth) - 1
        self.v, self.before = np.zeros_like(compiled.weight), np.zeros_like(compiled.weight)

    def improvements(self, found: Found) -> Iterator[Found]:
        """Every better tree on the way down."""
        nodes = self.nodes_of(found)
        for objective in self._descend(nodes, found.objective):
            yield self.found(nodes, objective)

    def _descend(self, nodes: list[Node], objective: float) -> Iterator[float]:
        """Change the tests in place until no single change is for the better; every objective on the way."""
        better = True
        while better:
            better = False
            for place in range(self.n_tests):
                value = self._best_test(nodes, place, objective)
                if value < objective - GAIN:
                    objective, better = value, True
                    yield objective

    def completed(self, draft: Found, placed: np.ndarray) -> Found:
        """The subtrees of a draft, labelled as those who are placed are, below the best root on its feature."""
        nodes, everybody = self._empty(), np.ones(self.compiled.n_people, np.bool_)
        self._fill(nodes, 0, draft.plan, placed, draft.labels)
        below, above = self._answers(nodes, 1), self._answers(nodes, 2)
        objective, left_ranks = self._along(draft.plan.feature, everybody, below, above, self._worth(above), np.inf)
        assert left_ranks is not None  # noqa: S101 (any test is better than none)
        nodes[0].left_ranks = left_ranks
        return self.found(nodes, objective)

    def found(self, nodes: list[Node], objective: float) -> Found:
        """The tree that the tests of a heap make."""
        plan = self._plan(nodes, 0)
        assert plan is not None  # noqa: S101 (a tree that descends has a test)
        return Found(plan, self._answers(nodes, 0), objective)

    def nodes_of(self, found: Found) -> list[Node]:
        """Every place of the heap with a test; a leaf higher up becomes tests that send everybody left."""
        nodes = self._empty()
        self._fill(nodes, 0, found.plan, np.ones(self.compiled.n_people, np.bool_), found.labels)
        return nodes

    def _empty(self) -> list[Node]:
        return [Node(0, np.ones(int(self.compiled.sizes[0]), np.bool_), [0, 0]) for _ in range(self.n_tests)]

    def _fill(self, nodes: list[Node], place: int, plan: Plan | None, member: np.ndarray, labels: np.ndarray) -> None:
        here = int(labels[member][0]) if member.any() else 0
        if place >= self.n_tests:
            nodes[(place - 1) // 2].labels[(place - 1) % 2] = here
            return
        if plan is None:
            plan = Plan(0, np.ones(int(self.compiled.sizes[0]), np.bool_))
        nodes[place] = Node(plan.feature, plan.left_ranks.copy(), [here, here])
        goes_left = plan.left_ranks[self.compiled.ranks[plan.feature]]
        self._fill(nodes, 2 * place + 1, plan.left, member & goes_left, labels)
        self._fill(nodes, 2 * place + 2, plan.right, member & ~goes_left, labels)

    def _plan(self, nodes: list[Node], place: int) -> Plan | None:
        if place >= self.n_tests:
            return None
        node = nodes[place]
        return Plan(node.feature, node.left_ranks, self._plan(nodes, 2 * place + 1), self._plan(nodes, 2 * place + 2))

    def _answers(self, nodes: list[Node], place: int) -> np.ndarray:
        """What everybody would get from the subtree at a place."""
        if place >= self.n_tests:
            return np.full(self.compiled.n_people, nodes[(place - 1) // 2].labels[(place - 1) % 2])
        node = nodes[place]
        goes_left = node.left_ranks[self.compiled.ranks[node.feature]]
        return np.where(goes_left, self._answers(nodes, 2 * place + 1), self._answers(nodes, 2 * place + 2))

    def _members(self, nodes: list[Node], place: int) -> np.ndarray:
        """Who reaches a place."""
        member = np.ones(self.compiled.n_people, np.bool_)
        while place:
            parent = (place - 1) // 2
            goes_left = nodes[parent].left_ranks[self.compiled.ranks[nodes[parent].feature]]
            member &= goes_left if place % 2 else ~goes_left
            place = parent
        return member

    def _best_test(self, nodes: list[Node], place: int, objective: float) -> float:
        """Put the best test at a place, if it beats the objective; at the lowest tests try all pairs of labels."""
        node, member = nodes[place], self._members(nodes, place)
        everybody = self._answers(nodes, 0)
        pairs: list[tuple[np.ndarray, np.ndarray, list[int]]] = []
        if 2 * place + 1 >= self.n_tests:
            n, classes = self.compiled.n_people, range(self.compiled.n_labels + 1)
            pairs = [(np.full(n, a), np.full(n, b), [a, b]) for a in classes for b in classes if a != b]
        else:
            pairs = [(self._answers(nodes, 2 * place + 1), self._answers(nodes, 2 * place + 2), node.labels)]
        best = objective
        for below, above, labels in pairs:
            worth = self._worth(np.where(member, above, everybody))
            for feature in range(self.compiled.n_features):
                value, ranks = self._along(feature, member, below, above, worth, best)
                if ranks is not None and value < best - GAIN:
                    before = node.feature, node.left_ranks, node.labels
                    node.feature, node.left_ranks, node.labels = feature, ranks, list(labels)
                    if self._keeps_limits(nodes):
                        best = value
                    else:
                        node.feature, node.left_ranks, node.labels = before
        return best

    def _worth(self, labels: np.ndarray) -> tuple[float, float]:
        """The loss and the disparity of some labels; their differences are kept in `before`."""
        c = self.compiled
        kernels.differences(c.pointers, c.rows, c.entries, labels, self.before)
        return c.labels_to_loss(labels), kernels.disparity_of(c.weight, self.before)

    def _keeps_limits(self, nodes: list[Node]) -> bool:  # noqa: ARG002
        """Whether these tests may be: here they always may."""
        return True

    def _cut_ranks(self, feature: int, member: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """The ranks between which an ordered feature may be cut: here all of them."""
        return np.asarray(self.compiled.ranks[feature])

    def _along(
        self,
        feature: int,
        member: np.ndarray,
        below: np.ndarray,
        above: np.ndarray,
        worth: tuple[float, float],
        target: float,
    ) -> tuple[float, np.ndarray | None]:
        """The best test on a feature: (objective, its ranks on the left).

        `worth` is the loss and the disparity while all members are above it, where differences are those of `before`.
        """
        c = self.compiled
        self.v[:] = self.before
        loss, disparity = worth
        size = int(c.sizes[feature])
        ranks = c.ranks[feature] if c.unordered[feature] else self._cut_ranks(feature, member)
        order, starts = kernels.by_level(ranks, np.flatnonzero(member), size)
        common = (c.pointers, c.rows, c.entries, c.weight, c.base)
        if c.unordered[feature]:
            side = np.zeros(size, dtype=np.bool_)
            value = kernels.try_levels(*common, starts, order, side, below, above, loss, disparity, self.limit, self.v)
            return value, side
        value, place = kernels.try_cuts(*common, order, ranks, below, above, loss, disparity, self.limit, self.v)
        if value >= target:
            return value, None
        return value, np.arange(size) <= place
