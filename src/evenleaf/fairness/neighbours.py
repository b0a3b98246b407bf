"""Who counts as similar to whom: the weights d(x_i, x_j) of the paper's local averages.

`Neighbourhoods.weights[m, i]` is the weight of person i around the m-th kind of person; people with equal
features share a kind, so the matrix has as many rows as there are different people.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.fairness.distance import MixedSpace
from evenleaf.fairness.nearest import Metric, NearestSearch, block_distances, chunks, nearest_by_metric
from evenleaf.fairness.notion import Progress
from evenleaf.table import People

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
    space = MixedSpace(people.features)
    if metric is None:
        search = NearestSearch(space, among)
        kind, n_kinds = search.kind, len(search.first)
        find = search.nearest
    else:
        kind, n_kinds = np.arange(people.n_people), people.n_people
        find = lambda rows, count: nearest_by_metric(space, metric, among, rows, count)  # noqa: E731
    found = np.concatenate([find(rows, wanted) for rows in _watched(chunks(n_kinds), progress)])
    if not include_self:
        found, kind = _without_self(found[kind]), np.arange(people.n_people)
    return Neighbourhoods(_ones(found, people.n_people), kind)


def per_group_neighbourhoods(people: People, k: int, codes: np.ndarray, **options: Any) -> Neighbourhoods:
    """The k nearest people of every group, so that no group is absent from a neighbourhood."""
    parts = [
        nearest_neighbourhoods(people, k, reference=np.flatnonzero(codes == group), **options)
        for group in np.unique(codes)
    ]
    total = parts[0].weights
    for part in parts[1:]:
        total = total + part.weights
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
    space = MixedSpace(people.features)
    points = space.points() if metric is not None else np.zeros((0, 0))
    everybody = np.arange(people.n_people)
    blocks, stored = [], 0
    for rows in _watched(chunks(people.n_people), progress):
        if metric is None:
            distance = np.sqrt(space.squared(rows[:, None], everybody[None, :]))
        else:
            distance = block_distances(points[rows], points, metric)
        weights = check_kernel(kernel(distance), distance.shape)
        if not include_self:
            weights[np.arange(len(rows)), rows] = 0.0
        block = sp.csr_array(weights)
        stored += block.nnz
        if stored > _MOST_PAIRS:
            raise InputError(
                "the weights make too many pairs of people similar to be stored; use a smaller bandwidth, "
                "a kernel with bounded support such as 'epanechnikov', or nearest neighbours"
            )
        blocks.append(block)
    return Neighbourhoods(sp.csr_array(sp.vstack(blocks, format="csr")), everybody)


def outcome_neighbourhoods(people: People, kernel: Kernel | None = None) -> Neighbourhoods:
    """MIP-DT-A: similar means similar outcomes. One kind a distinct outcome, so no N × N table.

    Without a kernel: 1[y_i = y_j] for classes and exp(−(y_i − y_j)²) for numbers, as in Berk et al. (2017).
    """
    values = people.outcome.values
    distinct, kind = np.unique(values, return_inverse=True)
    if people.outcome.classes is not None:
        distance = (distinct[:, None] != values[None, :]).astype(float)
        weigh = kernel or (lambda d: (d == 0).astype(float))
    else:
        distance = np.abs(distinct[:, None] - values[None, :])
        weigh = kernel or (lambda d: np.exp(-d * d))
    return Neighbourhoods(sp.csr_array(check_kernel(weigh(distance), distance.shape)), kind)


def given_neighbourhoods(weights: Any, n_people: int) -> Neighbourhoods:
    """A ready matrix whose [i, j] is the weight of person i in j's neighbourhood."""
    matrix = sp.csr_array(weights, dtype=float)
    if matrix.shape != (n_people, n_people):
        raise InputError(f"the weights have the shape {matrix.shape}, but there are {n_people} people")
    if matrix.nnz and (not np.isfinite(matrix.data).all() or (matrix.data < 0).any()):
        raise InputError("the weights of a neighbourhood must be finite and not negative")
    return Neighbourhoods(sp.csr_array(matrix.T), np.arange(n_people))


def scaled_kernel(name: str, bandwidth: float) -> Kernel:
    """A kernel by name, over distances in units of the bandwidth."""
    if name not in KERNELS:
        raise InputError(
            f"there is no kernel {name!r}; choose one of {', '.join(KERNELS)} or give a function"
        )
    if not np.isfinite(bandwidth) or bandwidth <= 0:
        raise InputError(f"the bandwidth must be a positive number, not {bandwidth}")
    return lambda distance: KERNELS[name](distance / bandwidth)


def check_kernel(weights: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a caller's function returned, as an array that may be used as weights."""
    array = np.array(weights, dtype=float)
    if array.shape != shape:
        raise InputError(
            f"the weight function returned the shape {array.shape} for distances of shape {shape}"
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError("the weight function returned a negative or non-finite weight")
    return array


def _ones(found: np.ndarray, n_people: int) -> sp.csr_array:
    n_rows, k = found.shape
    pointers = np.arange(0, n_rows * k + 1, k) if k else np.zeros(n_rows + 1, dtype=np.intp)
    columns = np.sort(found, axis=1).ravel()
    return sp.csr_array((np.ones(n_rows * k), columns, pointers), shape=(n_rows, n_people))


def _without_self(found: np.ndarray) -> np.ndarray:
    """Drop each person from their own list; who is not on it (many equal people) loses the last entry."""
    keep = found != np.arange(len(found))[:, None]
    keep[keep.all(axis=1), -1] = False
    return found[keep].reshape(len(found), -1)


def _watched(blocks: list[np.ndarray], progress: Progress | None) -> Any:
    for done, block in enumerate(blocks):
        yield block
        if progress is not None:
            progress((done + 1) / len(blocks))
