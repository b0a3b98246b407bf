"""Trees as JSON: what is written is read back, and what strangers write is refused in plain words."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.table import Column, Kind, People, Schema
from evenleaf.testing.strategies import peoples, trees
from evenleaf.tree import (
    Branch,
    Leaf,
    LinearTest,
    Node,
    SubsetTest,
    Target,
    Term,
    ThresholdTest,
    Tree,
    tree_from_json,
    tree_to_json,
)

SCHEMA = Schema((Column("age", Kind.QUANTITATIVE), Column("job", Kind.CATEGORICAL, ("cook", "judge"), True)))
TREE = Tree(
    SCHEMA,
    Target("hired", ("no", "yes")),
    (
        Branch(ThresholdTest(0, 40.5, False), 1, 4),
        Branch(SubsetTest(1, (1,)), 2, 3),
        Leaf(0),
        Leaf(1),
        Branch(LinearTest((Term(0, 0.5, fill=3.0), Term(1, -1.0, level=0)), 2.0), 5, 6),
        Leaf(1),
        Leaf(0),
    ),
)
LINEAR = Tree(SCHEMA, Target("pay", None, -1.0, 2.0), (Leaf(0.5, (Term(0, 0.25, fill=1.0), Term(1, 1.0, level=1))),))


def through_text(tree: Tree) -> Tree:
    return tree_from_json(json.loads(json.dumps(tree_to_json(tree), allow_nan=False)))


@pytest.mark.parametrize("tree", [TREE, LINEAR, Tree(Schema(()), Target("y", (0, 1)), (Leaf(1),))])
def test_what_is_written_is_read_back(tree: Tree) -> None:
    assert through_text(tree) == tree


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_any_tree_is_read_back(data: st.DataObject) -> None:
    people: People = data.draw(peoples() | peoples(task="regression"))
    tree = data.draw(trees(people, linear=True))
    assert through_text(tree) == tree


@pytest.mark.parametrize("labels", [(False, True), (0, 1), ("0", "1"), (0.5, 1.5), (2, "b")])
def test_labels_keep_their_type(labels: tuple[Any, ...]) -> None:
    back = through_text(Tree(SCHEMA, Target("y", labels), (Leaf(0),)))
    assert [type(label) for label in back.target.classes or ()] == [type(label) for label in labels]


def test_numbers_keep_every_digit() -> None:
    tree = Tree(SCHEMA, Target("y", (0, 1)), (Branch(ThresholdTest(0, 0.1 + 0.2), 1, 2), Leaf(0), Leaf(1)))
    assert through_text(tree).nodes[0] == tree.nodes[0]


def test_numpy_numbers_in_a_tree_are_written_as_plain_ones() -> None:
    one: Any = np.int64(1)
    true: Any = np.bool_(True)
    nodes: tuple[Node, ...] = (
        Branch(SubsetTest(one, (one,), true), one, 2 * one),
        Branch(ThresholdTest(0 * one, np.float64(2.5), true), 3 * one, 4 * one),
        Branch(LinearTest((Term(one, np.float64(1), 0 * one),), np.float64(2)), 5 * one, 6 * one),
        *(Leaf(np.float64(value)) for value in (0, 1, 1, 0)),
    )
    tree = Tree(SCHEMA, Target("y", ("a", "b")), nodes)
    assert through_text(tree) == tree


def test_a_newer_version_says_upgrade() -> None:
    with pytest.raises(InputError, match="version 2: it was written by a newer Evenleaf; upgrade"):
        tree_from_json({**tree_to_json(TREE), "version": 2})


@pytest.mark.parametrize("version", [0, "1", None, True, 1.5])
def test_an_unknown_version(version: object) -> None:
    with pytest.raises(InputError, match="the version is unknown"):
        tree_from_json({**tree_to_json(TREE), "version": version})


@pytest.mark.parametrize("data", [None, [], "tree", 3, {}, {"format": "other"}, {"format": ["evenleaf-tree"]}])
def test_something_else_altogether(data: object) -> None:
    with pytest.raises(InputError, match=r"a tree must be a JSON object|not an Evenleaf tree"):
        tree_from_json(data)


DELETED = object()
BAD: list[tuple[list[Any], Any, str]] = [
    (["schema"], DELETED, "a schema must be a list"),
    (["schema", 0, "kind"], "colour", "the kind must be"),
    (["target"], DELETED, "the tree's target must be a JSON object"),
    (["target", "name"], 3, "target needs a name"),
    (["target", "name"], "\ud800", "target needs a name that is valid text"),
    (["target", "classes"], [], "list of texts or finite numbers"),
    (["target", "classes"], {"no": 0, "yes": 1}, "list of texts or finite numbers"),
    (["target", "classes"], ["no", None], "list of texts or finite numbers"),
    (["target", "classes"], [["no"], "yes"], "list of texts or finite numbers"),
    (["target", "classes"], [0.0, float("nan")], "list of texts or finite numbers"),
    (["target", "classes"], ["no", "\udfff"], "list of texts or finite numbers"),
    (["target", "classes"], ["no", "no"], "lists a class twice"),
    (["target", "classes"], ["no"], "decides class 1.0, but there are 1"),
    (["target", "classes"], DELETED, "'low' must be a number, not None"),
    (["nodes"], DELETED, "'nodes' must be a list"),
    (["nodes"], {}, "'nodes' must be a list"),
    (["nodes"], [], "at least one node"),
    (["nodes"], [{"value": 0}] * 65537, "at most 65,536 nodes"),
    (["nodes", 0], "leaf", "a node must be a JSON object"),
    (["nodes", 0, "left"], 0, "leads to node 0"),
    (["nodes", 0, "left"], 99, "leads to node 99"),
    (["nodes", 0, "left"], 10**30, "leads to node 10"),
    (["nodes", 0, "left"], True, "'left' must be a whole number, not True"),
    (["nodes", 0, "left"], 1.0, "'left' must be a whole number, not 1.0"),
    (["nodes", 0, "left"], DELETED, "'left' must be a whole number, not None"),
    (["nodes", 0, "right"], 1, "reached exactly once"),
    (["nodes", 0, "test"], [], "a test must be a JSON object"),
    (["nodes", 0, "test", "column"], 7, "looks at column 7"),
    (["nodes", 0, "test", "column"], 1, "'job' is categorical"),
    (["nodes", 0, "test", "threshold"], "40", "'threshold' must be a number, not '40'"),
    (["nodes", 0, "test", "threshold"], float("inf"), "must be a finite number"),
    (["nodes", 0, "test", "threshold"], float("nan"), "must be a finite number"),
    (["nodes", 0, "test", "threshold"], 10**400, "'threshold' is too large a number"),
    (["nodes", 0, "test", "missing_left"], DELETED, "where the missing go"),
    (["nodes", 0, "test", "missing_left"], 1, "where the missing go"),
    (["nodes", 1, "test", "levels"], "judge", "list of whole numbers"),
    (["nodes", 1, "test", "levels"], [True], "list of whole numbers"),
    (["nodes", 1, "test", "levels"], [False], "list of whole numbers"),
    (["nodes", 1, "test", "levels"], [0.0], "list of whole numbers"),
    (["nodes", 1, "test", "levels"], [2], "names a level that the column does not have"),
    (["nodes", 1, "test", "levels"], [-1], "names a level that the column does not have"),
    (["nodes", 1, "test", "levels"], [1, 1], "names a level twice"),
    (["nodes", 2, "value"], 2, "decides class 2.0"),
    (["nodes", 2, "value"], None, "'value' must be a number, not None"),
    (["nodes", 2, "value"], "x" * 9999, "'value' must be a number"),
    (["nodes", 2, "terms"], [{"column": 0, "coefficient": 1, "fill": 0}], "cannot hold a linear rule"),
    (["nodes", 4, "test", "terms"], {}, "terms of a linear rule must be a list"),
    (["nodes", 4, "test", "terms", 0], None, "a term must be a JSON object"),
    (["nodes", 4, "test", "terms", 0, "coefficient"], DELETED, "'coefficient' must be a number"),
    (["nodes", 4, "test", "terms", 0, "level"], 1, "'age' as the wrong kind"),
    (["nodes", 4, "test", "terms", 1, "level"], 2, "'job' as the wrong kind"),
    (["nodes", 4, "test", "terms", 1, "level"], DELETED, "'job' as the wrong kind"),
]


@pytest.mark.parametrize(("path", "value", "message"), BAD, ids=[f"{path}-{m}" for path, _, m in BAD])
def test_malformed_trees_are_refused(path: list[Any], value: Any, message: str) -> None:
    data: Any = copy.deepcopy(tree_to_json(TREE))
    place = data
    for step in path[:-1]:
        place = place[step]
    if value is DELETED:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    with pytest.raises(InputError, match=message) as caught:
        tree_from_json(data)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(("low", "high"), [(2, 1), (float("nan"), 1), (0, float("inf"))])
def test_a_range_that_is_none(low: float, high: float) -> None:
    with pytest.raises(InputError, match="'pay' must lie between two finite numbers"):
        tree_from_json({**tree_to_json(LINEAR), "target": {"name": "pay", "low": low, "high": high}})


def chain(length: int) -> dict[str, Any]:
    nodes: list[dict[str, Any]] = []
    test = {"column": 0, "threshold": 1.0, "missing_left": True}
    for place in range(0, 2 * length, 2):
        nodes += [{"test": test, "left": place + 1, "right": place + 2}, {"value": 0}]
    return {**tree_to_json(TREE), "nodes": [*nodes, {"value": 1}]}


def test_a_bottomless_tree_is_refused_and_a_deep_one_can_be_printed() -> None:
    with pytest.raises(InputError, match="5000 tests deep; at most 256"):
        tree_from_json(chain(5000))
    assert str(tree_from_json(chain(256))).count("yes:") == 256


@settings(deadline=None, max_examples=200)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["schema", "target", "nodes", "version", "format"]),
)
def test_rubbish_is_an_input_error_or_a_tree(rubbish: Any, key: str) -> None:
    data = {**tree_to_json(TREE), key: rubbish}
    with suppress(InputError):
        assert through_text(tree_from_json(data)) == tree_from_json(data)
