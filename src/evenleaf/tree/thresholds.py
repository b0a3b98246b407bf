"""Where a threshold stands: midway between two neighbouring training values, so that left is "at most" it."""

from __future__ import annotations

import numpy as np


def midpoints(values: np.ndarray) -> np.ndarray:
    """Every threshold that parts the known values of a column differently, in ascending order."""
    distinct = np.unique(values[~np.isnan(values)])
    low, high = distinct[:-1], distinct[1:]
    # Halves are added, not sums halved, so that huge numbers do not overflow.
    middle = low / 2 + high / 2
    # Neighbouring floats have nothing between them; then the lower one itself parts the two.
    return np.where((low <= middle) & (middle < high), middle, low)


def threshold_above(values: np.ndarray, value: float) -> float:
    """The lowest threshold that keeps `value` on the left: midway to the next training value.

    Above the largest value there is no neighbour, and the value itself is the threshold. With the missing on
    the right that is the split of the known against the missing.
    """
    higher = values[values > value]
    if not higher.size:
        return float(value)
    return threshold_between(float(value), float(higher.min()))


def threshold_between(low: float, high: float) -> float:
    """Midway between two values, as `midpoints` has it."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
