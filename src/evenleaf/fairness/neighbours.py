"""Who counts as similar to whom: the weights d(x_i, x_j) of the paper's local averages.

`Neighbourhoods.weights[m, i]` is the weight of person i around the m-th kind of person; people with equal
features share a kind, so the matrix has as many rows as there are different people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.fairness.distance import EXACT, MixedSpace
from evenleaf.fairness.nearest import Metric, MetricSearch, NearestSearch, block_distances, chunks
from evenleaf.fairness.notion import Progress, stage
from evenleaf.table import People, equal_rows

Kernel = Callable[[np.ndarray], np.ndarray]
_MOST_PAIRS = 50_000_000

# Each is a non-increasing function of the distance over the bandwidth. The two with endless tails are cut
# where they fall below one part in a million, which keeps the matrix sparse and the function non-increasing.
KERNELS: dict[str, Kernel] = {
    "uniform": lambda u: (u <= 1).astype(float),
    "triangular": lambda u: np.clip(1 - u, 0, None),
    "epanechnikov": lambda u: np.clip(1 - u * u, 0, None),
    "gaussian": lambda u: np.where(u * u / 2 < np.log(1e6), np.exp(-u * u / 2), 0.0),
    "exponential": lambda u: np.where(u < np.log(1e6), np.exp(-u), 0.0),
}


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Sparse weights of people around kinds of people, and the kind of each person."""

    weights: sp.csr_array
    kind: np.ndarray


def nearest_neighbourhoods(
    people: People,
    k: int,
    *,
    metric: Metric | None = None,
    include_self: bool = True,
    reference: np.ndarray | None = None,
    progress: Progress | None = None,
) -> Neighbourhoods:
    """Weight 1 on the k nearest people of each (Example 2.1 of the paper), among `reference` if given."""
    among = np.arange(people.n_people) if reference is None else reference
    wanted = k if include_self else k + 1
    if wanted > len(among) and reference is None:
        raise InputError(
            f"n_neighbors={k} is more than the table has{'' if include_self else ' others'}: "
            f"{people.n_people} people; ask for fewer neighbours"
        )
    wanted = min(wanted, len(among))
    space = MixedSpace(people.features, people.weight)
    search = NearestSearch(space, among) if metric is None else MetricSearch(space, metric, among)
    blocks = chunks(len(search.first), 1 if metric is None else len(among))
    found = np.empty((len(search.first), wanted), dtype=np.intp)
    for rows in _watched(blocks, progress):
        kinds = search.order[rows]
        found[kinds] = search.nearest(kinds, wanted)
    if include_self:
        return Neighbourhoods(_ones(found, np.ones(found.shape, dtype=bool), people.n_people), search.kind)
    found = found[search.kind]
    return Neighbourhoods(_ones(found, _others(found, k), people.n_people), np.arange(people.n_people))


def per_group_neighbourhoods(
    people: People, k: int, codes: np.ndarray, *, progress: Progress | None = None, **options: Any
) -> Neighbourhoods:
    """The k nearest people of every group (all of a smaller one), so that no group is absent."""
    present = np.unique(codes)
    parts = [
        nearest_neighbourhoods(
            people,
            k,
            reference=np.flatnonzero(codes == group),
            progress=stage(progress, number, len(present)),
            **options,
        )
        for number, group in enumerate(present)
    ]
    total = reduce(add, (part.weights for part in parts))
    return Neighbourhoods(sp.csr_array(total), parts[0].kind)


def kernel_neighbourhoods(
    people: People,
    kernel: Kernel,
    *,
    metric: Metric | None = None,
    include_self: bool = True,
    progress: Progress | None = None,
) -> Neighbourhoods:
    """Weight kernel(distance) on everybody; the kernel's support decides how sparse that is."""
    space = MixedSpace(people.features, people.weight)
    points = space.points() if metric is not None else np.zeros((0, 0))
    everybody = np.arange(people.n_people)

    def distances(rows: np.ndarray) -> np.ndarray:
        if metric is not None:
            return block_distances(points[rows], points, metric)
        return np.sqrt(space.squared(rows[:, None], everybody[None, :], EXACT))

    first, kind = equal_rows(people.features) if include_self else (everybody, everybody)
    return Neighbourhoods(_weighed(distances, first, people.n_people, kernel, include_self, progress), kind)


