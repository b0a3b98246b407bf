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
    s, c, g = person_weight[inside], stratum[inside], groups.codes[inside]
    total = np.bincount(c, weights=s, minlength=n_strata)
    per_group = np.zeros((n_strata, groups.n_groups))
    np.add.at(per_group, (c, g), s)
    filled = (per_group > 0) & (total > 0)[:, None]

    group = np.arange(groups.n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        overall = s / total[c]
        own = np.where(filled[c, g], s / per_group[c, g], 0.0)
    values = np.where(g[:, None] == group, (overall - own)[:, None], overall[:, None])
    values = np.where(filled[c], values, 0.0)
    rows = c[:, None] * groups.n_groups + group
    people = np.broadcast_to(inside[:, None], rows.shape)
    shape = (n_strata * groups.n_groups, len(person_weight))
    matrix = sp.csr_array((values.ravel(), (rows.ravel(), people.ravel())), shape=shape)
    counted = (class_weight > 0).sum(axis=1)
    return Disparity(
        matrix,
        np.repeat(class_weight, groups.n_groups, axis=0),
        n_terms=int(counted.sum()) * groups.n_groups,
        empty_terms=int(((~filled).sum(axis=1) * counted).sum()),
    )


def everybody(n_people: int) -> np.ndarray:
    """A single stratum that holds all people."""
    return np.zeros(n_people, dtype=np.intp)
