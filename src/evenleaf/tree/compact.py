"""The same tree over only the columns that it looks at: prediction reads nothing else."""

from __future__ import annotations

from dataclasses import replace

from evenleaf.table import Schema
from evenleaf.tree.questions import LinearTest, Term, Test
from evenleaf.tree.tree import Branch, Leaf, Node, Tree


def columns_of(tree: Tree) -> tuple[int, ...]:
    """The columns that tests or linear leaves look at, in the order of the schema."""
    leaves = (node for node in tree.nodes if isinstance(node, Leaf))
    return tuple(sorted({*tree.feature_uses, *(term.column for leaf in leaves for term in leaf.terms)}))


def compact(tree: Tree) -> Tree:
    """The tree with every other column taken out of its schema; it decides the same."""
    columns = columns_of(tree)
    place = {column: position for position, column in enumerate(columns)}
    schema = Schema(tuple(tree.schema[column] for column in columns))
    return Tree(schema, tree.target, tuple(_moved_node(node, place) for node in tree.nodes))


def _moved_node(node: Node, place: dict[int, int]) -> Node:
    if isinstance(node, Leaf):
        return replace(node, terms=_moved_terms(node.terms, place))
    return replace(node, test=_moved_test(node.test, place))


def _moved_test(test: Test, place: dict[int, int]) -> Test:
    if isinstance(test, LinearTest):
        return replace(test, terms=_moved_terms(test.terms, place))
    return replace(test, column=place[test.column])


def _moved_terms(terms: tuple[Term, ...], place: dict[int, int]) -> tuple[Term, ...]:
    return tuple(replace(term, column=place[term.column]) for term in terms)


def path_to(tree: Tree, position: int) -> list[tuple[Branch, bool]]:
    """The tests on the way to a node, each with the side it was left by (True: left)."""
    above: dict[int, tuple[int, bool]] = {}
    for parent, node in enumerate(tree.nodes):
        if isinstance(node, Branch):
            above[node.left], above[node.right] = (parent, True), (parent, False)
    path: list[tuple[Branch, bool]] = []
    while position:
        position, left = above[position]
        branch = tree.nodes[position]
        if isinstance(branch, Branch):
            path.append((branch, left))
    return path[::-1]
