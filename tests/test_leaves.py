"""The best leaves for given tests, against enumeration, against another linear program, and in the corners."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import FEASIBILITY_TOLERANCE, Misclassification, Problem, pose
from evenleaf.solve.absolute import AbsoluteFit, limited_fit, weighted_fit
from evenleaf.solve.leaves import best_leaves, leaf_vectors
from evenleaf.solve.smooth import smooth_fit
from evenleaf.testing import people_from
from evenleaf.testing.strategies import problems


def priced(problem: Problem, decided: np.ndarray) -> tuple[float, float]:
    """(objective, discrimination) of decisions, from the definitions and the operator as it was built."""
    people = problem.people
    loss = problem.loss.value(people.outcome, decided, people.share)
    discrimination = problem.disparity.value(problem.psi(decided))
    if problem.max_discrimination is not None:
        return loss, discrimination
    return loss + problem.fairness_weight * discrimination, discrimination


def keeps_limit(problem: Problem, discrimination: float) -> bool:
    limit = problem.max_discrimination
    return limit is None or discrimination <= limit + FEASIBILITY_TOLERANCE


@st.composite
def leaf_numbers(draw: st.DrawFn, problem: Problem, most: int = 4) -> tuple[np.ndarray, int]:
    """Everybody's leaf; a leaf may be empty."""
    n_leaves = draw(st.integers(1, most))
    n_people = problem.people.n_people
    return np.array(draw(st.lists(st.integers(0, n_leaves - 1), min_size=n_people, max_size=n_people))), n_leaves


@given(st.data())
@settings(max_examples=150)
def test_labels_are_the_best_of_all_labellings(data: st.DataObject) -> None:
    problem = data.draw(problems(task="classification", limits=False))
    leaf, n_leaves = data.draw(leaf_numbers(problem))
    found = best_leaves(problem, leaf, n_leaves)
    worths = [
        objective
        for labels in product(range(problem.people.outcome.n_classes), repeat=n_leaves)
        for objective, unfair in [priced(problem, np.array(labels)[leaf])]
        if keeps_limit(problem, unfair)
    ]
    assert (found is None) == (not worths)
    if found is not None:
        assert found[1] == pytest.approx(min(worths), abs=1e-9)
        objective, unfair = priced(problem, found[0].astype(int)[leaf])
        assert objective == pytest.approx(found[1], abs=1e-9)
        assert keeps_limit(problem, unfair)


def many_leaves(**fairness: Any) -> tuple[Problem, np.ndarray, int]:
    """Three classes in seven leaves: more labellings than are enumerated."""
    rng = np.random.default_rng(5)
    n, n_leaves = 60, 7
    people = people_from({"x": rng.random(n)}, rng.integers(0, 3, n), {"g": rng.choice(["a", "b", "c"], n)})
    return (
        pose(people, loss=Misclassification([[0, 1, 2], [1, 0, 1], [3, 1, 0]]), **fairness),
        np.arange(n) % 7,
        n_leaves,
    )


def all_labellings(problem: Problem, leaf: np.ndarray, n_leaves: int) -> list[float]:
    worths = []
    for labels in product(range(3), repeat=n_leaves):
        objective, unfair = priced(problem, np.array(labels)[leaf])
        worths.append(objective if keeps_limit(problem, unfair) else np.inf)
    return worths


def test_descent_is_exact_without_fairness() -> None:
    problem, leaf, n_leaves = many_leaves()
    found = best_leaves(problem, leaf, n_leaves)
    assert found is not None
    assert found[1] == pytest.approx(min(all_labellings(problem, leaf, n_leaves)))


