"""The objective, equation (a): absolute errors and disparities, each |·| as a variable above two linear functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.instance import Errors, Instance
from evenleaf.solve.mip.model import ModelBuilder


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
    builder.rows("d_above", n, [(place, d, 1.0), (rows.coords[0], variable, -rows.data)], lower=constant)
    builder.rows("d_below", n, [(place, d, 1.0), (rows.coords[0], variable, rows.data)], lower=-constant)
    if instance.limit is not None:
        builder.rows("max_discrimination", 1, [(np.zeros(n, dtype=int), d, weight)], upper=instance.limit)
    return Discrimination(d, pair, instance)
