"""Disparate treatment: are similar people of different groups decided alike? (eqs. 3 and 4 of the paper)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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
from evenleaf.table import Groups, People

Weights = str | Callable[[np.ndarray], np.ndarray] | Any


@dataclass(frozen=True)
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

    def neighbourhoods(
        self, people: People, groups: Groups, progress: Progress | None = None
    ) -> Neighbourhoods:
        """The weights d(x_i, x_j), by whichever way was asked for."""
        if sp.issparse(self.weights) or isinstance(self.weights, np.ndarray):
            return given_neighbourhoods(self.weights, people.n_people)
        if self.distance == "outcomes":
            return outcome_neighbourhoods(people, self._kernel())
        if people.features.n_columns == 0:
            raise InputError(
                "disparate treatment compares similar people, but no feature is left to compare by"
            )
        options = {"metric": self.metric, "include_self": self.include_self, "progress": progress}
        kernel = self._kernel()
        if kernel is not None:
            return kernel_neighbourhoods(people, kernel, **options)  # type: ignore[arg-type]
        if self.per_group:
            return per_group_neighbourhoods(people, self.n_neighbors, groups.codes, **options)
        return nearest_neighbourhoods(people, self.n_neighbors, **options)  # type: ignore[arg-type]

    def _kernel(self) -> Kernel | None:
        if self.weights is None:
            return None
        if isinstance(self.weights, str):
            return scaled_kernel(self.weights, self.bandwidth)
        if callable(self.weights):
            return self.weights
        raise InputError("weights must be the name of a kernel, a function of the distance, or a matrix")

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:
        """One row a kind of person and group, counting for everybody of that kind."""
        around = self.neighbourhoods(people, groups, progress)
        n_kinds, n_classes = around.weights.shape[0], people.outcome.n_classes
        matrix, empty = local_differences(around, groups, people.weight)
        by_kind = np.bincount(around.kind, weights=people.weight, minlength=n_kinds)
        if self.normalize:
            by_kind = by_kind / people.weight.sum()
        weight = np.tile(by_kind[:, None], (groups.n_groups, n_classes))
        return Disparity(
            matrix,
            weight,
            n_terms=people.n_people * groups.n_groups * n_classes,
            empty_terms=int(empty[:, around.kind].sum()) * n_classes,
        )

    def __str__(self) -> str:
        return "disparate treatment" if self.distance == "features" else "disparate treatment by outcome"


def local_differences(
    around: Neighbourhoods, groups: Groups, person_weight: np.ndarray
) -> tuple[sp.csr_array, np.ndarray]:
    """Rows (group p, kind m): d_im/Σd − d_im·1[p_i = p]/Σd·1[p_i = p], zero where group p is absent.

    Also tells, as a table of groups by kinds, which terms were empty (0/0).
    """
    local = sp.csr_array(around.weights @ sp.diags_array(person_weight))
    total = local.sum(axis=1)
    overall = _scaled_rows(local, total)
    blocks, empty = [], []
    for group in range(groups.n_groups):
        own = sp.csr_array(local @ sp.diags_array(groups.members(group).astype(float)))
        own_total = own.sum(axis=1)
        present = own_total > 0
        row = _scaled_rows(local, np.where(present, total, np.inf)) if not present.all() else overall
        blocks.append(row - _scaled_rows(own, own_total))
        empty.append(~present)
    return sp.csr_array(sp.vstack(blocks, format="csr")), np.array(empty)


def _scaled_rows(matrix: sp.csr_array, total: np.ndarray) -> sp.csr_array:
    """Each row divided by its total; a row without weight stays zero."""
    factor = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return sp.csr_array(sp.diags_array(factor) @ matrix)
