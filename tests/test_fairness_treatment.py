"""Disparate treatment against the paper's formulas, term by term, for every way to say who is near whom."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import fairness_by_loops as loops
from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment, Disparity, indicators
from evenleaf.table import People
from people_strategies import Sample, samples

MODEST = settings(max_examples=60)


def psi_of(people: People) -> np.ndarray:
    values = people.outcome.values
    return values[:, None] if people.outcome.classes is None else indicators(values, people.outcome.n_classes)


def squared(sample: Sample) -> list[list[Fraction]]:
    return loops.exact_squared_distances(sample.quantitative, sample.categorical, sample.weight)


def agree(sample: Sample, notion: DisparateTreatment, near: loops.Matrix) -> None:
    """Value and number of empty terms, normalised and raw."""
    operator: Disparity = notion.operator(sample.people())
    expected, empty = loops.dtdi(sample.y, sample.group, sample.weight, sample.classes, near)
    assert operator.value(psi_of(sample.people())) == pytest.approx(expected, abs=1e-10)
    assert operator.empty_terms == empty
    raw = replace(notion, normalize=False).operator(sample.people()).value(psi_of(sample.people()))
    assert raw == pytest.approx(expected * sum(sample.weight), abs=1e-9)


@MODEST
@given(samples(), st.integers(1, 12), st.booleans())
def test_nearest_neighbours(sample: Sample, k: int, include_self: bool) -> None:
    assume(k + (not include_self) <= sample.n)
    near = loops.nearest(squared(sample), k, include_self, range(sample.n))
    agree(sample, DisparateTreatment(n_neighbors=k, include_self=include_self), near)


@MODEST
@given(samples(), st.integers(1, 5), st.booleans())
def test_nearest_neighbours_of_every_group(sample: Sample, k: int, include_self: bool) -> None:
    distance = squared(sample)
    near = [[0.0] * sample.n for _ in range(sample.n)]
    for p in set(sample.group):
        members = [i for i, g in enumerate(sample.group) if g == p]
        part = loops.nearest(distance, k, include_self, members)
        near = [[a + b for a, b in zip(row, other, strict=True)] for row, other in zip(near, part, strict=True)]
    agree(sample, DisparateTreatment(n_neighbors=k, per_group=True, include_self=include_self), near)


@MODEST
@given(samples(), st.sampled_from(sorted(loops.KERNELS)), st.sampled_from([0.3, 1.0, 2.5]), st.booleans())
def test_kernels(sample: Sample, name: str, bandwidth: float, include_self: bool) -> None:
    kernel = loops.KERNELS[name]
    near = loops.weighed(squared(sample), lambda d: kernel(d / bandwidth), include_self)
    agree(sample, DisparateTreatment(weights=name, bandwidth=bandwidth, include_self=include_self), near)


@MODEST
@given(samples())
def test_a_function_of_the_distance(sample: Sample) -> None:
    near = loops.weighed(squared(sample), lambda d: 1 / (1 + d))
    agree(sample, DisparateTreatment(weights=lambda d: 1 / (1 + d)), near)


@MODEST
@given(samples(), st.randoms(use_true_random=False), st.booleans(), st.booleans())
def test_a_ready_matrix(sample: Sample, random: object, include_self: bool, dense: bool) -> None:
    draw = random.choice  # type: ignore[attr-defined]
    near = np.array([[draw([0.0, 0.0, 0.5, 2.0]) for _ in range(sample.n)] for _ in range(sample.n)])
    expected = near.copy()
    if not include_self:
        np.fill_diagonal(expected, 0.0)
    weights = near if dense else sp.csc_matrix(near)
    agree(sample, DisparateTreatment(weights=weights, include_self=include_self), expected.tolist())


@MODEST
@given(samples(), st.booleans(), st.sampled_from([None, "triangular"]))
def test_similar_outcomes(sample: Sample, include_self: bool, kernel: str | None) -> None:
    """The paper's MIP-DT-A: equal classes, or exp(−(y_i − y_j)²) for numbers, unless a kernel is given."""
    classes = sample.classes is not None

    def weight(i: int, j: int) -> float:
        if i == j and not include_self:
            return 0.0
        distance = float(sample.y[i] != sample.y[j]) if classes else abs(sample.y[i] - sample.y[j])
        if kernel is not None:
            return loops.KERNELS[kernel](distance / 2)
        return float(distance == 0) if classes else math.exp(-(distance**2))

    near = [[weight(i, j) for j in range(sample.n)] for i in range(sample.n)]
    notion = DisparateTreatment(distance="outcomes", weights=kernel, bandwidth=2.0, include_self=include_self)
    agree(sample, notion, near)


