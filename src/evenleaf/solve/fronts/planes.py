"""Multipliers for several shares at once, by cutting planes: every tree that was met lies above the dual function.

A tree's price at multipliers is the same for every share but for that of the share itself. So the planes that one share
needs are good for its neighbours, and a few looks are enough for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linprog

from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.tests import Box, Sketch
from evenleaf.solve.fronts.warmup import below_first_test, shallow_trees
from evenleaf.solve.fronts.worker import Worker

_MOST = 4.0  # multipliers of exact rates are hardly ever larger, and those that are too small are climbed from
_CLOSE = 0.003  # how near the highest point a look has to come
_LOOKS = 12  # for one share
_FIRST_TESTS = 4  # below which trees are looked at


@dataclass(frozen=True, eq=False)
class Cheap:
    """Multipliers for a share, what the cheapest tree that was met costs there, its outline and its own share."""

    mu: np.ndarray
    cost: float
    sketch: Sketch
    share: float


@dataclass(eq=False)
class Planes:
    """Trees on few cuts, of depth 2 or below good first tests; `vectors` (loss, disparities) of those that were met.

    These are for no share. Whoever `tries` trees that were met is offered them with the best labels.
    """

    hand: Worker
    share: float  # of the worker's lane
    tries: Worker | None = None
    cells: dict[Box | None, Cell] = field(default_factory=dict)
    vectors: list[np.ndarray] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shallow = shallow_trees(self.hand)
        self.most_cells = _FIRST_TESTS
        if self.hand.depth <= 2:
            self.cells[None], self.most_cells = self.shallow, 1

    def highest(self, share: float | None, mu: np.ndarray) -> Cheap:
        """Multipliers at which trees of a share, or of any, cost about the most; the given ones are tried first."""
        self._begin_below(mu)
        best = self._looked(mu, share)
        for _ in range(_LOOKS):
            mu, height = self._plan(share)
            if height - best.cost <= _CLOSE * max(abs(height), 0.01):
                break
            self._begin_below(mu)
            found = self._looked(mu, share)
            best = found if found.cost > best.cost else best
        return best

    def _begin_below(self, mu: np.ndarray) -> None:
        """Take in the first test of a tree of depth 2 that is about as cheap as any."""
        if len(self.cells) >= self.most_cells:
            return
        sketch = self.shallow.dual(mu)[2]()
        first = sketch[0] if isinstance(sketch, tuple) else None
        if first not in self.cells:
            self.cells[first] = below_first_test(self.hand, sketch, few=True) or self.shallow

    def _looked(self, mu: np.ndarray, share: float | None) -> Cheap:
        """The cheapest tree at multipliers, which is a plane from now on."""
        found = [cell.dual(mu) for cell in self.cells.values()]
        for _, vector, _ in found:
            vector[-1] += self.share
            self.vectors.append(vector)
        point, vector, draw = min(found, key=lambda one: one[0].value)
        if self.tries is not None:
            self.tries.offer_sketch(draw(), improve=True)
        cost = point.value + float(mu[-1]) * (self.share - (share or 0.0))
        return Cheap(mu, cost, draw(), float(vector[-1]))

    def _plan(self, share: float | None) -> tuple[np.ndarray, float]:
        """Where the lowest of the planes is highest, and how high."""
        planes = np.array(self.vectors)
        planes[:, -1] -= share or 0.0
        width = planes.shape[1]
        upper = np.column_stack([np.ones(len(planes)), -planes[:, 1:]])  # height − μ·d ≤ loss
        bounds = [(None, None), *[(-_MOST, _MOST)] * (width - 1)]
        bounds[-1] = (0.0, 0.0) if share is None else bounds[-1]  # where any share will do, none is dear
        found = linprog(np.append(-1.0, np.zeros(width - 1)), A_ub=upper, b_ub=planes[:, 0], bounds=bounds)
        return np.asarray(found.x[1:]), float(found.x[0])
