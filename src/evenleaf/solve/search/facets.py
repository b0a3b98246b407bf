"""Linear functions below a row of the disparity: better prices for labels than the row itself gives (ALGORITHM §2).

A row costs |Σ a_i z_i|. A bound prices it by μ Σ a_i z_i with |μ| ≤ 1: for numbers nothing linear is better. For
labels, which are 0 or 1, there is. Any slopes g will do, with a constant h that is the least of |Σ a_i z_i| − Σ g_i z_i
over all labellings of the row's few people: then g·z + h is never more than the row costs. It may be priced by itself
and by such *facets* in any mixture: |μ| + Σ θ ≤ 1, θ ≥ 0. Which ones help is told by the mixture of trees that a bound
belongs to, in which some labels are shares: the facets found are those that price these shares highest.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from evenleaf.solve.proofs.facets import FACET_GRID, MOST_PEOPLE, NO_FACETS, Facets
from evenleaf.solve.search.compiled import Compiled

_SURE = 1e-6  # a share as close as that to 0 or 1 is one
_WORTH = 1e-4  # of the objective: a row that gains less has no facet yet
_MOST_ROWS, _MOST_LABELLINGS = 200, 1 << 18  # looked at in one go

Row = tuple[int, np.ndarray, np.ndarray]  # its number, its entries, and the shares of its people


@cache
def labellings(size: int) -> np.ndarray:
    """All labellings of a few people."""
    return ((np.arange(1 << size)[:, None] >> np.arange(size)) & 1).astype(np.float64)


def with_facets(compiled: Compiled, facets: Facets) -> Compiled:
    """The operator with facets as further rows."""
    matrix = _operator(compiled)
    people, entries, is_in = _few_people(matrix, facets.row)
    slope = facets.slope / FACET_GRID
    starts = np.concatenate([[0], np.cumsum(is_in.sum(axis=1))])
    more = sp.csr_array((slope[is_in], people[is_in], starts), shape=(len(facets), compiled.n_people))
    by_person = sp.csr_array(sp.vstack([matrix, more]).T)
    by_person.sort_indices()
    weight = compiled.weight[facets.row]
    return replace(
        compiled,
        pointers=by_person.indptr.astype(np.int64),
        rows=by_person.indices.astype(np.int32),
        entries=by_person.data.astype(np.float64),
        weight=np.vstack([compiled.weight, weight]),
        owner=facets.row,
        shift=_greatest_constants(entries, slope, is_in.sum(axis=1)) * weight[:, -1],
    )


def _greatest_constants(entries: np.ndarray, slope: np.ndarray, size: np.ndarray) -> np.ndarray:
    """What can be added to each facet before it costs some labelling more than its row does."""
    greatest = np.zeros(len(size))
    for n in np.unique(size):
        labels = labellings(int(n))
        for some in np.array_split(np.flatnonzero(size == n), 1 + (size == n).sum() * len(labels) // _MOST_LABELLINGS):
            costs = np.abs(labels @ entries[some, :n].T) - labels @ slope[some, :n].T
            greatest[some] = costs.min(axis=0)
    return greatest


def find_facets(compiled: Compiled, average: np.ndarray, objective: float) -> Facets:
    """A facet for each row that costs more, at these shares of a label, than by itself; the most promising rows."""
    matrix, weight, worth = _operator(compiled), compiled.weight[:, -1], _WORTH * objective
    found: list[Row] = []
    n_labellings = 0
    for row in _promising(matrix, weight, average, worth)[:_MOST_ROWS]:
        here = slice(matrix.indptr[row], matrix.indptr[row + 1])
        share = average[matrix.indices[here]]
        share = np.where(share < _SURE, 0.0, np.where(share > 1 - _SURE, 1.0, share))
        n_labellings += 1 << int(((share > 0) & (share < 1)).sum())
        if n_labellings <= _MOST_LABELLINGS:
            found.append((int(row), np.asarray(matrix.data[here]), share))
    if not found:
        return NO_FACETS
    slopes, costs = _priced(found)
    kept = [
        (row, _lifted(entries, share, slope))
        for (row, entries, share), slope, cost in zip(found, slopes, costs, strict=True)
        if (cost - abs(entries @ share)) * weight[row] > worth
    ]
    table = np.zeros((len(kept), MOST_PEOPLE), dtype=np.int64)
    for place, (_, slope) in enumerate(kept):
        table[place, : len(slope)] = slope
    return Facets(np.array([row for row, _ in kept], dtype=np.int64), table)


def _operator(compiled: Compiled) -> sp.csr_array:
    """The rows of the disparity, each with its people in order."""
    shape = (compiled.n_people, len(compiled.weight))
    matrix = sp.csr_array(sp.csr_array((compiled.entries, compiled.rows, compiled.pointers), shape=shape).T)
    matrix.sort_indices()
    return matrix


def _few_people(matrix: sp.csr_array, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The people of some rows and their entries, in tables as wide as a row may be; and which places are taken."""
    place = matrix.indptr[rows][:, None] + np.arange(MOST_PEOPLE)
    is_in = place < matrix.indptr[rows + 1][:, None]
    place = np.where(is_in, place, 0)
    return matrix.indices[place], np.where(is_in, matrix.data[place], 0.0), is_in


