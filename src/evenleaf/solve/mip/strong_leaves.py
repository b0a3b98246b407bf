"""Leaves in the strong formulation: people flow to (leaf, decision) pairs, so that ŷ needs no big-M.

With two classes the lower of two sibling leaves decides the first class and the other the second, so that labels
need no variables at all: a person's leaf is their decision. (The lowest tests take both directions instead.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.blocks_leaves import LeafRule, coefficients_of
from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries
from evenleaf.solve.mip.placement import Placement
from evenleaf.tree import Leaf


@dataclass(frozen=True, eq=False)
class StrongLabels:
    """zeta_ily: person i is in leaf l, which decides y. Without u, leaf l decides l mod 2."""

    zeta: np.ndarray  # units × leaves × the decisions open to the leaf
    u: np.ndarray | None
    psi: np.ndarray
    instance: Instance

    @property
    def members(self) -> np.ndarray:
        """Variables that add up to z_il."""
        return self.zeta

    def read(self, x: np.ndarray) -> list[Leaf]:
        """The leaves of a solution."""
        n_leaves = self.zeta.shape[1]
        if self.u is None:
            return [Leaf(float(leaf % 2)) for leaf in range(n_leaves)]
        return [Leaf(float(row.argmax())) for row in x[self.u]]

    def fill(self, x: np.ndarray, placed: Placement) -> np.ndarray:
        """Write labels, flows and ψ; returns ψ."""
        n_leaves, n_classes = self.zeta.shape[1], self.instance.n_outputs
        unused = [n_classes - 1 if leaf % 2 else 0 for leaf in range(n_leaves)]
        leaves = enumerate(placed.leaves)
        label = np.array([unused[n] if leaf is None else int(leaf.value) for n, leaf in leaves])
        member = placed.members(n_leaves)
        one_hot = np.eye(n_classes)[label]
        if self.u is None:
            x[self.zeta[:, :, 0]] = member
        else:
            x[self.u] = one_hot
            x[self.zeta] = member[:, :, None] * one_hot[None, :, :]
        psi = one_hot[placed.leaf]
        x[self.psi] = psi[:, : self.psi.shape[1]]
        return np.asarray(psi)


def add_strong_labels(builder: ModelBuilder, instance: Instance, layout: Layout) -> StrongLabels:
    """Flows to labelled leaves, with the loss as their cost; ψ only where a disparity asks for it."""
    if instance.costs is None:
        raise TypeError("labels are for classes")
    n, n_leaves, n_classes = instance.n_units, layout.n_leaves, instance.n_outputs
    fixed = n_classes == 2 and layout.depth > 0
    if fixed:
        cost = instance.costs[:, np.arange(n_leaves) % 2][:, :, None]
        zeta, u = builder.variables("z", (n, n_leaves, 1), upper=1.0, cost=cost), None
    else:
        zeta = builder.variables("z", (n, n_leaves, n_classes), upper=1.0, cost=instance.costs[:, None, :])
        u = _add_choice_of_labels(builder, layout, zeta)
    row = np.arange(n)
    builder.rows("m", n, [(row[:, None, None], zeta, 1.0)], lower=1.0, upper=1.0)
    n_psi = n_classes if instance.disparity.n_rows else 0
    psi = builder.variables("psi", (n, n_psi), upper=1.0)
    for y in range(n_psi):
        flow = zeta[:, y::2, 0] if fixed else zeta[:, :, y]
        terms = [(row, psi[:, y], 1.0), (row[:, None], flow, -1.0)]
        builder.rows(f"psi_{y}", n, terms, lower=0.0, upper=0.0)
    return StrongLabels(zeta, u, psi, instance)


def _add_choice_of_labels(builder: ModelBuilder, layout: Layout, zeta: np.ndarray) -> np.ndarray:
    """One label a leaf, zeta_ily ≤ u_ly, and of two siblings the left one decides the lower class."""
    _, n_leaves, n_classes = zeta.shape
    u = builder.variables("u", (n_leaves, n_classes), upper=1.0, integer=True)
    leaf = np.arange(n_leaves)
    builder.rows("one_label", n_leaves, [(leaf[:, None], u, 1.0)], lower=1.0, upper=1.0)
    cell = np.arange(zeta.size).reshape(zeta.shape)
    builder.rows("labelled", zeta.size, [(cell, zeta, 1.0), (cell, np.broadcast_to(u, zeta.shape), -1.0)], upper=0.0)
    if layout.depth:
        for y in range(n_classes):
            # If the right one decides y or less, the left one decides less than y.
            pair = np.arange(n_leaves // 2)[:, None]
            terms = [(pair, u[1::2, : y + 1], 1.0), (pair, u[0::2, :y], -1.0)]
            builder.rows(f"ordered_{y}", n_leaves // 2, terms, upper=0.0)
    return u


@dataclass(frozen=True, eq=False)
class StrongNumbers:
    """h_il = z_il · (the rule of leaf l at person i), and ŷ_i = Σ_l h_il."""

    z: np.ndarray
    h: np.ndarray
    u: np.ndarray
    psi: np.ndarray
    rule: LeafRule
    instance: Instance

    @property
    def members(self) -> np.ndarray:
        """Variables that add up to z_il."""
        return self.z[:, :, None]

    def read(self, x: np.ndarray) -> list[Leaf]:
        """The leaves of a solution."""
        return [self.rule.leaf(row, self.instance) for row in x[self.u]]

    def fill(self, x: np.ndarray, placed: Placement) -> np.ndarray:
        """Write rules, flows and ŷ; returns ψ."""
        for number, leaf in enumerate(placed.leaves):
            x[self.u[number]] = coefficients_of(leaf, self.rule, self.instance)[:, 0]
        value = np.einsum("id,id->i", self.rule.design, x[self.u][placed.leaf])
        member = placed.members(self.z.shape[1])
        x[self.z] = member
        x[self.h] = member * value[:, None]
        x[self.psi[:, 0]] = value
        return np.asarray(value[:, None])


def add_strong_numbers(builder: ModelBuilder, instance: Instance, layout: Layout, rule: LeafRule) -> StrongNumbers:
    """0 ≤ h ≤ z, and |h_il − rule_il| ≤ M (1 − z_il): for constant leaves the convex hull of the product."""
    n, n_leaves, top = instance.n_units, layout.n_leaves, instance.top
    z = builder.variables("z", (n, n_leaves), upper=1.0)
    h = builder.variables("h", (n, n_leaves), upper=top)
    u = builder.variables("u", (n_leaves, rule.size), lower=rule.low, upper=rule.high)
    psi = builder.variables("yhat", (n, 1), upper=top)
    row = np.arange(n)
    builder.rows("m", n, [(row[:, None], z, 1.0)], lower=1.0, upper=1.0)
    builder.rows("yhat", n, [(row, psi[:, 0], 1.0), (row[:, None], h, -1.0)], lower=0.0, upper=0.0)
    for leaf in range(n_leaves):
        here, inside = h[:, leaf], z[:, leaf]
        builder.rows(f"h_{leaf}", n, [(row, here, 1.0), (row, inside, -top)], upper=0.0)
        difference: list[Entries] = [(row, here, 1.0), (row[:, None], u[leaf][None, :], -rule.design)]
        # Outside the leaf h is 0 and the rule at least −below; inside they are equal.
        below, above = rule.outside()
        builder.rows(f"h_below_{leaf}", n, [*difference, (row, inside, below)], upper=below)
        builder.rows(f"h_above_{leaf}", n, [*difference, (row, inside, -above)], lower=-above)
    return StrongNumbers(z, h, u, psi, rule, instance)
