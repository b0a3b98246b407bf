"""A tree in words, for terminals and logs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

from evenleaf.table import Schema
from evenleaf.tree.questions import NO_LEVEL, LinearTest, SubsetTest, Term, Test
from evenleaf.tree.tree import Branch, Leaf, Target, Tree

Note = Callable[[int], str]
_LONGEST = 60
# A reader applies the printed threshold by hand, so it must not be rounded past a neighbouring value.
_THRESHOLD_DIGITS = 10


def tree_text(tree: Tree, note: Note | None = None) -> str:
    """The tree as indented questions and answers; `note` may add a remark (say, head counts) to each node."""
    lines: list[str] = []
    _write(tree, 0, "", "", lines, note or (lambda _: ""))
    return "\n".join(lines)


def question_text(test: Test, schema: Schema) -> str:
    """A test as the statement that holds on the left ("yes") side."""
    if isinstance(test, LinearTest):
        return f"{sum_text(test.terms, schema)} ≤ {threshold_text(test.threshold)}"
    column = schema[test.column]
    if not isinstance(test, SubsetTest):
        return f"{column.name} ≤ {threshold_text(test.threshold)}"
    left = [column.levels[level] for level in test.left]
    right = [level for code, level in enumerate(column.levels) if code not in test.left]
    if not right:
        return f"{column.name} is known"
    if not left:
        return f"{column.name} is {'missing' if test.missing_left else 'none of its levels'}"
    if len(right) < len(left):
        return f"{column.name} is not {_listed(right)}"
    return f"{column.name} is {_listed(left)}"


def leaf_text(leaf: Leaf, target: Target, schema: Schema) -> str:
    """A decision, in words."""
    if target.classes is not None:
        return f"{target.name} = {target.classes[int(leaf.value)]}"
    if not leaf.terms:
        return f"{target.name} = {number_text(leaf.value)}"
    return f"{target.name} = {number_text(leaf.value)} {sum_text(leaf.terms, schema, leading=True)}"


def number_text(value: float, digits: int = 6) -> str:
    """So many significant digits, without a trailing .0."""
    return f"{value:.{digits}g}"


def threshold_text(value: float) -> str:
    """A threshold with the digits that a reader needs to apply it by hand."""
    return number_text(value, _THRESHOLD_DIGITS)


def missing_text(test: Test, schema: Schema) -> str:
    """Where the missing go, said only of columns in which someone was missing."""
    if isinstance(test, LinearTest) or not schema[test.column].has_missing:
        return ""
    return f" (missing: {'yes' if test.missing_left else 'no'})"


def _write(tree: Tree, position: int, head: str, indent: str, lines: list[str], note: Note) -> None:
    node = tree.nodes[position]
    remark = note(position)
    remark = f"   [{remark}]" if remark else ""
    if not isinstance(node, Branch):
        lines.append(f"{head}{leaf_text(node, tree.target, tree.schema)}{remark}")
        return
    question = question_text(node.test, tree.schema) + missing_text(node.test, tree.schema)
    lines.append(f"{head}{question}?{remark}")
    _write(tree, node.left, f"{indent}├─ yes: ", f"{indent}│  ", lines, note)
    _write(tree, node.right, f"{indent}└─ no:  ", f"{indent}   ", lines, note)


def _listed(levels: list[str]) -> str:
    if len(levels) == 1:
        return levels[0]
    text = ", ".join(levels)
    if len(text) > _LONGEST:
        # Counted by length: a level may hold a comma itself.
        ends = accumulate(len(level) + len(", ") for level in levels)
        shown = max(1, sum(end - len(", ") <= _LONGEST for end in ends))
        text = ", ".join(levels[:shown]) + f", … ({len(levels) - shown} more)"
    return f"one of {{{text}}}"


def sum_text(terms: tuple[Term, ...], schema: Schema, *, leading: bool = False) -> str:
    """A weighted sum of columns and levels, in words."""
    parts = []
    for term in terms:
        column = schema[term.column]
        factor = column.name if term.level == NO_LEVEL else f"[{column.name} is {column.levels[term.level]}]"
        sign = "−" if term.coefficient < 0 else "+"
        parts.append(f"{sign} {number_text(abs(term.coefficient))}·{factor}")
    text = " ".join(parts) or "0"
    if leading:
        return text
    return "−" + text.removeprefix("− ") if text.startswith("− ") else text.removeprefix("+ ")
