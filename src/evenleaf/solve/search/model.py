"""What the trees met so far say about the bound at other multipliers: planes, of which the bound is the lowest.

A tree costs a linear function of the multipliers. The parts of a box, its two sides and the levels that are not placed,
choose their subtrees each for itself, and so what is known is kept part by part: any subtree met on the left goes with
any met on the right. People on their own take whatever label is cheapest, which needs no memory at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.bundle import Bundle
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.sketch import Fork, labelled

_MOST_PIECES, _MOST_PLANES = 16, 48  # of a part; together
ALONE = -1  # the part of people on their own


@dataclass(frozen=True, eq=False)
class Piece:
    """What a subtree costs on the people of a part: a constant, and a slope for each multiplier with a weight."""

    part: int
    constant: float
    slope: np.ndarray
    members: np.ndarray
    labels: np.ndarray
    top: Fork | int | None = None  # its tests, where they are asked for

    def keeps(self, person: int, label: int, equal: bool) -> bool:
        """Whether a decision about a person's label is kept, or is about somebody else."""
        place = int(np.searchsorted(self.members, person))
        if place == len(self.members) or self.members[place] != person:
            return True
        return (int(self.labels[place]) == label) == equal


@dataclass(frozen=True, eq=False)
class Plane:
    """One piece a part, and the labels of those on their own."""

    pieces: tuple[Piece, ...]
    alone: np.ndarray


