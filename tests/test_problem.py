"""Problems: evaluation by hand, both forms, every refusal in the right words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import DisagreementError, InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment, Disparity, EqualOpportunity
from evenleaf.problem import (
    FEASIBILITY_TOLERANCE,
    AbsoluteError,
    Misclassification,
    Problem,
    Score,
    Shape,
    default_loss,
    pose,
)
from evenleaf.solve.result import confirm
from evenleaf.table import People
from evenleaf.testing import people_from
from evenleaf.testing.strategies import problems, trees
from evenleaf.tree import Branch, Leaf, Target, ThresholdTest, Tree

PEOPLE = people_from({"x": [1, 2, 3, 4]}, ["no", "yes", "yes", "yes"], {"g": list("aabb")}, weight=[1, 1, 1, 2])
NUMBERS = people_from({"x": [1, 2, 3, 4]}, [0.0, 2.0, 3.0, 5.0], {"g": list("aabb")}, task="regression")
NAN = float("nan")


def stump(problem: Problem, threshold: float, left: float, right: float) -> Tree:
    nodes = (Branch(ThresholdTest(0, threshold), 1, 2), Leaf(left), Leaf(right))
    return Tree(problem.people.features.schema, problem.target, nodes)


class TestEvaluation:
    def test_classes_with_weights_by_hand(self) -> None:
        problem = pose(PEOPLE, fairness=DisparateImpact(), fairness_weight=0.5)
        score = problem.evaluate(stump(problem, 2.5, 0, 1))
        # Wrong: the second person, 1 of 5. P(yes) = 3/5, P(yes | a) = 0, P(yes | b) = 1, and the same for no.
        assert score.loss == pytest.approx(1 / 5)
        assert score.discrimination == pytest.approx(2 * (3 / 5 + 2 / 5))
        assert score.objective == pytest.approx(1 / 5 + 0.5 * 2)
        assert score.feasible

    def test_numbers_by_hand(self) -> None:
        problem = pose(NUMBERS, fairness=DisparateImpact(), fairness_weight=2.0)
        score = problem.evaluate(stump(problem, 3.5, 1, 4))
        # Decided 1, 1, 1, 4 for 0, 2, 3, 5. E = 7/4, E(a) = 1, E(b) = 5/2.
        assert score.loss == pytest.approx((1 + 1 + 2 + 1) / 4)
        assert score.discrimination == pytest.approx(3 / 4 + 3 / 4)
        assert score.objective == pytest.approx(5 / 4 + 2 * 3 / 2)

    def test_costs_by_hand(self) -> None:
        problem = pose(PEOPLE, loss=Misclassification([[0, 4], [1, 0.5]]))
        score = problem.evaluate(stump(problem, 3.5, 1, 0))
        # no→yes 4, yes→yes 0.5 twice, yes→no 1 for the person of weight 2.
        assert score.loss == pytest.approx((4 + 0.5 + 0.5 + 2) / 5)
        assert score.objective == score.loss

    def test_a_number_out_of_range_is_evaluated_as_it_is_decided(self) -> None:
        problem = pose(NUMBERS)
        assert problem.evaluate(stump(problem, 2.5, -9, 99)) == problem.evaluate(stump(problem, 2.5, 0, 5))

    def test_a_constant_tree_never_discriminates(self) -> None:
        for people in (PEOPLE, NUMBERS):
            problem = pose(people, fairness=DisparateTreatment(n_neighbors=2), max_discrimination=0.0)
            score = problem.evaluate(Tree(people.features.schema, problem.target, (Leaf(1.0),)))
            assert score.feasible
            assert score.discrimination == pytest.approx(0.0, abs=1e-12)

    @settings(deadline=None, max_examples=80)
    @given(st.data())
    def test_the_score_is_the_definition(self, data: st.DataObject) -> None:
        problem = data.draw(problems())
        tree = data.draw(trees(problem.people))
        people, score = problem.people, problem.evaluate(tree)
        decided, truth = tree.decide(people.features), people.outcome.values
        psi = decided[:, None] if people.outcome.classes is None else np.eye(people.outcome.n_classes)[decided]
        discrimination = (np.abs(problem.disparity.matrix.toarray() @ psi) * problem.disparity.weight).sum()
        if isinstance(problem.loss, Misclassification):
            costs = problem.loss.matrix(people.outcome.n_classes)
            loss = sum(w * costs[y, said] for w, y, said in zip(people.weight, truth, decided, strict=True))
        else:
            loss = sum(w * abs(y - said) for w, y, said in zip(people.weight, truth, decided, strict=True))
        assert score.loss == pytest.approx(loss / people.weight.sum(), abs=1e-12)
        assert score.discrimination == pytest.approx(discrimination, abs=1e-9)
        price = 0.0 if problem.max_discrimination is not None else problem.fairness_weight
        assert score.objective == pytest.approx(score.loss + price * score.discrimination, abs=1e-12)
        assert problem.simplified.value(psi) == pytest.approx(discrimination, abs=1e-9)

    def test_the_tree_of_another_table_is_refused(self) -> None:
        problem = pose(PEOPLE)
        other = replace(stump(problem, 2.5, 0, 1), target=Target("y", ("no", "maybe")))
        with pytest.raises(InputError, match="made for another table"):
            problem.evaluate(other)
        renamed = people_from({"z": [1, 2, 3, 4]}, ["no", "yes", "yes", "yes"])
        with pytest.raises(InputError, match="made for another table"):
            pose(renamed).evaluate(stump(problem, 2.5, 0, 1))


class TestForms:
    def test_a_limit_is_a_constraint_and_not_a_price(self) -> None:
        problem = pose(PEOPLE, fairness=DisparateImpact(), max_discrimination=1.5)
        score = problem.evaluate(stump(problem, 2.5, 0, 1))
        assert score.objective == score.loss == pytest.approx(1 / 5)
        assert score.violations == ("the discrimination 2 is more than 1.5",)
        assert not score.feasible

    @pytest.mark.parametrize(("slack", "feasible"), [(0.0, True), (-0.5, True), (0.5, True), (-2.0, False)])
    def test_a_limit_is_kept_to_rounding(self, slack: float, feasible: bool) -> None:
        problem = pose(PEOPLE, fairness=DisparateImpact(), max_discrimination=0.0)
        tree = stump(problem, 2.5, 0, 1)
        exact = problem.evaluate(tree).discrimination
        assert problem.with_limit(exact + slack * FEASIBILITY_TOLERANCE).evaluate(tree).feasible is feasible

    def test_the_default_weight_is_one_and_no_notion_means_no_rows(self) -> None:
        assert pose(PEOPLE, fairness=DisparateImpact()).fairness_weight == 1.0
        plain = pose(people_from({"x": [1, 2]}, [0, 1]))
        assert plain.disparity.n_rows == 0
        assert plain.fairness_weight == 0.0
        assert pose(PEOPLE, fairness_weight=0.0).disparity.n_rows == 0

    def test_changing_the_form_keeps_everything_else(self) -> None:
        problem = pose(PEOPLE, shape=Shape(max_depth=1), fairness=DisparateImpact(), fairness_weight=0.2)
        limited = problem.with_limit(0.3)
        assert (limited.max_discrimination, limited.fairness_weight) == (0.3, 0.0)
        back = limited.with_weight(0.7)
        assert (back.max_discrimination, back.fairness_weight) == (None, 0.7)
        assert back.with_shape(Shape(max_depth=3)).shape.max_depth == 3
        assert back.disparity is problem.disparity
        assert problem.fairness_weight == 0.2

    def test_the_simplified_operator_is_built_once(self) -> None:
        problem = pose(PEOPLE, fairness=DisparateImpact())
        simple = problem.simplified
        assert problem.with_weight(0.1).simplified is simple
        assert problem.with_limit(0.1).with_shape(Shape()).simplified is simple

    def test_targets_and_psi(self) -> None:
        assert pose(PEOPLE).target == Target("y", ("no", "yes"))
        assert pose(NUMBERS).target == Target("y", None, 0.0, 5.0)
        assert pose(PEOPLE).psi(np.array([0, 1])).tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert pose(NUMBERS).psi(np.array([0.5, 2.0])).tolist() == [[0.5], [2.0]]

    def test_default_losses(self) -> None:
        assert pose(PEOPLE).loss == Misclassification() == default_loss(PEOPLE.outcome)
        assert pose(NUMBERS).loss == AbsoluteError() == default_loss(NUMBERS.outcome)


ONE_CLASS = people_from({"x": [1, 2]}, ["no", "no"])
NOBODY = people_from({"x": [1, 2]}, [0, 1]).take(np.array([], dtype=int))
UNPROTECTED = people_from({"x": [1, 2]}, [0, 1])
ONE_GROUP = people_from({"x": [1, 2]}, [0, 1], {"g": ["a", "a"]})
FAIR = DisparateImpact()
BAD: list[tuple[People, dict[str, Any], str]] = [
    (ONE_CLASS, {}, "'y' has only one class .'no'.; there is nothing to decide"),
    (NOBODY, {}, "the table has no rows"),
    (UNPROTECTED, {"fairness": FAIR}, "disparate impact needs protected columns"),
    (ONE_GROUP, {"fairness": FAIR}, "'g' has only one group"),
    (PEOPLE, {"fairness": FAIR, "fairness_weight": -0.1}, r"fairness_weight \(λ\) must be .* at least 0, not -0.1"),
    (PEOPLE, {"fairness": FAIR, "fairness_weight": NAN}, r"\(λ\) must be a number of at least 0, not nan"),
    (PEOPLE, {"fairness": FAIR, "fairness_weight": np.inf}, r"\(λ\) must be a number of at least 0, not inf"),
    (PEOPLE, {"fairness": FAIR, "fairness_weight": "1"}, r"\(λ\) must be a number of at least 0, not '1'"),
    (PEOPLE, {"fairness": FAIR, "fairness_weight": True}, r"\(λ\) must be a number of at least 0, not True"),
    (PEOPLE, {"fairness": FAIR, "max_discrimination": -1}, r"max_discrimination \(ε\) must be .* not -1"),
    (PEOPLE, {"fairness": FAIR, "max_discrimination": [1]}, r"\(ε\) must be a number of at least 0, not \[1\]"),
    (PEOPLE, {"fairness": FAIR, "fairness_weight": 1, "max_discrimination": 1}, "either .*λ.* or .*ε.*, not both"),
    (PEOPLE, {"fairness_weight": 0.5}, "no fairness notion to measure it by"),
    (PEOPLE, {"max_discrimination": 0.0}, "no fairness notion to measure it by"),
    (PEOPLE, {"fairness": "didi"}, "fairness must be a notion such as DisparateImpact.., not 'didi'"),
    (PEOPLE, {"fairness": DisparateImpact}, "fairness must be a notion"),
    (PEOPLE, {"loss": "mae"}, "the loss must be Misclassification.. or AbsoluteError.., not 'mae'"),
    (PEOPLE, {"loss": AbsoluteError()}, "the absolute error needs numbers, but 'y' has classes"),
    (NUMBERS, {"loss": Misclassification()}, "misclassification needs classes, but 'y' is a number"),
    (NUMBERS, {"fairness": EqualOpportunity()}, "compares error rates between classes; 'y' is a number"),
    (PEOPLE, {"loss": Misclassification([[0, 1]])}, "the cost matrix must have 2 rows and columns"),
    (PEOPLE, {"shape": 3}, "the shape must be a Shape, not 3"),
    (PEOPLE, {"shape": Shape(leaves="linear")}, "linear leaves are for numbers"),
    (PEOPLE, {"shape": Shape(allowed_features=["X"])}, "there is no column 'X'; did you mean 'x'?"),
    (PEOPLE, {"shape": Shape(max_feature_uses={"age": 1})}, "there is no column 'age'"),
]


@pytest.mark.parametrize(("people", "options", "message"), BAD, ids=[message for *_, message in BAD])
def test_bad_questions_are_refused(people: People, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pose(people, **options)


def test_a_shape_is_checked_whenever_it_is_changed() -> None:
    problem = pose(PEOPLE)
    with pytest.raises(InputError, match="linear leaves are for numbers"):
        problem.with_shape(Shape(leaves="linear"))
    with pytest.raises(InputError, match="there is no column 'z'"):
        problem.with_shape(Shape(allowed_features=["z"]))
    assert pose(NUMBERS).with_shape(Shape(leaves="linear")).shape.leaves == "linear"


@pytest.mark.parametrize("bad", [-1.0, NAN, None, "0.1"])
def test_weights_and_limits_are_checked_whenever_they_are_changed(bad: Any) -> None:
    problem = pose(PEOPLE, fairness=FAIR)
    with pytest.raises(InputError, match="fairness_weight"):
        problem.with_weight(bad)
    with pytest.raises(InputError, match="max_discrimination"):
        problem.with_limit(bad)


class TestConfirmation:
    def test_an_honest_claim_is_confirmed(self) -> None:
        problem = pose(PEOPLE)
        tree = stump(problem, 1.5, 0, 1)
        assert confirm(problem, tree, 0.0) == Score(0.0, 0.0, 0.0, ())

    @pytest.mark.parametrize("claim", [0.1, -0.1, NAN, np.inf])
    def test_a_false_claim_is_not(self, claim: float) -> None:
        problem = pose(PEOPLE)
        with pytest.raises(DisagreementError, match="claims the objective"):
            confirm(problem, stump(problem, 1.5, 0, 1), claim)

    def test_a_broken_limit_is_not(self) -> None:
        problem = pose(PEOPLE, shape=Shape(max_depth=0))
        with pytest.raises(DisagreementError, match="breaks a limit: depth 1 is more than 0"):
            confirm(problem, stump(problem, 1.5, 0, 1), 0.0)


def test_no_posed_problem_is_infeasible_but_a_hand_made_operator_can_be() -> None:
    row = sp.csr_array(np.array([[1.0, 0.0, 0.0, 0.0]]))
    problem = Problem(PEOPLE, Misclassification(), Shape(), Disparity(row, np.ones((1, 2)))).with_limit(0.9)
    for label in (0.0, 1.0):
        score = problem.evaluate(Tree(PEOPLE.features.schema, problem.target, (Leaf(label),)))
        assert score.violations == ("the discrimination 1 is more than 0.9",)
