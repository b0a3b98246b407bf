"""What the cheapest tree of a slot costs at given prices, by looking at every tree that there is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from evenleaf.solve.fronts.oracle import Oracle
from evenleaf.solve.fronts.tests import Box, Cuts, Levels


def all_tests(asked: Oracle, members: np.ndarray) -> Iterator[Box]:
    """Every test that parts these people, a subset and its complement once each."""
    for f in np.flatnonzero(asked.allowed).tolist():
        present = np.unique(asked.ranks[f, members]).tolist()
        if not asked.unordered[f]:
            yield from (Cuts(f, rank, rank) for rank in present[:-1])
            continue
        everyone = frozenset(range(int(asked.sizes[f])))
        for size in range(1, len(present)):
            for left in combinations(present, size):
                if present[0] in left:
                    yield Levels(f, frozenset(left), everyone - frozenset(left))


def below(asked: Oracle, box: Box, members: np.ndarray, depth: int, own: np.ndarray) -> float:
    """What the cheapest tree with a first test costs, from nothing but prices of labels (person by label)."""
    left, right, _ = asked.part(box, members)
    return cheapest(asked, left, depth - 1, own) + cheapest(asked, right, depth - 1, own)


def cheapest(asked: Oracle, members: np.ndarray, depth: int, own: np.ndarray) -> float:
    """What the cheapest tree costs, infinite where its leaves cannot have enough people."""
    if asked.count[members].sum() < asked.least:
        return np.inf
    leaf = min(0.0, float(own[members].sum(axis=0).min()))
    if depth == 0:
        return leaf
    return min([leaf, *(below(asked, box, members, depth, own) for box in all_tests(asked, members))])
