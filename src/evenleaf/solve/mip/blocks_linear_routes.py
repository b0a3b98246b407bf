"""Who goes where under linear tests: equations (c) to (h) as the paper writes them, and in two rows a person."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.blocks_linear import LinearCoefficients
from evenleaf.solve.mip.choice import LinearChoice
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.limits import Uses
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries
from evenleaf.solve.mip.placement import Placement
from evenleaf.solve.mip.routes import add_routes


@dataclass(frozen=True, eq=False)
class PaperLinearTests:
    """The paper's g⁺, g⁻ and w^q beside the coefficients."""

    coefficients: LinearCoefficients
    g_plus: np.ndarray
    g_minus: np.ndarray
    w_q: np.ndarray

    @property
    def uses(self) -> Uses:
        """Which test looks at which feature."""
        return self.coefficients.uses

    def read(self, x: np.ndarray) -> list[LinearChoice | None]:
        """The tests of a solution."""
        return self.coefficients.read(x)

    def fill(self, x: np.ndarray, placed: Placement) -> None:
        """Write a tree's tests."""
        self.coefficients.fill(x, placed)
        for node in range(len(self.coefficients.p)):
            difference = x[self.coefficients.q[node]] - scores_at(x, self.coefficients, node)
            x[self.g_plus[:, node]] = np.maximum(difference, 0.0)
            x[self.g_minus[:, node]] = np.maximum(-difference, 0.0)
            x[self.w_q[:, node]] = difference >= 0


def scores_at(x: np.ndarray, coefficients: LinearCoefficients, node: int) -> np.ndarray:
    """Σ_t p_νt x_it of every unit at a point."""
    high = np.zeros(coefficients.terms.n_terms, dtype=bool)
    high[coefficients.terms.with_missing] = x[coefficients.high[node]] > 0.5
    return coefficients.terms.scores(x[coefficients.p[node]], high)


def add_paper_routes(
    builder: ModelBuilder, layout: Layout, z: np.ndarray, coefficients: LinearCoefficients
) -> PaperLinearTests:
    """Equations (c) to (h) with F_c = ∅: every test is on quantitative terms, so (1 − Σ p) falls away."""
    shape = (len(z), layout.n_nodes)
    big, epsilon = _largest_difference(coefficients), coefficients.margin
    made = PaperLinearTests(
        coefficients,
        g_plus=builder.variables("g_plus", shape, upper=big[:, None]),
        g_minus=builder.variables("g_minus", shape, upper=big[:, None]),
        w_q=builder.variables("w_q", shape, upper=1.0, integer=True),
    )
    n, row = len(z), np.arange(len(z))
    for node in range(layout.n_nodes):
        plus, minus, w = made.g_plus[:, node], made.g_minus[:, node], made.w_q[:, node]
        score = [(r, v, -np.asarray(c)) for r, v, c in coefficients.score(node)]
        terms: list[Entries] = [(row, coefficients.q[node], 1.0), *score, (row, plus, -1.0), (row, minus, 1.0)]
        builder.rows(f"c_{node}", n, terms, lower=0.0, upper=0.0)
        builder.rows(f"d_{node}", n, [(row, plus, 1.0), (row, w, -big)], upper=0.0)
        builder.rows(f"e_{node}", n, [(row, minus, 1.0), (row, w, big)], upper=big)
        builder.rows(f"f_{node}", n, [(row, plus, 1.0), (row, minus, 1.0), (row, w, epsilon)], lower=epsilon)
        add_routes(builder, ("h", "g"), layout, node, z, w)
    return made


@dataclass(frozen=True, eq=False)
class StrongLinearTests:
    """w_iν alone, held by two rows a person: g⁺ and g⁻ are not needed to say who is on which side."""

    coefficients: LinearCoefficients
    w: np.ndarray

    @property
    def uses(self) -> Uses:
        """Which test looks at which feature."""
        return self.coefficients.uses

    @property
    def active(self) -> np.ndarray:
        """Variables that add up to the number of tests."""
        return np.zeros(0, dtype=int) if self.coefficients.active is None else self.coefficients.active

    def left(self, node: int) -> tuple[np.ndarray, np.ndarray]:
        """(unit, variable): the variables that add up to "unit goes left"."""
        return np.arange(len(self.w)), self.w[:, node]

    def read(self, x: np.ndarray) -> list[LinearChoice | None]:
        """The tests of a solution."""
        return self.coefficients.read(x)

    def idle_left(self, x: np.ndarray) -> np.ndarray:
        """Where a test without coefficients sends everybody."""
        return np.asarray(x[self.coefficients.q] >= 0)

    def fill(self, x: np.ndarray, placed: Placement) -> None:
        """Write a tree's tests."""
        self.coefficients.fill(x, placed)
        for node in range(len(self.coefficients.p)):
            x[self.w[:, node]] = x[self.coefficients.q[node]] >= scores_at(x, self.coefficients, node)


def add_strong_routes(builder: ModelBuilder, n_units: int, coefficients: LinearCoefficients) -> StrongLinearTests:
    """q − score ≥ −M (1 − w) and q − score ≤ −ε + (M + ε) w."""
    n_nodes = len(coefficients.p)
    big, epsilon = _largest_difference(coefficients), coefficients.margin
    w = builder.variables("w", (n_units, n_nodes), upper=1.0, integer=True)
    row = np.arange(n_units)
    for node in range(n_nodes):
        score = [(r, v, -np.asarray(c)) for r, v, c in coefficients.score(node)]
        difference: list[Entries] = [(row, coefficients.q[node], 1.0), *score]
        builder.rows(f"left_{node}", n_units, [*difference, (row, w[:, node], -big)], lower=-big)
        builder.rows(f"right_{node}", n_units, [*difference, (row, w[:, node], -big - epsilon)], upper=-epsilon)
    return StrongLinearTests(coefficients, w)


def _largest_difference(coefficients: LinearCoefficients) -> np.ndarray:
    """The largest |q − score| of each unit: its big-M."""
    return coefficients.terms.reach() + coefficients.reach + coefficients.margin
