"""A step of the multipliers (ALGORITHM §2): along a running average of the slopes, which hardly zigzags."""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import njit

_KEPT = 0.75  # of the direction so far


@njit
def push(mu, weight, v, direction, length):
    """Move μ along the averaged direction so that its slope would gain `length`; False where it has nowhere to go."""
    before = 0.0
    for r in range(len(mu)):
        before += abs(direction[r, 0])
    kept = _KEPT if before > 0.0 else 0.0
    size = 0.0
    for r in range(len(mu)):
        d = kept * direction[r, 0] + (1.0 - kept) * weight[r, 0] * v[r, 0]
        direction[r, 0] = d
        if not _blocked(mu[r, 0], d):
            size += d * d
    if size < 1e-24:
        return False
    for r in range(len(mu)):
        mu[r, 0] = min(1.0, max(-1.0, mu[r, 0] + length / size * direction[r, 0]))
    return True


@njit
def _blocked(mu, d):
    """A component that pushes against the box [−1, 1] counts for nothing."""
    return (mu >= 1.0 and d > 0.0) or (mu <= -1.0 and d < 0.0)
