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

    constant: float
    slope: np.ndarray
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
        size = int(self.used.sum())
        self.pieces: list[Piece] = []
        self.last_used: list[int] = []
        self.clock = 0
        self.piece_part = np.empty(_MOST_PIECES * self.n_parts, dtype=np.int64)
        self.piece_constants = np.empty(len(self.piece_part))
        self.piece_slopes = np.empty((len(self.piece_part), size))
        self.bundle: Bundle[Plane] = Bundle(size, _MOST_PLANES)
        self.cheapest = np.inf  # what the best labelling known truly costs
        self._differences = np.zeros_like(compiled.weight)
        self._mu = np.zeros_like(compiled.weight)
        self._of_alone = _entries(compiled, self.alone)
        self._costs = np.empty((len(self.alone), base.shape[1]))  # of people on their own

    @property
    def is_whole(self) -> bool:
        """Whether something is known about every part."""
        return len({piece.part for piece in self.pieces}) == self.n_parts

    def learn(self, labels: np.ndarray, tests: Callable[[int], Fork | int] | None = None) -> None:
        """Take in a tree, part by part and as a whole; `tests` tells those of a part."""
        pieces = [self._piece(p, labels, tests) for p in range(self.n_parts)]
        self._remember(self._plane(tuple(pieces), labels[self.alone]))

    def recall(self, part: int, top: Fork | int) -> None:
        """Take in a subtree that was met elsewhere."""
        members = self.members[part]
        labels = labelled(top, self.compiled, members)
        self.add(Piece(part, *self._cost(members, labels), members, labels, top))

    def _piece(self, part: int, labels: np.ndarray, tests: Callable[[int], Fork | int] | None) -> Piece:
        members = self.members[part]
        mine = labels[members].astype(np.int16)
        for k, known in enumerate(self.pieces):
            if known.part == part and np.array_equal(known.labels, mine):
                self.last_used[k] = self.clock
                return known
        constant, slope = self._cost(members, mine)
        piece = Piece(part, constant, slope, members, mine, None if tests is None else tests(part))
        self.add(piece)
        return piece

    def _cost(self, people: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
        """What labels of some people cost: the constant and the slope."""
        c = self.compiled
        everybody = np.zeros(c.n_people, dtype=np.int64)
        everybody[people] = labels
        kernels.differences(c.pointers, c.rows, c.entries, everybody, self._differences)
        chosen = labels > 0
        constant = float(self.base[people[chosen], labels[chosen] - 1].sum())
        return constant, (c.weight * self._differences)[self.used]

    def add(self, piece: Piece) -> None:
        """Remember a piece, where its part has too many in the place of the one that was not used for longest."""
        mine = [k for k, known in enumerate(self.pieces) if known.part == piece.part]
        place = len(self.pieces)
        if len(mine) < _MOST_PIECES:
            self.pieces.append(piece)
            self.last_used.append(self.clock)
        else:
            place = min(mine, key=lambda k: self.last_used[k])
            self.pieces[place], self.last_used[place] = piece, self.clock
        self.piece_part[place], self.piece_constants[place] = piece.part, piece.constant
        self.piece_slopes[place] = piece.slope

    def _remember(self, plane: Plane) -> None:
        self.bundle.add(plane.constant, plane.slope, plane)
        # Multipliers at the signs of the slope price it as it is.
        self.cheapest = min(self.cheapest, plane.constant + float(np.abs(plane.slope).sum()))

    def _plane(self, pieces: tuple[Piece, ...], alone: np.ndarray) -> Plane:
        constant, slope = (
            self._cost(self.alone, alone) if len(self.alone) else (0.0, np.zeros(self.piece_slopes.shape[1]))
        )
        constant += self.constant + sum(piece.constant for piece in pieces)
        return Plane(constant, np.sum([slope, *(piece.slope for piece in pieces)], axis=0), pieces, alone)

    def lowest(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """How low the lowest plane is at some multipliers; and the lowest piece of each part."""
        n = len(self.pieces)
        lowest, which = np.empty(self.n_parts), np.empty(self.n_parts, dtype=np.int64)
        kernels.lowest_of_parts(
            point, self.piece_constants[:n], self.piece_slopes[:n], self.piece_part[:n], lowest, which
        )
        self.low = lowest
        return self.constant + float(lowest.sum()) + self._price_alone(point), which

    def _price_alone(self, point: np.ndarray) -> float:
        if not len(self.alone):
            return 0.0
        c = self.compiled
        self._mu[self.used] = point
        kernels.dual_costs(*self._of_alone, c.weight, 1.0, self._mu, self.base[self.alone], self._costs)
        return float(np.minimum(self._costs.min(axis=1), 0.0).sum())

    def combine(self, which: np.ndarray) -> None:
        """Remember the plane of some pieces; people on their own as is cheapest where `lowest` was asked last."""
        self.clock += 1
        for k in which:
            self.last_used[k] = self.clock
        alone = np.column_stack([np.zeros(len(self.alone)), self._costs]).argmin(axis=1)
        self._remember(self._plane(tuple(self.pieces[k] for k in which), alone))

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
