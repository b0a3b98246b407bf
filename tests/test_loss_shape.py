"""Losses and shapes: values by hand, every limit broken and kept, every refusal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenleaf.errors import InputError
from evenleaf.problem import AbsoluteError, Misclassification, Shape, pose
from evenleaf.table import make_outcome
from evenleaf.testing import people_from
from evenleaf.tree import Branch, Leaf, LinearTest, Node, SubsetTest, Target, Term, ThresholdTest, Tree

PEOPLE = people_from({"x": [1, 2, 3, 4], "z": [1, 1, 2, 2], "c": list("pqpq")}, [0, 1, 0, 1])
TABLE = PEOPLE.features
CLASSES = Target.of(PEOPLE.outcome)
NUMBERS = Target("pay", None, 0.0, 9.0)


def tree(*nodes: Node, target: Target = CLASSES) -> Tree:
    return Tree(TABLE.schema, target, nodes)


CONSTANT = tree(Leaf(0))
STUMP = tree(Branch(ThresholdTest(0, 1.5), 1, 2), Leaf(0), Leaf(1))
# x, then z on the left and x again on the right: four leaves of one person each.
FULL = tree(
    Branch(ThresholdTest(0, 2.5), 1, 2),
    Branch(ThresholdTest(0, 1.5), 3, 4),
    Branch(SubsetTest(2, (0,)), 5, 6),
    *(Leaf(value) for value in (0, 1, 0, 1)),
)
LINEAR_TEST = tree(Branch(LinearTest((Term(0, 1.0), Term(1, -1.0)), 0.5), 1, 2), Leaf(0), Leaf(1))
LINEAR_LEAF = tree(Leaf(1.0, (Term(1, 0.5),)), target=NUMBERS)


class TestMisclassification:
    outcome = make_outcome(["a", "b", "c", "a"], task="classification")
    share = np.array([0.4, 0.3, 0.2, 0.1])

    def test_without_costs(self) -> None:
        loss = Misclassification()
        assert loss.value(self.outcome, np.array([0, 0, 2, 1]), self.share) == pytest.approx(0.3 + 0.1)
        assert loss.table(self.outcome).tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]]

    def test_with_costs(self) -> None:
        loss = Misclassification(np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0]]))
        assert loss.value(self.outcome, np.array([2, 0, 2, 1]), self.share) == pytest.approx(0.8 + 0.9 + 0.1)
        assert loss.table(self.outcome)[1].tolist() == [3, 0, 4]
        loss.check(self.outcome)

    def test_losses_are_values(self) -> None:
        assert Misclassification([[0, 1], [1, 0]]) == Misclassification(((0.0, 1.0), (1.0, 0.0)))
        assert hash(Misclassification([[0, 1], [1, 0]])) == hash(Misclassification([[0, 1], [1, 0]]))
        assert Misclassification() != Misclassification([[0, 1], [1, 0]])
        costs = [[0.0, 1.0], [1.0, 0.0]]
        kept = Misclassification(costs)
        costs[0][1] = 99.0
        assert kept.costs == ((0.0, 1.0), (1.0, 0.0))

    @pytest.mark.parametrize("costs", [5, "free", [1, 2], [["a", "b"], ["c", "d"]], [[None, 1], [1, 0]], object()])
    def test_costs_must_be_rows_of_numbers(self, costs: Any) -> None:
        with pytest.raises(InputError, match="the cost matrix must be rows of numbers"):
            Misclassification(costs)

    @pytest.mark.parametrize(
        ("costs", "message"),
        [
            ([[0, 1], [1, 0]], "must have 3 rows and columns, one a class"),
            ([], "must have 3 rows and columns"),
            ([[0, 1, 2]] * 2, "must have 3 rows and columns"),
            ([[0, 1, 2], [1, 0], [1, 1, 0]], "rows of the cost matrix have different lengths"),
            ([[0, 1, 2], [1, 0, -1], [1, 1, 0]], "the costs must be finite and not negative"),
            ([[0, 1, 2], [1, 0, np.nan], [1, 1, 0]], "the costs must be finite and not negative"),
            ([[0, 1, 2], [1, 0, np.inf], [1, 1, 0]], "the costs must be finite and not negative"),
        ],
    )
    def test_costs_must_fit_the_classes(self, costs: Any, message: str) -> None:
        with pytest.raises(InputError, match=message):
            Misclassification(costs).check(self.outcome)

    def test_numbers_have_no_classes(self) -> None:
        with pytest.raises(InputError, match="'pay' is a number: use the absolute error"):
            Misclassification().check(make_outcome([1.0, 2.0], task="regression", name="pay"))


class TestAbsoluteError:
    def test_by_hand(self) -> None:
        outcome = make_outcome([1.0, 2.0, 4.0], task="regression")
        AbsoluteError().check(outcome)
        value = AbsoluteError().value(outcome, np.array([0.0, 2.5, 4.0]), np.array([0.5, 0.3, 0.2]))
        assert value == pytest.approx(0.5 + 0.15)

    def test_classes_are_not_numbers(self) -> None:
        with pytest.raises(InputError, match="needs numbers, but 'y' has classes"):
            AbsoluteError().check(make_outcome([0, 1], task="classification"))


LIMITS: list[tuple[Shape, Tree, str]] = [
    (Shape(max_depth=1), FULL, "depth 2 is more than 1"),
    (Shape(max_depth=0), STUMP, "depth 1 is more than 0"),
    (Shape(max_leaves=3), FULL, "4 leaves are more than 3"),
    (Shape(max_leaves=1), STUMP, "2 leaves are more than 1"),
    (Shape(max_feature_uses=1), FULL, "'x' is tested 2 times, more than 1"),
    (Shape(max_feature_uses={"x": 1}), FULL, "'x' is tested 2 times, more than 1"),
    (Shape(max_feature_uses={"c": 0}), FULL, "'c' is tested 1 times, more than 0"),
    (Shape(max_features_used=1), FULL, "2 features are tested, more than 1"),
    (Shape(max_features_used=0), STUMP, "1 features are tested, more than 0"),
    (Shape(max_features_per_test=0), STUMP, "a test looks at 1 features, more than 0"),
    (Shape(max_features_per_test=1, branching="linear"), LINEAR_TEST, "a test looks at 2 features, more than 1"),
    (Shape(min_samples_leaf=2), STUMP, "a leaf holds 1 people, fewer than 2"),
    (Shape(allowed_features=["x"]), FULL, "'c' is used but not allowed"),
    (Shape(allowed_features=[]), STUMP, "'x' is used but not allowed"),
    (Shape(allowed_features=["x"], branching="linear"), LINEAR_TEST, "'z' is used but not allowed"),
    (Shape(allowed_features=["x"], leaves="linear"), LINEAR_LEAF, "'z' is used but not allowed"),
    (Shape(), LINEAR_TEST, "a linear test, where only single features may be tested"),
    (Shape(), LINEAR_LEAF, "a linear leaf, where leaves must be constant"),
]


class TestLimits:
    @pytest.mark.parametrize(("shape", "broken", "words"), LIMITS, ids=[words for *_, words in LIMITS])
    def test_each_limit_is_noticed(self, shape: Shape, broken: Tree, words: str) -> None:
        assert shape.violations(broken, TABLE) == (words,)

    @pytest.mark.parametrize(
        ("shape", "kept"),
        [
            (Shape(max_depth=2, max_leaves=4, max_features_used=2, max_feature_uses={"x": 2, "c": 1}), FULL),
            (Shape(max_feature_uses=2, max_features_per_test=1, min_samples_leaf=1), FULL),
            (Shape(allowed_features=["c", "x", "x"]), FULL),
            (Shape(branching="linear", max_features_per_test=2, max_feature_uses=1), LINEAR_TEST),
            (Shape(branching="linear"), FULL),
            (Shape(leaves="linear", allowed_features=["z"], max_features_used=0), LINEAR_LEAF),
        ],
    )
    def test_a_limit_just_met_is_kept(self, shape: Shape, kept: Tree) -> None:
        assert shape.violations(kept, TABLE) == ()

    def test_the_constant_tree_keeps_every_limit(self) -> None:
        tightest = Shape(
            max_depth=0,
            max_leaves=1,
            min_samples_leaf=1000,
            max_features_used=0,
            max_features_per_test=0,
            max_feature_uses=0,
            allowed_features=[],
        )
        assert tightest.violations(CONSTANT, TABLE) == ()

    def test_an_empty_leaf_is_never_allowed(self) -> None:
        empty = tree(Branch(ThresholdTest(0, 99.0), 1, 2), Leaf(0), Leaf(1))
        assert Shape().violations(empty, TABLE) == ("a leaf holds 0 people, fewer than 1",)

    @pytest.mark.parametrize("n_leaves", [2, 8, 9, 30])
    def test_the_smallest_leaf_counts_among_few_and_among_many(self, n_leaves: int) -> None:
        """Leaf k, cut off from the rest by the k-th threshold, holds k + 1 people."""
        numbers = np.repeat(np.arange(n_leaves), np.arange(n_leaves) + 1)
        people = people_from({"x": numbers.tolist()}, (numbers % 2).tolist())
        nodes: list[Node] = []
        for k in range(n_leaves - 1):
            nodes += [Branch(ThresholdTest(0, k + 0.5), 2 * k + 1, 2 * k + 2), Leaf(k % 2)]
        chain = Tree(people.features.schema, Target.of(people.outcome), (*nodes, Leaf((n_leaves - 1) % 2)))
        assert Shape(max_depth=99).violations(chain, people.features) == ()
        too_few = Shape(max_depth=99, min_samples_leaf=2).violations(chain, people.features)
        assert too_few == ("a leaf holds 1 people, fewer than 2",)

    def test_people_are_counted_and_not_their_weights(self) -> None:
        problem = pose(replace(PEOPLE, weight=np.array([100.0, 0.0, 0.0, 0.0])), shape=Shape(min_samples_leaf=2))
        assert problem.evaluate(STUMP).violations == ("a leaf holds 1 people, fewer than 2",)
        middle = tree(Branch(ThresholdTest(0, 2.5), 1, 2), Leaf(0), Leaf(1))
        assert problem.evaluate(middle).feasible

    def test_several_at_once(self) -> None:
        shape = Shape(max_depth=1, max_leaves=2, min_samples_leaf=2, max_features_used=1, max_feature_uses=1)
        assert len(shape.violations(FULL, TABLE)) == 5


class TestReading:
    def test_allowed_columns(self) -> None:
        assert Shape().allowed(TABLE.schema) == (0, 1, 2)
        assert Shape(allowed_features=["c", "x", "c"]).allowed(TABLE.schema) == (0, 2)
        assert Shape(allowed_features=[]).allowed(TABLE.schema) == ()

    def test_use_limits(self) -> None:
        assert Shape().use_limits(TABLE.schema) == {}
        assert Shape(max_feature_uses=2).use_limits(TABLE.schema) == {0: 2, 1: 2, 2: 2}
        assert Shape(max_feature_uses={"c": 1}).use_limits(TABLE.schema) == {2: 1}

    def test_what_the_caller_changes_later_does_not_matter(self) -> None:
        uses, allowed = {"x": 1}, ["x"]
        shape = Shape(max_feature_uses=uses, allowed_features=allowed)
        uses["x"] = 5
        allowed.append("z")
        assert shape == Shape(max_feature_uses={"x": 1}, allowed_features=["x"])

    def test_any_sequence_of_names(self) -> None:
        def names() -> Iterator[str]:
            yield "x"

        for allowed in (("x",), np.array(["x"]), names(), {"x": 1}):
            assert Shape(allowed_features=allowed).allowed(TABLE.schema) == (0,)  # type: ignore[arg-type]

    def test_numpy_whole_numbers(self) -> None:
        assert Shape(max_depth=np.int64(1)).max_depth == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth must be at least 0, not -1"),
        ({"max_depth": 2.0}, "max_depth must be a whole number, not 2.0"),
        ({"max_depth": True}, "max_depth must be a whole number, not True"),
        ({"max_depth": None}, "max_depth must be a whole number, not None"),
        ({"max_depth": "2"}, "max_depth must be a whole number, not '2'"),
        ({"max_leaves": 0}, "max_leaves must be at least 1, not 0"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be at least 1, not 0"),
        ({"min_samples_leaf": 0.1}, "min_samples_leaf must be a whole number, not 0.1"),
        ({"max_features_used": -1}, "max_features_used must be at least 0"),
        ({"max_features_per_test": 1.5}, "max_features_per_test must be a whole number"),
        ({"max_feature_uses": -1}, "max_feature_uses must be at least 0"),
        ({"max_feature_uses": {"x": -1}}, r"max_feature_uses\['x'\] must be at least 0"),
        ({"max_feature_uses": {"x": None}}, r"max_feature_uses\['x'\] must be a whole number"),
        ({"max_feature_uses": "x"}, "max_feature_uses must be a whole number, not 'x'"),
        ({"branching": "oblique"}, "branching must be 'single' or 'linear', not 'oblique'"),
        ({"leaves": "quadratic"}, "leaves must be 'constant' or 'linear', not 'quadratic'"),
        ({"allowed_features": "age"}, "allowed_features must be a list of names, not 'age'"),
        ({"allowed_features": 3}, "allowed_features must be a list of names, not 3"),
    ],
)
def test_bad_shapes_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Shape(**options)


@pytest.mark.parametrize("shape", [Shape(allowed_features=["xx"]), Shape(max_feature_uses={"xx": 1})])
def test_a_misspelt_name_is_answered_with_the_nearest(shape: Shape) -> None:
    with pytest.raises(InputError, match=r"there is no column 'xx'; did you mean 'x'\?"):
        shape.check(TABLE.schema)
