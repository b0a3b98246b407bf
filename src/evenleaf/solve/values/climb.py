"""What every ascent shares: the bound of a box at given multipliers, and the trees met on the way (ALGORITHM §2).

Any μ ∈ [−1, 1] gives a valid bound, so the steps may be as rough as they like; reaching the incumbent is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE
from evenleaf.solve.proofs.values import GRID
from evenleaf.solve.values import kernels
from evenleaf.solve.values.boxes import Box
from evenleaf.solve.values.caps import ValueSplit
from evenleaf.solve.values.oracle import Scratch, StumpOracle, SubtreeOracle

_WORTH_DROPPING = 0.1
_CONTESTED = 1e-4
_PASSED_OVER = 4e-8  # in units of the outcome; certificates forgive 1e-7


def allowance(scale: float, limit: float | None, spread: float) -> float:
    """What a tree gains at most from the limit on its discrimination: λε.

    The limit holds what the evaluation forgives, but best values are found for the limit itself: no bound would reach
    them. So a gain from what is forgiven is passed over, as long as it is well below what a proof may be off by.
    """
    if limit is None:
        return 0.0
    return scale * limit - min(scale * FEASIBILITY_TOLERANCE, _PASSED_OVER) / (spread or 1.0)


@dataclass(frozen=True, eq=False)
class Found:
    """A tree met on the way: everybody's leaf, its root and its tests, and its objective with values as they were."""

    feature: int
    state: np.ndarray
    tests: np.ndarray
    leaf: np.ndarray
    objective: float


@dataclass(frozen=True, eq=False)
class Ascended:
    """What an ascent reached: the box with its new bound and fewer tests, and the trees that it wavered between."""

    box: Box
    chosen: np.ndarray  # the tests of the trees met, one row each
    found: Found | None
    split: ValueSplit | None = None  # what would part the trees of the mixture, where that is known
    mixed: np.ndarray | None = None  # their tests, one row each
    bounds: int = 0  # how often a bound was asked for


class Climb:
    """One ascent: the state that its steps share. `limit` is ε, where the discrimination is limited."""

    def __init__(
        self, box: Box, oracle: StumpOracle | SubtreeOracle, scratch: Scratch, target: float, limit: float | None
    ) -> None:
        self.box, self.oracle, self.scratch, self.target, self.limit = box, oracle, scratch, target, limit
        self.compiled = scratch.compiled
        self.outcome = self.compiled.levels[self.compiled.level]
        self.differences = np.zeros_like(self.compiled.weight)
        self.due = 0.0  # what the last tree pays for rows inside its stumps, whatever the multipliers
        self.found: Found | None = None
        self.chosen: list[np.ndarray] = []
        self.bounds = 0
        self.priced: tuple[np.ndarray, float] | None = None  # where all trees of the box were priced last

    def bound(self, mu: np.ndarray, scale: float, target: float | None = None) -> tuple[float, np.ndarray]:
        """The cheapest tree of the box at these multipliers, and its cost: a bound for every tree in it."""
        # A certificate holds multipliers on a grid: priced there, the bound that it proves is this very one.
        np.rint(mu * GRID, out=mu)
        mu /= GRID
        self.price(mu, scale)
        self.priced = mu.copy(), scale
        self.bounds += 1
        self.scratch.tag = (mu.tobytes(), scale)
        offset = self.offset(scale)
        value, tests = self.oracle.best((self.target if target is None else target) - offset)
        return value + offset, tests

    def price(self, mu: np.ndarray, scale: float) -> None:
        """What a unit of value costs everybody at these multipliers: until all trees are, nothing is priced there."""
        self.priced = None
        self.scratch.price(mu, scale)

    def in_box(self, trees: np.ndarray) -> np.ndarray:
        """Which trees of another box are trees of this one too."""
        alive = self.box.alive
        return np.asarray(alive[np.arange(len(alive)), np.where(trees < 0, alive.shape[1] - 1, trees)].all(axis=1))

    def offset(self, scale: float) -> float:
        """−λε, where the discrimination is limited; and what the costs of ghosts lack."""
        return self.scratch.ghosts.offset - allowance(scale, self.limit, self.compiled.spread)

    def consider(self, tests: np.ndarray) -> np.ndarray:
        """Price the oracle's tree truly and keep it if it is the best so far; everybody's value."""
        c, limit, v = self.compiled, self.limit, self.differences
        loss, decided = self.oracle.decide(tests)
        inside = self.scratch.within[3] >= 0
        kernels.differences(c.pointers, c.rows, c.entries, decided, v)
        self.chosen.append(tests)
        if self.oracle.real and self.oracle.keeps(tests):
            if self.box.caps:
                real = slice(0, self.scratch.n_real)
                loss = float(c.share[real] @ np.abs(self.outcome[real] - decided[real]))
            discrimination = float((c.weight * np.abs(v)).sum())
            # Values that break the limit may be mended with the same tests, so that such a tree is kept too.
            objective = loss + (discrimination if limit is None else max(0.0, discrimination - limit))
            if self.found is None or objective < self.found.objective:
                leaf = self.scratch.leaf[: self.scratch.n_real].copy()
                self.found = Found(self.box.feature, self.box.state, tests.copy(), leaf, objective)
        # What the tree pays for rows inside its stumps is the same at all multipliers.
        self.due = float(c.weight[inside, 0] @ np.abs(v[inside, 0]))
        v[inside] = 0.0
        return decided

    def survivors(self, mu: np.ndarray, scale: float) -> np.ndarray:
        """The tests that may still lead below the target, at these multipliers."""
        if self.priced is None or self.priced[1] != scale or not np.array_equal(self.priced[0], mu):
            self.bound(mu, scale)
        return self.oracle.survivors(self.target - kernels.EPSILON - self.offset(scale))

    def without_lost_tests(self, box: Box, best: float) -> Box:
        """A box of deep trees without the tests that cannot lead below the target.

        Far below the target little is ruled out, and asking is dear.
        """
        open_still = best < self.target - kernels.EPSILON
        if open_still and self.oracle.real and best >= (1 - _WORTH_DROPPING) * self.target:
            return replace(box, alive=self.survivors(box.mu, box.scale))
        return box

    def worth_splitting(self, person: int, value: float, doubt: float) -> ValueSplit | None:
        """The split by a person's value, unless hardly any doubt is about it."""
        enough = _CONTESTED * float(self.compiled.share[: self.scratch.n_real].mean())
        return ValueSplit(person, value) if doubt > enough else None

    def trees_met(self) -> np.ndarray:
        """The tests of the trees met, one row each."""
        return np.array(self.chosen) if self.chosen else np.zeros((0, 6), dtype=np.int64)
