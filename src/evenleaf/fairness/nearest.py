"""The k nearest people of each person: exact, ties by row order, no table of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.fairness.cells import CellSearch, Triples
from evenleaf.fairness.distance import MixedSpace
from evenleaf.fairness.reference import ReferencePeople
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
_FEW_DIMENSIONS = 15  # up to so many, scikit-learn's tree is the fastest
_CHUNK = 1024
_MOST_ENTRIES = 4_000_000  # of a block of distances, about 32 MiB
_SPARE = 6  # candidates beyond k, so that rounding in the fast search rarely forces a second look
_SLACK = 1e-7  # what the fast search may be wrong by; candidates closer than that are looked at again


class NearestSearch:
    """Finds, for kinds of people (equal rows are one kind), the nearest of a set of reference people.

    Three ways, all exact: few kinds are all looked at; many categorical columns are searched by cells; the
    rest goes through scikit-learn's index (a tree, or brute force in many dimensions).
    """

    def __init__(self, space: MixedSpace, reference: np.ndarray) -> None:
        self.space = space
        self.first, self.kind = equal_rows(space.table)
        self._people = ReferencePeople(self.kind, len(self.first), reference)
        self._cells = self._worthwhile_cells()
        # Kinds of the same cell are sought for together.
        cell = np.zeros(len(self.first), dtype=np.intp) if self._cells is None else self._cells.cell
        self.order = np.argsort(cell, kind="stable")

    def _worthwhile_cells(self) -> CellSearch | None:
        if len(self._people.kinds) <= _FEW or self.space.n_dimensions <= _FEW_DIMENSIONS:
            return None
        cells = CellSearch(self.space, self.first, self._people.kinds)
        return cells if cells.worthwhile else None

    @cached_property
    def _points(self) -> np.ndarray:
        return self.space.points()[self.first]

    @cached_property
    def _index(self) -> Any:
        from sklearn.neighbors import NearestNeighbors  # here, because it takes a second to import

        return NearestNeighbors().fit(self._points[self._people.kinds])

    def nearest(self, kinds: np.ndarray, k: int) -> np.ndarray:
        """The k nearest reference people of each kind, nearest first, as rows of the table."""
        if self._cells is not None:
            seeker, found, squared = self._cells.candidates(kinds, k)
        elif len(self._people.kinds) <= max(k + _SPARE, _FEW):
            seeker, found, squared = self._all_pairs(kinds)
        else:
            seeker, found, squared = self._by_index(kinds, k)
        return self._people.choose(seeker, found, squared, len(kinds), k)

    def _all_pairs(self, kinds: np.ndarray) -> Triples:
        everyone = self._people.kinds
        squared = self.space.squared(self.first[kinds][:, None], self.first[everyone][None, :])
        seeker = np.repeat(np.arange(len(kinds)), len(everyone))
        return seeker, np.tile(everyone, len(kinds)), squared.ravel()

    def _by_index(self, kinds: np.ndarray, k: int) -> Triples:
        distance, place = self._index.kneighbors(self._points[kinds], n_neighbors=k + _SPARE)
        found = self._people.kinds[place]
        squared = self.space.squared(self.first[kinds][:, None], self.first[found])
        reach = self._reach(squared, found, k)
        sure = distance[:, -1] ** 2 > reach * (1 + _SLACK) + _SLACK
        who, what = np.nonzero((squared <= reach[:, None]) & sure[:, None])
        parts = [(who, found[who, what], squared[who, what])]
        parts += [self._within(row, kinds[row], reach[row]) for row in np.flatnonzero(~sure).tolist()]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]

    def _reach(self, squared: np.ndarray, found: np.ndarray, k: int) -> np.ndarray:
        """How far one must go to meet k people (an upper bound: the true candidates can only be nearer)."""
        order = np.argsort(squared, axis=1, kind="stable")
        people = np.cumsum(np.take_along_axis(self._people.counts[found], order, axis=1), axis=1)
        last = np.argmax(people >= k, axis=1)
        return np.asarray(np.take_along_axis(squared, order, axis=1)[np.arange(len(last)), last])

    def _within(self, row: int, kind: int, reach: float) -> Triples:
        """Everybody within reach, where the fast search cannot tell who is just inside from who is just outside."""
        radius = np.sqrt(reach * (1 + _SLACK) + _SLACK)
        place = self._index.radius_neighbors(self._points[[kind]], radius=radius, return_distance=False)[0]
        found = self._people.kinds[place]
        squared = self.space.squared(self.first[[kind]], self.first[found])
        near = squared <= reach
        return np.full(near.sum(), row), found[near], squared[near]


class MetricSearch:
    """The same search under another distance between the points of the space: every pair is looked at."""

    def __init__(self, space: MixedSpace, metric: Metric, reference: np.ndarray) -> None:
        self.first, self.kind = equal_rows(space.table)
        self.order = np.arange(len(self.first))
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
