"""Trees in words."""

from __future__ import annotations

import pytest

from evenleaf.table import Column, Kind, Schema
from evenleaf.tree import Branch, Leaf, LinearTest, SubsetTest, Target, Term, ThresholdTest, Tree, tree_text
from evenleaf.tree.text import leaf_text, missing_text, number_text, question_text

SCHEMA = Schema(
    (
        Column("age", Kind.QUANTITATIVE, has_missing=True),
        Column("job", Kind.CATEGORICAL, ("cook", "judge", "nurse")),
        Column("town", Kind.CATEGORICAL, tuple(f"town number {i}" for i in range(12)), has_missing=True),
    )
)
CLASSES = Target("hired", ("no", "yes"))
NUMBERS = Target("pay", None, 0.0, 10.0)


def test_a_whole_tree() -> None:
    nodes = (
        Branch(ThresholdTest(0, 40.5, missing_left=False), 1, 4),
        Branch(SubsetTest(1, (0, 2)), 2, 3),
        Leaf(1),
        Leaf(0),
        Leaf(1),
    )
    expected = """\
age ≤ 40.5 (missing: no)?
├─ yes: job is not judge?
│  ├─ yes: hired = yes
│  └─ no:  hired = no
└─ no:  hired = yes"""
    assert str(Tree(SCHEMA, CLASSES, nodes)) == expected


def test_remarks_stand_beside_the_nodes() -> None:
    tree = Tree(SCHEMA, CLASSES, (Branch(SubsetTest(1, (0,)), 1, 2), Leaf(1), Leaf(0)))
    people = {0: "10 people", 2: "3 people"}
    expected = """\
job is cook?   [10 people]
├─ yes: hired = yes
└─ no:  hired = no   [3 people]"""
    assert tree_text(tree, lambda node: people.get(node, "")) == expected


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (ThresholdTest(0, 3.0), "age ≤ 3"),
        (ThresholdTest(0, 0.15000000000000002), "age ≤ 0.15"),
        (ThresholdTest(0, 1234567.5), "age ≤ 1234567.5"),
        (SubsetTest(1, (1,)), "job is judge"),
        (SubsetTest(1, (0, 1)), "job is not nurse"),
        (SubsetTest(2, (0, 5, 7)), "town is one of {town number 0, town number 5, town number 7}"),
        (
            SubsetTest(2, (0, 1, 2, 3, 4, 5)),
            "town is one of {town number 0, town number 1, town number 2, town number 3, … (2 more)}",
        ),
        (SubsetTest(1, (0, 1, 2), missing_left=False), "job is known"),
        (SubsetTest(1, (), missing_left=True), "job is missing"),
        (SubsetTest(1, (), missing_left=False), "job is none of its levels"),
        (LinearTest((Term(0, 2.0), Term(1, -1.5, level=1)), 3.0), "2·age − 1.5·[job is judge] ≤ 3"),
        (LinearTest((Term(0, -2.0), Term(1, 1.5, level=1)), -3.0), "−2·age + 1.5·[job is judge] ≤ -3"),
        (LinearTest((), 0.0), "0 ≤ 0"),
    ],
)
def test_questions(test: ThresholdTest | SubsetTest | LinearTest, words: str) -> None:
    assert question_text(test, SCHEMA) == words


def test_long_levels_with_commas_are_counted_right() -> None:
    levels = tuple(f"{letter}, {letter}, {letter}, and so on for quite a while" for letter in "abcdef")
    schema = Schema((Column("job", Kind.CATEGORICAL, levels),))
    words = question_text(SubsetTest(0, (0, 1, 2)), schema)
    assert words == "job is one of {a, a, a, and so on for quite a while, … (2 more)}"


def test_where_the_missing_go_is_said_only_where_somebody_was_missing() -> None:
    assert missing_text(ThresholdTest(0, 1.0, missing_left=True), SCHEMA) == " (missing: yes)"
    assert missing_text(SubsetTest(2, (1,), missing_left=False), SCHEMA) == " (missing: no)"
    assert missing_text(SubsetTest(1, (1,)), SCHEMA) == ""
    assert missing_text(LinearTest((Term(0, 1.0),), 1.0), SCHEMA) == ""


def test_leaves() -> None:
    assert leaf_text(Leaf(1), CLASSES, SCHEMA) == "hired = yes"
    assert leaf_text(Leaf(2.5), NUMBERS, SCHEMA) == "pay = 2.5"
    linear = Leaf(2.5, (Term(0, -0.125), Term(1, 3.0, level=0)))
    assert leaf_text(linear, NUMBERS, SCHEMA) == "pay = 2.5 − 0.125·age + 3·[job is cook]"


def test_numbers() -> None:
    assert [number_text(value) for value in (3.0, 1 / 3, -2.5, 0.0)] == ["3", "0.333333", "-2.5", "0"]