@pytest.mark.parametrize("fairness", [{"fairness_weight": 0.3}, {"max_discrimination": 0.2}, {"max_discrimination": 0}])
def test_descent_cannot_be_improved_by_one_leaf(fairness: dict[str, float]) -> None:
    problem, leaf, n_leaves = many_leaves(fairness=DisparateImpact(), **fairness)
    found = best_leaves(problem, leaf, n_leaves)
    assert found is not None
    labels = found[0].astype(int)
    objective, unfair = priced(problem, labels[leaf])
    assert objective == pytest.approx(found[1])
    assert keeps_limit(problem, unfair)
    assert found[1] >= min(all_labellings(problem, leaf, n_leaves)) - 1e-12
    for number, label in product(range(n_leaves), range(3)):
        other = labels.copy()
        other[number] = label
        objective, unfair = priced(problem, other[leaf])
        assert objective >= found[1] - 1e-12 or not keeps_limit(problem, unfair)


def primal_optimum(
    design: np.ndarray,
    outcome: np.ndarray,
    share: np.ndarray,
    rows: np.ndarray,
    weight: np.ndarray,
    offset: np.ndarray | None = None,
    *,
    price: float = 0.0,
    limit: float | None = None,
) -> float:
    """The program written out the plain way, one slack an absolute value; infinite where it is infeasible."""
    (n, p), r = design.shape, len(rows)
    offset = np.zeros(r) if offset is None else offset
    eye, other = np.eye(n), np.eye(r)
    left = np.block(
        [
            [design, -eye, np.zeros((n, r))],
            [-design, -eye, np.zeros((n, r))],
            [rows, np.zeros((r, n)), -other],
            [-rows, np.zeros((r, n)), -other],
            [design, np.zeros((n, n + r))],
            [-design, np.zeros((n, n + r))],
        ]
    )
    right = np.concatenate([outcome, -outcome, -offset, offset, np.full(n, outcome.max()), np.full(n, -outcome.min())])
    if limit is not None:
        left = np.vstack([left, np.concatenate([np.zeros(p + n), weight])])
        right = np.append(right, limit)
    cost = np.concatenate([np.zeros(p), share, price * weight])
    bounds = [(None, None)] * p + [(0, None)] * (n + r)
    solved = linprog(cost, A_ub=left, b_ub=right, bounds=bounds)
    return float(solved.fun) if solved.status == 0 else np.inf


@given(st.data())
@settings(max_examples=120)
def test_numbers_are_the_optimum_of_the_plain_program(data: st.DataObject) -> None:
    problem = data.draw(problems(task="regression", limits=False))
    leaf, n_leaves = data.draw(leaf_numbers(problem))
    found = best_leaves(problem, leaf, n_leaves)
    people = problem.people
    members = np.eye(n_leaves)[leaf]
    truth = primal_optimum(
        members,
        people.outcome.values,
        people.share,
        problem.disparity.matrix @ members,
        problem.disparity.weight[:, 0],
        price=problem.fairness_weight,
        limit=problem.max_discrimination,
    )
    assert found is not None  # a constant is always fair
    objective, unfair = priced(problem, found[0][leaf])
    assert objective == pytest.approx(found[1], abs=1e-9)
    assert objective == pytest.approx(truth, abs=1e-6)
    assert keeps_limit(problem, unfair)
    assert found[0].min() >= people.outcome.values.min()
    assert found[0].max() <= people.outcome.values.max()


@given(st.data())
@settings(max_examples=40)
def test_no_point_of_a_grid_beats_the_numbers(data: st.DataObject) -> None:
    problem = data.draw(problems(task="regression", limits=False))
    leaf, n_leaves = data.draw(leaf_numbers(problem, most=2))
    found = best_leaves(problem, leaf, n_leaves)
    assert found is not None
    y = problem.people.outcome.values
    for values in product(np.linspace(y.min(), y.max(), 13), repeat=n_leaves):
        objective, unfair = priced(problem, np.array(values)[leaf])
        assert objective >= found[1] - 1e-7 or not keeps_limit(problem, unfair)


