"""Rows that compare a group's rate with everybody's, within strata: the common core of the group notions."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from evenleaf.fairness.operator import Disparity
from evenleaf.table import Groups


def parity_rows(
    groups: Groups, person_weight: np.ndarray, stratum: np.ndarray | None, class_weight: np.ndarray
) -> Disparity:
    """One row a stratum c and group p: s_i/S_c − 1[p_i = p]·s_i/S_cp over the people of the stratum.

    `stratum` is −1 for people outside every stratum, None where there is one that holds everybody; `class_weight`
    has one row a stratum. A stratum without weight in group p has no rate to compare (0/0): its row is zero and
    counted as an empty term.
    """
    n_strata, n_groups = len(class_weight), groups.n_groups
    s, g, places = person_weight, groups.codes, np.arange(len(person_weight))
    inside = places if stratum is None else np.flatnonzero(stratum >= 0)
    if len(inside) < len(s):
        s, g = s[inside], g[inside]
    c = None if stratum is None or n_strata == 1 else stratum[inside]
    cell = g if c is None else c * n_groups + g
    per_group = np.bincount(cell, weights=s, minlength=n_strata * n_groups).reshape(n_strata, n_groups)
    total = _divisor(per_group.sum(axis=1))
    filled, counted = per_group > 0, class_weight > 0

    overall = s / (total if c is None else total.take(c))
    # For members s/S − s/S₁ is −s/S₁ times the share of the others, which loses no digits.
    own = s / (-_divisor(per_group)).take(cell) * _share_of_others(per_group, total).take(cell)
    values = np.empty((n_groups, len(s)))
    values[:] = overall
    values[g, places[: len(s)]] = own
    empty_terms = 0
    if not filled.all():
        values = np.where(filled.T if c is None else filled[c].T, values, 0.0)
        empty_terms = int(((~filled).sum(axis=1) * counted.sum(axis=1)).sum())
    shape = (n_strata * n_groups, len(person_weight))
    matrix = _one_stratum(values, inside, shape) if c is None else _several(values, inside, c, shape)
    weight = np.repeat(class_weight, n_groups, axis=0)
    return Disparity(matrix, weight, n_terms=int(np.count_nonzero(counted)) * n_groups, empty_terms=empty_terms)


def _one_stratum(values: np.ndarray, people: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Rows (one a group) that all have the same people: what is stored of each follows without sorting."""
    starts = np.arange(shape[0] + 1) * len(people)
    return sp.csr_array((values.ravel(), np.concatenate([people] * shape[0]), starts), shape=shape)


def _several(values: np.ndarray, people: np.ndarray, stratum: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """A person's values (one a group) stand in the rows of their stratum."""
    rows = stratum * len(values) + np.arange(len(values))[:, None]
    columns = np.broadcast_to(people, rows.shape)
    return sp.csr_array((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape)


def over(values: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Values over totals, zero where the total is (0/0)."""
    if (total > 0).all():
        return np.asarray(values / total)
    return np.divide(values, total, out=np.zeros(values.shape), where=total > 0)


def _divisor(total: np.ndarray) -> np.ndarray:
    """Totals to divide by; where nobody has weight, zero over one is the zero that is meant by 0/0."""
    return np.where(total > 0, total, 1.0)


def _share_of_others(per_group: np.ndarray, total: np.ndarray) -> np.ndarray:
    """For each stratum and group, what part of the stratum's weight the other groups have."""
    others = per_group @ (1.0 - np.eye(per_group.shape[1]))
    return np.asarray(others / total[:, None])
