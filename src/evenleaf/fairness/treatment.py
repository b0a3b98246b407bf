"""Disparate treatment: are similar people of different groups decided alike? (eqs. 3 and 4 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from evenleaf.errors import InputError
from evenleaf.fairness.nearest import Metric
from evenleaf.fairness.neighbours import (
    Kernel,
    Neighbourhoods,
    given_neighbourhoods,
    kernel_neighbourhoods,
    nearest_neighbourhoods,
    outcome_neighbourhoods,
    per_group_neighbourhoods,
    scaled_kernel,
)
from evenleaf.fairness.notion import Notion, Progress
from evenleaf.fairness.operator import Disparity
from evenleaf.fairness.parity import over
from evenleaf.table import Groups, People

Weights = str | Callable[[np.ndarray], np.ndarray] | Any


@dataclass(frozen=True, eq=False)
class DisparateTreatment(Notion):
    """DTDI: around each person, the local rate of a decision in each group against the local rate overall.

    Local means the `n_neighbors` nearest people, or, where `weights` is given, everybody weighted by it: the
    name of a kernel (with a `bandwidth`), a function of the distance, or a sparse matrix whose [i, j] is the
    weight of person i around j (then `n_neighbors` is not used). `distance="outcomes"` is the paper's MIP-DT-A.
    `per_group=True` draws the neighbours from every group, so that no term is empty.
    """

    n_neighbors: int = 10
    weights: Weights = None
    bandwidth: float = 1.0
    metric: Metric | None = None
    include_self: bool = True
    per_group: bool = False
    distance: Literal["features", "outcomes"] = "features"
    normalize: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.n_neighbors, bool) or not isinstance(self.n_neighbors, (int, np.integer)):
            raise InputError(f"n_neighbors must be a whole number, not {self.n_neighbors!r}")
        if self.n_neighbors < 1:
            raise InputError(f"n_neighbors must be at least 1, not {self.n_neighbors}")
        if self.distance not in ("features", "outcomes"):
            raise InputError(f"distance must be 'features' or 'outcomes', not {self.distance!r}")
        if self.per_group and (self.weights is not None or self.distance == "outcomes"):
            raise InputError("per_group=True draws nearest neighbours, so it cannot be combined with weights")
        if self.metric is not None and (self.distance == "outcomes" or self._is_matrix):
            raise InputError("a metric compares features, so it cannot be combined with outcomes or a ready matrix")
        if self.distance == "outcomes" and self._is_matrix:
            raise InputError("a ready matrix of weights leaves no room for distance='outcomes'; give one of them")
        self._kernel()  # says what is wrong with a kernel before anybody is compared

    @property
    def _is_matrix(self) -> bool:
        return sp.issparse(self.weights) or isinstance(self.weights, np.ndarray)

    def _kernel(self) -> Kernel | None:
        if self.weights is None or self._is_matrix:
            return None
        if isinstance(self.weights, str):
            return scaled_kernel(self.weights, self.bandwidth)
        if callable(self.weights):
            return self.weights
        raise InputError("weights must be the name of a kernel, a function of the distance, or a matrix")

    def neighbourhoods(self, people: People, groups: Groups, progress: Progress | None = None) -> Neighbourhoods:
        """The weights d(x_i, x_j), by whichever way was asked for; only `per_group` looks at the groups."""
        kernel, inside = self._kernel(), self.include_self
        if self._is_matrix:
            return given_neighbourhoods(self.weights, people.n_people, include_self=inside)
        if self.distance == "outcomes":
            return outcome_neighbourhoods(people, kernel, include_self=inside, progress=progress)
        if people.features.n_columns == 0:
            raise InputError("disparate treatment compares similar people, but no feature is left to compare by")
        options: dict[str, Any] = {"metric": self.metric, "include_self": inside, "progress": progress}
        if kernel is not None:
            return kernel_neighbourhoods(people, kernel, **options)
        if self.per_group:
            return per_group_neighbourhoods(people, self.n_neighbors, groups.codes, **options)
        return nearest_neighbourhoods(people, self.n_neighbors, **options)

    def rows(self, people: People, progress: Progress | None = None) -> Disparity:
        """The rows for every partition; who is near whom is searched once for all of them where it can be."""
        if self.per_group:
            return super().rows(people, progress)
        around = self.neighbourhoods(people, people.groups[0], progress)
        return reduce(add, (self.compare_within(around, people, groups) for groups in people.groups))

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:
        """One row a group and kind of person (groups outermost), counting for everybody of that kind."""
        return self.compare_within(self.neighbourhoods(people, groups, progress), people, groups)

    def compare_within(self, around: Neighbourhoods, people: People, groups: Groups) -> Disparity:
        """The same within neighbourhoods that are known already."""
        n_kinds, n_classes = around.weights.shape[0], people.outcome.n_classes
        matrix, empty = local_differences(around, groups, people.weight)
        by_kind = np.bincount(around.kind, weights=people.weight, minlength=n_kinds)
        if self.normalize:
            by_kind = by_kind / people.weight.sum()
        counted = np.bincount(around.kind[people.weight > 0], minlength=n_kinds)
        return Disparity(
            matrix,
            np.tile(by_kind[:, None], (groups.n_groups, n_classes)),
            n_terms=int(counted.sum()) * groups.n_groups * n_classes,
            empty_terms=int((empty * counted).sum()) * n_classes,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisparateTreatment) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        """The settings as values that can be compared: a matrix by what it holds."""
        settings = [getattr(self, name) for name in self.__dataclass_fields__]
        return tuple(_content(value) for value in settings)

    def __str__(self) -> str:
        return "disparate treatment" if self.distance == "features" else "disparate treatment by outcome"


def _content(value: Any) -> Any:
    if not sp.issparse(value) and not isinstance(value, np.ndarray):
        return value
    matrix = sp.coo_array(value)
    return matrix.shape, *(part.tobytes() for part in (*matrix.coords, matrix.data))


def local_differences(
    around: Neighbourhoods, groups: Groups, person_weight: np.ndarray
) -> tuple[sp.csr_array, np.ndarray]:
    """Rows (group p, kind m): d_im/Σd − d_im·1[p_i = p]/Σd·1[p_i = p], zero where group p is absent.

    Also tells, as a table of groups by kinds, which terms were empty (0/0).
    """
    local = sp.csr_array(around.weights @ sp.diags_array(person_weight))
    n_kinds = local.shape[0]
    kind = np.repeat(np.arange(n_kinds), np.diff(local.indptr))
    total = np.bincount(kind, weights=local.data, minlength=n_kinds)
    overall = over(local.data, total[kind])
    blocks, empty = [], []
    for group in range(groups.n_groups):
        inside = groups.members(group)[local.indices]
        own = np.bincount(kind, weights=local.data * inside, minlength=n_kinds)
        rest = np.bincount(kind, weights=local.data * ~inside, minlength=n_kinds)
        # For members d/Σd − d/Σd₁ is −d/Σd₁ times the share of the others, which loses no digits.
        values = np.where(inside, -over(local.data, own[kind]) * over(rest, total)[kind], overall)
        blocks.append(_rows_of(values, local, kind, (own > 0) & (rest > 0)))
        empty.append(own <= 0)
    return sp.csr_array(sp.vstack(blocks, format="csr")), np.array(empty)


def _rows_of(values: np.ndarray, like: sp.csr_array, kind: np.ndarray, filled: np.ndarray) -> sp.csr_array:
    """Values in the places of another matrix; rows that compare nothing are left empty, which saves memory."""
    keep = filled[kind] & (values != 0)
    lengths = np.bincount(kind[keep], minlength=like.shape[0])
    pointers = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((values[keep], like.indices[keep], pointers), shape=like.shape)
