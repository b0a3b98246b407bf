"""Trees as JSON: versioned, flat, and checked on reading, because model files come from strangers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from reprlib import repr as short
from typing import Any

from evenleaf.errors import InputError
from evenleaf.table import Schema
from evenleaf.tree.questions import NO_LEVEL, LinearTest, SubsetTest, Term, Test, ThresholdTest
from evenleaf.tree.tree import Branch, Leaf, Node, Target, Tree

FORMAT = "evenleaf-tree"
VERSION = 1
_MOST_NODES = 1 << 16
# Far deeper than anybody reads, and shallow enough for every walk over a tree.
_DEEPEST = 256


def tree_to_json(tree: Tree) -> dict[str, Any]:
    """Plain lists and dicts, ready for `json.dumps`."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "schema": tree.schema.to_json(),
        "target": _target_to_json(tree.target),
        "nodes": [_node_to_json(node) for node in tree.nodes],
    }


def tree_from_json(data: object) -> Tree:
    """Read back what `tree_to_json` wrote; anything else is an `InputError` that says what is wrong."""
    entry = _object(data, "a tree")
    if entry.get("format") != FORMAT:
        raise InputError("this is not an Evenleaf tree: its 'format' entry is missing or different")
    version = entry.get("version")
    if isinstance(version, bool) or version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        hint = "it was written by a newer Evenleaf; upgrade to read it" if newer else "the version is unknown"
        raise InputError(f"this tree has the format version {version!r}: {hint}")
    nodes = entry.get("nodes")
    if not isinstance(nodes, list) or len(nodes) > _MOST_NODES:
        raise InputError("the tree's 'nodes' must be a list of at most 65,536 nodes")
    schema, target = Schema.from_json(entry.get("schema")), _target_from_json(entry.get("target"))
    tree = Tree(schema, target, tuple(_node_from_json(node) for node in nodes))
    if tree.depth > _DEEPEST:
        raise InputError(f"the tree is {tree.depth} tests deep; at most {_DEEPEST} can be read")
    return tree


def _target_to_json(target: Target) -> dict[str, Any]:
    if target.classes is not None:
        return {"name": target.name, "classes": list(target.classes)}
    return {"name": target.name, "low": target.low, "high": target.high}


def _target_from_json(data: object) -> Target:
    entry = _object(data, "the tree's target")
    name = entry.get("name")
    if not isinstance(name, str) or not _is_label(name):
        raise InputError("the tree's target needs a name that is valid text")
    if "classes" not in entry:
        return Target(name, None, _number(entry, "low"), _number(entry, "high"))
    classes = entry["classes"]
    if not isinstance(classes, list) or not classes or not all(map(_is_label, classes)):
        raise InputError("the classes of the tree's target must be a list of texts or finite numbers")
    if len(set(classes)) != len(classes):
        raise InputError("the tree's target lists a class twice")
    return Target(name, tuple(classes))


def _node_to_json(node: Node) -> dict[str, Any]:
    if isinstance(node, Leaf):
        linear = {"terms": [_term_to_json(term) for term in node.terms]} if node.terms else {}
        return {"value": float(node.value), **linear}
    return {"test": _test_to_json(node.test), "left": int(node.left), "right": int(node.right)}


def _node_from_json(data: object) -> Node:
    entry = _object(data, "a node")
    if "test" not in entry:
        return Leaf(_number(entry, "value"), _terms(entry))
    return Branch(_test_from_json(entry["test"]), _whole(entry, "left"), _whole(entry, "right"))


def _test_to_json(test: Test) -> dict[str, Any]:
    """Solvers may leave numpy's numbers in a test; JSON knows only Python's."""
    if isinstance(test, LinearTest):
        return {"terms": [_term_to_json(term) for term in test.terms], "threshold": float(test.threshold)}
    asked: dict[str, Any] = (
        {"threshold": float(test.threshold)}
        if isinstance(test, ThresholdTest)
        else {"levels": [int(level) for level in test.left]}
    )
    return {"column": int(test.column), **asked, "missing_left": bool(test.missing_left)}


def _test_from_json(data: object) -> Test:
    entry = _object(data, "a test")
    if "terms" in entry:
        return LinearTest(_terms(entry), _number(entry, "threshold"))
    column, missing_left = _whole(entry, "column"), entry.get("missing_left")
    if not isinstance(missing_left, bool):
        raise InputError("a test must say where the missing go: 'missing_left' true or false")
    if "levels" not in entry:
        return ThresholdTest(column, _number(entry, "threshold"), missing_left)
    levels = entry["levels"]
    if not isinstance(levels, list) or not all(map(_is_whole, levels)):
        raise InputError("the levels of a test must be a list of whole numbers")
    return SubsetTest(column, tuple(levels), missing_left)


def _term_to_json(term: Term) -> dict[str, Any]:
    level = {} if term.level == NO_LEVEL else {"level": int(term.level)}
    return {
        "column": int(term.column),
        "coefficient": float(term.coefficient),
        "fill": float(term.fill),
        **level,
    }


def _terms(entry: Mapping[str, Any]) -> tuple[Term, ...]:
    terms = entry.get("terms", [])
    if not isinstance(terms, list):
        raise InputError("the terms of a linear rule must be a list")
    return tuple(_term_from_json(term) for term in terms)


def _term_from_json(data: object) -> Term:
    entry = _object(data, "a term")
    level = _whole(entry, "level") if "level" in entry else NO_LEVEL
    return Term(_whole(entry, "column"), _number(entry, "coefficient"), level, _number(entry, "fill"))


def _object(data: object, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise InputError(f"{what} must be a JSON object")
    return data


def _number(entry: Mapping[str, Any], key: str) -> float:
    value = entry.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"the tree's entry {key!r} must be a number, not {short(value)}")
    try:
        return float(value)
    except OverflowError as error:
        raise InputError(f"the tree's entry {key!r} is too large a number") from error


def _whole(entry: Mapping[str, Any], key: str) -> int:
    value = entry.get(key)
    if not _is_whole(value):
        raise InputError(f"the tree's entry {key!r} must be a whole number, not {short(value)}")
    return int(value)  # type: ignore[arg-type]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_label(value: object) -> bool:
    """A text that can be printed, or a finite number; half of a surrogate pair and NaN are neither."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace") == value.encode("utf-8", "surrogatepass")
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
