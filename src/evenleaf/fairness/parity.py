"""Rows that compare a group's rate with everybody's, within strata: the common core of the group notions."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from evenleaf.fairness.operator import Disparity
from evenleaf.table import Groups


def parity_rows(groups: Groups, person_weight: np.ndarray, stratum: np.ndarray, class_weight: np.ndarray) -> Disparity:
    """One row a stratum c and group p: s_i/S_c − 1[p_i = p]·s_i/S_cp over the people of the stratum.

    `stratum` is −1 for people outside every stratum; `class_weight` has one row a stratum. A stratum without
    weight in group p has no rate to compare (0/0): its row is zero and counted as an empty term.
    """
    n_strata = len(class_weight)
    inside = np.flatnonzero(stratum >= 0)
    s, c, g = person_weight, stratum, groups.codes
    if len(inside) < len(stratum):
        s, c, g = s[inside], c[inside], g[inside]
    cell = c * groups.n_groups + g
    per_group = np.bincount(cell, weights=s, minlength=n_strata * groups.n_groups).reshape(n_strata, groups.n_groups)
    filled = per_group > 0

    group = np.arange(groups.n_groups)
    overall = over(s, per_group.sum(axis=1).take(c))
    # For members s/S − s/S₁ is −s/S₁ times the share of the others, which loses no digits.
    own = -over(s, per_group.take(cell)) * _share_of_others(per_group).take(cell)
    values = np.where(g == group[:, None], own, overall)
    if not filled.all():
        values = np.where(filled[c].T, values, 0.0)
    shape = (n_strata * groups.n_groups, len(person_weight))
    matrix = _one_stratum(values, inside, shape) if n_strata == 1 else _several(values, inside, c, shape)
    counted = (class_weight > 0).sum(axis=1)
    return Disparity(
        matrix,
        np.repeat(class_weight, groups.n_groups, axis=0),
        n_terms=int(counted.sum()) * groups.n_groups,
        empty_terms=int(((~filled).sum(axis=1) * counted).sum()),
    )


def _one_stratum(values: np.ndarray, people: np.ndarray, shape: tuple[int, int]) -> sp.csr_array:
    """Rows (one a group) that all have the same people: what is stored of each follows without sorting."""
    starts = np.arange(shape[0] + 1) * len(people)
    return sp.csr_array((values.ravel(), np.tile(people, shape[0]), starts), shape=shape)


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


def _share_of_others(per_group: np.ndarray) -> np.ndarray:
    """For each stratum and group, what part of the stratum's weight the other groups have."""
    others = per_group @ (1.0 - np.eye(per_group.shape[1]))
    return over(others, np.broadcast_to(per_group.sum(axis=1)[:, None], others.shape))


def everybody(n_people: int) -> np.ndarray:
    """A single stratum that holds all people."""
    return np.zeros(n_people, dtype=np.intp)
