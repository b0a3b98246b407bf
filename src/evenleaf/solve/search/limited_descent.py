"""Better trees from good ones within limits: the descent of `descent.py`, which passes over tests that break one.

Where no single change helps, a test or two is replaced at random and the descent goes on from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.descent import GAIN, Descent, Node
from evenleaf.solve.search.plan import Found
from evenleaf.table import Schema

_MOST_KICKS, _WORK_AGAIN = 12, 4  # how often a descent looks at everybody for each test and feature
_Part = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]  # columns tested; label and people of each leaf


class LimitedDescent(Descent):
    """Coordinate descent over trees that keep every limit of a shape."""

    def __init__(self, compiled: Compiled, shape: Shape, schema: Schema, limit: float | None) -> None:
        super().__init__(compiled, shape.max_depth, limit)
        self.shape, self.uses = shape, shape.use_limits(schema)

    def wander(self, found: Found, work: int, seed: int, stop: Callable[[], bool]) -> Iterator[Found]:
        """Every better tree met: kick the best one, descend, and go on from there if that is no worse."""
        a_descent = _WORK_AGAIN * self.compiled.n_people * self.compiled.n_features * self.n_tests
        random = np.random.default_rng(seed)
        best, nodes = found.objective, self.nodes_of(found)
        for _ in range(min(_MOST_KICKS, work // a_descent)):
            if stop():
                return
            trial = self._kicked(nodes, random)
            objective = min(self._descend(trial, np.inf), default=np.inf)
            if objective < best + GAIN:
                nodes = trial
            if objective < best - GAIN:
                best = objective
                yield self.found(nodes, best)

    def _kicked(self, nodes: list[Node], random: np.random.Generator) -> list[Node]:
        """A copy with one or two tests replaced: a cut beside some person, or levels by the toss of a coin."""
        nodes = [Node(node.feature, node.left_ranks, list(node.labels)) for node in nodes]
        for place in random.integers(self.n_tests, size=random.integers(1, 3)):
            feature = int(random.integers(self.compiled.n_features))
            size, ranks = int(self.compiled.sizes[feature]), self.compiled.ranks[feature]
            left = np.arange(size) <= ranks[random.integers(len(ranks))]
            if self.compiled.unordered[feature]:
                left = random.random(size) < 0.5
            labels = random.integers(self.compiled.n_labels + 1, size=2)
            nodes[place] = Node(feature, left, [int(label) for label in labels])
        return nodes

    def _keeps_limits(self, nodes: list[Node]) -> bool:
        columns, leaves = self._part(nodes, 0, np.ones(self.compiled.n_people, dtype=np.bool_))
        shape, uses = self.shape, Counter(columns)
        return (
            (shape.max_leaves is None or len(leaves) <= shape.max_leaves)
            and (len(leaves) == 1 or min(people for _, people in leaves) >= shape.min_samples_leaf)
            and (shape.max_features_used is None or len(uses) <= shape.max_features_used)
            and all(uses[column] <= most for column, most in self.uses.items())
        )

    def _part(self, nodes: list[Node], place: int, member: np.ndarray) -> _Part:
        """What is tested at a place and below, tests that everybody answers alike and equal leaves left out."""
        if place >= self.n_tests:
            label = nodes[(place - 1) // 2].labels[(place - 1) % 2]
            return (), ((label, int(self.compiled.count[member].sum())),)
        node = nodes[place]
        goes_left = node.left_ranks[self.compiled.ranks[node.feature]]
        halves = (member & goes_left, member & ~goes_left)
        parts = [self._part(nodes, 2 * place + 1 + k, half) for k, half in enumerate(halves) if half.any()]
        if len(parts) < 2:
            return parts[0] if parts else ((), ())
        (one, first), (two, second) = parts
        if len(first) == len(second) == 1 and first[0][0] == second[0][0]:
            return (), ((first[0][0], first[0][1] + second[0][1]),)
        return (self.compiled.features[node.feature].column, *one, *two), (*first, *second)

    def _cut_ranks(self, feature: int, member: np.ndarray) -> np.ndarray:
        """Ranks with too few people up to them are one, and so are those with too few from them on."""
        ranks, least = self.compiled.ranks[feature], self.shape.min_samples_leaf
        if least == 1:
            return np.asarray(ranks)
        size = int(self.compiled.sizes[feature])
        people = np.cumsum(np.bincount(ranks[member], weights=self.compiled.count[member], minlength=size))
        enough = np.flatnonzero((people >= least) & (people[-1] - people >= least))
        if not len(enough):
            return np.full_like(ranks, size - 1)
        return np.where(ranks > enough[-1], size - 1, np.maximum(ranks, enough[0])).astype(ranks.dtype)
