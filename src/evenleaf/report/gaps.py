"""The distribution of γ(x) = P(y | x̄, x_p) − P(y | x̄) under each tree: the paper's Figure 2(d), as histograms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenleaf.fairness import DisparateTreatment, Progress, indicators
from evenleaf.fairness.treatment import local_differences
from evenleaf.table import People

_BINS = 41  # odd, so that the middle one is around zero
_ZERO = 1e-9
_NOTABLE = 0.1  # of the whole range: one person in ten


@dataclass(frozen=True, eq=False)
class GapTable:
    """Who is compared with whom is searched once; each tree then takes one sparse product a class."""

    people: People
    n_neighbors: int
    shown: tuple[int, ...]  # the classes whose rates are compared; (0,) for numbers
    progress: Progress | None = None

    @cached_property
    def _local(self) -> tuple[Any, np.ndarray, int]:
        groups = self.people.groups[0]
        k = min(self.n_neighbors, self.people.n_people)
        around = DisparateTreatment(k).neighbourhoods(self.people, groups, self.progress)
        differences, empty = local_differences(around, groups, self.people.weight)
        own = groups.codes * around.weights.shape[0] + around.kind
        return differences, own, int(empty.ravel()[own].sum())

    @property
    def empty(self) -> int:
        """How many people have nobody of their own group around them, so that their γ is 0 by convention."""
        return self._local[2]

    def values(self, decided: np.ndarray) -> np.ndarray:
        """γ of each person, one column a class that is shown."""
        differences, own, _ = self._local
        outcome = self.people.outcome
        psi = decided[:, None].astype(float) if outcome.classes is None else indicators(decided, outcome.n_classes)
        return -np.asarray(differences @ psi[:, list(self.shown)])[own] + 0.0


def histograms(gaps: Sequence[np.ndarray], whole: float) -> tuple[list[float], list[list[dict[str, Any]]]]:
    """The middles of the bins, which all trees share, and for each tree and class the counts and key figures.

    `whole` is the range that a decision can have: 1 for rates, highest minus lowest for numbers.
    """
    reach = max((float(np.abs(values).max(initial=0.0)) for values in gaps), default=0.0)
    reach = whole if reach > 0.5 * whole else max(reach, 1e-3 * whole)
    half = reach / (_BINS // 2)
    edges = (np.arange(_BINS + 1) - _BINS / 2) * half
    middles = ((edges[:-1] + edges[1:]) / 2).tolist()
    return middles, [[_figures(column, edges, whole) for column in values.T] for values in gaps]


def _figures(values: np.ndarray, edges: np.ndarray, whole: float) -> dict[str, Any]:
    size = np.abs(values)
    return {
        "counts": np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist(),
        "mean_size": float(size.mean()),
        "none": float((size <= _ZERO * whole).mean()),
        "notable": float((size > _NOTABLE * whole).mean()),
    }
