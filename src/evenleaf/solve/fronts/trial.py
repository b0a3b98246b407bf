"""What outlines are worth, from the vectors of merged people: cheap enough to try many before one is built."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.tests import LEFT, Sketch

_MOST_LABELLINGS = 4096


class Trial:
    """An outline with its leaves numbered from left to right."""

    def __init__(self, sketch: Sketch, lane: Lane) -> None:
        self.sketch, self.lane = sketch, lane
        self.labels: list[int] = []
        self._vectors: list[np.ndarray] = []
        self._walk(sketch, np.arange(lane.compiled.n_people))
        self.vectors = np.array(self._vectors)

    def _walk(self, sketch: Sketch, members: np.ndarray) -> None:
        if not isinstance(sketch, tuple):
            self.labels.append(int(sketch))
            own = self.lane.vectors[members].sum(axis=0)
            self._vectors.append(np.concatenate([np.zeros((1, own.shape[1])), own]))
            return
        box, low, high = sketch
        ranks = self.lane.compiled.ranks[box.feature, members]
        left = box.sides(int(self.lane.compiled.sizes[box.feature]))[ranks] == LEFT
        self._walk(low, members[left])
        self._walk(high, members[~left])

    def worth(self, labellings: np.ndarray) -> np.ndarray:
        """The objective with each row of labels."""
        chosen = self.vectors[np.arange(len(self.labels)), labellings].sum(axis=1)
        return self.lane.worth(chosen + self.lane.offset)

    def best(self) -> tuple[float, Sketch]:
        """The best labels, all of them tried where they are few, else one leaf after another changed."""
        n_labels, n_leaves = self.lane.n_labels + 1, len(self.labels)
        if n_labels**n_leaves <= _MOST_LABELLINGS:
            labellings = np.array(list(product(range(n_labels), repeat=n_leaves)), dtype=np.intp)
            worth = self.worth(labellings)
            return float(worth.min()), _relabelled(self.sketch, iter(labellings[int(worth.argmin())].tolist()))
        return self._descent(np.array(self.labels, dtype=np.intp))

    def _descent(self, labels: np.ndarray) -> tuple[float, Sketch]:
        worth = float(self.worth(labels[None, :])[0])
        while True:
            every = np.arange(len(labels) * (self.lane.n_labels + 1))
            trials = np.repeat(labels[None, :], len(every), axis=0)
            trials[every, every % len(labels)] = every // len(labels)
            found = self.worth(trials)
            if not found.min() < worth - 1e-12:
                return worth, _relabelled(self.sketch, iter(labels.tolist()))
            worth, labels = float(found.min()), trials[int(found.argmin())]


def _relabelled(sketch: Sketch, labels: Iterator[int]) -> Sketch:
    if not isinstance(sketch, tuple):
        return next(labels)
    low = _relabelled(sketch[1], labels)
    return sketch[0], low, _relabelled(sketch[2], labels)
