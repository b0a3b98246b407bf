"""Interpretability limits as rows ("Customizing Interpretability" of the paper).

They must mean what `Shape.violations` means of the tidied tree. A test that parts nobody is no test there, so here
it may be idle, looking at nothing and counting for nothing; the tests that are left have one leaf more than they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Shape
from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries


@dataclass(frozen=True, eq=False)
class Uses:
    """Binary variables whose sum over equal (node, feature) is 1 where that test looks at that feature."""

    node: np.ndarray
    feature: np.ndarray
    variable: np.ndarray

    @classmethod
    def of(cls, variables: np.ndarray) -> Uses:
        """One variable for each node and feature."""
        node, feature = np.indices(variables.shape)
        return cls(node.ravel(), feature.ravel(), variables.ravel())


@dataclass(frozen=True, eq=False)
class Limits:
    """The variables that the limits add: `used` features and `filled` leaves."""

    uses: Uses
    used: np.ndarray
    filled: np.ndarray
    members: np.ndarray

    def fill(self, x: np.ndarray) -> None:
        """Read off the rest of a point which features it uses and which leaves hold somebody."""
        if len(self.used):
            x[self.used] = 0.0
            np.maximum.at(x, self.used[self.uses.feature], np.round(x[self.uses.variable]))
        if len(self.filled):
            x[self.filled] = x[self.members].sum(axis=2).max(axis=0)


def limits_tests(shape: Shape) -> bool:
    """Whether tests are counted, so that needless ones must be told from the others."""
    counted = (shape.max_leaves, shape.max_feature_uses, shape.max_features_used, shape.max_features_per_test)
    return any(limit is not None for limit in counted)


def add_limits(
    builder: ModelBuilder, instance: Instance, uses: Uses, active: np.ndarray, members: np.ndarray
) -> Limits:
    """All limits of the shape. Σ active is the number of tests; `members` (units × leaves × k) adds up to z_il."""
    shape = instance.problem.shape
    _add_use_limits(builder, instance, uses)
    if shape.max_leaves is not None and active.size:
        row = np.zeros(active.size, dtype=int)
        builder.rows("max_leaves", 1, [(row, active.ravel(), 1.0)], upper=shape.max_leaves - 1)
    if shape.max_features_per_test is not None and len(uses.node):
        count = int(uses.node.max()) + 1
        terms = [(uses.node, uses.variable, 1.0)]
        builder.rows("max_features_per_test", count, terms, upper=shape.max_features_per_test)
    used = _add_used(builder, instance, uses)
    return Limits(uses, used, _add_crowding(builder, instance, members), members)


def _add_use_limits(builder: ModelBuilder, instance: Instance, uses: Uses) -> None:
    """Σ_ν p_νj ≤ limit."""
    limits = instance.problem.shape.use_limits(instance.problem.people.features.schema)
    for number, feature in enumerate(instance.features):
        here = uses.feature == number
        if feature.column in limits and here.any():
            row = np.zeros(int(here.sum()), dtype=int)
            terms = [(row, uses.variable[here], 1.0)]
            builder.rows(f"max_feature_uses_{number}", 1, terms, upper=limits[feature.column])


def _add_used(builder: ModelBuilder, instance: Instance, uses: Uses) -> np.ndarray:
    """used_j ≥ p_νj and Σ_j used_j ≤ limit."""
    limit, n_features = instance.problem.shape.max_features_used, len(instance.features)
    if limit is None or not len(uses.node):
        return np.zeros(0, dtype=int)
    used = builder.variables("used", (n_features,), upper=1.0)
    row = uses.node * n_features + uses.feature
    every = np.arange((int(uses.node.max()) + 1) * n_features)
    terms = [(every, used[every % n_features], 1.0), (row, uses.variable, -1.0)]
    builder.rows("used", len(every), terms, lower=0.0)
    builder.rows("max_features_used", 1, [(np.zeros(n_features, dtype=int), used, 1.0)], upper=limit)
    return used


def _add_crowding(builder: ModelBuilder, instance: Instance, members: np.ndarray) -> np.ndarray:
    """A leaf is empty, or it has min_samples_leaf people: z_il ≤ filled_l and Σ_i count_i z_il ≥ least·filled_l."""
    n_units, n_leaves, parts = members.shape
    # The tree without a test is always allowed; with everybody as the least, only that one is.
    least = min(instance.problem.shape.min_samples_leaf, int(instance.count.sum()))
    if least <= 1 or n_leaves == 1:
        return np.zeros(0, dtype=int)
    filled = builder.variables("filled", (n_leaves,), upper=1.0, integer=True)
    unit, part = np.arange(n_units)[:, None], np.zeros((n_units, parts), dtype=int)
    for leaf in range(n_leaves):
        here = members[:, leaf, :]
        terms = [(unit, here, 1.0), (unit[:, 0], filled[leaf], -1.0)]
        builder.rows(f"filled_{leaf}", n_units, terms, upper=0.0)
        people: list[Entries] = [(part, here, instance.count[:, None] / least), (0, filled[leaf], -1.0)]
        builder.rows(f"min_samples_leaf_{leaf}", 1, people, lower=0.0)
    return filled
