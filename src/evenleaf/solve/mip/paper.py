"""The paper's mixed-integer program, equations (a) to (m) to the letter, for every class of trees.

What is added is what the paper leaves open: where missing values go, safe constants M and ε (`ranks.py`,
`blocks_linear.py`), and tests that may be idle where a limit counts tests (`limits.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.mip.blocks_leaves import add_paper_leaves, constant_rule, linear_rule
from evenleaf.solve.mip.blocks_linear import add_linear_coefficients
from evenleaf.solve.mip.blocks_linear_routes import PaperLinearTests, add_paper_routes
from evenleaf.solve.mip.blocks_objective import add_discrimination, add_errors
from evenleaf.solve.mip.blocks_single import PaperSingleTests, add_single_tests
from evenleaf.solve.mip.choice import Choice, chosen_linear, chosen_single
from evenleaf.solve.mip.formulation import Formulation, Reading
from evenleaf.solve.mip.instance import Instance, gather
from evenleaf.solve.mip.layout import Layout, layout_for
from evenleaf.solve.mip.limits import add_limits, limits_tests
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.placement import Convention, place
from evenleaf.solve.mip.routes import add_idle_routes
from evenleaf.solve.mip.terms import Terms, terms_of
from evenleaf.tree import Test, Tree


def build_paper(problem: Problem) -> Formulation:
    """The literal formulation: one set of variables a person, big-M rows (c) to (h), rows (g), (h), (k), (l) a leaf."""
    instance = gather(problem, merge=False)
    shape, builder = problem.shape, ModelBuilder()
    terms = terms_of(instance)
    layout = layout_for(instance, terms.n_terms if shape.branching == "linear" else len(instance.features))
    z = add_members(builder, instance, layout)
    active = _add_active(builder, layout, z) if limits_tests(shape) else None
    tests = _add_tests(builder, instance, layout, terms, z, active)
    rule = linear_rule(instance, terms) if shape.leaves == "linear" else constant_rule(instance)
    leaves = add_paper_leaves(builder, instance, layout, rule, z)
    errors = None if instance.errors is None else add_errors(builder, instance.errors, leaves.yhat[:, 0])
    discrimination = add_discrimination(builder, instance, leaves.yhat)
    counted = np.zeros(0, dtype=int) if active is None else active
    limits = add_limits(builder, instance, tests.uses, counted, z[:, :, None])
    model = builder.build()
    convention = Convention(ordered=False, idle_left=True)

    def choose(test: Test) -> Choice | None:
        return chosen_linear(test, instance, terms) if shape.branching == "linear" else chosen_single(test, instance)

    def read(x: np.ndarray) -> Reading:
        everybody_left = np.ones(layout.n_nodes, dtype=bool)
        return Reading(_idle_as_none(tests.read(x), active, x), everybody_left, leaves.read(x), x[z])

    def write(tree: Tree) -> np.ndarray:
        placed = place(tree, instance, layout, convention, choose)
        x = np.zeros(model.n_variables)
        x[z] = placed.members(layout.n_leaves)
        tests.fill(x, placed)
        psi = leaves.fill(x, placed)
        if errors is not None:
            errors.fill(x, psi)
        discrimination.fill(x, psi)
        limits.fill(x)
        return x

    return Formulation("paper", instance, layout, model, read, write)


def add_members(builder: ModelBuilder, instance: Instance, layout: Layout) -> np.ndarray:
    """z_il with equation (m): everybody is in one leaf."""
    z = builder.variables("z", (instance.n_units, layout.n_leaves), upper=1.0, integer=True)
    builder.rows("m", len(z), [(np.arange(len(z))[:, None], z, 1.0)], lower=1.0, upper=1.0)
    return z


def _add_active(builder: ModelBuilder, layout: Layout, z: np.ndarray) -> np.ndarray:
    active = builder.variables("active", (layout.n_nodes,), upper=1.0, integer=True)
    add_idle_routes(builder, layout, z, active)
    return active


def _add_tests(
    builder: ModelBuilder,
    instance: Instance,
    layout: Layout,
    terms: Terms,
    z: np.ndarray,
    active: np.ndarray | None,
) -> PaperSingleTests | PaperLinearTests:
    if instance.problem.shape.branching == "single":
        return add_single_tests(builder, instance, layout, z, active)
    free_sign = np.zeros(layout.n_nodes, dtype=bool)
    coefficients = add_linear_coefficients(builder, instance, layout, terms, active, free_sign)
    return add_paper_routes(builder, layout, z, coefficients)


def _idle_as_none(choices: Sequence[Choice | None], active: np.ndarray | None, x: np.ndarray) -> list[Choice | None]:
    """A test that is not active looks at nothing, whatever is left in its other variables."""
    if active is None:
        return list(choices)
    return [choice if x[active[node]] > 0.5 else None for node, choice in enumerate(choices)]
