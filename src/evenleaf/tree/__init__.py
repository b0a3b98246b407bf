"""The answer: immutable trees, their words, their JSON."""

from evenleaf.tree.compact import columns_of, compact, path_to
from evenleaf.tree.dot import tree_dot
from evenleaf.tree.export import tree_from_json, tree_to_json
from evenleaf.tree.onnx import tree_onnx
from evenleaf.tree.python import tree_python
from evenleaf.tree.questions import LinearTest, SubsetTest, Term, Test, ThresholdTest
from evenleaf.tree.rules import explain, rules
from evenleaf.tree.sql import select_sql, tree_sql
from evenleaf.tree.svg import tree_svg
from evenleaf.tree.text import tree_text
from evenleaf.tree.thresholds import midpoints, threshold_above, threshold_between
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
    "columns_of",
    "compact",
    "explain",
    "midpoints",
    "path_to",
    "rules",
    "select_sql",
    "threshold_above",
    "threshold_between",
    "tidy",
    "tree_dot",
    "tree_from_json",
    "tree_onnx",
    "tree_python",
    "tree_sql",
    "tree_svg",
    "tree_text",
    "tree_to_json",
]