class Model:
    """The planes known in a box. `base` and `constant` are prices without multipliers."""

    def __init__(self, compiled: Compiled, base: np.ndarray, constant: float, part: np.ndarray) -> None:
        self.compiled, self.base, self.constant, self.part = compiled, base, constant, part
        self.used = compiled.weight > 0
        self.n_parts = int(part.max(initial=ALONE)) + 1
        self.members = [np.flatnonzero(part == p) for p in range(self.n_parts)]
        self.alone = np.flatnonzero(part == ALONE)
        self.size = int(self.used.sum())
        self.column = np.where(self.used, np.cumsum(self.used).reshape(self.used.shape) - 1, -1)
        self.pieces: list[Piece] = []
        self.last_used: list[int] = []
        self.clock = 0
        self.places: list[list[int]] = [[] for _ in range(self.n_parts)]  # of the pieces of each part
        self.place_of: dict[tuple[int, bytes], int] = {}
        self.piece_part = np.empty(_MOST_PIECES * self.n_parts, dtype=np.int64)
        self.piece_constants = np.empty(len(self.piece_part))
        self.piece_slopes = np.empty((len(self.piece_part), self.size))
        self.n_rows = self.size - len(compiled.owner)  # multipliers of rows; those of facets come last
        self.shift = np.concatenate([np.zeros(self.n_rows), compiled.shift])
        self.bundle: Bundle[Plane] = Bundle(self.size, _MOST_PLANES, self.column[compiled.owner, -1])
        self.cheapest = np.inf  # what the best labelling known truly costs
        self._mu = np.zeros_like(compiled.weight)
        self._of_alone = _entries(compiled, self.alone)
        self._base_of_alone = base[self.alone]
        self._costs = np.empty_like(self._base_of_alone)
        self._labels = np.zeros(len(self.alone), dtype=np.int16)  # of people on their own, as is cheapest

    @property
    def is_whole(self) -> bool:
        """Whether something is known about every part."""
        return all(self.places)

    def learn(self, labels: np.ndarray, tests: Callable[[int], Fork | int] | None = None) -> None:
        """Take in a tree, part by part and as a whole; `tests` tells those of a part."""
        which = np.array([self._place(p, labels, tests) for p in range(self.n_parts)], dtype=np.int64)
        self._remember(which, labels[self.alone].astype(np.int16))

    def recall(self, part: int, top: Fork | int) -> None:
        """Take in a subtree that was met elsewhere."""
        members = self.members[part]
        labels = labelled(top, self.compiled, members)
        self.add(Piece(part, *self._cost(members, labels), members, labels, top))

    def _place(self, part: int, labels: np.ndarray, tests: Callable[[int], Fork | int] | None) -> int:
        """Where the piece of a part is, after it was taken in."""
        members = self.members[part]
        mine = labels[members].astype(np.int16)
        place = self.place_of.get((part, mine.tobytes()))
        if place is None:
            top = None if tests is None else tests(part)
            return self.add(Piece(part, *self._cost(members, mine), members, mine, top))
        self.last_used[place] = self.clock
        return place

    def _cost(self, people: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
        """What labels of some people cost: the constant and the slope."""
        c, slope = self.compiled, np.zeros(self.size)
        constant = kernels.price_labels(
            c.pointers, c.rows, c.entries, c.weight, self.column, self.base, people, labels, slope
        )
        return constant, slope

    def add(self, piece: Piece) -> int:
        """Remember a piece, where its part has too many in the place of the one that was not used for longest."""
        mine, key = self.places[piece.part], (piece.part, piece.labels.tobytes())
        if key in self.place_of:
            place = self.place_of[key]
        elif len(mine) < _MOST_PIECES:
            place = len(self.pieces)
            self.pieces.append(piece)
            self.last_used.append(self.clock)
            mine.append(place)
        else:
            place = min(mine, key=self.last_used.__getitem__)
            del self.place_of[piece.part, self.pieces[place].labels.tobytes()]
        self.place_of[key] = place
        self.pieces[place], self.last_used[place] = piece, self.clock
        self.piece_part[place], self.piece_constants[place] = piece.part, piece.constant
        self.piece_slopes[place] = piece.slope
        return place

    def _remember(self, which: np.ndarray, alone: np.ndarray) -> None:
        """Keep the plane of one piece a part, and of the labels of people on their own."""
        constant, slope = self._cost(self.alone, alone)
        slope += self.shift
        more, size = kernels.add_planes(self.piece_constants, self.piece_slopes, which, slope, self.n_rows)
        constant += self.constant + more
        self.bundle.add(constant, slope, Plane(tuple(self.pieces[k] for k in which), alone))
        self.cheapest = min(self.cheapest, constant + size)

    def lowest(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """How low the lowest plane is at some multipliers; and the lowest piece of each part."""
        n = len(self.pieces)
        lowest, which = np.empty(self.n_parts), np.empty(self.n_parts, dtype=np.int64)
        kernels.lowest_of_parts(
            point, self.piece_constants[:n], self.piece_slopes[:n], self.piece_part[:n], lowest, which
        )
        self.low = lowest
        return self.constant + float(lowest.sum()) + float(self.shift @ point) + self._price_alone(point), which

    def _price_alone(self, point: np.ndarray) -> float:
        if not len(self.alone):
            return 0.0
        self._mu[self.used] = point
        weight = self.compiled.weight
        kernels.dual_costs(*self._of_alone, weight, 1.0, self._mu, self._base_of_alone, self._costs)
        return float(kernels.cheapest_labels(self._costs, self._labels))

    def combine(self, which: np.ndarray) -> None:
        """Remember the plane of some pieces; people on their own as is cheapest where `lowest` was asked last."""
        self.clock += 1
        for k in which:
            self.last_used[k] = self.clock
        self._remember(which, self._labels.copy())

    def average(self, mixture: list[tuple[float, Plane]]) -> np.ndarray:
        """How often each person gets each label in a mixture of trees."""
        average = np.zeros_like(self.base)
        total = sum(share for share, _ in mixture)
        for share, plane in mixture:
            for people, labels in ((self.alone, plane.alone), *((p.members, p.labels) for p in plane.pieces)):
                chosen = labels > 0
                average[people[chosen], labels[chosen] - 1] += share / total
        return average


def _entries(c: Compiled, people: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of some people only: where each person's begin, which they are, and what they count."""
    counts = np.diff(c.pointers)[people]
    pointers = np.concatenate([[0], np.cumsum(counts)]).astype(c.pointers.dtype)
    places = np.repeat(c.pointers[people] - pointers[:-1], counts) + np.arange(int(pointers[-1]))
    return pointers, c.rows[places], c.entries[places]
