"""Percentile bootstrap intervals for ratios of sums, resampling people within their group.

Resampling n people with replacement is drawing how often each comes up, which is multinomial. People who
count alike (same prediction, truth and weight) need only one number together, so that a group of any size
with a handful of kinds costs a handful of draws.
"""

from __future__ import annotations

import numpy as np

_MOST_DRAWN = 4_000_000  # people drawn at a time, about 32 MiB


def bootstrap_intervals(
    above: np.ndarray, below: np.ndarray, *, confidence: float, n_resamples: int, rng: np.random.Generator
) -> np.ndarray:
    """Low and high ends (2 × measures) for Σ above / Σ below, given one row a person and one column a measure.

    Resamples without anybody to average over (0/0) are left out; where all are, both ends are NaN.
    """
    n_measures = above.shape[1]
    if len(above) == 0:
        return np.full((2, n_measures), np.nan)
    kinds, counts = np.unique(np.column_stack([above, below]), axis=0, return_counts=True)
    if len(kinds) <= len(above) // 4 + 1:
        times = rng.multinomial(len(above), counts / counts.sum(), size=n_resamples)
        sums = times @ kinds
    else:
        sums = _resampled(np.column_stack([above, below]), n_resamples, rng)
    tops, bottoms = sums[:, :n_measures], sums[:, n_measures:]
    rates = np.divide(tops, bottoms, out=np.full(tops.shape, np.nan), where=bottoms > 0)
    tail = (1 - confidence) / 2
    return np.column_stack([_quantiles(column, [tail, 1 - tail]) for column in rates.T])


def _resampled(values: np.ndarray, n_resamples: int, rng: np.random.Generator) -> np.ndarray:
    """Column sums over n people drawn with replacement, once a resample, in blocks that fit into memory."""
    n = len(values)
    block = max(1, _MOST_DRAWN // n)
    parts = []
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        drawn = rng.integers(0, n, size=(size, n)) + n * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        parts.append(times @ values)
    return np.concatenate(parts)


def _quantiles(values: np.ndarray, at: list[float]) -> np.ndarray:
    known = values[~np.isnan(values)]
    return np.quantile(known, at) if len(known) else np.full(len(at), np.nan)