def outcome_neighbourhoods(
    people: People, kernel: Kernel | None = None, *, include_self: bool = True, progress: Progress | None = None
) -> Neighbourhoods:
    """MIP-DT-A: similar means similar outcomes. One kind a distinct outcome, so no N × N table.

    Without a kernel: 1[y_i = y_j] for classes and exp(−(y_i − y_j)²) for numbers, as in Berk et al. (2017).
    """
    values, everybody = people.outcome.values, np.arange(people.n_people)
    classes = people.outcome.classes is not None
    weigh = kernel or (lambda d: (d == 0).astype(float) if classes else np.exp(-d * d))

    def distances(rows: np.ndarray) -> np.ndarray:
        if classes:
            return (values[rows][:, None] != values[None, :]).astype(float)
        return np.abs(values[rows][:, None] - values[None, :])

    first, kind = everybody, everybody
    if include_self:
        _, first, kind = np.unique(values, return_index=True, return_inverse=True)
    return Neighbourhoods(_weighed(distances, first, people.n_people, weigh, include_self, progress), kind)


def given_neighbourhoods(weights: Any, n_people: int, *, include_self: bool = True) -> Neighbourhoods:
    """A ready matrix whose [i, j] is the weight of person i in j's neighbourhood."""
    try:
        matrix = sp.csr_array(weights, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError("the weights of a neighbourhood must be a matrix of numbers") from error
    if matrix.shape != (n_people, n_people):
        raise InputError(f"the weights have the shape {matrix.shape}, but there are {n_people} people")
    if matrix.nnz and (not np.isfinite(matrix.data).all() or (matrix.data < 0).any()):
        raise InputError("the weights of a neighbourhood must be finite and not negative")
    if not include_self:
        matrix = sp.csr_array(matrix - sp.diags_array(matrix.diagonal()))
    around = sp.csr_array(matrix.T)
    around.eliminate_zeros()
    return Neighbourhoods(around, np.arange(n_people))


def scaled_kernel(name: str, bandwidth: float) -> Kernel:
    """A kernel by name, over distances in units of the bandwidth."""
    if name not in KERNELS:
        raise InputError(f"there is no kernel {name!r}; choose one of {', '.join(KERNELS)} or give a function")
    if not np.isfinite(bandwidth) or bandwidth <= 0:
        raise InputError(f"the bandwidth must be a positive number, not {bandwidth}")
    return lambda distance: KERNELS[name](distance / bandwidth)


def check_kernel(weights: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a caller's function returned, as an array that may be used as weights."""
    array = np.array(weights, dtype=float)
    if array.shape != shape:
        raise InputError(f"the weight function returned the shape {array.shape} for distances of shape {shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError("the weight function returned a negative or non-finite weight")
    return array


def _weighed(
    distances: Callable[[np.ndarray], np.ndarray],
    people: np.ndarray,
    n_people: int,
    kernel: Kernel,
    include_self: bool,
    progress: Progress | None,
) -> sp.csr_array:
    """One row of weights for each of some people, built in blocks."""
    blocks, stored = [sp.csr_array((0, n_people))], 0
    for rows in _watched(chunks(len(people), n_people), progress):
        distance = distances(people[rows])
        weights = check_kernel(kernel(distance), distance.shape)
        if not include_self:
            weights[np.arange(len(rows)), people[rows]] = 0.0
        blocks.append(sp.csr_array(weights))
        stored += blocks[-1].nnz
        if stored > _MOST_PAIRS:
            raise InputError(
                "the weights make too many pairs of people similar to be stored; use a smaller bandwidth, "
                "a kernel with bounded support such as 'epanechnikov', or nearest neighbours"
            )
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _ones(found: np.ndarray, keep: np.ndarray, n_people: int) -> sp.csr_array:
    pointers = np.concatenate([[0], np.cumsum(keep.sum(axis=1))])
    columns = found[keep]
    matrix = sp.csr_array((np.ones(len(columns)), columns, pointers), shape=(len(found), n_people))
    matrix.sort_indices()
    return matrix


def _others(found: np.ndarray, k: int) -> np.ndarray:
    """Which entries of each person's list to keep: not the person, and at most k."""
    keep = found != np.arange(len(found))[:, None]
    # Who is not on their own list (many equal people, or a list of another group) may have one entry too many.
    keep[keep.sum(axis=1) > k, -1] = False
    return keep


def _watched(blocks: list[np.ndarray], progress: Progress | None) -> Any:
    for done, block in enumerate(blocks):
        yield block
        if progress is not None:
            progress((done + 1) / len(blocks))
