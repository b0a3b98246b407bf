"""Multipliers that lift the bound of a node: tangents in one dimension, deflected Polyak steps in several."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

_STALL, _PATIENCE, _WORTHWHILE = 4, 6, 0.12


@dataclass(frozen=True, eq=False)
class Point:
    """The dual function at μ: its value, and a supergradient there."""

    mu: np.ndarray
    value: float
    slope: np.ndarray


@dataclass
class Climb:
    """What an ascent has seen; `best` is its highest point."""

    best: Point
    seen: list[Point] = field(default_factory=list)


Dual = Callable[[np.ndarray], Point]


def climb(dual: Dual, start: np.ndarray, target: float, steps: int, most: float, patience: int = _PATIENCE) -> Climb:
    """Lift the dual function towards the target, |μ| ≤ most; any μ gives a valid bound, so stopping early is fine.

    With several disparities it ends where the last steps, as many as `patience`, gained little.
    """
    first = dual(np.clip(start, -most, most))
    state = Climb(first, [first])
    if len(start) == 1:
        _tangents(dual, state, target, steps, most)
    elif len(start):
        _polyak(dual, state, target, steps, most, patience)
    return state


def _visit(dual: Dual, state: Climb, mu: np.ndarray) -> Point:
    point = dual(mu)
    state.seen.append(point)
    if point.value > state.best.value:
        state.best = point
    return point


def _tangents(dual: Dual, state: Climb, target: float, steps: int, most: float) -> None:
    """A concave function of one number: go where the tangents on either side of its maximum meet."""
    low: Point | None = None
    high: Point | None = None
    point = state.best
    for _ in range(steps):
        if point.value >= target or point.slope[0] == 0:
            return
        if point.slope[0] > 0:
            low = point
        else:
            high = point
        mu = _next(low, high, target, most)
        if mu is None:
            return
        point = _visit(dual, state, np.array([mu]))


def _next(low: Point | None, high: Point | None, target: float, most: float) -> float | None:
    """Where the tangents meet, or where the only one would reach the target (twice as far, to get past)."""
    if low is not None and high is not None:
        a, b = low.slope[0], high.slope[0]
        mu = (high.value - low.value + a * low.mu[0] - b * high.mu[0]) / (a - b)
        reach = low.value + a * (mu - low.mu[0])
        gained = max(low.value, high.value)
        return None if reach - gained <= 1e-9 + 1e-3 * max(0.0, target - gained) else float(mu)
    point = low if low is not None else high
    if point is None:
        return None
    mu = point.mu[0] + 1.5 * (target - point.value) / point.slope[0]
    mu = float(np.clip(mu, -most, most))
    return None if mu == point.mu[0] else mu


def _polyak(dual: Dual, state: Climb, target: float, steps: int, most: float, patience: int) -> None:
    point, scale, stalls = state.best, 1.0, 0
    direction = np.zeros_like(point.mu)
    checkpoint, checked = state.best.value, 0
    for step in range(steps):
        if point.value >= target:
            return
        slope = _inside(point, most)
        if not slope.any():
            return
        if direction @ slope < 0:
            # Deflect against zig-zag: take away what the last direction undid.
            slope = slope - 1.5 * (direction @ slope) / (direction @ direction) * direction
        direction = slope
        length = scale * (target - point.value) / float(direction @ direction)
        before = state.best.value
        point = _visit(dual, state, np.clip(point.mu + length * direction, -most, most))
        stalls = 0 if point.value > before else stalls + 1
        if stalls >= _STALL:
            scale, stalls, point = scale / 2, 0, state.best
            direction = np.zeros_like(direction)
        if step - checked >= patience:
            if state.best.value - checkpoint < _WORTHWHILE * (target - state.best.value):
                return
            checkpoint, checked = state.best.value, step


def _inside(point: Point, most: float) -> np.ndarray:
    """The slope without what pushes against the walls."""
    outward = ((point.mu >= most) & (point.slope > 0)) | ((point.mu <= -most) & (point.slope < 0))
    return np.where(outward, 0.0, point.slope)
