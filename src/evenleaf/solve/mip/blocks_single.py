"""Single-feature tests as the paper writes them: equations (c) to (l), with the missing provided for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.solve.mip.choice import SingleChoice
from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.layout import Layout
from evenleaf.solve.mip.limits import Uses
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.model import Term as Entries
from evenleaf.solve.mip.placement import Placement
from evenleaf.solve.mip.ranks import Ranks
from evenleaf.solve.mip.routes import add_one_each, add_routes, chosen


@dataclass(frozen=True, eq=False)
class PaperSingleTests:
    """The variables p, q, g⁺, g⁻, w^q, w^c, s of the paper, and where each test sends the missing."""

    instance: Instance
    ranks: Ranks
    p: np.ndarray
    q: np.ndarray
    g_plus: np.ndarray
    g_minus: np.ndarray
    w_q: np.ndarray
    w_c: np.ndarray
    s: dict[int, np.ndarray]
    missing_left: np.ndarray
    active: np.ndarray | None

    @property
    def uses(self) -> Uses:
        """p_νj tells which feature each test looks at."""
        return Uses.of(self.p)

    def read(self, x: np.ndarray) -> list[SingleChoice]:
        """The tests of a solution."""
        return [self._read(x, node) for node in range(len(self.p))]

    def _read(self, x: np.ndarray, node: int) -> SingleChoice:
        j = int(x[self.p[node]].argmax())
        feature = self.instance.features[j]
        if feature.categorical:
            return SingleChoice(j, x[self.s[j][node]] > 0.5)
        # q keeps ε = gap/2 away from the next rank above it, so adding gap/4 cannot change who goes left.
        known = np.arange(feature.n_known) * self.ranks.gap <= x[self.q[node]] + self.ranks.gap / 4
        if not feature.has_missing:
            return SingleChoice(j, known)
        return SingleChoice(j, np.append(known, x[self.missing_left[node]] > 0.5))

    def fill(self, x: np.ndarray, placed: Placement) -> None:
        """Write a tree's tests."""
        for node, choice in enumerate(placed.choices):
            if isinstance(choice, SingleChoice):
                self._fill(x, node, choice)
            elif self.active is None:
                self._fill(x, node, SingleChoice(0, np.ones(self.instance.features[0].n_levels, dtype=bool)))
            elif len(self.q):
                x[self.w_q[:, node]] = 1.0  # with p = 0 and q = 0 everybody's score is at most q

    def _fill(self, x: np.ndarray, node: int, choice: SingleChoice) -> None:
        j, feature = choice.feature, self.instance.features[choice.feature]
        x[self.p[node, j]] = 1.0
        if self.active is not None:
            x[self.active[node]] = 1.0
        if feature.categorical:
            x[self.s[j][node]] = choice.left
            x[self.w_c[:, node]] = choice.sides(self.instance)
        elif feature.has_missing:
            x[self.missing_left[node]] = choice.left[-1]
        if not len(self.q):
            return
        score = np.zeros(self.instance.n_units)
        q = 0.0
        if not feature.categorical:
            score = self.ranks.values[:, np.flatnonzero(self.ranks.features == j)[0]]
            q = (int(choice.left[: feature.n_known].sum()) - 1) * self.ranks.gap
        x[self.q[node]] = q
        x[self.g_plus[:, node]] = np.maximum(q - score, 0.0)
        x[self.g_minus[:, node]] = np.maximum(score - q, 0.0)
        x[self.w_q[:, node]] = q >= score


