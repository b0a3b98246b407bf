"""Rows that compare one person with others, taken apart into pairs: worth the same to every tree, more to a mixture.

A row sums to zero. If all its entries but one person's have the same sign, then for labels, which are 0 or 1 for each
class, |Σ_i a_i z_i − (Σ_i a_i) z_b| = Σ_i a_i |z_i − z_b|: with z_b = 0 both are Σ a_i z_i, with z_b = 1 both are
Σ a_i (1 − z_i). The bound is that of a mixture of trees (ALGORITHM §2), in which one tree's difference may make up for
another's. In a row that takes trees which differ about any of its people; in a pair, about these two. So pairs give the
better bound, and their multipliers are more by far than rows are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from evenleaf.fairness import Disparity


def in_pairs(disparity: Disparity) -> Disparity:
    """The same disparity of labels, with a row for each pair where one person is compared with others."""
    matrix = disparity.matrix
    row = np.repeat(np.arange(disparity.n_rows), np.diff(matrix.indptr))
    is_above = matrix.data > 0
    above = np.bincount(row[is_above], minlength=disparity.n_rows)
    below = np.bincount(row[~is_above], minlength=disparity.n_rows)
    lone_above = above == 1
    is_parted = (lone_above | (below == 1)) & (above + below > 2) & disparity.sums_to_zero
    if not is_parted.any():
        return disparity
    is_lone = is_parted[row] & (is_above == lone_above[row])
    one = np.zeros(disparity.n_rows, dtype=np.int64)
    one[row[is_lone]] = matrix.indices[is_lone]
    others = np.flatnonzero(is_parted[row] & ~is_lone)
    ends = np.column_stack([matrix.indices[others], one[row[others]]])
    pairs = sp.csr_array(
        (np.tile([1.0, -1.0], len(ends)), np.sort(ends, axis=1).ravel(), np.arange(0, 2 * len(ends) + 1, 2)),
        shape=(len(ends), disparity.n_people),
    )
    weight = np.abs(matrix.data[others])[:, None] * disparity.weight[row[others]]
    whole = np.flatnonzero(~is_parted)
    kept = Disparity(sp.csr_array(matrix[whole]), disparity.weight[whole])
    return (kept + Disparity(pairs, weight)).simplified()
