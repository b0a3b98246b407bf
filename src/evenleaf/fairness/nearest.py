"""The k nearest people of each person: exact, ties by row order, no table of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors

from evenleaf.fairness.distance import MixedSpace
from evenleaf.table import equal_rows

Metric = str | Callable[[np.ndarray, np.ndarray], float]
_CHUNK = 1024
_SPARE = 6  # candidates beyond k, so that rounding in the fast search rarely forces a second look
_SLACK = 1e-7  # what the fast search may be wrong by; candidates closer than that are looked at again


class NearestSearch:
    """Finds, for kinds of people (equal rows are one kind), the nearest of a set of reference people."""

    def __init__(self, space: MixedSpace, reference: np.ndarray) -> None:
        self.space = space
        self.first, self.kind = equal_rows(space.table)
        self._members = _members_by_kind(self.kind, reference)
        self._kinds = np.array(sorted(self._members), dtype=np.intp)
        self._counts = np.array([len(self._members[kind]) for kind in self._kinds])
        self._points = space.points()[self.first]
        self._index = NearestNeighbors().fit(self._points[self._kinds])

    def nearest(self, kinds: np.ndarray, k: int) -> np.ndarray:
        """The k nearest reference people of each kind, nearest first, as rows of the table."""
        width = min(len(self._kinds), k + _SPARE)
        distance, found = self._index.kneighbors(self._points[kinds], n_neighbors=width)
        squared = self.space.squared(self.first[kinds][:, None], self.first[self._kinds[found]])
        reach = self._reach(squared, found, k)
        sure = (width == len(self._kinds)) | (distance[:, -1] ** 2 > reach * (1 + _SLACK) + _SLACK)
        result = np.empty((len(kinds), k), dtype=np.intp)
        for row in range(len(kinds)):
            if sure[row]:
                candidates, at = found[row], squared[row]
            else:
                candidates, at = self._within(kinds[row], reach[row])
            result[row] = self._choose(candidates, at, reach[row], k)
        return result

    def _reach(self, squared: np.ndarray, found: np.ndarray, k: int) -> np.ndarray:
        """How far one must go to meet k people (an upper bound: the true candidates can only be nearer)."""
        order = np.argsort(squared, axis=1, kind="stable")
        people = np.cumsum(np.take_along_axis(self._counts[found], order, axis=1), axis=1)
        last = np.argmax(people >= k, axis=1)
        return np.asarray(np.take_along_axis(squared, order, axis=1)[np.arange(len(last)), last])

    def _within(self, kind: int, reach: float) -> tuple[np.ndarray, np.ndarray]:
        radius = np.sqrt(reach * (1 + _SLACK) + _SLACK)
        found = self._index.radius_neighbors(self._points[[kind]], radius=radius, return_distance=False)[0]
        return found, self.space.squared(self.first[[kind]], self.first[self._kinds[found]])

    def _choose(self, candidates: np.ndarray, squared: np.ndarray, reach: float, k: int) -> np.ndarray:
        near = squared <= reach
        # Within a kind the first k rows are enough: they come before the others at the same distance.
        rows = [self._members[kind][:k] for kind in self._kinds[candidates[near]]]
        people = np.concatenate(rows)
        at = np.repeat(squared[near], [len(members) for members in rows])
        return people[np.lexsort((people, at))[:k]]


def _members_by_kind(kind: np.ndarray, reference: np.ndarray) -> dict[int, np.ndarray]:
    order = reference[np.argsort(kind[reference], kind="stable")]
    kinds, starts = np.unique(kind[order], return_index=True)
    return dict(zip(kinds.tolist(), np.split(order, starts[1:]), strict=True))


def nearest_by_metric(
    space: MixedSpace, metric: Metric, reference: np.ndarray, rows: np.ndarray, k: int
) -> np.ndarray:
    """The k nearest reference people of some rows under any metric of scikit-learn, or a callable."""
    points = space.points()
    distance = np.round(block_distances(points[rows], points[reference], metric), 9)
    order = np.argsort(distance, axis=1, kind="stable")  # the reference is in row order: ties keep it
    return np.asarray(reference[order[:, :k]])


def block_distances(rows: np.ndarray, others: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances of one block of people to others."""
    options: dict[str, Any] = {"metric": metric}
    return np.asarray(pairwise_distances(rows, others, **options))


def chunks(n_rows: int) -> list[np.ndarray]:
    """Row numbers in blocks, so that memory grows with N and not with N²."""
    return [np.arange(start, min(start + _CHUNK, n_rows)) for start in range(0, n_rows, _CHUNK)]
