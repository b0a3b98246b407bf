"""From what the kernels found to a `Tree`, with its leaves decided exactly."""

from __future__ import annotations

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.search.ascent import Found
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.oracle import Stump
from evenleaf.tree import Branch, Leaf, Node, Tree, tidy


def decode(found: Found, problem: Problem, compiled: Compiled) -> Tree:
    """The tree that was found, tidy, each leaf with the label that suits the true objective best."""
    goes_left = found.root_left[compiled.ranks[found.feature]]
    root = compiled.features[found.feature].test(found.root_left)
    nodes: list[Node] = [Branch(root, 1, 2)]
    for member, stump in zip((goes_left, ~goes_left), found.stumps, strict=True):
        nodes.append(_stump_node(stump, member, found.labels, compiled))
    return with_best_leaves(_linked(nodes), problem)


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


def _stump_node(stump: Stump, member: np.ndarray, labels: np.ndarray, compiled: Compiled) -> Node:
    """A leaf, or a branch whose leaves are linked in later."""
    if stump.feature < 0 or not member.any():
        return Leaf(float(labels[member][0]) if member.any() else 0.0)
    ranks = compiled.ranks[stump.feature]
    size = int(compiled.sizes[stump.feature])
    if stump.cut >= 0:
        left = np.arange(size) <= stump.cut
    else:
        left = np.zeros(size, dtype=np.bool_)
        left[ranks[member & (labels == labels[member].min())]] = True
    if not left.any() or left.all():
        return Leaf(float(labels[member][0]))
    return Branch(compiled.features[stump.feature].test(left), -1, -1)


def _linked(nodes: list[Node]) -> list[Node]:
    """Give each child branch two leaves; their labels are decided later, so any two that differ will do."""
    linked = list(nodes)
    for position in (1, 2):
        node = linked[position]
        if isinstance(node, Branch):
            linked[position] = Branch(node.test, len(linked), len(linked) + 1)
            linked += [Leaf(0.0), Leaf(1.0)]
    return linked
