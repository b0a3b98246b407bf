"""A tree as the page draws it: its nodes in words and in numbers, with the people and groups at each."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenleaf.table import People
from evenleaf.tree import Branch, Tree, tree_to_json
from evenleaf.tree.text import leaf_text, missing_text, question_text


def node_entries(tree: Tree, people: People) -> list[dict[str, Any]]:
    """One dict a node: the test or decision as JSON and in words, and who passes through it."""
    plain = tree_to_json(tree)["nodes"]
    passing = _passing(tree, people)
    return [
        {**plain[position], **_words(tree, position), **_crowd(people, passing[position])}
        for position in range(len(tree.nodes))
    ]


def _passing(tree: Tree, people: People) -> list[np.ndarray]:
    """Who passes through each node, leaves to root: a node's people are those of both its children."""
    leaf = tree.apply(people.features)
    passing = [leaf == position for position in range(len(tree.nodes))]
    for position in reversed(range(len(tree.nodes))):
        node = tree.nodes[position]
        if isinstance(node, Branch):
            passing[position] = passing[node.left] | passing[node.right]
    return passing


def _words(tree: Tree, position: int) -> dict[str, str]:
    node = tree.nodes[position]
    if isinstance(node, Branch):
        return {"words": question_text(node.test, tree.schema), "note": missing_text(node.test, tree.schema).strip()}
    return {"words": leaf_text(node, tree.target, tree.schema)}


def _crowd(people: People, here: np.ndarray) -> dict[str, Any]:
    """How many people, of which groups, and what was decided about them in the data."""
    weight = people.weight[here]
    total = float(weight.sum())
    return {
        "n": int(here.sum()),
        "share": total / float(people.weight.sum()),
        "groups": [np.bincount(part.codes[here], minlength=part.n_groups).tolist() for part in people.groups],
        "truth": _truth(people, here, weight, total),
    }


def _truth(people: People, here: np.ndarray, weight: np.ndarray, total: float) -> list[float] | float | None:
    """The rate of each class among these people, or their mean; None where nobody with any weight is here."""
    if not total > 0:
        return None
    values = people.outcome.values[here]
    if people.outcome.classes is None:
        return float(weight @ values / total)
    return (np.bincount(values, weights=weight, minlength=people.outcome.n_classes) / total).tolist()
