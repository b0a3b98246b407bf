"""One spelling for trees that decide alike: no empty leaves, no tests between equal leaves, fixed sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.table import Table
from evenleaf.tree.questions import SubsetTest, Test, ThresholdTest
from evenleaf.tree.tree import Branch, Leaf, Node, Tree


def tidy(tree: Tree, table: Table, weight: np.ndarray) -> Tree:
    """The same decisions for these people, in the fewest nodes and in canonical form.

    Tests that everybody passes on one side and tests whose two leaves agree are removed. What nobody in
    training decides is settled by the DESIGN's rule: missing values, and levels that nobody at the node has,
    go with the missing of that node, or else with its heavier side.
    """
    nodes: list[Node] = []
    _copy(tree, 0, table, weight, np.arange(table.n_rows), nodes)
    return Tree(tree.schema, tree.target, tuple(nodes))


def _copy(
    tree: Tree, position: int, table: Table, weight: np.ndarray, rows: np.ndarray, nodes: list[Node]
) -> None:
    """Append the tidy form of a subtree, restricted to the people who reach it."""
    node = tree.nodes[position]
    if isinstance(node, Leaf):
        nodes.append(node)
        return
    left = node.test.goes_left(table, rows)
    if left.all() or not left.any():
        _copy(tree, node.left if left.all() and len(rows) else node.right, table, weight, rows, nodes)
        return
    test, swapped = _canonical(node.test, table, weight, rows, left)
    first, second = (node.right, node.left) if swapped else (node.left, node.right)
    goes_first = ~left if swapped else left
    start = len(nodes)
    nodes.append(Branch(test, start + 1, start + 2))  # links are mended once both sides are written
    _copy(tree, first, table, weight, rows[goes_first], nodes)
    middle = len(nodes)
    _copy(tree, second, table, weight, rows[~goes_first], nodes)
    if middle == start + 1 + 1 and len(nodes) == middle + 1 and nodes[start + 1] == nodes[middle]:
        del nodes[start:middle]  # both sides are the same leaf
        return
    nodes[start] = Branch(test, start + 1, middle)


def _canonical(
    test: Test, table: Table, weight: np.ndarray, rows: np.ndarray, left: np.ndarray
) -> tuple[Test, bool]:
    """The test with its undecided sides settled, and whether left and right changed places."""
    heavier_left = bool(weight[rows][left].sum() >= weight[rows][~left].sum())
    if isinstance(test, ThresholdTest):
        known = np.isnan(table.data[test.column][rows]).any()
        return (test if known else replace(test, missing_left=heavier_left)), False
    if not isinstance(test, SubsetTest):
        return test, False
    codes = table.data[test.column][rows]
    missing_left = test.missing_left if (codes < 0).any() else heavier_left
    present = np.unique(codes[codes >= 0])
    chosen = {int(level) for level in present if level in test.left}
    absent = set(range(len(table.schema[test.column].levels))) - set(present.tolist())
    if missing_left:
        chosen |= absent
    swapped = len(present) > 0 and int(present[0]) not in chosen
    if swapped:
        chosen = set(range(len(table.schema[test.column].levels))) - chosen
        missing_left = not missing_left
    return SubsetTest(test.column, tuple(sorted(chosen)), missing_left), swapped
