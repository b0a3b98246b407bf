"""The best numbers for a regression tree whose tests are settled, to the last digit.

A mixed-integer solver keeps rows to a tolerance, so its leaf values may exceed D ≤ ε by a hair or miss their optimum
by one. With the tests fixed the leaves are a small linear program, whose corner is computed exactly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from evenleaf.problem import FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.mip.blocks_leaves import LeafRule, constant_rule, linear_rule
from evenleaf.solve.mip.blocks_objective import add_discrimination, add_errors
from evenleaf.solve.mip.instance import Instance, gather
from evenleaf.solve.mip.model import LinearModel, ModelBuilder
from evenleaf.solve.mip.model import Term as Entries
from evenleaf.solve.mip.placement import tidied
from evenleaf.solve.mip.terms import terms_of
from evenleaf.tree import Tree

# Each try asks a little more than the last one missed.
_TRIES = 4


def polished(problem: Problem, tree: Tree) -> Tree:
    """The tree with its best leaves; the tree as it is where that is no better or classes are decided."""
    if problem.people.outcome.classes is not None:
        return tree
    instance = gather(problem, merge=True)
    best, asked = tree, instance.limit
    for _ in range(_TRIES):
        found = _with_best_leaves(replace(instance, limit=asked), tree)
        if found is None:
            return best
        before, after = problem.evaluate(best), problem.evaluate(found)
        if after.feasible and (not before.feasible or after.objective <= before.objective):
            return found
        limit = problem.max_discrimination
        if limit is None or asked is None or after.discrimination <= limit + FEASIBILITY_TOLERANCE:
            return best
        asked -= 2 * (after.discrimination - limit) / instance.scale
    return best


def _with_best_leaves(instance: Instance, tree: Tree) -> Tree | None:
    linear = instance.problem.shape.leaves == "linear"
    rule = linear_rule(instance, terms_of(instance)) if linear else constant_rule(instance)
    reached = tree.apply(instance.problem.people.features)[instance.first]
    positions, leaf = np.unique(reached, return_inverse=True)
    builder = ModelBuilder()
    u = builder.variables("u", (len(positions), rule.size), lower=rule.low, upper=rule.high)
    model = _program(builder, instance, rule, u, leaf)
    x = _corner(model)
    if x is None:
        return None
    nodes = list(tree.nodes)
    for place, position in enumerate(positions):
        nodes[position] = rule.leaf(x[u[place]], instance)
    return tidied(Tree(tree.schema, tree.target, tuple(nodes)), instance.problem)


def _program(builder: ModelBuilder, instance: Instance, rule: LeafRule, u: np.ndarray, leaf: np.ndarray) -> LinearModel:
    """Equation (a) with ŷ_i = the rule of the leaf that i is in."""
    n, row = instance.n_units, np.arange(instance.n_units)
    yhat = builder.variables("yhat", (n,), upper=instance.top)
    terms: list[Entries] = [(row, yhat, 1.0), (row[:, None], u[leaf], -rule.design)]
    builder.rows("yhat", n, terms, lower=0.0, upper=0.0)
    if instance.errors is not None:
        add_errors(builder, instance.errors, yhat)
    add_discrimination(builder, instance, yhat[:, None])
    return builder.build()


def _corner(model: LinearModel) -> np.ndarray | None:
    """The optimum of a linear program, or None where it has none."""
    equal = model.row_lower == model.row_upper
    above, below = ~equal & np.isfinite(model.row_upper), ~equal & np.isfinite(model.row_lower)
    solved = linprog(
        model.cost,
        A_ub=sp.vstack([model.matrix[above], -model.matrix[below]], format="csr"),
        b_ub=np.concatenate([model.row_upper[above], -model.row_lower[below]]),
        A_eq=model.matrix[equal],
        b_eq=model.row_lower[equal],
        bounds=np.column_stack([model.lower, model.upper]),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return np.asarray(solved.x) if solved.status == 0 else None