@pytest.mark.parametrize(("offset", "unit"), [(1e6, 1e-3), (-1e9, 1.0), (0.0, 1e-6), (0.0, 1e7)])
def test_numbers_do_not_depend_on_the_unit(offset: float, unit: float) -> None:
    rng = np.random.default_rng(1)
    y, leaf = rng.random(40), rng.integers(0, 3, 40)
    groups, x = rng.choice(["a", "b"], 40), rng.random(40)

    def asked(outcome: np.ndarray) -> Problem:
        people = people_from({"x": x}, outcome, {"g": groups}, task="regression")
        return pose(people, fairness=DisparateTreatment(n_neighbors=5), fairness_weight=0.5)

    plain, moved = asked(y), asked(offset + unit * y)
    first, second = best_leaves(plain, leaf, 3), best_leaves(moved, leaf, 3)
    assert first is not None
    assert second is not None
    assert second[1] / unit == pytest.approx(first[1], rel=1e-5)


def test_a_limit_of_zero_is_kept_and_costs_no_more_than_it_must() -> None:
    """Only equal leaves are fair here: the values must be the common median."""
    people = people_from({"x": [0.0] * 4}, [0.0, 0.0, 1.0, 3.0], {"g": ["a", "a", "b", "b"]}, task="regression")
    problem = pose(people, fairness=DisparateImpact(), max_discrimination=0.0)
    found = best_leaves(problem, np.array([0, 0, 1, 1]), 2)
    assert found is not None
    assert found[0][0] == pytest.approx(found[0][1], abs=1e-9)
    assert found[1] == pytest.approx(1.0)


def test_one_value_for_everybody_is_found_exactly() -> None:
    people = people_from({"x": [0.0, 1.0]}, [2.5, 2.5], {"g": ["a", "b"]}, task="regression")
    found = best_leaves(pose(people, fairness=DisparateImpact()), np.array([0, 2]), 4)  # two leaves are empty
    assert found is not None
    assert found[0].tolist() == [2.5] * 4
    assert found[1] == 0


@pytest.mark.parametrize("fairness", [{"fairness_weight": 0.3}, {"max_discrimination": 0.2}])
def test_without_time_numbers_are_still_valid(fairness: dict[str, float]) -> None:
    rng = np.random.default_rng(2)
    people = people_from({"x": rng.random(50)}, rng.random(50), {"g": rng.choice(["a", "b"], 50)}, task="regression")
    problem = pose(people, fairness=DisparateImpact(), **fairness)  # type: ignore[arg-type]
    leaf = rng.integers(0, 4, 50)
    found = best_leaves(problem, leaf, 4, time_limit=0.0)
    assert found is not None
    objective, unfair = priced(problem, found[0][leaf])
    assert objective == pytest.approx(found[1])
    assert keeps_limit(problem, unfair)


@given(st.data())
def test_leaf_vectors_add_up_to_the_differences(data: st.DataObject) -> None:
    problem = data.draw(problems(limits=False))
    leaf, n_leaves = data.draw(leaf_numbers(problem))
    values = np.arange(n_leaves) + 1.0
    together = problem.simplified.matrix @ values[leaf]
    assert leaf_vectors(problem, leaf, n_leaves) @ values == pytest.approx(together, abs=1e-9)