def add_single_tests(
    builder: ModelBuilder, instance: Instance, layout: Layout, z: np.ndarray, active: np.ndarray | None
) -> PaperSingleTests:
    """p ∈ P of equation (b) and equations (c) to (l); where tests may be idle, Σ_j p_νj is 1 for active ones only."""
    n, n_nodes = instance.n_units, layout.n_nodes
    ranks = Ranks.of(instance)
    quantitative = n_nodes if len(ranks.features) else 0
    missing = n_nodes if not ranks.known.all() else 0
    levels = {j: f.n_levels for j, f in enumerate(instance.features) if f.categorical}
    categorical = n_nodes if levels else 0
    tests = PaperSingleTests(
        instance,
        ranks,
        p=builder.variables("p", (n_nodes, len(instance.features)), upper=1.0, integer=True),
        q=builder.variables("q", (quantitative,), upper=ranks.largest),
        g_plus=builder.variables("g_plus", (n, quantitative), upper=ranks.largest),
        g_minus=builder.variables("g_minus", (n, quantitative), upper=ranks.largest),
        w_q=builder.variables("w_q", (n, quantitative), upper=1.0, integer=True),
        w_c=builder.variables("w_c", (n, categorical), upper=1.0, integer=True),
        s={j: builder.variables(f"s_j{j}", (n_nodes, k), upper=1.0, integer=True) for j, k in levels.items()},
        missing_left=builder.variables("missing_left", (missing,), upper=1.0, integer=True),
        active=active,
    )
    add_one_each(builder, "b_one_feature", tests.p, active)
    if quantitative:
        _add_gap_rows(builder, tests)
        _add_quantitative_routes(builder, tests, layout, z)
    if levels:
        _add_categorical_routes(builder, tests, layout, z)
    return tests


def _add_gap_rows(builder: ModelBuilder, tests: PaperSingleTests) -> None:
    """Equations (c) to (f): w^q_iν = 1 if and only if q_ν ≥ Σ_j p_νj x_ij."""
    n, ranks, largest = tests.instance.n_units, tests.ranks, tests.ranks.largest
    row, epsilon = np.arange(n), ranks.gap / 2
    for node in range(len(tests.p)):
        plus, minus, w = tests.g_plus[:, node], tests.g_minus[:, node], tests.w_q[:, node]
        weighed = (row[:, None], tests.p[node, ranks.features][None, :], -ranks.values)
        terms: list[Entries] = [(row, tests.q[node], 1.0), weighed, (row, plus, -1.0), (row, minus, 1.0)]
        builder.rows(f"c_{node}", n, terms, lower=0.0, upper=0.0)
        builder.rows(f"d_{node}", n, [(row, plus, 1.0), (row, w, -largest)], upper=0.0)
        builder.rows(f"e_{node}", n, [(row, minus, 1.0), (row, w, largest)], upper=largest)
        builder.rows(f"f_{node}", n, [(row, plus, 1.0), (row, minus, 1.0), (row, w, epsilon)], lower=epsilon)


def _add_quantitative_routes(builder: ModelBuilder, tests: PaperSingleTests, layout: Layout, z: np.ndarray) -> None:
    """Equations (g) and (h); who is missing in the tested feature follows `missing_left` instead of w^q."""
    ranks = tests.ranks
    gone = np.flatnonzero(~ranks.known.all(axis=1))
    for node in range(len(tests.p)):
        features = tests.p[node, ranks.features]
        looking = chosen(features, ranks.known)
        add_routes(builder, ("h", "g"), layout, node, z, tests.w_q[:, node], looking)
        if len(gone):
            side = np.broadcast_to(tests.missing_left[node], gone.shape)
            looking = chosen(features, ~ranks.known[gone])
            add_routes(builder, ("h_missing", "g_missing"), layout, node, z[gone], side, looking)


def _add_categorical_routes(builder: ModelBuilder, tests: PaperSingleTests, layout: Layout, z: np.ndarray) -> None:
    """Equations (i) to (l)."""
    instance, row = tests.instance, np.arange(tests.instance.n_units)
    categorical = np.array(list(tests.s))
    for node in range(len(tests.p)):
        inside: list[Entries] = [(row, tests.w_c[:, node], 1.0)]
        for j, s in tests.s.items():
            level = np.arange(s.shape[1])
            builder.rows(
                f"i_{node}_{j}", len(level), [(level, s[node], 1.0), (level, tests.p[node, j], -1.0)], upper=0.0
            )
            inside.append((row, s[node][instance.features[j].codes], -1.0))
        builder.rows(f"j_{node}", len(row), inside, lower=0.0, upper=0.0)
        looking = chosen(tests.p[node, categorical], np.ones((len(row), len(categorical)), dtype=bool))
        add_routes(builder, ("k", "l"), layout, node, z, tests.w_c[:, node], looking)
