"""Information gain about the class and about the group, and the four ways to weigh them (Kamiran et al. 2010)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from evenleaf.errors import InputError

Criterion = Literal["IGC", "IGC-IGS", "IGC/IGS", "IGC+IGS"]

# Below this a gain is rounding.
NO_GAIN = 1e-12


def weighed_entropy(sums: np.ndarray) -> np.ndarray:
    """Total weight times entropy in bits, along the last axis: Σ s · log₂(total / s)."""
    total = sums.sum(axis=-1, keepdims=True)
    logs = np.log2(np.divide(total, sums, out=np.ones_like(sums), where=sums > 0))
    return np.asarray((sums * logs).sum(axis=-1))


def information_gain(left: np.ndarray, total: np.ndarray) -> np.ndarray:
    """How many bits a split tells about what the columns of the sums count; rows of `left` are splits."""
    weight = total.sum()
    if weight <= 0:
        return np.zeros(len(left))
    right = np.clip(total - left, 0.0, None)
    gain = (weighed_entropy(total) - weighed_entropy(left) - weighed_entropy(right)) / weight
    return np.where(gain > NO_GAIN, gain, 0.0)


def _ratio(by_class: np.ndarray, by_group: np.ndarray) -> np.ndarray:
    """IGC/IGS; a split that tells nothing about the group is as good as its class gain is large."""
    return by_class / np.maximum(by_group, NO_GAIN)


COMBINE: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "IGC": lambda by_class, by_group: by_class + 0.0 * by_group,
    "IGC-IGS": lambda by_class, by_group: by_class - by_group,
    "IGC/IGS": _ratio,
    "IGC+IGS": lambda by_class, by_group: by_class + by_group,
}


def check_criterion(criterion: str) -> None:
    """One of the four."""
    if criterion not in COMBINE:
        raise InputError(f"criterion must be one of {', '.join(get_args(Criterion))}, not {criterion!r}")
