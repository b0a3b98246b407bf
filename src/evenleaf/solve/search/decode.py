"""From what the kernels found to a `Tree`, with its leaves decided exactly."""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.plan import Plan
from evenleaf.tree import Branch, Leaf, Node, Tree, tidy


def decode(plan: Plan, problem: Problem, compiled: Compiled) -> Tree:
    """The tree that was planned, tidy, each leaf with the label that suits the true objective best."""
    nodes: list[Node] = []
    weighs = np.bincount(compiled.kind, weights=problem.people.weight, minlength=compiled.n_people) > 0
    _grow(plan, compiled, weighs, nodes)
    return with_best_leaves(nodes, problem)


def _grow(plan: Plan | None, compiled: Compiled, member: np.ndarray, nodes: list[Node], label: float = 0.0) -> int:
    """Append a plan's nodes and return where it stands; a test that sends all one way makes room for what is below it.

    The labels of the leaves are decided later; until then sisters must differ, or they would be merged.
    """
    place = len(nodes)
    nodes.append(Leaf(label))
    while plan is not None:
        goes_left = plan.left_ranks[compiled.ranks[plan.feature]]
        left, right = member & goes_left, member & ~goes_left
        if left.any() and right.any():
            break
        plan = plan.left if left.any() else plan.right
    if plan is None:
        return place
    below = _grow(plan.left, compiled, left, nodes, 0.0), _grow(plan.right, compiled, right, nodes, 1.0)
    nodes[place] = Branch(compiled.features[plan.feature].test(plan.left_ranks), *below)
    return place


def with_best_leaves(nodes: list[Node], problem: Problem) -> Tree:
    """A tidy tree whose leaves are decided by the true objective."""
    people = problem.people
    tree = tidy(Tree(people.features.schema, problem.target, tuple(nodes)), people.features, people.weight)
    leaves = [position for position, node in enumerate(tree.nodes) if isinstance(node, Leaf)]
    number = np.zeros(len(tree.nodes), dtype=np.intp)
    number[leaves] = np.arange(len(leaves))
    decided = best_leaves(problem, number[tree.apply(people.features)], len(leaves))
    if decided is None:
        return tree
    for position, value in zip(leaves, decided[0], strict=True):
        nodes = [*tree.nodes[:position], Leaf(float(value)), *tree.nodes[position + 1 :]]
        tree = Tree(tree.schema, tree.target, tuple(nodes))
    return tidy(tree, people.features, people.weight)
