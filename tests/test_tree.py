"""Trees: who goes where, what is decided, and which trees are refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from evenleaf.errors import InputError
from evenleaf.table import Column, Kind, Schema, Table, make_outcome
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
    midpoints,
    threshold_above,
)

SCHEMA = Schema(
    (
        Column("age", Kind.QUANTITATIVE, has_missing=True),
        Column("job", Kind.CATEGORICAL, ("cook", "judge", "nurse")),
    )
)
CLASSES = Target("hired", ("no", "yes", "later"))
NUMBERS = Target("pay", None, 0.0, 10.0)
NO_YES = Leaf(0), Leaf(1)
NAN = float("nan")


def table(ages: list[Any], jobs: list[Any]) -> Table:
    return Table.of({"age": np.array(ages, dtype=float), "job": jobs}, schema=SCHEMA)


def stump(test: Any, target: Target = CLASSES, leaves: tuple[Leaf, ...] = NO_YES) -> Tree:
    return Tree(SCHEMA, target, (Branch(test, 1, 2), *leaves))


def three_leaves() -> Tree:
    nodes: tuple[Node, ...] = (
        Branch(ThresholdTest(0, 40.0, missing_left=False), 3, 1),
        Branch(SubsetTest(1, (0, 2), missing_left=True), 2, 4),
        Leaf(1),
        Leaf(0),
        Leaf(2),
    )
    return Tree(SCHEMA, CLASSES, nodes)


class TestRouting:
    def test_at_most_the_threshold_goes_left(self) -> None:
        tree = stump(ThresholdTest(0, 40.0))
        assert tree.apply(table([39.9, 40.0, 40.1], ["cook"] * 3)).tolist() == [1, 1, 2]

    @pytest.mark.parametrize("side", [True, False])
    def test_a_missing_number_goes_where_the_test_says(self, side: bool) -> None:
        tree = stump(ThresholdTest(0, 40.0, missing_left=side))
        assert tree.apply(table([NAN, NAN], ["cook"] * 2)).tolist() == ([1, 1] if side else [2, 2])

    @pytest.mark.parametrize("side", [True, False])
    def test_a_missing_and_an_unseen_level_go_the_same_way(self, side: bool) -> None:
        people = table([1.0, 1.0, 1.0, 1.0], ["cook", "judge", None, "astronaut"])
        assert people.unseen == (0, 1)
        tree = stump(SubsetTest(1, (1,), missing_left=side))
        lost = 1 if side else 2
        assert tree.apply(people).tolist() == [2, 1, lost, lost]

    def test_an_empty_and_a_full_subset(self) -> None:
        people = table([1.0, 1.0], ["cook", None])
        assert stump(SubsetTest(1, (), missing_left=True)).apply(people).tolist() == [2, 1]
        assert stump(SubsetTest(1, (0, 1, 2), missing_left=False)).apply(people).tolist() == [1, 2]

    def test_nodes_may_stand_in_any_order_below_their_parents(self) -> None:
        people = table([30, 50, 50, NAN, 41], ["cook", "cook", "judge", "judge", None])
        assert three_leaves().apply(people).tolist() == [3, 2, 4, 4, 2]
        assert three_leaves().decide(people).tolist() == [0, 1, 2, 2, 1]

    def test_a_linear_test_reads_numbers_levels_and_fills(self) -> None:
        terms = (Term(0, 0.5, fill=10.0), Term(1, -2.0, level=2))
        tree = stump(LinearTest(terms, 3.0))
        # 0.5·age − 2·[nurse]: 3, 3.5, 1.5, and with the age filled in 5 and 3.
        people = table([6, 7, 7, NAN, NAN], ["cook", "cook", "nurse", None, "nurse"])
        assert tree.apply(people).tolist() == [1, 2, 1, 2, 1]

    def test_a_column_may_have_several_terms(self) -> None:
        test = LinearTest((Term(1, 1.0, level=0), Term(1, 1.0, level=1), Term(0, 0.0)), 0.5)
        assert test.columns == (0, 1)
        assert stump(test).apply(table([1, 1, 1], ["cook", "judge", "nurse"])).tolist() == [2, 2, 1]

    def test_nobody_is_decided_for_an_empty_table(self) -> None:
        nobody = table([], [])
        assert three_leaves().apply(nobody).shape == (0,)
        assert three_leaves().predict({"age": [], "job": []}).shape == (0,)


class TestDecisions:
    def test_class_labels_come_back_as_they_were(self) -> None:
        data = {"age": [30, 50, 50], "job": ["cook", "nurse", "judge"], "race": ["not", "looked", "at"]}
        assert three_leaves().predict(data).tolist() == ["no", "yes", "later"]

    @pytest.mark.parametrize("labels", [(1, "1"), (False, True), (0, 1.5), ("", "a"), (2**70, -1)])
    def test_labels_of_any_type(self, labels: tuple[Any, ...]) -> None:
        tree = stump(ThresholdTest(0, 1.0), Target("y", labels))
        answers = tree.predict({"age": [0, 2], "job": ["cook", "cook"]}).tolist()
        assert answers == list(labels)
        assert [isinstance(answer, str) for answer in answers] == [isinstance(label, str) for label in labels]

    def test_constant_numbers_stay_in_the_label_range(self) -> None:
        tree = stump(ThresholdTest(0, 1.0), NUMBERS, (Leaf(-3.0), Leaf(12.5)))
        assert tree.decide(table([0, 2], ["cook"] * 2)).tolist() == [0.0, 10.0]

    def test_linear_leaves_stay_in_the_label_range(self) -> None:
        linear = Leaf(1.0, (Term(0, 2.0, fill=-7.0), Term(1, 0.5, level=1)))
        tree = stump(SubsetTest(1, (2,), missing_left=False), NUMBERS, (Leaf(3.0), linear))
        people = table([2, 2, 9, NAN, -1, 2], ["cook", "judge", "cook", "judge", None, "nurse"])
        # 1 + 2·2; + 0.5; 19 is too high; 1 − 14 + 0.5 and 1 − 2 are too low; the nurse's leaf is constant.
        assert tree.decide(people).tolist() == [5.0, 5.5, 10.0, 0.0, 0.0, 3.0]

    def test_a_number_is_predicted_as_a_number(self) -> None:
        tree = Tree(SCHEMA, NUMBERS, (Leaf(2.5),))
        assert tree.predict({"age": [1], "job": ["cook"]}).dtype == float

    def test_columns_are_found_by_name_and_a_missing_one_is_named(self) -> None:
        with pytest.raises(InputError, match="no column 'job'"):
            three_leaves().predict({"age": [1], "jobs": ["cook"]})


class TestMeasures:
    def test_size_depth_and_uses(self) -> None:
        tree = three_leaves()
        assert (tree.n_leaves, tree.depth, len(tree.tests)) == (3, 2, 2)
        assert tree.feature_uses == {0: 1, 1: 1}
        constant = Tree(SCHEMA, CLASSES, (Leaf(0),))
        assert (constant.n_leaves, constant.depth, constant.tests, constant.feature_uses) == (1, 0, (), {})

    def test_trees_are_values(self) -> None:
        assert three_leaves() == three_leaves()
        assert hash(three_leaves()) == hash(three_leaves())
        tree = three_leaves()
        assert tree.depth == 2
        assert pickle.loads(pickle.dumps(tree)) == tree  # noqa: S301

    def test_the_target_of_an_outcome(self) -> None:
        assert Target.of(make_outcome(["b", "a"], task="classification")) == Target("y", ("a", "b"))
        assert Target.of(make_outcome([3, 1.5], task="regression", name="pay")) == Target("pay", None, 1.5, 3.0)


BAD_NODES: list[tuple[tuple[Node, ...], str]] = [
    ((), "at least one node"),
    ((Branch(ThresholdTest(0, 1.0), 1, 2), Leaf(0)), "leads to node 2, which is not below it"),
    ((Branch(ThresholdTest(0, 1.0), 0, 1), Leaf(0)), "leads to node 0"),
    ((Branch(ThresholdTest(0, 1.0), 1, 1), Leaf(0)), "reached exactly once"),
    ((Leaf(0), Leaf(1)), "reached exactly once"),
    ((Branch(ThresholdTest(5, 1.0), 1, 2), Leaf(0), Leaf(1)), "looks at column 5, but there are 2"),
    ((Branch(ThresholdTest(-1, 1.0), 1, 2), Leaf(0), Leaf(1)), "looks at column -1"),
    ((Branch(ThresholdTest(1, 1.0), 1, 2), Leaf(0), Leaf(1)), "'job' is categorical"),
    ((Branch(SubsetTest(0, (0,)), 1, 2), Leaf(0), Leaf(1)), "'age' is quantitative"),
    ((Branch(SubsetTest(1, (3,)), 1, 2), Leaf(0), Leaf(1)), "names a level that the column does not have"),
    ((Branch(SubsetTest(1, (-1,)), 1, 2), Leaf(0), Leaf(1)), "names a level that the column does not have"),
    ((Branch(SubsetTest(1, (1, 1)), 1, 2), Leaf(0), Leaf(1)), "names a level twice"),
    ((Branch(ThresholdTest(0, NAN), 1, 2), Leaf(0), Leaf(1)), "threshold of a test must be a finite number"),
    ((Branch(LinearTest((Term(0, 1.0),), np.inf), 1, 2), Leaf(0), Leaf(1)), "must be a finite number"),
    ((Branch(LinearTest((Term(0, NAN),), 1.0), 1, 2), Leaf(0), Leaf(1)), "coefficients of a linear rule"),
    ((Branch(LinearTest((Term(0, 1.0, fill=np.inf),), 1.0), 1, 2), Leaf(0), Leaf(1)), "coefficients of a linear"),
    ((Branch(LinearTest((Term(1, 1.0),), 1.0), 1, 2), Leaf(0), Leaf(1)), "'job' as the wrong kind"),
    ((Branch(LinearTest((Term(0, 1.0, level=0),), 1.0), 1, 2), Leaf(0), Leaf(1)), "'age' as the wrong kind"),
    ((Branch(LinearTest((Term(7, 1.0),), 1.0), 1, 2), Leaf(0), Leaf(1)), "looks at column 7"),
    ((Leaf(3),), "decides class 3, but there are 3"),
    ((Leaf(-1),), "decides class -1"),
    ((Leaf(0.5),), "decides class 0.5"),
    ((Leaf(NAN),), "value of a leaf must be a finite number"),
    ((Leaf(0, (Term(0, 1.0),)),), "cannot hold a linear rule"),
]


@pytest.mark.parametrize(("nodes", "message"), BAD_NODES)
def test_bad_trees_are_refused(nodes: tuple[Node, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Tree(SCHEMA, CLASSES, nodes)


def test_a_linear_leaf_is_checked_too() -> None:
    with pytest.raises(InputError, match="'job' as the wrong kind"):
        Tree(SCHEMA, NUMBERS, (Leaf(0.0, (Term(1, 1.0, level=3),)),))


@pytest.mark.parametrize(("low", "high"), [(2.0, 1.0), (NAN, 1.0), (0.0, np.inf)])
def test_a_target_needs_a_range(low: float, high: float) -> None:
    with pytest.raises(InputError, match="'pay' must lie between two finite numbers"):
        Target("pay", None, low, high)


def test_a_target_needs_a_class() -> None:
    with pytest.raises(InputError, match="'y' needs at least one class"):
        Target("y", ())


class TestThresholds:
    def test_midpoints_of_distinct_known_values(self) -> None:
        assert midpoints(np.array([3.0, NAN, 1.0, 3.0, 7.0])).tolist() == [2.0, 5.0]
        assert midpoints(np.array([NAN, 4.0])).tolist() == []
        assert midpoints(np.array([])).tolist() == []

    @pytest.mark.parametrize(
        ("low", "high"),
        [(1.0, np.nextafter(1.0, 2)), (-1e308, 1.7e308), (5e-324, 1e-323), (0.0, 5e-324), (-5e-324, 0.0), (0.1, 0.2)],
    )
    def test_a_midpoint_always_parts_its_neighbours(self, low: float, high: float) -> None:
        (middle,) = midpoints(np.array([high, low]))
        assert low <= middle < high

    def test_the_lowest_threshold_above_a_value(self) -> None:
        values = np.array([5.0, 1.0, NAN, 2.0])
        assert threshold_above(values, 1.0) == 1.5
        assert threshold_above(values, 2.0) == 3.5
        assert threshold_above(values, 5.0) == 5.0
