"""Single-feature tests without big-M and ε: every feature is a set of levels, an ordered one with a monotone subset.

s_νjk ≤ p_νj says that level k of feature j goes left. For a quantitative feature s falls along the values, so that
the place where it falls to 0 is the threshold (a unary choice). Who goes left at ν is then Σ_j s_νj,x_ij: a sum, not
an implication. Every test must part its levels; one that should not ask anything is idle (p = 0) instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.choice import SingleChoice
from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.limits import Uses
from evenleaf.solve.mip.placement import Placement

# A level that always goes right has no variable.
RIGHT = -1


@dataclass(frozen=True, eq=False)
class Family:
    """One way for a node to test a feature: `p` chooses it, `s` has the variable of each level.

    A falling family sends the lower values left, a rising one the higher values.
    """

    node: int
    feature: int
    p: int
    s: np.ndarray
    rising: bool = False

    def suits(self, choice: SingleChoice, categorical: bool) -> bool:
        """Whether this family can ask that question."""
        return choice.feature == self.feature and (categorical or self.rising != bool(choice.left[0]))


@dataclass(frozen=True, eq=False)
class StrongSingleTests:
    """All families of all nodes, and the variables by which the lowest idle tests send everybody left."""

    instance: Instance
    families: tuple[Family, ...]
    everybody_left: dict[int, int]
    n_nodes: int

    @property
    def uses(self) -> Uses:
        """Each family is a use of its feature."""
        node, feature, p = zip(*((f.node, f.feature, f.p) for f in self.families), strict=True)
        return Uses(np.array(node), np.array(feature), np.array(p))

    @property
    def active(self) -> np.ndarray:
        """Variables that add up to the number of tests."""
        return np.array([family.p for family in self.families], dtype=int)

    def chosen(self, node: int) -> np.ndarray:
        """Variables that add up to 1 where the node asks something."""
        return np.array([family.p for family in self.families if family.node == node], dtype=int)

    def left(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """(unit, variable): the variables that add up to "unit goes left"."""
        units, variables = [], []
        for family in self.families:
            if family.node == node:
                level = family.s[self.instance.features[family.feature].codes]
                units.append(np.flatnonzero(level != RIGHT))
                variables.append(level[level != RIGHT])
        if node in self.everybody_left:
            units.append(np.arange(self.instance.n_units))
            variables.append(np.full(self.instance.n_units, self.everybody_left[node]))
        return np.concatenate(units), np.concatenate(variables)

    def read(self, x: np.ndarray) -> list[SingleChoice | None]:
        """The tests of a solution, None where idle."""
        choices: list[SingleChoice | None] = [None] * self.n_nodes
        for family in self.families:
            if x[family.p] > 0.5:
                left = np.where(family.s == RIGHT, 0.0, x[family.s]) > 0.5
                choices[family.node] = SingleChoice(family.feature, left)
        return choices

    def idle_left(self, x: np.ndarray) -> np.ndarray:
        """Where idle tests send everybody."""
        left = np.zeros(self.n_nodes, dtype=bool)
        for node, variable in self.everybody_left.items():
            left[node] = x[variable] > 0.5
        return left

    def fill(self, x: np.ndarray, placed: Placement) -> None:
        """Write a tree's tests."""
        for node, choice in enumerate(placed.choices):
            if choice is None and node in self.everybody_left:
                x[self.everybody_left[node]] = placed.left[node].all()
        for family in self.families:
            choice = placed.choices[family.node]
            categorical = self.instance.features[family.feature].categorical
            if isinstance(choice, SingleChoice) and family.suits(choice, categorical):
                x[family.s[family.s != RIGHT]] = choice.left[family.s != RIGHT]
                x[family.p] = 1.0
