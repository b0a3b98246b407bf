"""Prices from multipliers, differences from labels, and a step from one to the other (ALGORITHM §2)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import inner, njit


@njit
def dual_costs(pointers, rows, entries, weight, scale, mu, base, c):
    """c = base + matrixᵀ(scale·weight ∘ μ), class 0 subtracted (ALGORITHM §2)."""
    n_people, n_labels = c.shape
    n_rows = weight.shape[0]
    price = np.empty((n_rows, n_labels))
    for r in range(n_rows):
        for k in range(n_labels):
            price[r, k] = scale * (weight[r, k + 1] * mu[r, k + 1] - weight[r, 0] * mu[r, 0])
    for i in range(n_people):
        for k in range(n_labels):
            total = base[i, k]
            for q in range(pointers[i], pointers[i + 1]):
                total += entries[q] * price[rows[q], k]
            c[i, k] = total


@njit
def differences(pointers, rows, entries, label, v):
    """v = matrix·ψ for the labels; every row sums to zero, so class 0 is minus the rest."""
    v[:] = 0.0
    for i in range(len(label)):
        y = label[i]
        if y > 0:
            for q in range(pointers[i], pointers[i + 1]):
                v[rows[q], y] += entries[q]
    for r in range(v.shape[0]):
        rest = 0.0
        for y in range(1, v.shape[1]):
            rest -= v[r, y]
        v[r, 0] = rest


@njit
def step(mu, weight, v, direction, length):
    """One deflected, projected subgradient step on μ towards the target; False where it has nowhere to go."""
    n_rows, n_classes = weight.shape
    dot, norm = 0.0, 0.0
    for r in range(n_rows):
        for y in range(n_classes):
            g = _inward(mu[r, y], weight[r, y] * v[r, y])
            dot += g * direction[r, y]
            norm += direction[r, y] * direction[r, y]
    turn = -1.5 * dot / norm if norm > 0 and dot < 0 else 0.0
    size = 0.0
    for r in range(n_rows):
        for y in range(n_classes):
            g = _inward(mu[r, y], weight[r, y] * v[r, y]) + turn * direction[r, y]
            direction[r, y] = g
            g = _inward(mu[r, y], g)
            size += g * g
    if size < 1e-24:
        return False
    for r in range(n_rows):
        for y in range(n_classes):
            mu[r, y] = min(1.0, max(-1.0, mu[r, y] + length / size * direction[r, y]))
    return True


@inner
def _inward(mu, g):
    """A component that pushes against the box [−1, 1] counts for nothing."""
    if (mu >= 1.0 and g > 0) or (mu <= -1.0 and g < 0):
        return 0.0
    return g
