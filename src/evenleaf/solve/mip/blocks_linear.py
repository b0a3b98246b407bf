"""Linear branching (Example 3.2): the coefficients p and thresholds q of tests on several features.

The paper asks Σ_j p_νj = 1 of unbounded p, which has no valid big-M and excludes the hyperplanes with Σ p = 0. Here
−1 ≤ p_νt ≤ 1 with at least one coefficient at ±1: every hyperplane can be scaled so, and p cannot be all zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.choice import LinearChoice
from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.limits import Uses
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries
from evenleaf.solve.mip.placement import Placement
from evenleaf.solve.mip.routes import add_one_each
from evenleaf.solve.mip.terms import MISSING_HIGH, MISSING_LOW, Terms

# A linear test stays this clear of everybody it sends to the right, on features scaled to [0, 1]; less where two
# neighbouring values of a feature are closer, so that every single-feature test is also a linear one, but never so
# little, against the largest score, that the tolerances of a solver could part equal people.
MARGIN, SMALLEST_MARGIN = 1e-3, 1e-4
# Coefficients below this are rounding of the solver's: they move no score by as much as the margin.
_NOTHING = 1e-9


def margin_for(terms: Terms) -> float:
    """ε of equation (f) for linear tests."""
    gap = MARGIN
    for t in range(terms.n_terms):
        known = np.unique(terms.values[~terms.missing[:, t], t])
        gap = min(gap, float(np.diff(known).min())) if len(known) > 1 else gap
    reach = float(terms.reach().max(initial=0.0))
    return max(gap * (1 - 1e-9), SMALLEST_MARGIN * max(1.0, reach / 10))


@dataclass(frozen=True, eq=False)
class LinearCoefficients:
    """p and q, `pivot` (which coefficient is +1, or −1 in its second half), and how the missing are read.

    For terms with missing values, `high` says that they are read as high and `p_high` is p·high.
    """

    terms: Terms
    margin: float
    p: np.ndarray
    q: np.ndarray
    pivot: np.ndarray
    high: np.ndarray
    p_high: np.ndarray
    uses_feature: np.ndarray
    active: np.ndarray | None

    @property
    def uses(self) -> Uses:
        """Which test looks at which feature (no variables unless a limit asks for them)."""
        return Uses.of(self.uses_feature)

    @property
    def reach(self) -> float:
        """No score is larger than this in absolute value, and so no threshold needs to be (but for the margin)."""
        return float(self.terms.reach().max())

    def score(self, node: int) -> list[Entries]:
        """Σ_t p_νt x_it as entries of one row a unit."""
        terms, row = self.terms, np.arange(len(self.terms.values))
        entries: list[Entries] = [(row[:, None], self.p[node][None, :], terms.values)]
        for place, t in enumerate(terms.with_missing):
            gone = np.flatnonzero(terms.missing[:, t])
            entries.append((gone, self.p[node, t], MISSING_LOW))
            entries.append((gone, self.p_high[node, place], MISSING_HIGH - MISSING_LOW))
        return entries

    def read(self, x: np.ndarray) -> list[LinearChoice | None]:
        """The tests of a solution; idle ones are None or part nobody."""
        return [self._read(x, node) for node in range(len(self.p))]

    def _read(self, x: np.ndarray, node: int) -> LinearChoice | None:
        p = np.where(np.abs(x[self.p[node]]) > _NOTHING, x[self.p[node]], 0.0)
        if not p.any():
            return None
        high = np.zeros(self.terms.n_terms, dtype=bool)
        high[self.terms.with_missing] = x[self.high[node]] > 0.5
        return LinearChoice(p, float(x[self.q[node]]) + self.margin / 2, high, self.terms)

    def fill(self, x: np.ndarray, placed: Placement) -> None:
        """Write a tree's tests."""
        for node, choice in enumerate(placed.choices):
            if isinstance(choice, LinearChoice):
                self._fill(x, node, choice)
                continue
            x[self.q[node]] = self.reach if placed.left[node].all() else -self.reach - self.margin
            if self.active is None:
                x[self.p[node, 0]] = x[self.pivot[node, 0]] = 1.0

    def _fill(self, x: np.ndarray, node: int, choice: LinearChoice) -> None:
        x[self.p[node]] = choice.coefficients
        x[self.q[node]] = choice.threshold
        largest = int(np.abs(choice.coefficients).argmax())
        x[self.pivot[node, largest + (0 if choice.canonical else self.terms.n_terms)]] = 1.0
        gone = self.terms.with_missing
        x[self.high[node]] = choice.missing_high[gone]
        x[self.p_high[node]] = choice.missing_high[gone] * choice.coefficients[gone]
        if self.active is not None:
            x[self.active[node]] = 1.0
            looked_at = self.terms.feature[choice.coefficients != 0]
            x[self.uses_feature[node, looked_at]] = 1.0


