"""How long an ascent goes on, and what it has reached: the same for classes and for numbers (§9.4)."""

from __future__ import annotations

from collections.abc import Callable
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


Push = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float], bool]


def step_up(
    push: Push,
    mu: np.ndarray,
    scale: float,
    weight: np.ndarray,
    differences: np.ndarray,
    limit: float | None,
    direction: np.ndarray,
    length: float,
) -> tuple[bool, float]:
    """Move μ by the kernel `push`; with D ≤ ε the scale λ of the multipliers rises or falls too (ALGORITHM §7)."""
    if limit is None:
        return push(mu, weight, differences, direction, length), scale
    slope = float((weight * mu * differences).sum()) - limit
    moved = push(mu, weight, differences, direction, length / max(scale, 1e-9))
    if abs(slope) > 1e-12:
        wanted = scale + 0.5 * length / slope
        scale, moved = float(np.clip(wanted, 0.5 * scale, 2.0 * scale + 1e-3)), True
    return moved, scale
