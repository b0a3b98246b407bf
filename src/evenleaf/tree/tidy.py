"""One spelling for trees that decide alike: no empty leaves, no tests between equal leaves, fixed sides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.table import Table
from evenleaf.tree.questions import LinearTest, SubsetTest, Test, ThresholdTest
from evenleaf.tree.thresholds import threshold_above
from evenleaf.tree.tree import Branch, Leaf, Node, Target, Tree


def tidy(tree: Tree, table: Table, weight: np.ndarray) -> Tree:
    """The same decisions for these people, without needless nodes and in canonical form.

    Tests that everybody passes on one side and tests whose two leaves agree are removed. A threshold moves to
    the lowest midpoint of training values that parts the people of its node in the same way. The side named
    first holds the first level that somebody at the node has, or the known values where a test tells them from
    the missing. What nobody in training decides is settled by the DESIGN's rule: missing values, and levels
    that nobody at the node has, go with the missing of that node, or else with its heavier side.
    """
    nodes: list[Node] = []
    _copy(tree, 0, table, weight, np.arange(table.n_rows), nodes)
    return Tree(tree.schema, tree.target, tuple(nodes))


def _copy(tree: Tree, position: int, table: Table, weight: np.ndarray, rows: np.ndarray, nodes: list[Node]) -> None:
    """Append the tidy form of a subtree, restricted to the people who reach it."""
    node = tree.nodes[position]
    if isinstance(node, Leaf):
        nodes.append(_within_range(node, tree.target))
        return
    left = node.test.goes_left(table, rows)
    n_left = np.count_nonzero(left)
    if n_left in (0, len(rows)):
        _copy(tree, node.left if n_left else node.right, table, weight, rows, nodes)
        return
    swapped = _names_wrong_side(node.test, table, rows, left)
    first, second = (node.right, node.left) if swapped else (node.left, node.right)
    goes_first = ~left if swapped else left
    test = _spelled(node.test, table, weight, rows, goes_first)
    start = len(nodes)
    nodes.append(Branch(test, start + 1, start + 2))  # links are mended once both sides are written
    _copy(tree, first, table, weight, rows[goes_first], nodes)
    middle = len(nodes)
    _copy(tree, second, table, weight, rows[~goes_first], nodes)
    if middle == start + 2 and len(nodes) == middle + 1 and nodes[start + 1] == nodes[middle]:
        del nodes[start:middle]  # both sides are the same leaf
        return
    nodes[start] = Branch(test, start + 1, middle)


def _within_range(leaf: Leaf, target: Target) -> Leaf:
    """A constant leaf says the number that it decides, which never leaves the label range."""
    if target.classes is not None or leaf.terms:
        return leaf
    return replace(leaf, value=min(max(leaf.value, target.low), target.high))


def _names_wrong_side(test: Test, table: Table, rows: np.ndarray, left: np.ndarray) -> bool:
    """Whether left and right must change places. A linear test keeps its sides: they follow from its signs."""
    if isinstance(test, LinearTest):
        return False
    values = table.data[test.column][rows]
    if isinstance(test, ThresholdTest):
        return not np.count_nonzero(left[~np.isnan(values)])
    known = values >= 0  # somebody is known here, or all would have gone to the same side
    return not left[values == values[known].min()].all()


def _spelled(test: Test, table: Table, weight: np.ndarray, rows: np.ndarray, left: np.ndarray) -> Test:
    """The test in canonical form, `left` being who of the rows goes to the side it names."""
    if isinstance(test, LinearTest):
        return test
    values = table.data[test.column][rows]
    missing = values < 0 if isinstance(test, SubsetTest) else np.isnan(values)
    if np.count_nonzero(missing):
        missing_left = bool(left[missing][0])
    else:
        weights = weight[rows]
        missing_left = bool(weights[left].sum() >= weights[~left].sum())
    if isinstance(test, ThresholdTest):
        highest = float(values[left & ~missing].max())
        return ThresholdTest(test.column, threshold_above(table.data[test.column], highest), missing_left)
    chosen, others = set(values[left].tolist()), set(values[~left].tolist())
    levels = range(len(table.schema[test.column].levels))
    named = tuple(level for level in levels if level in chosen or (missing_left and level not in others))
    return SubsetTest(test.column, named, missing_left)
