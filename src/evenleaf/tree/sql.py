"""A tree as one SQL expression, for the database in which the people already are."""

from __future__ import annotations

from evenleaf.table import Label
from evenleaf.tree.questions import NO_LEVEL, LinearTest, SubsetTest, Term
from evenleaf.tree.tree import Branch, Leaf, Tree


def tree_sql(tree: Tree) -> str:
    """A CASE expression over the columns of the table that says what the tree decides, in standard SQL.

    NULL is missing; a level that the tree does not know goes where the missing go. A categorical column may hold
    texts, or the numbers that its levels are the texts of.
    """
    return _node(tree, 0, 1)


def select_sql(tree: Tree, table: str) -> str:
    """A whole query: every column of a table and beside them the decision, under the name of the target."""
    return f"SELECT *,\n{tree_sql(tree)} AS {_name('decided ' + tree.target.name)}\nFROM {_name(table)}"


def _node(tree: Tree, position: int, depth: int) -> str:
    node = tree.nodes[position]
    indent = "  " * depth
    if isinstance(node, Leaf):
        return indent + _decision(tree, node)
    left, right = (_node(tree, child, depth + 1) for child in (node.left, node.right))
    condition, holds, otherwise = _question(tree, node, left, right)
    if condition is None:
        return otherwise
    return f"{indent}CASE WHEN {condition} THEN\n{holds}\n{indent}ELSE\n{otherwise}\n{indent}END"


def _question(tree: Tree, node: Branch, left: str, right: str) -> tuple[str | None, str, str]:
    """A condition, what follows where it holds, and what follows otherwise: the missing are always otherwise."""
    test, schema = node.test, tree.schema
    if isinstance(test, LinearTest):
        return f"{_sum(tree, test.terms)} <= {_number(test.threshold)}", left, right
    column = _name(schema[test.column].name)
    if isinstance(test, SubsetTest):
        chosen = [
            level for code, level in enumerate(schema[test.column].levels) if (code in test.left) != test.missing_left
        ]
        condition = f"{column} IN ({', '.join(map(_text, chosen))})" if chosen else None
    else:
        condition = f"{column} {'>' if test.missing_left else '<='} {_number(test.threshold)}"
    return (condition, right, left) if test.missing_left else (condition, left, right)


def _decision(tree: Tree, leaf: Leaf) -> str:
    target = tree.target
    if target.classes is not None:
        return _label(target.classes[int(leaf.value)])
    if not leaf.terms:
        return _number(min(max(leaf.value, target.low), target.high))
    value = f"({_number(leaf.value)} + ({_sum(tree, leaf.terms)}))"
    low, high = _number(target.low), _number(target.high)
    return f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"


def _sum(tree: Tree, terms: tuple[Term, ...]) -> str:
    """Added in the same order as everywhere else, so that the rounding is the same too."""
    return " + ".join([_number(0.0), *(_term(tree, term) for term in terms)])


def _term(tree: Tree, term: Term) -> str:
    column = tree.schema[term.column]
    if term.level != NO_LEVEL:
        holds = f"{_name(column.name)} = {_text(column.levels[term.level])}"
        return f"{_number(term.coefficient)} * CASE WHEN {holds} THEN {_number(1.0)} ELSE {_number(0.0)} END"
    return f"{_number(term.coefficient)} * COALESCE({_name(column.name)}, {_number(term.fill)})"


def _number(value: float) -> str:
    """With an exponent it is a double everywhere; without one some databases would make it a decimal."""
    text = repr(float(value))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if value < 0 else text


def _label(label: Label) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, str):
        return _text(label)
    return str(label) if isinstance(label, int) else _number(label)


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
