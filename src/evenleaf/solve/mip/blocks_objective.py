"""The objective, equation (a): absolute errors and disparities, each |·| as a variable above two linear functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.instance import NEGLIGIBLE, Errors, Instance
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries


@dataclass(frozen=True, eq=False)
class AbsoluteErrors:
    """e_k ≥ |y_k − ŷ_unit(k)|, with the share of the people as its cost (the mean absolute error)."""

    e: np.ndarray
    errors: Errors

    def fill(self, x: np.ndarray, psi: np.ndarray) -> None:
        """Each error at its least."""
        x[self.e] = np.abs(self.errors.value - psi[self.errors.unit, 0])


def add_errors(builder: ModelBuilder, errors: Errors, yhat: np.ndarray) -> AbsoluteErrors:
    """Linearise the absolute errors of the predictions `yhat` (one variable a unit)."""
    n = len(errors.unit)
    # An error is at most the label range, which is 1 on the model's scale.
    e = builder.variables("e", (n,), upper=1.0, cost=errors.share)
    row, target = np.arange(n), yhat[errors.unit]
    builder.rows("error_above", n, [(row, e, 1.0), (row, target, 1.0)], lower=errors.value)
    builder.rows("error_below", n, [(row, e, 1.0), (row, target, -1.0)], lower=-errors.value)
    return AbsoluteErrors(e, errors)


@dataclass(frozen=True, eq=False)
class LeafErrors:
    """e_kl ≥ |y_k z_il − h_il| for i = unit(k): the error of a person counted in the leaf where it arises.

    Added up over the leaves this is |y_k − ŷ_i| once z is whole. While z is still fractional it is more, because a
    person between two leaves does not get the mean of their numbers for free.
    """

    e: np.ndarray
    z: np.ndarray
    h: np.ndarray
    errors: Errors

    def fill(self, x: np.ndarray, psi: np.ndarray) -> None:  # noqa: ARG002 (the leaves' flows are in the point)
        """Each error at its least."""
        unit = self.errors.unit
        x[self.e] = np.abs(self.errors.value[:, None] * x[self.z[unit]] - x[self.h[unit]])


def add_leaf_errors(builder: ModelBuilder, errors: Errors, z: np.ndarray, h: np.ndarray) -> LeafErrors:
    """Linearise the absolute errors leaf by leaf, h_il being z_il times the decision of the leaf."""
    n, n_leaves = len(errors.unit), z.shape[1]
    e = builder.variables("e", (n, n_leaves), upper=1.0, cost=errors.share[:, None])
    row = np.arange(n)
    for leaf in range(n_leaves):
        own, decided, inside = e[:, leaf], h[errors.unit, leaf], z[errors.unit, leaf]
        above: list[Entries] = [(row, own, 1.0), (row, decided, 1.0), (row, inside, -errors.value)]
        below: list[Entries] = [(row, own, 1.0), (row, decided, -1.0), (row, inside, errors.value)]
        builder.rows(f"error_above_{leaf}", n, above, lower=0.0)
        builder.rows(f"error_below_{leaf}", n, below, lower=0.0)
    return LeafErrors(e, z, h, errors)


@dataclass(frozen=True, eq=False)
class Discrimination:
    """d_k ≥ |(rows·ψ)[r, y] + constant_r| for every pair (r, y) that has a weight."""

    d: np.ndarray
    pair: tuple[np.ndarray, np.ndarray]
    instance: Instance

    def fill(self, x: np.ndarray, psi: np.ndarray) -> None:
        """Each difference at its least."""
        differences = self.instance.disparity.differences(psi) + self.instance.constant[:, None]
        x[self.d] = np.abs(differences[self.pair])


def add_discrimination(builder: ModelBuilder, instance: Instance, psi: np.ndarray) -> Discrimination:
    """λ·D in the objective, or D ≤ ε as a row; `psi` holds the variables of ψ (units × outputs)."""
    operator = instance.disparity
    pair = np.nonzero(operator.weight)
    n, weight = len(pair[0]), operator.weight[pair]
    d = builder.variables("d", (n,), cost=instance.price * weight)
    rows = operator.matrix[pair[0]].tocoo()
    variable = psi[rows.coords[1], pair[1][rows.coords[0]]]
    place, constant = np.arange(n), instance.constant[pair[0]]
    for name, sign in (("d_above", 1.0), ("d_below", -1.0)):
        terms: list[Entries] = [(place, d, 1.0), (rows.coords[0], variable, -sign * rows.data)]
        builder.rows(name, n, terms, lower=sign * constant)
    if instance.limit is not None and n:
        largest = weight.max()
        share = np.where(weight > NEGLIGIBLE * largest, weight / largest, 0.0)
        spent: list[Entries] = [(np.zeros(n, dtype=int), d, share)]
        builder.rows("max_discrimination", 1, spent, upper=instance.limit / largest)
    return Discrimination(d, (pair[0], pair[1]), instance)
