"""Sums over subsets: level after level with and without, and only what may stay within a budget is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

_LARGE = 64  # lists shorter than this are not worth thinning


@dataclass(frozen=True, eq=False)
class Subsets:
    """Sums, the problem (row of `base`) that each belongs to, and the levels that it includes."""

    sums: np.ndarray
    origin: np.ndarray
    chosen: np.ndarray


def subset_sums(
    base: np.ndarray,
    change: np.ndarray,
    to_price: np.ndarray,
    budget: np.ndarray,
    needless: Callable[[np.ndarray], np.ndarray] | None,
    most: int,
) -> Subsets | None:
    """For each problem p all sums of base[p] and some rows of change[p] whose prices are below budget[p].

    Sums that `needless` names are dropped on the way, each among those of its problem. None: there are too many.
    """
    n_problems, n_levels = change.shape[:2]
    prices = change @ to_price
    order = np.argsort(-np.abs(prices).max(axis=(0, 2), initial=0.0), kind="stable")
    ahead = np.minimum(prices, 0.0).sum(axis=1)
    sums, origin = base, np.arange(n_problems)
    chosen = np.zeros((n_problems, n_levels), dtype=np.bool_)
    for level in order:
        ahead = ahead - np.minimum(prices[:, level], 0.0)
        taken = chosen.copy()
        taken[:, level] = True
        sums, origin = np.concatenate([sums, sums + change[origin, level]]), np.concatenate([origin, origin])
        chosen = np.concatenate([chosen, taken])
        alive = np.flatnonzero((sums @ to_price + ahead[origin] < budget[origin]).all(axis=1))
        if needless is not None:
            alive = _thinned(alive, sums, origin, needless)
        if len(alive) > most:
            return None
        sums, origin, chosen = sums[alive], origin[alive], chosen[alive]
    alive = np.flatnonzero((sums @ to_price < budget[origin]).all(axis=1))
    return Subsets(sums[alive], origin[alive], chosen[alive])


def _thinned(
    alive: np.ndarray, sums: np.ndarray, origin: np.ndarray, needless: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    alive = alive[np.argsort(origin[alive], kind="stable")]
    groups = np.split(alive, np.flatnonzero(np.diff(origin[alive])) + 1)
    return np.concatenate([g if len(g) < _LARGE else g[~needless(sums[g])] for g in groups])
