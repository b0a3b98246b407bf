"""What the leaves say, ŷ ∈ Ŷ(z) of equation (b): labels, numbers and linear rules, as the paper writes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.instance import NEGLIGIBLE, Instance
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries
from evenleaf.solve.mip.placement import NotEncodableError, Placement
from evenleaf.solve.mip.terms import Terms
from evenleaf.tree import Leaf

# The steepest linear rule of a leaf: over the whole range of a feature the decision may move by this many label
# ranges. The paper leaves u unbounded, and then ŷ = u·x has no valid big-M.
STEEPEST = 4.0
# Coefficients below this are rounding of the solver's; without them no decision moves noticeably.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class LeafRule:
    """The rules u a leaf may have: ŷ = design_i · u, a constant being the design of ones.

    With terms the design is an intercept and the terms centred at 1/2, which halves the big-M.
    """

    design: np.ndarray  # units × (1 + terms)
    low: np.ndarray  # the bounds of u
    high: np.ndarray
    slack: np.ndarray  # the largest |design_i · u − ŷ_i| of each unit: its big-M
    terms: Terms | None
    redundant: np.ndarray  # terms that the others and the intercept stand in for

    @property
    def size(self) -> int:
        """How many coefficients."""
        return self.design.shape[1]

    def outside(self) -> tuple[np.ndarray, np.ndarray]:
        """How far below 0 and above 0 the rule may be at each unit, which bounds it outside the leaf."""
        low = np.minimum(self.design * self.low, self.design * self.high).sum(axis=1)
        high = np.maximum(self.design * self.low, self.design * self.high).sum(axis=1)
        return -low, high

    def leaf(self, u: np.ndarray, instance: Instance) -> Leaf:
        """A leaf with these coefficients, on the labels as they are."""
        if self.terms is None or not (np.abs(u[1:]) > _NOTHING).any():
            return Leaf(instance.unscaled(float(u[0])))
        slope = np.where(np.abs(u[1:]) > _NOTHING, u[1:], 0.0)
        terms, addend = self.terms.write(slope * instance.scale, self.terms.middle)
        intercept = (u[0] - 0.5 * slope.sum()) * instance.scale + instance.problem.target.low
        return Leaf(float(intercept + addend), terms)

    def coefficients(self, leaf: Leaf, instance: Instance) -> np.ndarray | None:
        """The inverse of `leaf`, or None where its terms are not those of the model."""
        u = np.zeros(self.size)
        value = leaf.value
        if leaf.terms:
            found = None if self.terms is None else self.terms.read(leaf.terms)
            if self.terms is None or found is None or not self._reads_alike(self.terms, found[0], found[2]):
                return None
            u[1:], constant = self._rebased(found[0])
            value += found[1] + constant
            u[1:] /= instance.scale
        u[0] = float(instance.scaled(value)) + 0.5 * u[1:].sum()
        return u

    @staticmethod
    def _reads_alike(terms: Terms, slope: np.ndarray, reading: np.ndarray) -> bool:
        """Whether a rule takes missing numbers for the same values as the model's rules do."""
        matters = (slope != 0) & terms.missing.any(axis=0)
        return bool(np.isclose(reading[matters], terms.middle[matters]).all())

    def _rebased(self, slope: np.ndarray) -> tuple[np.ndarray, float]:
        """The same rule without redundant terms: c·1[first level] is c − c·1[second] − … − c·1[last]."""
        slope, constant = slope.copy(), 0.0
        if self.terms is not None:
            for t in np.flatnonzero(self.redundant):
                constant += float(slope[t])
                slope[self.terms.feature == self.terms.feature[t]] -= slope[t]
        return slope, constant


def constant_rule(instance: Instance) -> LeafRule:
    """The same number for everybody in the leaf (Example 3.1)."""
    n = instance.n_units
    return LeafRule(np.ones((n, 1)), np.zeros(1), np.full(1, instance.top), np.ones(n), None, np.zeros(0, dtype=bool))


