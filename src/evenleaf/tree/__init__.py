"""The answer: immutable trees, their words, their JSON."""

from evenleaf.tree.export import tree_from_json, tree_to_json
from evenleaf.tree.questions import LinearTest, SubsetTest, Term, Test, ThresholdTest
from evenleaf.tree.text import tree_text
from evenleaf.tree.thresholds import midpoints, threshold_above
from evenleaf.tree.tidy import tidy
from evenleaf.tree.tree import Branch, Leaf, Node, Target, Tree

__all__ = [
    "Branch",
    "Leaf",
    "LinearTest",
    "Node",
    "SubsetTest",
    "Target",
    "Term",
    "Test",
    "ThresholdTest",
    "Tree",
    "midpoints",
    "threshold_above",
    "tidy",
    "tree_from_json",
    "tree_text",
    "tree_to_json",
]
