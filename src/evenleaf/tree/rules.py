"""The rule that decided each person, in words."""

from __future__ import annotations

import numpy as np

from evenleaf.table import Schema, Table
from evenleaf.tree.compact import path_to
from evenleaf.tree.questions import LinearTest, SubsetTest, Test, ThresholdTest
from evenleaf.tree.text import leaf_text, question_text, sum_text, threshold_text
from evenleaf.tree.tree import Leaf, Tree


def explain(tree: Tree, table: Table) -> list[str]:
    """For each person the tests that led to the decision, and the decision: "age > 30 and …, so hired = no".

    Where a person's value is missing (or a level unknown to the tree), the sentence says so.
    """
    reached = tree.apply(table)
    words = np.empty(table.n_rows, dtype=object)
    for position in np.unique(reached):
        rows = np.flatnonzero(reached == position)
        words[rows] = _leaf_sentences(tree, int(position), table, rows)
    return list(words)


def rules(tree: Tree) -> list[str]:
    """One sentence a leaf, in the order of the leaves."""
    leaves = (position for position, node in enumerate(tree.nodes) if isinstance(node, Leaf))
    return [_sentence(_steps(tree, position, frozenset()), tree, position) for position in leaves]


def _leaf_sentences(tree: Tree, position: int, table: Table, rows: np.ndarray) -> list[str]:
    """People who reach the same leaf differ only in which of the tested values are missing."""
    columns = sorted({column for branch, _ in path_to(tree, position) for column in branch.test.columns})
    if not columns:
        return [_sentence([], tree, position)] * len(rows)
    missing = np.column_stack([table.missing(column)[rows] for column in columns])
    kinds, kind = np.unique(missing, axis=0, return_inverse=True)
    sentences = [
        _sentence(
            _steps(tree, position, frozenset(column for column, gone in zip(columns, row, strict=True) if gone)),
            tree,
            position,
        )
        for row in kinds
    ]
    return [sentences[number] for number in kind.ravel()]


def _sentence(steps: list[str], tree: Tree, position: int) -> str:
    leaf = tree.nodes[position]
    if not isinstance(leaf, Leaf):
        raise TypeError("only a leaf decides")
    decision = leaf_text(leaf, tree.target, tree.schema)
    return f"{' and '.join(steps)}, so {decision}" if steps else f"everybody: {decision}"


def _steps(tree: Tree, position: int, gone: frozenset[int]) -> list[str]:
    return [side_text(branch.test, tree.schema, left, gone) for branch, left in path_to(tree, position)]


def side_text(test: Test, schema: Schema, left: bool, gone: frozenset[int] = frozenset()) -> str:
    """What holds on a side of a test; `gone` are the columns in which this person has no (known) value."""
    if isinstance(test, LinearTest):
        missing = [schema[column].name for column in test.columns if column in gone]
        note = f" ({' and '.join(missing)} missing)" if missing else ""
        return f"{sum_text(test.terms, schema)} {'≤' if left else '>'} {threshold_text(test.threshold)}{note}"
    name = schema[test.column].name
    if test.column in gone:
        return f"{name} is missing or unknown"
    if isinstance(test, ThresholdTest):
        return f"{name} {'≤' if left else '>'} {threshold_text(test.threshold)}"
    return question_text(test if left else _complement(test, schema), schema)


def _complement(test: SubsetTest, schema: Schema) -> SubsetTest:
    levels = range(len(schema[test.column].levels))
    return SubsetTest(test.column, tuple(sorted(set(levels) - set(test.left))), not test.missing_left)
