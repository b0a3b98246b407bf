"""Chance changes that get a tree out of a local optimum: a test drawn anew, a leaf split, a subtree cut back."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.local.allowance import Allowance, allowance, may_grow
from evenleaf.solve.local.design import Plane
from evenleaf.solve.local.sketch import Fork, Path, Sketch, at, leaves_of, paths, replaced, rows_at
from evenleaf.solve.local.workspace import Workspace
from evenleaf.tree import Leaf, SubsetTest, Test, ThresholdTest, threshold_above


def kicked(space: Workspace, sketch: Sketch, rng: np.random.Generator) -> Sketch:
    """The sketch with one or two of its nodes changed by chance."""
    for _ in range(int(rng.integers(1, 3))):
        places = list(paths(sketch))
        sketch = _changed(space, sketch, places[int(rng.integers(len(places)))], rng)
    return sketch


def _changed(space: Workspace, sketch: Sketch, path: Path, rng: np.random.Generator) -> Sketch:
    """A leaf is split at random where the limits let it; a test is drawn anew, or its part of the tree grows anew."""
    here = at(sketch, path)
    way = rng.random()
    if isinstance(here, Fork) and way < 2 / 3:
        leaves = leaves_of(here)
        here = leaves[int(rng.integers(len(leaves)))]
        sketch = replaced(sketch, path, here)
        if way < 1 / 3:
            return sketch
    if isinstance(here, Leaf) and not may_grow(space.problem, sketch, path):
        return sketch
    test = _random_test(space, sketch, path, rng)
    if test is None:
        return sketch
    left, right = (here, here) if isinstance(here, Leaf) else (here.left, here.right)
    return replaced(sketch, path, Fork(test, left, right))


def _random_test(space: Workspace, sketch: Sketch, path: Path, rng: np.random.Generator) -> Test | None:
    allowed, rows = allowance(space.problem, sketch, path), rows_at(sketch, path, space.table)
    usable = allowed.single()
    if not usable or len(rows) < 2:
        return None
    if allowed.most > 1 and space.design.n_columns and rng.random() < 0.5:
        return _random_plane(space, allowed, rows, rng)
    feature = usable[int(rng.integers(len(usable)))]
    values = space.table.data[feature]
    if space.table.schema[feature].is_categorical:
        levels = np.unique(values[rows][values[rows] >= 0])
        return SubsetTest(feature, tuple(levels[rng.random(len(levels)) < 0.5].tolist()), bool(rng.random() < 0.5))
    known = values[rows][~np.isnan(values[rows])]
    if not len(known):
        return None
    return ThresholdTest(feature, threshold_above(values, float(rng.choice(known))), bool(rng.random() < 0.5))


def _random_plane(space: Workspace, allowed: Allowance, rows: np.ndarray, rng: np.random.Generator) -> Test | None:
    """A hyperplane over a few features, cut somewhere among the people of the node."""
    design = space.design
    ranked = rng.permutation(np.unique(design.feature)).tolist()
    columns = design.columns_of(allowed.choose(ranked, int(rng.integers(2, 5))))
    beta = np.zeros(design.n_columns)
    beta[columns] = rng.standard_normal(len(columns))
    if not beta.any():
        return None
    sums = design.matrix[rows] @ beta
    return design.test(Plane(beta, float(np.quantile(sums, rng.uniform(0.1, 0.9)))))[0]
