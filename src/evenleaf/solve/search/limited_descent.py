"""Better trees from good ones within limits: the descent of `descent.py`, which passes over tests that break one."""

from __future__ import annotations

from collections import Counter

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.descent import Descent, Node
from evenleaf.table import Schema

_Part = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]  # columns tested; label and people of each leaf


class LimitedDescent(Descent):
    """Coordinate descent over trees that keep every limit of a shape."""

    def __init__(self, compiled: Compiled, shape: Shape, schema: Schema, limit: float | None) -> None:
        super().__init__(compiled, shape.max_depth, limit)
        self.shape, self.uses = shape, shape.use_limits(schema)

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
