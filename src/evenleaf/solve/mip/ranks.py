"""Quantitative features as ranks with equal gaps, so that M and ε can be chosen safely (MIP_NOTES, ε and M).

A single-feature test depends only on the order of the values, so the optimum is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.instance import Instance

# Far above the tolerances of any solver, so that nobody with equal values is ever parted.
_SMALLEST_GAP = 1e-4


@dataclass(frozen=True, eq=False)
class Ranks:
    """x_ij of the quantitative features as ranks × gap; who is missing reads 0 and is not `known`."""

    features: np.ndarray
    values: np.ndarray
    known: np.ndarray
    gap: float
    largest: float

    @classmethod
    def of(cls, instance: Instance) -> Ranks:
        """The ranks of every quantitative feature, in [0, 1] unless there are more than 10,001 of them."""
        numbers = np.array([j for j, f in enumerate(instance.features) if not f.categorical], dtype=int)
        chosen = [instance.features[j] for j in numbers]
        most = max((feature.n_known for feature in chosen), default=1)
        gap = max(1.0 / max(most - 1, 1), _SMALLEST_GAP)
        codes = np.array([feature.codes for feature in chosen], dtype=int).reshape(len(chosen), instance.n_units).T
        known = codes < np.array([feature.n_known for feature in chosen], dtype=int)
        return cls(numbers, np.where(known, codes * gap, 0.0), known, gap, max(1.0, gap * (most - 1)))
