"""What every disparity operator promises: the same value simplified, a true adjoint, sums and multiples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.fairness import (
    Combination,
    ConditionalParity,
    DisparateImpact,
    DisparateMistreatment,
    DisparateTreatment,
    Disparity,
    Notion,
    indicators,
)
from people_strategies import Sample, samples

MODEST = settings(max_examples=50)


def operators(sample: Sample) -> list[Disparity]:
    notions: list[Notion] = [
        DisparateImpact(),
        ConditionalParity(next(iter(sample.columns)), weigh_by_size=True),
        DisparateTreatment(n_neighbors=2),
        DisparateTreatment(weights="gaussian", include_self=False),
        DisparateTreatment(n_neighbors=1, per_group=True),
        DisparateImpact() + 0.5 * DisparateTreatment(distance="outcomes"),
    ]
    if sample.classes is not None:
        notions.append(DisparateMistreatment())
    people = sample.people("each")
    return [notion.operator(people) for notion in notions]


def random_psi(operator: Disparity, rng: np.random.Generator) -> np.ndarray:
    """Any decisions: one-hot for classes, any numbers in regression."""
    if operator.n_classes == 1:
        return rng.normal(size=(operator.n_people, 1))
    return indicators(rng.integers(0, operator.n_classes, operator.n_people), operator.n_classes)


@MODEST
@given(samples(protected_columns=2), st.integers(0, 2**31))
def test_simplifying_keeps_the_value_of_every_decision(sample: Sample, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for operator in operators(sample):
        simple = operator.simplified()
        assert simple.n_rows <= operator.n_rows
        assert (simple.n_terms, simple.empty_terms) == (operator.n_terms, operator.empty_terms)
        for _ in range(3):
            psi = random_psi(operator, rng)
            assert simple.value(psi) == pytest.approx(operator.value(psi), rel=1e-9, abs=1e-9)


@MODEST
@given(samples(regression=False, weights=False), st.integers(1, 4), st.data())
def test_two_classes_and_two_groups_need_one_row_a_person(sample: Sample, k: int, data: st.DataObject) -> None:
    """|m − m₁| + |m − m₂| = |m₁ − m₂|, and the second class says the same as the first (ALGORITHM §1)."""
    n = sample.n
    y = data.draw(st.lists(st.sampled_from("ab"), min_size=n, max_size=n))
    rest: list[str | None] = data.draw(st.lists(st.sampled_from("pq"), min_size=n - 2, max_size=n - 2))
    weight = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    two = Sample(y, ("a", "b"), {"g": ["p", "q", *rest]}, weight, sample.quantitative, sample.categorical)
    for notion in (DisparateTreatment(min(k, n)), DisparateTreatment(weights="gaussian", bandwidth=0.7)):
        simple = notion.operator(two.people()).simplified()
        assert simple.n_rows <= n
        assert not simple.weight[:, 0].any()


@MODEST
@given(samples(protected_columns=2), st.integers(0, 2**31))
def test_the_dual_map_is_the_adjoint(sample: Sample, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for operator in operators(sample):
        for form in (operator, operator.simplified()):
            mu = rng.uniform(-1, 1, form.weight.shape)
            psi = random_psi(form, rng)
            product = float((form.weight * mu * form.differences(psi)).sum())
            assert float((form.dual(mu) * psi).sum()) == pytest.approx(product, abs=1e-9)


@MODEST
@given(samples(protected_columns=2), st.integers(0, 2**31))
def test_the_value_is_the_largest_price_over_multipliers(sample: Sample, seed: int) -> None:
    """D(ψ) = max over μ ∈ [−1, 1] of ⟨dual(μ), ψ⟩: no μ is above it, and the signs of the differences reach it."""
    rng = np.random.default_rng(seed)
    for operator in operators(sample):
        psi = random_psi(operator, rng)
        value = operator.value(psi)
        best = np.sign(operator.differences(psi))
        assert float((operator.dual(best) * psi).sum()) == pytest.approx(value, abs=1e-9)
        for _ in range(5):
            mu = rng.uniform(-1, 1, operator.weight.shape)
            assert float((operator.dual(mu) * psi).sum()) <= value + 1e-9


@MODEST
@given(samples(), st.sampled_from([0.0, 0.25, 3.0]), st.integers(0, 2**31))
def test_sums_and_multiples(sample: Sample, factor: float, seed: int) -> None:
    people, rng = sample.people(), np.random.default_rng(seed)
    first, second = DisparateImpact(), DisparateTreatment(n_neighbors=2)
    a, b = first.operator(people), second.operator(people)
    psi = random_psi(a, rng)
    expected = a.value(psi) + factor * b.value(psi)
    assert (a + factor * b).value(psi) == pytest.approx(expected, abs=1e-12)
    assert (first + factor * second).operator(people).value(psi) == pytest.approx(expected, abs=1e-12)
    total: Any = sum([first, factor * second])
    assert total.operator(people).value(psi) == pytest.approx(expected, abs=1e-12)
    assert (2 * (first + second)).operator(people).value(psi) == pytest.approx(2 * (a + b).value(psi), abs=1e-12)


@MODEST
@given(samples(), st.integers(0, 2**31))
def test_row_values_add_up(sample: Sample, seed: int) -> None:
    operator = DisparateTreatment(n_neighbors=2).operator(sample.people())
    psi = random_psi(operator, np.random.default_rng(seed))
    rows = operator.row_values(psi)
    assert rows.shape == (operator.n_rows,)
    assert rows.sum() == pytest.approx(operator.value(psi), abs=1e-12)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 7])
def test_differences_of_few_and_of_many_classes(n_classes: int) -> None:
    draw = np.random.default_rng(n_classes)
    matrix = sp.csr_array(draw.normal(size=(5, 40)) * (draw.random((5, 40)) < 0.5))
    codes = draw.integers(0, n_classes, 40)
    psi = indicators(codes, n_classes)
    assert psi.shape == (40, n_classes)
    assert (psi.argmax(axis=1) == codes).all()
    assert (psi.sum(axis=1) == 1).all()
    differences = Disparity(matrix, np.ones((5, n_classes))).differences(psi)
    assert differences == pytest.approx(matrix.toarray() @ psi, abs=1e-12)


def test_rows_on_the_edge_of_a_rounding_are_merged_all_the_same() -> None:
    """A number half-way between two of the grid that rows are rounded to: its neighbours go either way."""
    edge = (2.0**36 + 0.5) / 2.0**37
    rows = [[1.0, -np.nextafter(edge, 0.0), 0.5], [1.0, -np.nextafter(edge, 1.0), 0.5], [-2.0, 2 * edge, -1.0]]
    operator = Disparity(sp.csr_array(rows), np.ones((3, 1)))
    assert operator.simplified().n_rows == 1
    psi = np.array([[0.3], [-1.0], [2.0]])
    assert operator.simplified().value(psi) == pytest.approx(operator.value(psi), abs=1e-12)


def test_rows_that_begin_with_a_tiny_entry_are_merged_too() -> None:
    """A group that has nearly all the weight differs from everybody by very little (a difference of rates)."""
    near = np.array([1.0, 1e-7, 2e-7])
    weights = np.tile(near[:, None], (1, 3))
    sample = Sample(["a", "b", "a"], ("a", "b"), {"g": ["p", "q", "q"]}, [1] * 3, [[1, 2, 3]], [])
    assert DisparateTreatment(weights=weights).operator(sample.people()).simplified().n_rows == 1


def test_rows_that_differ_stay_apart() -> None:
    rows = [[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0], [1.0, -1.0, 1e-6]]
    assert Disparity(sp.csr_array(rows), np.ones((4, 1))).simplified().n_rows == 4


def test_nothing_is_always_zero() -> None:
    nothing = Disparity.none(3, 2)
    assert nothing.value(np.ones((3, 2))) == 0.0
    assert nothing.simplified().n_rows == 0
    assert nothing.dual(np.zeros((0, 2))).tolist() == [[0.0, 0.0]] * 3


def test_an_operator_cannot_be_changed() -> None:
    operator = Disparity(sp.csr_array([[1.0, -1.0]]), np.ones((1, 1)))
    with pytest.raises(ValueError, match="read-only"):
        operator.weight[0, 0] = 2.0


def test_wrong_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="one row of weights"):
        Disparity(sp.csr_array([[1.0, -1.0]]), np.ones((2, 1)))
    with pytest.raises(ValueError, match="shape"):
        Disparity(sp.csr_array([[1.0, -1.0]]), np.ones((1, 1))).value(np.ones((3, 1)))


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")])
def test_bad_factors(factor: float) -> None:
    with pytest.raises(InputError, match="multiplied"):
        factor * DisparateImpact()
    with pytest.raises(InputError, match="multiplied"):
        factor * Disparity.none(1, 1)


def test_notions_print_and_compare() -> None:
    both = DisparateImpact() + 0.5 * DisparateTreatment(5)
    assert str(both) == "disparate impact + 0.5·disparate treatment"
    assert both == DisparateImpact() + 0.5 * DisparateTreatment(5)
    assert isinstance(both, Combination)
    with pytest.raises(TypeError):
        1 + DisparateImpact()
