"""Rows about one person taken apart into pairs: the same for every labelling, no less for every mixture of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact, DisparateTreatment, Disparity, indicators
from evenleaf.problem import Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.certify import check
from evenleaf.solve.search import SearchSolver
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.solve.search.pairwise import in_pairs
from evenleaf.testing import brute_force, people_from
from people_strategies import Sample, samples


def lone(disparity: Disparity) -> np.ndarray:
    """Which rows compare one person with several."""
    table = disparity.matrix.toarray()
    above, below = (table > 0).sum(axis=1), (table < 0).sum(axis=1)
    return np.asarray((np.minimum(above, below) == 1) & (above + below > 2) & (np.abs(table.sum(axis=1)) < 1e-9))


@given(samples(regression=False, protected_columns=2), st.integers(1, 5), st.integers(0, 2**31))
@settings(max_examples=150)
def test_every_labelling_is_worth_the_same(sample: Sample, k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    people = sample.people("each")
    for notion in (DisparateImpact(), DisparateTreatment(min(k, sample.n)), DisparateTreatment(weights="gaussian")):
        rows = notion.operator(people).simplified()
        pairs = in_pairs(rows)
        assert not lone(pairs).any()
        for _ in range(10):
            psi = indicators(random.integers(0, rows.n_classes, rows.n_people), rows.n_classes)
            assert pairs.value(psi) == pytest.approx(rows.value(psi), rel=1e-9, abs=1e-9)
            mixed = random.dirichlet(np.ones(rows.n_classes), rows.n_people)
            assert pairs.value(mixed) >= rows.value(mixed) - 1e-9


def test_one_with_nine_is_nine_pairs_whatever_the_labels() -> None:
    row = np.append(np.arange(1.0, 10.0), -45.0)
    rows = Disparity(sp.csr_array(row[None, :]), np.array([[0.0, 2.0]]))
    pairs = in_pairs(rows)
    assert (np.diff(pairs.matrix.indptr) == 2).all()
    assert np.sort(pairs.weight[:, 1]) == pytest.approx(2 * np.arange(1.0, 10.0))
    for labels in itertools.product((0, 1), repeat=10):
        psi = indicators(np.array(labels), 2)
        assert pairs.value(psi) == pytest.approx(rows.value(psi), abs=1e-12)
    often = np.where(np.arange(10) < 5, 0.1, 0.9)
    often[-1] = 0.5
    mixed = np.column_stack([1 - often, often])
    assert pairs.value(mixed) > rows.value(mixed) + 1


def test_rows_of_several_against_several_stay_as_they_are() -> None:
    rows = Disparity(sp.csr_array([[0.5, 0.5, -0.5, -0.5], [1.0, -1.0, 0.0, 0.0]]), np.ones((2, 3)))
    assert in_pairs(rows) is rows


def test_a_row_that_does_not_sum_to_zero_stays_as_it_is() -> None:
    rows = Disparity(sp.csr_array([[1.0, 1.0, -1.0]]), np.ones((1, 3)))
    assert in_pairs(rows) is rows


def test_pairs_that_stand_in_several_rows_are_one() -> None:
    rows = Disparity(sp.csr_array([[1.0, 1.0, -2.0, 0.0], [0.0, 1.0, -2.0, 1.0]]), np.array([[0, 1.0], [0, 3.0]]))
    pairs = in_pairs(rows)
    assert pairs.n_rows == 3
    assert np.sort(pairs.weight[:, 1]) == pytest.approx([1.0, 3.0, 4.0])


@pytest.mark.parametrize("limit", [None, 0.05])
def test_a_group_of_one_is_searched_in_pairs(limit: float | None) -> None:
    """Every comparison of the table is with one person; the answer is that of brute force and its proof holds."""
    number = np.arange(14)
    columns = {"x": number * 5 % 7, "z": number * 3 % 4, "c": ["uvw"[i] for i in number % 3]}
    people = people_from(columns, (number * number) % 3 % 2, {"g": ["ab"[int(i == 6)] for i in number]})
    problem = pose(people, fairness=DisparateTreatment(n_neighbors=6), shape=Shape(max_depth=2))
    problem = problem.with_weight(0.7) if limit is None else problem.with_limit(limit)
    compiled, whole = compile_problem(problem), compile_problem(problem, pairs=False)
    assert len(compiled.weight) > len(whole.weight) > 0
    assert (np.bincount(compiled.rows) == 2).all()
    answer = SearchSolver().solve(problem, Budget())
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)
    assert answer.certificate is not None
    assert check(answer.certificate, problem).holds
