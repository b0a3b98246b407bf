"""Lists of labelled stumps below a test whose levels pick their sides (ALGORITHM §9.8).

A stump that is itself a subset of levels is first relaxed: each cell of the two columns takes the cheaper label. If it
could lead below the target so, it is listed again with the subsets of its largest levels spelt out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np

from evenleaf.solve.search import kernels
from evenleaf.solve.search.compiled import Compiled


@dataclass(frozen=True, eq=False)
class StumpList:
    """Rows (feature, segment, label below, label above), feature −1 for one label throughout; and their costs.

    Of an unordered feature the segment is the set of levels that take the label below, as bits; −1: relaxed.
    `settled` is the cost on those whose side is settled, `moving` that on each level that picks, `least` that of the
    cheapest pair that a stump is in.
    """

    stumps: np.ndarray
    settled: np.ndarray
    moving: np.ndarray
    least: np.ndarray


def list_of(stumps: np.ndarray, n_moving: int) -> StumpList:
    """A list whose costs are yet to be filled in."""
    n = len(stumps)
    return StumpList(stumps, np.empty(n), np.empty((n, n_moving)), np.empty(n))


def labelled_stumps(c: Compiled, n_segments: np.ndarray, spelt: Callable[[int], bool]) -> np.ndarray:
    """Every stump with every pair of labels; subsets of the levels of a feature are relaxed unless it is spelt.

    Stumps that are much alike stand side by side: the search for the best pair bounds runs of them together.
    """
    n_classes = c.n_labels + 1
    blocks: list[tuple[int, np.ndarray, int, int]] = [(-1, np.zeros(1, dtype=np.int64), k, k) for k in range(n_classes)]
    for f in np.flatnonzero(n_segments):
        if c.unordered[f]:
            sets = _sets(int(n_segments[f])) if spelt(int(f)) else np.array([-1])
            blocks += [(int(f), sets, a, b) for a, b in combinations(range(n_classes), 2)]
        else:
            cuts = np.arange(int(n_segments[f]) - 1)
            blocks += [(int(f), cuts, a, b) for a, b in permutations(range(n_classes), 2)]
    sizes = [len(segments) for _, segments, _, _ in blocks]
    listed = np.repeat(np.array([(f, 0, a, b) for f, _, a, b in blocks], dtype=np.int64), sizes, axis=0)
    listed[:, 1] = np.concatenate([segments for _, segments, _, _ in blocks])
    return listed


def is_relaxed(stumps: np.ndarray, own: int) -> np.ndarray:
    """Which stumps leave labels to cells."""
    return (stumps[:, 1] < 0) & (stumps[:, 0] >= 0) & (stumps[:, 0] != own)


def spelt_out(stumps: np.ndarray, own: int, n_segments: np.ndarray) -> np.ndarray | None:
    """The same stumps with subsets in the place of relaxed ones; None where there is nothing to spell out.

    A stump on `own`, the feature whose levels pick their sides, takes each of them as a whole anyhow.
    """
    relaxed = is_relaxed(stumps, own)
    if not relaxed.any():
        return None
    rows = [stumps[~relaxed]]
    for feature, _, first, second in stumps[relaxed]:
        sets = _sets(int(n_segments[feature]))
        rows.append(np.column_stack([np.full_like(sets, value) if value is not None else sets
                                     for value in (feature, None, first, second)]))  # fmt: skip
    listed = np.concatenate(rows)
    return listed[np.argsort(listed[:, 0], kind="stable")]


@cache
def _sets(n_levels: int) -> np.ndarray:
    """The sets of levels that may take the first label; of many levels only the largest are told apart.

    Neighbours in the list differ in small levels, so that they cost much the same.
    """
    n_spelt = min(n_levels, kernels.MOST_SPELT)
    number = np.arange(1 << n_spelt)
    sets = np.zeros_like(number)
    for level in range(n_spelt):
        sets |= ((number >> (n_spelt - 1 - level)) & 1) << level
    return sets if n_levels > kernels.MOST_SPELT else sets[1:-1]


def label_subset(
    costs: np.ndarray, stump: np.ndarray, level: np.ndarray, part: np.ndarray, n_levels: int
) -> np.ndarray:
    """The labels of some people by a subset stump: by the set of their level, or as is cheapest for their cell."""
    _, levels, first, second = (int(entry) for entry in stump)
    low = np.zeros(len(costs)) if first == 0 else costs[:, first - 1]
    cell = part.astype(np.int64) * n_levels + level
    gain = np.bincount(cell, weights=costs[:, second - 1] - low)
    labels = np.where(gain[cell] < 0, second, first)
    if levels < 0:
        return labels
    spelt = np.where((levels >> np.minimum(level, kernels.MOST_SPELT)) & 1, first, second)
    return np.where(level < kernels.MOST_SPELT, spelt, labels)


def one_label_each(level: np.ndarray, labels: np.ndarray) -> bool:
    """Whether nobody of a level has another label than the others of it: whether a subset is one."""
    order = np.argsort(level, kind="stable")
    same_level = level[order][1:] == level[order][:-1]
    return not (same_level & (labels[order][1:] != labels[order][:-1])).any()
