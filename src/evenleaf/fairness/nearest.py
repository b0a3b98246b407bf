"""The k nearest people of each person: exact, ties by row order, no table of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.fairness.distance import MixedSpace
from evenleaf.table import equal_rows

Metric = str | Callable[[np.ndarray, np.ndarray], float]
METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "cityblock": "cityblock",
    "manhattan": "cityblock",
    "l1": "cityblock",
    "chebyshev": "chebyshev",
    "canberra": "canberra",
    "braycurtis": "braycurtis",
    "cosine": "cosine",
    "correlation": "correlation",
}
_FEW = 400  # up to so many kinds of people, looking at all of them is faster than an index
_CHUNK = 1024
_MOST_ENTRIES = 4_000_000  # of a block of distances, about 32 MiB
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

    @cached_property
    def _points(self) -> np.ndarray:
        return self.space.points()[self.first]

    @cached_property
    def _index(self) -> Any:
        from sklearn.neighbors import NearestNeighbors  # here, because it takes a second to import

        return NearestNeighbors().fit(self._points[self._kinds])

    def nearest(self, kinds: np.ndarray, k: int) -> np.ndarray:
        """The k nearest reference people of each kind, nearest first, as rows of the table."""
        found, beyond = self._candidates(kinds, k + _SPARE)
        squared = self.space.squared(self.first[kinds][:, None], self.first[self._kinds[found]])
        reach = self._reach(squared, found, k)
        sure = beyond > reach * (1 + _SLACK) + _SLACK
        result = np.empty((len(kinds), k), dtype=np.intp)
        for row in range(len(kinds)):
            if sure[row]:
                candidates, at = found[row], squared[row]
            else:
                candidates, at = self._within(kinds[row], reach[row])
            result[row] = self._choose(candidates, at, reach[row], k)
        return result

    def _candidates(self, kinds: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
        """Reference kinds that are near, and the squared distance that all others are beyond, give or take."""
        if len(self._kinds) <= max(width, _FEW):
            everyone = np.tile(np.arange(len(self._kinds)), (len(kinds), 1))
            return everyone, np.full(len(kinds), np.inf)
        distance, found = self._index.kneighbors(self._points[kinds], n_neighbors=width)
        return found, distance[:, -1] ** 2

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


class MetricSearch:
    """The same search under another distance between the points of the space: every pair is looked at."""

    def __init__(self, space: MixedSpace, metric: Metric, reference: np.ndarray) -> None:
        self.first, self.kind = equal_rows(space.table)
        points = space.points()
        self._points, self._others = points[self.first], points[reference]
        self._reference, self._metric = reference, metric

    def nearest(self, kinds: np.ndarray, k: int) -> np.ndarray:
        """The k nearest reference people of each kind, nearest first, as rows of the table."""
        distance = np.round(block_distances(self._points[kinds], self._others, self._metric), 9)
        result = np.empty((len(kinds), k), dtype=np.intp)
        if k == 0:
            return result
        reach = np.partition(distance, k - 1, axis=1)[:, k - 1]
        for row, (at, limit) in enumerate(zip(distance, reach, strict=True)):
            near = np.flatnonzero(at <= limit)  # in row order, which the stable sort keeps among ties
            result[row] = self._reference[near[np.argsort(at[near], kind="stable")[:k]]]
        return result


def block_distances(rows: np.ndarray, others: np.ndarray, metric: Metric) -> np.ndarray:
    """Distances of one block of people to others, from the differences themselves and so exact to rounding."""
    from scipy.spatial.distance import cdist

    if isinstance(metric, str) and metric not in METRICS:
        raise InputError(f"there is no metric {metric!r}; choose one of {', '.join(METRICS)} or give a function")
    name: Any = METRICS[metric] if isinstance(metric, str) else metric
    distance = np.asarray(cdist(rows, others, name))
    if not np.isfinite(distance).all() or (distance < -1e-9).any():
        raise InputError("the metric gave a distance that is negative or not a number for some pair of people")
    return np.maximum(distance, 0.0)  # one minus a cosine may be a rounding below zero


def chunks(n_rows: int, width: int = 1) -> list[np.ndarray]:
    """Row numbers in blocks, so that memory grows with N and not with N²; `width` is what a row will hold."""
    size = max(1, min(_CHUNK, _MOST_ENTRIES // max(1, width)))
    return [np.arange(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
