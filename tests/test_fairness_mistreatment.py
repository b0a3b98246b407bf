"""The error-rate notions against equation 2 of the paper, term by term."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairness_by_loops as loops
from evenleaf.errors import InputError
from evenleaf.fairness import (
    DisparateMistreatment,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    PredictiveEquality,
    indicators,
)
from people_strategies import Sample, samples

MODEST = settings(max_examples=60)


@st.composite
def decided(draw: st.DrawFn) -> tuple[Sample, list[str]]:
    """People with classes, and predictions for them."""
    sample = draw(samples(regression=False))
    assert sample.classes is not None
    return sample, draw(st.lists(st.sampled_from(sample.classes), min_size=sample.n, max_size=sample.n))


def value(notion: Notion, sample: Sample, predicted: list[str]) -> float:
    classes = list(sample.classes or ())
    codes = [classes.index(label) for label in predicted]
    return notion.operator(sample.people()).value(indicators(codes, len(classes)))  # type: ignore[arg-type]


def all_pairs(sample: Sample) -> list[tuple[str, str]]:
    classes = sample.classes or ()
    return list(product(classes, classes))


@MODEST
@given(decided())
def test_all_pairs_of_classes(case: tuple[Sample, list[str]]) -> None:
    sample, predicted = case
    pairs = all_pairs(sample)
    expected = loops.mistreatment(sample.y, predicted, sample.group, sample.weight, pairs)
    assert value(DisparateMistreatment(), sample, predicted) == pytest.approx(expected, abs=1e-12)


@MODEST
@given(decided(), st.data())
def test_some_pairs_of_classes(case: tuple[Sample, list[str]], data: st.DataObject) -> None:
    sample, predicted = case
    pairs = data.draw(st.lists(st.sampled_from(all_pairs(sample)), unique=True))
    expected = loops.mistreatment(sample.y, predicted, sample.group, sample.weight, pairs)
    assert value(DisparateMistreatment(pairs), sample, predicted) == pytest.approx(expected, abs=1e-12)


@MODEST
@given(decided())
def test_the_well_known_special_cases(case: tuple[Sample, list[str]]) -> None:
    """Against the same loops, with the other classes taken together as "not positive"."""
    sample, predicted = case
    positive = (sample.classes or ())[0]
    true = [label == positive for label in sample.y]
    guess = [label == positive for label in predicted]
    expected = {
        flag: loops.mistreatment(true, guess, sample.group, sample.weight, [(flag, True)]) for flag in (True, False)
    }
    assert value(EqualOpportunity(positive), sample, predicted) == pytest.approx(expected[True], abs=1e-12)
    assert value(PredictiveEquality(positive), sample, predicted) == pytest.approx(expected[False], abs=1e-12)
    assert value(EqualizedOdds(positive), sample, predicted) == pytest.approx(sum(expected.values()), abs=1e-12)


@MODEST
@given(decided())
def test_perfect_predictions_mistreat_nobody(case: tuple[Sample, list[str]]) -> None:
    sample, _ = case
    assert value(DisparateMistreatment(), sample, sample.y) == pytest.approx(0.0, abs=1e-12)


def test_of_two_classes_the_last_is_positive() -> None:
    sample = Sample(["a", "b", "b", "b"], ("a", "b"), {"g": ["p", "p", "q", "q"]}, [1] * 4, [[1, 2, 3, 4]], [])
    predicted = ["a", "b", "a", "b"]
    assert value(EqualOpportunity(), sample, predicted) == value(EqualOpportunity("b"), sample, predicted) > 0


@pytest.mark.parametrize(
    ("notion", "message"),
    [
        (EqualOpportunity("z"), "no class 'z'; its classes are"),
        (DisparateMistreatment([("a", "z")]), "no class 'z'"),
        (PredictiveEquality(), "3 classes; say which one is positive"),
    ],
)
def test_unknown_and_unnamed_classes(notion: Notion, message: str) -> None:
    sample = Sample(["a", "b", "c"], ("a", "b", "c"), {"g": ["p", "q", "q"]}, [1] * 3, [[1, 2, 3]], [])
    with pytest.raises(InputError, match=message):
        notion.operator(sample.people())


@pytest.mark.parametrize("notion", [DisparateMistreatment(), EqualOpportunity(), EqualizedOdds()])
def test_numbers_have_no_error_rates(notion: Notion) -> None:
    sample = Sample([0.5, 1.5], None, {"g": ["p", "q"]}, [1, 1], [[1, 2]], [])
    with pytest.raises(InputError, match="is a number"):
        (notion + notion).operator(sample.people())
