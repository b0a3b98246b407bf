"""Tidying: one spelling, the same decisions in training, nothing needless."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.table import People
from evenleaf.testing import people_from
from evenleaf.testing.strategies import peoples, trees
from evenleaf.tree import Branch, Leaf, LinearTest, Node, SubsetTest, Target, Term, ThresholdTest, Tree, tidy


def tree_for(people: People, *nodes: Node) -> Tree:
    return Tree(people.features.schema, Target.of(people.outcome), nodes)


def tidied(people: People, *nodes: Node) -> tuple[Node, ...]:
    return tidy(tree_for(people, *nodes), people.features, people.weight).nodes


def stump(test: Any) -> tuple[Node, ...]:
    return Branch(test, 1, 2), Leaf(0), Leaf(1)


@st.composite
def people_and_trees(draw: st.DrawFn, linear: bool) -> tuple[People, Tree]:
    people = draw(peoples(max_people=10) | peoples(task="regression", max_people=10))
    return people, draw(trees(people, linear=linear))


class TestForAnyTree:
    @settings(deadline=None, max_examples=200)
    @given(people_and_trees(linear=True))
    def test_decisions_in_training_stay(self, given_: tuple[People, Tree]) -> None:
        people, tree = given_
        neat = tidy(tree, people.features, people.weight)
        assert neat.decide(people.features).tolist() == tree.decide(people.features).tolist()

    @settings(deadline=None, max_examples=200)
    @given(people_and_trees(linear=True))
    def test_twice_is_once(self, given_: tuple[People, Tree]) -> None:
        people, tree = given_
        once = tidy(tree, people.features, people.weight)
        assert tidy(once, people.features, people.weight) == once

    @settings(deadline=None, max_examples=200)
    @given(people_and_trees(linear=True))
    def test_it_only_ever_shrinks_and_leaves_nobody_out(self, given_: tuple[People, Tree]) -> None:
        people, tree = given_
        neat = tidy(tree, people.features, people.weight)
        assert neat.n_leaves <= tree.n_leaves
        assert neat.depth <= tree.depth
        assert all(neat.feature_uses[column] <= tree.feature_uses[column] for column in neat.feature_uses)
        reached = set(neat.apply(people.features).tolist())
        assert reached == {number for number, node in enumerate(neat.nodes) if isinstance(node, Leaf)}
        for node in neat.nodes:
            if isinstance(node, Branch):
                sides = neat.nodes[node.left], neat.nodes[node.right]
                assert sides[0] != sides[1] or isinstance(sides[0], Branch)

    @settings(deadline=None, max_examples=150)
    @given(people_and_trees(linear=False), st.data())
    def test_trees_that_part_people_alike_are_spelled_alike(
        self, given_: tuple[People, Tree], data: st.DataObject
    ) -> None:
        people, tree = given_
        other = tree_for(people, *(data.draw(respelled(node, people)) for node in tree.nodes))
        assert tidy(other, people.features, people.weight) == tidy(tree, people.features, people.weight)


@st.composite
def respelled(draw: st.DrawFn, node: Node, people: People) -> Node:
    """The same node in other words: a subset by its complement, a threshold elsewhere between the same values."""
    if isinstance(node, Leaf):
        return node
    test = node.test
    values = people.features.data[test.columns[0]]
    if isinstance(test, SubsetTest) and draw(st.booleans()):
        levels = range(len(people.features.schema[test.column].levels))
        others = tuple(level for level in levels if level not in test.left)
        return Branch(SubsetTest(test.column, others, not test.missing_left), node.right, node.left)
    if isinstance(test, ThresholdTest):
        below = values[values <= test.threshold]
        lowest = below.max() if below.size else test.threshold
        return Branch(ThresholdTest(test.column, float(lowest), test.missing_left), node.left, node.right)
    return node


class TestByHand:
    def test_a_test_that_everybody_passes_goes(self) -> None:
        people = people_from({"x": [1, 2]}, [0, 1])
        assert tidied(people, *stump(ThresholdTest(0, 9.0))) == (Leaf(0),)
        assert tidied(people, *stump(ThresholdTest(0, 0.0))) == (Leaf(1),)

    def test_equal_leaves_merge_from_the_bottom_up(self) -> None:
        people = people_from({"x": [1, 2, 3, 4]}, [0, 1, 0, 1])
        low, high = ThresholdTest(0, 1.5), ThresholdTest(0, 3.5)
        branches = Branch(ThresholdTest(0, 2.5), 1, 2), Branch(low, 3, 4), Branch(high, 5, 6)
        assert tidied(people, *branches, *[Leaf(1)] * 4) == (Leaf(1),)

    def test_a_threshold_becomes_the_lowest_midpoint_of_the_table(self) -> None:
        people = people_from({"x": [1, 2, 3, 5], "z": [0, 1, 1, 0]}, [0, 1, 0, 1])
        # At the root 4.2 parts 3 from 5. On the right of z only 1 and 5 remain, and 1.5 comes before 4.
        assert tidied(people, *stump(ThresholdTest(0, 4.2)))[0] == Branch(ThresholdTest(0, 4.0, True), 1, 2)
        nodes = (Branch(ThresholdTest(1, 0.5), 1, 2), Branch(ThresholdTest(0, 4.2), 3, 4), Leaf(0), Leaf(0), Leaf(1))
        assert ThresholdTest(0, 1.5, True) in {node.test for node in tidied(people, *nodes) if isinstance(node, Branch)}

    def test_known_against_missing_names_the_known(self) -> None:
        people = people_from({"x": [1, 2, None]}, [0, 0, 1])
        flipped = (Branch(ThresholdTest(0, 0.0, missing_left=True), 1, 2), Leaf(1), Leaf(0))
        neat = (Branch(ThresholdTest(0, 2.0, missing_left=False), 1, 2), Leaf(0), Leaf(1))
        assert tidied(people, *flipped) == neat
        assert tidied(people, *neat) == neat

    @pytest.mark.parametrize(("weight", "side"), [([5, 1, 1], True), ([1, 1, 5], False), ([1, 1, 2], True)])
    def test_the_missing_follow_the_heavier_side_where_nobody_is_missing(self, weight: list[float], side: bool) -> None:
        people = people_from({"x": [1, 2, 3], "c": list("ppq")}, [0, 0, 1], weight=weight)
        for given_side in (True, False):
            (branch, *_) = tidied(people, *stump(ThresholdTest(0, 2.5, given_side)))
            assert branch == Branch(ThresholdTest(0, 2.5, side), 1, 2)
            (branch, *_) = tidied(people, *stump(SubsetTest(1, (0,), given_side)))
            assert branch == Branch(SubsetTest(1, (0,), side), 1, 2)

    def test_a_tie_in_weight_survives_a_change_of_sides(self) -> None:
        people = people_from({"c": list("ppqq")}, [0, 0, 1, 1])
        once = tidied(people, *stump(SubsetTest(0, (1,), False)))
        assert once == (Branch(SubsetTest(0, (0,), True), 1, 2), Leaf(1), Leaf(0))
        assert tidied(people, *once) == once

    def test_where_somebody_is_missing_the_test_decides(self) -> None:
        people = people_from({"x": [1, 2, 3, None]}, [0, 0, 0, 1], weight=[9, 9, 1, 1])
        (branch, *_) = tidied(people, *stump(ThresholdTest(0, 2.5, missing_left=False)))
        assert branch == Branch(ThresholdTest(0, 2.5, missing_left=False), 1, 2)

    def test_levels_that_nobody_at_the_node_has_go_with_the_missing(self) -> None:
        people = people_from({"c": ["p", "q", "r", "s", None]}, [0, 1, 0, 0, 1])
        few = people.take(np.array([0, 1, 4]))
        nodes = stump(SubsetTest(0, (0, 2), missing_left=False))
        assert tidied(few, *nodes)[0] == Branch(SubsetTest(0, (0,), False), 1, 2)
        nodes = stump(SubsetTest(0, (0,), missing_left=True))
        assert tidied(few, *nodes)[0] == Branch(SubsetTest(0, (0, 2, 3), True), 1, 2)

    def test_the_first_level_present_goes_left(self) -> None:
        people = people_from({"c": ["p", "q", "r", None]}, [0, 1, 0, 1])
        flipped = (Branch(SubsetTest(0, (1,), missing_left=True), 1, 2), Leaf(1), Leaf(0))
        assert tidied(people, *flipped) == (Branch(SubsetTest(0, (0, 2), False), 1, 2), Leaf(0), Leaf(1))

    def test_numbers_are_said_as_they_are_decided(self) -> None:
        people = people_from({"x": [1, 2]}, [3.0, 4.0], task="regression")
        neat = tidied(people, Branch(ThresholdTest(0, 1.5), 1, 2), Leaf(-8.0), Leaf(9.0))
        assert neat[1:] == (Leaf(3.0), Leaf(4.0))
        assert tidied(people, Branch(ThresholdTest(0, 1.5), 1, 2), Leaf(8.0), Leaf(9.0)) == (Leaf(4.0),)

    def test_linear_tests_and_leaves_keep_their_words(self) -> None:
        people = people_from({"x": [1, 2]}, [3.0, 4.0], task="regression")
        nodes = (Branch(LinearTest((Term(0, -1.0),), -1.2), 1, 2), Leaf(9.0, (Term(0, 1.0),)), Leaf(3.5))
        assert tidied(people, *nodes) == nodes

    def test_a_person_without_weight_is_a_person(self) -> None:
        people = people_from({"x": [1, 2]}, [0, 1], weight=[1, 0])
        assert len(tidied(people, *stump(ThresholdTest(0, 1.5)))) == 3

    def test_nobody_at_all(self) -> None:
        people = people_from({"x": [1, 2]}, [0, 1])
        nobody = people.features.take(np.array([], dtype=int))
        assert tidy(tree_for(people, *stump(ThresholdTest(0, 1.5))), nobody, np.array([])).n_leaves == 1
