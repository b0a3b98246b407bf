"""How much each feature matters: by how much its tests part unlike people, as scikit-learn's trees count it."""

from __future__ import annotations

import numpy as np

from evenleaf.table import People
from evenleaf.tree import Branch, LinearTest, Tree


def importances(tree: Tree, people: People) -> np.ndarray:
    """One number a column of the tree's schema, summing to one; all zero where the tree asks nothing.

    A test counts with the fall in impurity that it brings (Gini for classes, mean absolute deviation from the
    median for numbers), weighted by the share of people who meet it. A linear test divides that among its columns
    by |coefficient| × spread.
    """
    found = np.zeros(len(tree.schema))
    rows: dict[int, np.ndarray] = {0: np.arange(people.n_people)}
    for position, node in enumerate(tree.nodes):
        here = rows.pop(position)
        if not isinstance(node, Branch):
            continue
        left = node.test.goes_left(people.features, here)
        rows[node.left], rows[node.right] = here[left], here[~left]
        fall = _impurity(people, here) - _impurity(people, here[left]) - _impurity(people, here[~left])
        for column, part in _parts(node, people).items():
            found[column] += max(0.0, fall) * part
    total = found.sum()
    return found / total if total > 0 else found


def _impurity(people: People, rows: np.ndarray) -> float:
    """The impurity of some people times their weight."""
    weight, values = people.weight[rows], people.outcome.values[rows]
    total = weight.sum()
    if not total > 0:
        return 0.0
    if people.outcome.classes is not None:
        share = np.bincount(values, weights=weight) / total
        return float(total * (1 - (share**2).sum()))
    order = np.argsort(values)
    reached = np.cumsum(weight[order])
    median = values[order][np.searchsorted(reached, total / 2)]
    return float(weight @ np.abs(values - median))


def _parts(node: Branch, people: People) -> dict[int, float]:
    test = node.test
    if not isinstance(test, LinearTest):
        return {test.column: 1.0}
    everybody = np.arange(people.n_people)
    parts = dict.fromkeys(test.columns, 0.0)
    for term in test.terms:
        parts[term.column] += abs(term.coefficient) * float(term.values(people.features, everybody).std())
    total = sum(parts.values())
    return {column: part / total for column, part in parts.items()} if total > 0 else parts
