"""Fewer features where that costs nothing: ties between trees go to the simpler one (DESIGN)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.local.design import Plane
from evenleaf.solve.local.sketch import Fork, Path, Sketch, at, paths, replaced
from evenleaf.solve.local.workspace import Workspace
from evenleaf.tree import LinearTest


def without_needless_features(space: Workspace, sketch: Sketch) -> Sketch:
    """The sketch with every feature dropped from its linear tests that can be without a worse objective."""
    for path in reversed(list(paths(sketch))):  # children first: a test over one feature may swap its sides
        here = at(sketch, path)
        if isinstance(here, Fork) and isinstance(here.test, LinearTest):
            sketch = _pruned(space, sketch, path)
    return sketch


def _pruned(space: Workspace, sketch: Sketch, path: Path) -> Sketch:
    design, fork = space.design, at(sketch, path)
    if not isinstance(fork, Fork):
        return sketch
    plane, objective = design.plane(fork.test), space.worth(sketch).objective
    spread = np.abs(plane.beta) * design.matrix.std(axis=0)
    features = sorted(design.features_in(plane.beta), key=lambda f: float(spread[design.feature == f].sum()))
    for feature in features:
        beta = np.where(design.feature == feature, 0.0, plane.beta)
        if space.budget.exhausted or not beta.any():
            break
        test, swapped = design.test(Plane(beta, plane.cut))
        sides = (fork.right, fork.left) if swapped else (fork.left, fork.right)
        trial = replaced(sketch, path, Fork(test, *sides))
        if space.worth(trial).objective <= objective and not space.beyond_range(trial):
            sketch, plane, fork = trial, Plane(beta, plane.cut), Fork(test, *sides)
    return sketch
