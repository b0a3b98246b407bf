"""Disparate impact and conditional parity against the paper's formulas, term by term."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fairness_by_loops as loops
from evenleaf.fairness import ConditionalParity, DisparateImpact, Notion, indicators
from evenleaf.table import People
from people_strategies import Sample, samples


def psi_of(people: People) -> np.ndarray:
    values = people.outcome.values
    return values[:, None] if people.outcome.classes is None else indicators(values, people.outcome.n_classes)


def value(notion: Notion, people: People) -> float:
    return notion.operator(people).value(psi_of(people))


@given(samples())
def test_didi_is_the_papers_sum(sample: Sample) -> None:
    expected = loops.didi(sample.y, sample.group, sample.weight, sample.classes)
    assert value(DisparateImpact(), sample.people()) == pytest.approx(expected, abs=1e-12)


@given(samples(protected_columns=2))
def test_several_protected_columns_are_their_joint_levels_or_a_sum(sample: Sample) -> None:
    joint = loops.didi(sample.y, sample.group, sample.weight, sample.classes)
    assert value(DisparateImpact(), sample.people("joint")) == pytest.approx(joint, abs=1e-12)
    each = [loops.didi(sample.y, column, sample.weight, sample.classes) for column in sample.protected.values()]
    assert value(DisparateImpact(), sample.people("each")) == pytest.approx(sum(each), abs=1e-12)


@given(samples())
def test_a_weight_is_as_good_as_repeated_people(sample: Sample) -> None:
    repeated = sample.repeated()
    assume(len(set(repeated.group)) > 1)
    notion = DisparateImpact()
    assert value(notion, sample.people()) == pytest.approx(value(notion, repeated.people()), abs=1e-12)


@given(samples(), st.booleans())
def test_conditional_parity_is_didi_within_strata(sample: Sample, by_size: bool) -> None:
    names = list(sample.columns)[:2]
    stratum = list(zip(*(_levels(sample.columns[name]) for name in names), strict=True))
    expected = loops.conditional_parity(sample.y, sample.group, sample.weight, sample.classes, stratum, by_size)
    notion = ConditionalParity(names, weigh_by_size=by_size)
    assert value(notion, sample.people()) == pytest.approx(expected, abs=1e-12)


def test_a_group_without_weight_is_an_empty_term_and_not_a_division_by_zero() -> None:
    sample = Sample(["a", "b", "a"], ("a", "b"), {"g": ["p", "p", "q"]}, [1, 1, 0], [[1, 2, 3]], [])
    operator = DisparateImpact().operator(sample.people())
    assert (operator.n_terms, operator.empty_terms) == (4, 2)
    assert operator.value(psi_of(sample.people())) == 0.0


def test_missing_protected_values_are_a_group_of_their_own() -> None:
    sample = Sample(["a", "b", "a", "b"], ("a", "b"), {"g": ["p", "p", None, None]}, [1] * 4, [[1, 2, 3, 4]], [])
    (groups,) = sample.people().groups
    assert groups.labels == ("p", "(missing)")
    assert value(DisparateImpact(), sample.people()) == 0.0


def test_strata_without_a_group_are_counted_as_empty() -> None:
    sample = Sample(["a", "b", "a"], ("a", "b"), {"g": ["p", "q", "p"]}, [1] * 3, [], [["x", "x", "y"]])
    operator = ConditionalParity("c0").operator(sample.people())
    assert (operator.n_terms, operator.empty_terms) == (8, 2)
    assert operator.value(psi_of(sample.people())) == pytest.approx(2.0)


def _levels(column: np.ndarray) -> list[object]:
    """NaN is not equal to itself, so missing numbers are given a name that is."""
    return [None if isinstance(value, float) and np.isnan(value) else value for value in column]
