"""A tree as a Python function that needs no package at all."""

from __future__ import annotations

from textwrap import indent

from evenleaf.tree.questions import NO_LEVEL, LinearTest, SubsetTest, Term, Test
from evenleaf.tree.text import tree_text
from evenleaf.tree.tree import Leaf, Tree

_NUMBER = '''
def _number(row, name):
    """The number of a column, None where it is missing."""
    value = row.get(name)
    return None if value is None or value != value else float(value)
'''
_FILLED = '''
def _filled(row, name, fill):
    """The number of a column, or what stands for it where it is missing."""
    value = _number(row, name)
    return fill if value is None else value
'''
_LEVEL = '''
def _level(row, name):
    """The level of a column as a text, None where it is missing; a whole number has one spelling."""
    value = row.get(name)
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2**53:
        value = int(value)
    return str(value)
'''


def tree_python(tree: Tree, name: str = "predict") -> str:
    """The source of a module with one function that decides a row: a dict, or anything else with `get`.

    None, NaN and an absent column are missing; a level that the tree does not know goes where the missing go.
    """
    if not name.isidentifier():
        raise ValueError(f"{name!r} cannot be the name of a function")
    body = "\n".join(_node(tree, 0))
    words = tree_text(tree).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    doc = f'"""Decide a row (a dict of columns).\n\n{words}\n"""'
    needed = [
        _NUMBER if "_number(" in body or "_filled(" in body else "",
        _FILLED if "_filled(" in body else "",
        _LEVEL if "_level(" in body else "",
    ]
    helpers = "\n".join(filter(None, needed))
    parts = [f"def {name}(row):", indent(doc, "    "), indent(body, "    ")]
    return (helpers.lstrip("\n") + "\n\n" if helpers else "") + "\n".join(parts) + "\n"


def _node(tree: Tree, position: int) -> list[str]:
    node = tree.nodes[position]
    if isinstance(node, Leaf):
        return [f"return {_decision(tree, node)}"]
    setup, condition = _question(tree, node.test)
    return [
        *setup,
        f"if {condition}:",
        *(f"    {line}" for line in _node(tree, node.left)),
        *_node(tree, node.right),
    ]


def _question(tree: Tree, test: Test) -> tuple[list[str], str]:
    """The lines before the test, and the test that holds on the left."""
    if isinstance(test, LinearTest):
        return [], f"{_sum(tree, test.terms)} <= {test.threshold!r}"
    column = tree.schema[test.column]
    if isinstance(test, SubsetTest):
        chosen = [level for code, level in enumerate(column.levels) if (code in test.left) != test.missing_left]
        member = f"_level(row, {column.name!r}) {'not in' if test.missing_left else 'in'} {_set(chosen)}"
        return [], member
    setup = [f"value = _number(row, {column.name!r})"]
    if test.missing_left:
        return setup, f"value is None or value <= {float(test.threshold)!r}"
    return setup, f"value is not None and value <= {float(test.threshold)!r}"


def _set(levels: list[str]) -> str:
    """A set of texts; `{}` would be a dict."""
    return "{" + ", ".join(map(repr, levels)) + "}" if levels else "()"


def _decision(tree: Tree, leaf: Leaf) -> str:
    target = tree.target
    if target.classes is not None:
        return repr(target.classes[int(leaf.value)])
    if not leaf.terms:
        return repr(float(min(max(leaf.value, target.low), target.high)))
    return f"min(max({float(leaf.value)!r} + ({_sum(tree, leaf.terms)}), {target.low!r}), {target.high!r})"


def _sum(tree: Tree, terms: tuple[Term, ...]) -> str:
    """Added in the same order as everywhere else, so that the rounding is the same too."""
    return " + ".join(["0.0", *(_term(tree, term) for term in terms)])


def _term(tree: Tree, term: Term) -> str:
    column = tree.schema[term.column]
    if term.level != NO_LEVEL:
        return f"{float(term.coefficient)!r} * (_level(row, {column.name!r}) == {column.levels[term.level]!r})"
    return f"{float(term.coefficient)!r} * _filled(row, {column.name!r}, {float(term.fill)!r})"
