"""From tests to leaves: who goes left at a node cannot reach a leaf to its right, and the other way round."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries


def chosen(features: np.ndarray, where: np.ndarray) -> Entries:
    """Σ_j p_νj over the features marked for each unit (units × features)."""
    return np.arange(len(where))[:, None], features[None, :], where.astype(float)


def add_routes(
    builder: ModelBuilder,
    names: tuple[str, str],
    layout: Layout,
    node: int,
    z: np.ndarray,
    side: np.ndarray,
    looking: Entries | None = None,
) -> None:
    """z_il ≤ side_i + (1 − Σ p) for leaves to the left, z_il ≤ 1 − side_i + (1 − Σ p) for those to the right.

    Equations (g), (h), (k) and (l). `looking` is Σ p, the test being one that `side` speaks of; without it the
    test always is.
    """
    row = np.arange(len(z))
    free = [] if looking is None else [looking]
    spare = len(free)
    for leaf in layout.left_leaves(node):
        terms = [(row, z[:, leaf], 1.0), (row, side, -1.0), *free]
        builder.rows(f"{names[0]}_{node}_{leaf}", len(row), terms, upper=float(spare))
    for leaf in layout.right_leaves(node):
        terms = [(row, z[:, leaf], 1.0), (row, side, 1.0), *free]
        builder.rows(f"{names[1]}_{node}_{leaf}", len(row), terms, upper=1.0 + spare)


def add_one_each(builder: ModelBuilder, name: str, p: np.ndarray, active: np.ndarray | None) -> None:
    """Σ_j p_νj = 1 (p ∈ P), or = active_ν where a test may be idle."""
    node = np.arange(len(p))
    terms: list[Entries] = [(node[:, None], p, 1.0)]
    if active is None:
        builder.rows(name, len(p), terms, lower=1.0, upper=1.0)
    else:
        builder.rows(name, len(p), [*terms, (node, active, -1.0)], lower=0.0, upper=0.0)


def add_idle_routes(builder: ModelBuilder, layout: Layout, z: np.ndarray, active: np.ndarray) -> None:
    """An idle test, which looks at nothing, sends everybody left: z_il ≤ active_ν for the leaves to its right."""
    row = np.arange(len(z))
    for node in range(layout.n_nodes):
        for leaf in layout.right_leaves(node):
            terms = [(row, z[:, leaf], 1.0), (row, active[node], -1.0)]
            builder.rows(f"idle_{node}_{leaf}", len(row), terms, upper=0.0)