def _promising(matrix: sp.csr_array, weight: np.ndarray, average: np.ndarray, worth: float) -> np.ndarray:
    """Rows by how much more they may cost than by themselves, at most: were all labels given by a single draw."""
    size = np.diff(matrix.indptr)
    rows = np.flatnonzero((size > 2) & (size <= MOST_PEOPLE))
    people, entries, is_in = _few_people(matrix, rows)
    share = np.where(is_in, average[people], 0.0)
    order = np.argsort(-share, axis=1, kind="stable")
    falls = -np.diff(np.take_along_axis(share, order, axis=1), axis=1, append=0.0)
    heights = np.abs(np.take_along_axis(entries, order, axis=1).cumsum(axis=1))
    gain = weight[rows] * ((heights * falls).sum(axis=1) - np.abs((entries * share).sum(axis=1)))
    best = np.argsort(-gain, kind="stable")
    return np.asarray(rows[best[gain[best] > worth]])


def _priced(rows: list[Row]) -> tuple[list[np.ndarray], list[float]]:
    """The least that each row costs when labels are drawn with these shares, and its slope in those not sure.

    For each row a small linear program over the labellings of the people who are not sure; all of them in one.
    """
    cost, blocks, right = [], [], []
    for _, entries, share in rows:
        unsure = (share > 0) & (share < 1)
        labels = labellings(int(unsure.sum()))
        cost.append(np.abs(labels @ entries[unsure] + entries[share == 1].sum()))
        blocks.append(sp.csr_array(np.vstack([labels.T, np.ones(len(labels))])))
        right.append(np.append(share[unsure], 1.0))
    answer = linprog(
        np.concatenate(cost), A_eq=sp.block_diag(blocks, format="csr"), b_eq=np.concatenate(right), method="highs"
    )
    if answer.status != 0:  # nothing is lost but better prices
        return [np.zeros(len(r) - 1) for r in right], [0.0 for _ in right]
    dual = np.split(answer.eqlin.marginals, np.cumsum([len(r) for r in right])[:-1])
    return [d[:-1] for d in dual], [float(d @ r) for d, r in zip(dual, right, strict=True)]


def _lifted(entries: np.ndarray, share: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The slopes on the grid, with those of sure people: one by one, as steep as costs the others nothing."""
    labels = labellings(len(entries))
    unsure = (share > 0) & (share < 1)
    whole = np.zeros(len(entries), dtype=np.int64)
    whole[unsure] = np.rint(slope * FACET_GRID)
    rest = np.abs(labels @ entries) - labels @ (whole / FACET_GRID)
    wrong = labels != share
    waiting = ~unsure
    least = rest[~wrong[:, waiting].any(axis=1)].min()
    for person in np.flatnonzero(~unsure):
        waiting[person] = False
        others = wrong[:, person] & ~wrong[:, waiting].any(axis=1)
        step = int(np.floor((rest[others].min() - least) * FACET_GRID))
        whole[person] = step if share[person] == 0 else -step
        rest -= labels[:, person] * whole[person] / FACET_GRID
        least += step / FACET_GRID * (share[person] == 1)
    return whole
