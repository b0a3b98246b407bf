"""The same trees and the same optimum in a formulation that solvers close far sooner.

Against the paper's: people with equal features are one unit; thresholds are chosen in unary, so that tests need
neither M nor ε (`strong_tests.py`); one flow row a test and person instead of one a leaf; people flow to decisions
(`strong_leaves.py`); mirror images of trees are excluded; and z need not be whole, for it follows from the tests.
"""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.mip.blocks_leaves import constant_rule, linear_rule
from evenleaf.solve.mip.blocks_linear import add_linear_coefficients
from evenleaf.solve.mip.blocks_linear_routes import StrongLinearTests, add_strong_routes
from evenleaf.solve.mip.blocks_objective import add_discrimination, add_leaf_errors
from evenleaf.solve.mip.choice import Choice, chosen_linear, chosen_single
from evenleaf.solve.mip.formulation import Formulation, Reading
from evenleaf.solve.mip.instance import Instance, gather
from evenleaf.solve.mip.layout import Layout, layout_for
from evenleaf.solve.mip.limits import add_limits, limits_tests
from evenleaf.solve.mip.model import ModelBuilder
from evenleaf.solve.mip.placement import Convention, place
from evenleaf.solve.mip.strong_families import add_strong_tests
from evenleaf.solve.mip.strong_leaves import StrongLabels, StrongNumbers, add_strong_labels, add_strong_numbers
from evenleaf.solve.mip.strong_tests import StrongSingleTests
from evenleaf.solve.mip.terms import Terms, terms_of
from evenleaf.tree import Test, Tree


def build_strong(problem: Problem) -> Formulation:
    """The strong formulation of a problem."""
    instance = gather(problem, merge=True)
    builder, terms = ModelBuilder(), terms_of(instance)
    linear = problem.shape.branching == "linear"
    layout = layout_for(instance, terms.n_terms if linear else len(instance.features))
    ordered = not instance.is_regression
    leaves = _add_leaves(builder, instance, layout, terms)
    tests = _add_tests(builder, instance, layout, terms, ordered) if layout.depth else None
    if tests is not None:
        _add_flows(builder, instance, layout, tests, leaves.members)
    errors = None
    if instance.errors is not None and isinstance(leaves, StrongNumbers):
        errors = add_leaf_errors(builder, instance.errors, leaves.z, leaves.h)
    discrimination = add_discrimination(builder, instance, leaves.psi)
    limits = None if tests is None else add_limits(builder, instance, tests.uses, tests.active, leaves.members)
    model = builder.build()
    convention = Convention(ordered=ordered, idle_left=False)

    def choose(test: Test) -> Choice | None:
        return chosen_linear(test, instance, terms) if linear else chosen_single(test, instance)

    def read(x: np.ndarray) -> Reading:
        members = x[leaves.members].sum(axis=2)
        if tests is None:
            return Reading((), np.zeros(0, dtype=bool), leaves.read(x), members)
        return Reading(tests.read(x), tests.idle_left(x), leaves.read(x), members)

    def write(tree: Tree) -> np.ndarray:
        placed = place(tree, instance, layout, convention, choose)
        x = np.zeros(model.n_variables)
        psi = leaves.fill(x, placed)
        if tests is not None:
            tests.fill(x, placed)
        if errors is not None:
            errors.fill(x, psi)
        discrimination.fill(x, psi)
        if limits is not None:
            limits.fill(x)
        return x

    return Formulation("strong", instance, layout, model, read, write)


def _add_leaves(
    builder: ModelBuilder, instance: Instance, layout: Layout, terms: Terms
) -> StrongLabels | StrongNumbers:
    if not instance.is_regression:
        return add_strong_labels(builder, instance, layout)
    linear = instance.problem.shape.leaves == "linear"
    rule = linear_rule(instance, terms) if linear else constant_rule(instance)
    return add_strong_numbers(builder, instance, layout, rule)


def _add_tests(
    builder: ModelBuilder, instance: Instance, layout: Layout, terms: Terms, ordered: bool
) -> StrongSingleTests | StrongLinearTests:
    if instance.problem.shape.branching == "single":
        return add_strong_tests(builder, instance, layout, ordered)
    active = None
    if limits_tests(instance.problem.shape):
        active = builder.variables("active", (layout.n_nodes,), upper=1.0, integer=True)
    free_sign = np.array([ordered and layout.is_bottom(node) for node in range(layout.n_nodes)])
    coefficients = add_linear_coefficients(builder, instance, layout, terms, active, free_sign)
    return add_strong_routes(builder, instance.n_units, coefficients)


def _add_flows(
    builder: ModelBuilder,
    instance: Instance,
    layout: Layout,
    tests: StrongSingleTests | StrongLinearTests,
    members: np.ndarray,
) -> None:
    """Equations (g), (h), (k) and (l) at once, summed over the leaves of a side: they cannot hold a person twice."""
    n, row = instance.n_units, np.arange(instance.n_units)[:, None, None]
    for node in range(layout.n_nodes):
        unit, variable = tests.left(node)
        to_left, to_right = members[:, layout.left_leaves(node), :], members[:, layout.right_leaves(node), :]
        # Everybody passes the root, so there the two sides add up to one and a single equation says both.
        lower = 0.0 if node == 0 else -np.inf
        builder.rows(f"flow_left_{node}", n, [(row, to_left, 1.0), (unit, variable, -1.0)], lower=lower, upper=0.0)
        if node:
            builder.rows(f"flow_right_{node}", n, [(row, to_right, 1.0), (unit, variable, 1.0)], upper=1.0)