def add_linear_coefficients(
    builder: ModelBuilder,
    instance: Instance,
    layout: Layout,
    terms: Terms,
    active: np.ndarray | None,
    free_sign: np.ndarray,
) -> LinearCoefficients:
    """The left half of equation (b). Where `free_sign`, the pivot of a node may be −1 too.

    Elsewhere it is +1: turning all signs only exchanges left and right.
    """
    n_nodes, n_terms, n_gone = layout.n_nodes, terms.n_terms, len(terms.with_missing)
    margin, reach = margin_for(terms), float(terms.reach().max())
    n_features = len(instance.features) if active is not None else 0
    signs = np.ones((n_nodes, 2 * n_terms))
    signs[~free_sign, n_terms:] = 0.0
    made = LinearCoefficients(
        terms,
        margin,
        p=builder.variables("p", (n_nodes, n_terms), lower=-1.0, upper=1.0),
        q=builder.variables("q", (n_nodes,), lower=-reach - margin, upper=reach),
        pivot=builder.variables("pivot", (n_nodes, 2 * n_terms), upper=signs, integer=True),
        high=builder.variables("high", (n_nodes, n_gone), upper=1.0, integer=True),
        p_high=builder.variables("p_high", (n_nodes, n_gone), lower=-1.0, upper=1.0),
        uses_feature=builder.variables("uses", (n_nodes, n_features), upper=1.0, integer=True),
        active=active,
    )
    add_one_each(builder, "b_pivot", made.pivot, active)
    _add_pivots(builder, made)
    _add_products(builder, made)
    if active is not None:
        _add_uses(builder, made, active)
    return made


def _add_pivots(builder: ModelBuilder, made: LinearCoefficients) -> None:
    """A chosen pivot fixes its coefficient: p_νt ≥ 2·pivot − 1, or p_νt ≤ 1 − 2·pivot for the negative ones."""
    row, p = np.arange(made.p.size), made.p.ravel()
    plus, minus = (half.ravel() for half in np.split(made.pivot, 2, axis=1))
    builder.rows("pivot_plus", p.size, [(row, p, 1.0), (row, plus, -2.0)], lower=-1.0)
    builder.rows("pivot_minus", p.size, [(row, p, 1.0), (row, minus, 2.0)], upper=1.0)


def _add_products(builder: ModelBuilder, made: LinearCoefficients) -> None:
    """p_high = p·high, linearised: both are within [−1, 1]."""
    p = made.p[:, made.terms.with_missing].ravel()
    product, high, row = made.p_high.ravel(), made.high.ravel(), np.arange(p.size)
    builder.rows("high_upper", p.size, [(row, product, 1.0), (row, high, -1.0)], upper=0.0)
    builder.rows("high_lower", p.size, [(row, product, 1.0), (row, high, 1.0)], lower=0.0)
    difference: list[Entries] = [(row, product, 1.0), (row, p, -1.0)]
    builder.rows("high_below", p.size, [*difference, (row, high, 1.0)], upper=1.0)
    builder.rows("high_above", p.size, [*difference, (row, high, -1.0)], lower=-1.0)


def _add_uses(builder: ModelBuilder, made: LinearCoefficients, active: np.ndarray) -> None:
    """|p_νt| ≤ uses_νj for the terms t of feature j, and idle tests use nothing."""
    uses, row, p = made.uses_feature, np.arange(made.p.size), made.p.ravel()
    own = uses[:, made.terms.feature].ravel()
    builder.rows("uses_plus", p.size, [(row, p, 1.0), (row, own, -1.0)], upper=0.0)
    builder.rows("uses_minus", p.size, [(row, p, 1.0), (row, own, 1.0)], lower=0.0)
    place = np.arange(uses.size)
    idle = np.repeat(active, uses.shape[1])
    builder.rows("uses_active", uses.size, [(place, uses.ravel(), 1.0), (place, idle, -1.0)], upper=0.0)