def linear_rule(instance: Instance, terms: Terms) -> LeafRule:
    """Linear leafing (Example 3.3) with an intercept, at most `STEEPEST`, and ŷ within the label range."""
    centred = terms.filled() - 0.5
    centred[np.abs(centred) < NEGLIGIBLE] = 0.0
    redundant = _redundant(instance, terms)
    slope = np.where(redundant, 0.0, STEEPEST)
    far = slope.sum() / 2  # how far the intercept can be from ŷ
    slack = 1.0 + far + np.abs(centred) @ slope
    high = np.append(far, slope)
    low = -high
    high[0] += 1.0
    design = np.column_stack([np.ones(instance.n_units), centred])
    return LeafRule(design, low, high, slack, terms, redundant)


def _redundant(instance: Instance, terms: Terms) -> np.ndarray:
    """The first level of a column in which nobody is missing: the intercept and the other levels say it all."""
    redundant = np.zeros(terms.n_terms, dtype=bool)
    for number, feature in enumerate(instance.features):
        own = np.flatnonzero(terms.feature == number)
        if feature.categorical and not feature.has_missing:
            redundant[own[0]] = True
    return redundant


@dataclass(frozen=True, eq=False)
class PaperLeaves:
    """u_l and ŷ_i with ŷ_i = Σ_l z_il u_l linearised: |ŷ_i − u_l| ≤ M (1 − z_il)."""

    u: np.ndarray  # leaves × coefficients × outputs
    yhat: np.ndarray  # units × outputs
    rule: LeafRule
    instance: Instance

    def read(self, x: np.ndarray) -> list[Leaf]:
        """The leaves of a solution."""
        u = x[self.u]
        if self.instance.is_regression:
            return [self.rule.leaf(row[:, 0], self.instance) for row in u]
        return [Leaf(float(row[0].argmax())) for row in u]

    def fill(self, x: np.ndarray, placed: Placement) -> np.ndarray:
        """Write u and ŷ; returns ψ."""
        for number, leaf in enumerate(placed.leaves):
            x[self.u[number]] = coefficients_of(leaf, self.rule, self.instance)
        psi = np.einsum("id,idy->iy", self.rule.design, x[self.u][placed.leaf])
        x[self.yhat] = psi
        return np.asarray(psi)


def coefficients_of(leaf: Leaf | None, rule: LeafRule, instance: Instance) -> np.ndarray:
    """u of one leaf (coefficients × outputs); the first label, or zero, where nobody is there to be decided."""
    if not instance.is_regression:
        return np.eye(instance.n_outputs)[[0 if leaf is None else int(leaf.value)]]
    if leaf is None:
        return np.zeros((rule.size, 1))
    found = rule.coefficients(leaf, instance)
    if found is None:
        raise NotEncodableError("the tree has a leaf that the model does not know")
    return found[:, None]


def add_paper_leaves(
    builder: ModelBuilder, instance: Instance, layout: Layout, rule: LeafRule, z: np.ndarray
) -> PaperLeaves:
    """Equation (b), right half. Classes are one-hot: u_ly says that leaf l decides y, ŷ_iy that person i gets y."""
    n, outputs = instance.n_units, instance.n_outputs
    costs = 0.0 if instance.costs is None else instance.costs
    low, high = rule.low[:, None], rule.high[:, None]
    u = builder.variables(
        "u", (layout.n_leaves, rule.size, outputs), lower=low, upper=high, integer=not instance.is_regression
    )
    yhat = builder.variables("yhat", (n, outputs), upper=instance.top, cost=costs)
    if not instance.is_regression:
        for name, block in (("one_label", u[:, 0, :]), ("one_class", yhat)):
            builder.rows(name, len(block), [(np.arange(len(block))[:, None], block, 1.0)], lower=1.0, upper=1.0)
    row = np.arange(n)
    for leaf in range(layout.n_leaves):
        for output in range(outputs):
            difference: list[Entries] = [
                (row, yhat[:, output], 1.0),
                (row[:, None], u[leaf, :, output][None, :], -rule.design),
            ]
            builder.rows(f"b_above_{leaf}_{output}", n, [*difference, (row, z[:, leaf], rule.slack)], upper=rule.slack)
            builder.rows(
                f"b_below_{leaf}_{output}", n, [*difference, (row, z[:, leaf], -rule.slack)], lower=-rule.slack
            )
    return PaperLeaves(u, yhat, rule, instance)
