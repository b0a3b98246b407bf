"""How long an ascent goes on, and what it has reached: the same for classes and for numbers (§9.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Effort:
    """How long to climb: at most `steps`, given up when `every` steps gain less than `gain` of what remains.

    A box whose first bound is further below the target than `near` of it is left at that.
    """

    steps: int
    every: int
    gain: float
    near: float = np.inf


@dataclass(eq=False)
class Record:
    """The best multipliers of an ascent, and how the steps towards them are going."""

    mu: np.ndarray
    scale: float
    best: float = -np.inf
    last: float = -np.inf
    stalled: int = 0
    length: float = 1.0

    def note(self, value: float, mu: np.ndarray, scale: float) -> None:
        """Keep the multipliers if they give a better bound."""
        if value > self.best + 1e-12:
            self.best, self.scale, self.stalled = value, scale, 0
            self.mu[:] = mu
        else:
            self.stalled += 1

    def slow(self, count: int, effort: Effort, target: float) -> bool:
        """Whether the last few steps gained too little of what remains."""
        if count % effort.every:
            return False
        gained, self.last = self.best - self.last, self.best
        return count > 0 and gained < effort.gain * (target - self.best)

    def retreat(self, mu: np.ndarray) -> float:
        """Back to the best multipliers, with shorter steps from there."""
        self.length, self.stalled = self.length / 2, 0
        mu[:] = self.mu
        return self.scale