@MODEST
@given(samples(protected_columns=2), st.integers(1, 4), st.booleans())
def test_each_protected_column_is_a_sum(sample: Sample, k: int, per_group: bool) -> None:
    assume(k <= sample.n)
    notion = DisparateTreatment(n_neighbors=k, per_group=per_group)
    people = sample.people("each")
    alone = [notion.operator(replace(people, groups=(group,))).value(psi_of(people)) for group in people.groups]
    assert notion.operator(people).value(psi_of(people)) == pytest.approx(sum(alone), abs=1e-12)


@MODEST
@given(samples(), st.sampled_from(["gaussian", "uniform", "epanechnikov"]))
def test_a_weight_is_as_good_as_repeated_people(sample: Sample, kernel: str) -> None:
    """With a kernel: the k nearest people are k people however much they weigh."""
    repeated = sample.repeated()
    assume(len(set(repeated.group)) > 1)
    notion = DisparateTreatment(weights=kernel, bandwidth=1.3)
    weighted, plain = sample.people(), repeated.people()
    assert notion.operator(weighted).value(psi_of(weighted)) == pytest.approx(
        notion.operator(plain).value(psi_of(plain)), abs=1e-9
    )


@MODEST
@given(samples(weights=False))
def test_neighbourhoods_of_everybody_make_it_disparate_impact(sample: Sample) -> None:
    people = sample.people()
    treatment = DisparateTreatment(weights=np.ones_like).operator(people).value(psi_of(people))
    assert treatment == pytest.approx(DisparateImpact().operator(people).value(psi_of(people)), abs=1e-12)


def test_weights_too_small_to_invert_still_average() -> None:
    """1/w overflows below 1e-308, but the average of people who all weigh so little is well defined."""
    sample = Sample(["a", "b", "a", "b"], ("a", "b"), {"g": ["p", "p", "q", "q"]}, [1] * 4, [[0, 1, 2, 3]], [])
    tiny = DisparateTreatment(weights=lambda d: np.full_like(d, 1e-310)).operator(sample.people())
    assert tiny.value(psi_of(sample.people())) == pytest.approx(0.0, abs=1e-12)
    assert tiny.empty_terms == 0


def test_too_many_similar_pairs_is_said_before_memory_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenleaf.fairness.neighbours._MOST_PAIRS", 10)
    sample = Sample(["a", "b"] * 3, ("a", "b"), {"g": ["p", "q"] * 3}, [1] * 6, [[1, 2, 3, 4, 5, 6]], [])
    with pytest.raises(InputError, match="smaller bandwidth"):
        DisparateTreatment(weights="gaussian").operator(sample.people())


def test_progress_runs_once_from_nothing_to_one() -> None:
    sample = Sample(["a", "b"] * 3, ("a", "b"), {"g": ["p", "q"] * 3}, [1] * 6, [[1, 2, 3, 4, 5, 6]], [])
    for notion in (
        DisparateTreatment(3),
        DisparateTreatment(3, per_group=True),
        DisparateImpact() + DisparateTreatment(2),
    ):
        seen: list[float] = []
        notion.operator(sample.people(), seen.append)
        assert seen == sorted(seen)
        assert seen[-1] == 1.0


def test_notions_are_values_even_with_a_matrix() -> None:
    weights = np.eye(3)
    assert DisparateTreatment(weights=weights) == DisparateTreatment(weights=sp.csr_array(weights))
    assert hash(DisparateTreatment(weights=weights)) == hash(DisparateTreatment(weights=weights.copy()))
    assert DisparateTreatment(weights=weights) != DisparateTreatment(weights=2 * weights)
    assert DisparateTreatment(5) == DisparateTreatment(5) != DisparateTreatment(6)
