"""A tree in Graphviz's language."""

from __future__ import annotations

from collections.abc import Callable

from evenleaf.tree.text import leaf_text, missing_text, question_text
from evenleaf.tree.tree import Branch, Tree

Note = Callable[[int], str]


def tree_dot(tree: Tree, note: Note | None = None) -> str:
    """The tree as a directed graph for `dot`; `note` may add a line (say, head counts) to each node."""
    remark = note or (lambda _: "")
    lines = ["digraph tree {", '  node [shape=box, style=rounded, fontname="Helvetica"];']
    for position, node in enumerate(tree.nodes):
        if isinstance(node, Branch):
            text = question_text(node.test, tree.schema) + missing_text(node.test, tree.schema) + "?"
        else:
            text = leaf_text(node, tree.target, tree.schema)
        lines.append(f"  {position} [label={_quoted(text, remark(position))}];")
        if isinstance(node, Branch):
            lines.append(f'  {position} -> {node.left} [label="yes"];')
            lines.append(f'  {position} -> {node.right} [label="no"];')
    return "\n".join([*lines, "}"])


def _quoted(text: str, remark: str) -> str:
    """A label: a backslash or a quote of the data stays one, and only our own line break is one."""
    parts = [part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") for part in (text, remark) if part]
    return '"' + "\\n".join(parts) + '"'