@st.composite
def fits(draw: st.DrawFn) -> AbsoluteFit:
    """Linear rules in one to three leaves; rows need not sum to zero, and may have an offset of other leaves."""
    n, n_features, n_leaves = draw(st.integers(2, 20)), draw(st.integers(0, 3)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    width = n_features + 1
    inputs = np.column_stack([np.ones(n), rng.integers(-2, 3, (n, n_features))])
    leaf = rng.integers(0, n_leaves, n)
    design = np.zeros((n, n_leaves * width))
    for number in range(n_leaves):
        design[leaf == number, number * width : (number + 1) * width] = inputs[leaf == number]
    rows = rng.standard_normal((draw(st.integers(0, 5)), n))
    if draw(st.booleans()):
        rows -= rows.mean(axis=1, keepdims=True)
    y = rng.integers(0, 6, n) / 2.0
    constant = np.zeros(n_leaves * width)
    constant[::width] = 1.0
    offset = rng.standard_normal(len(rows)) * draw(st.sampled_from([0.0, 0.5]))
    share = rng.random(n) + 0.01
    return AbsoluteFit(
        sp.csr_array(design),
        y,
        share / share.sum(),
        sp.csr_array(rows @ design),
        offset,
        rng.random(len(rows)),
        constant,
        float(y.min()),
        float(y.max()),
    )


def in_range(fit: AbsoluteFit, beta: np.ndarray) -> bool:
    decided = fit.design @ beta
    return bool(decided.min() >= fit.low - 1e-9 and decided.max() <= fit.high + 1e-9)


def plain(fit: AbsoluteFit, price: float = 0.0, limit: float | None = None) -> float:
    arrays = fit.design.toarray(), fit.outcome, fit.share, fit.rows.toarray(), fit.weight, fit.offset
    return primal_optimum(*arrays, price=price, limit=limit)


@given(fits(), st.sampled_from([0.0, 0.1, 1.0, 10.0]))
@settings(max_examples=150)
def test_linear_rules_are_the_optimum_of_the_plain_program(fit: AbsoluteFit, price: float) -> None:
    beta = weighted_fit(fit, price)
    assert beta is not None
    assert in_range(fit, beta)
    assert fit.loss(beta) + price * fit.discrimination(beta) == pytest.approx(plain(fit, price), abs=1e-6)


@given(fits(), st.sampled_from([0.0, 0.2, 0.7, 1.0]))
@settings(max_examples=150)
def test_linear_rules_within_a_limit_are_optimal_too(fit: AbsoluteFit, part: float) -> None:
    free = weighted_fit(fit, 0.0)
    assert free is not None
    limit = part * fit.discrimination(free)
    beta, truth = limited_fit(fit, limit), plain(fit, limit=limit)
    if beta is None:
        assert not np.isfinite(plain(fit, limit=max(0.0, limit - 1e-7)))
        return
    assert in_range(fit, beta)
    assert fit.discrimination(beta) <= limit + FEASIBILITY_TOLERANCE
    assert fit.loss(beta) == pytest.approx(truth, abs=1e-5)


@given(fits(), st.sampled_from([0.0, 0.3, 3.0]))
@settings(max_examples=80)
def test_the_smooth_fit_is_valid_and_never_beats_the_optimum(fit: AbsoluteFit, price: float) -> None:
    beta = smooth_fit(fit, price)
    assert in_range(fit, beta)
    assert fit.loss(beta) + price * fit.discrimination(beta) >= plain(fit, price) - 1e-6


@given(fits())
@settings(max_examples=20)
def test_a_smooth_fit_that_is_cut_short_is_still_valid(fit: AbsoluteFit) -> None:
    assert in_range(fit, smooth_fit(fit, 0.3, lambda: True))


def test_the_smooth_fit_comes_close() -> None:
    rng = np.random.default_rng(3)
    inputs = np.column_stack([np.ones(300), rng.standard_normal((300, 5))])
    y = np.clip(inputs @ [0.5, 0.3, -0.2, 0.0, 0.1, 0.0] + 0.1 * rng.standard_normal(300), 0, 1)
    apart = np.where(rng.random(300) < 0.4, 1 / 120, -1 / 180)[None, :]
    fit = AbsoluteFit(
        sp.csr_array(inputs),
        y,
        np.full(300, 1 / 300),
        sp.csr_array(apart @ inputs),
        np.zeros(1),
        np.ones(1),
        np.array([1.0, 0, 0, 0, 0, 0]),
        float(y.min()),
        float(y.max()),
    )
    exact, smooth = weighted_fit(fit, 0.3), smooth_fit(fit, 0.3)
    assert exact is not None
    best = fit.loss(exact) + 0.3 * fit.discrimination(exact)
    assert fit.loss(smooth) + 0.3 * fit.discrimination(smooth) <= 1.02 * best
