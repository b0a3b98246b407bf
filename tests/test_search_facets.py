"""Facets of rows: below the row for every labelling, worth more to mixtures; bounds, proofs and answers with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from evenleaf.fairness import DisparateTreatment, Disparity
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.certificate import Certificate, certificate_from_bytes
from evenleaf.solve.certify import check
from evenleaf.solve.proofs.facets import FACET_GRID, MOST_PEOPLE, NO_FACETS, Facets
from evenleaf.solve.proofs.labels import GRID, LabelsProof, Region
from evenleaf.solve.result import Solution
from evenleaf.solve.search import SearchSolver, facets, kernels, warmup
from evenleaf.solve.search.ascent import CLIMB
from evenleaf.solve.search.boxes import first_boxes
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.facets import find_facets, with_facets
from evenleaf.solve.search.worker import Worker
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems


def of_one_row(entries: np.ndarray) -> Compiled:
    """A problem whose disparity is a single row of some people."""
    n = len(entries)
    people = people_from({"x": np.arange(n)}, np.arange(n) % 2, {"g": ["ab"[i % 2] for i in range(n)]})
    problem = pose(people, fairness=DisparateTreatment(2), fairness_weight=1.0, shape=Shape(max_depth=3))
    row = sp.csr_array(entries[:, None])
    arrays = {"pointers": row.indptr.astype(np.int64), "rows": row.indices.astype(np.int32), "entries": row.data}
    return replace(compile_problem(problem), weight=np.array([[0.0, 1.0]]), **arrays)


def labellings(size: int) -> np.ndarray:
    return np.array(list(itertools.product((0.0, 1.0), repeat=size)))


def priced(compiled: Compiled, labels: np.ndarray) -> np.ndarray:
    """What each row and each facet costs: a row a labelling."""
    shape = (compiled.n_people, len(compiled.weight))
    by_person = sp.csr_array((compiled.entries, compiled.rows, compiled.pointers), shape=shape)
    costs = compiled.weight[:, 1] * (labels @ by_person.toarray())
    costs[:, : compiled.n_rows] = np.abs(costs[:, : compiled.n_rows])
    costs[:, compiled.n_rows :] += compiled.shift
    return np.asarray(costs)


@given(above=st.integers(2, 4), below=st.integers(2, 4), seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=100)
def test_a_facet_is_below_its_row_for_labels_and_above_it_where_they_are_drawn(
    above: int, below: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    entries = np.concatenate([np.full(above, 1 / above), np.full(below, -1 / below)])
    c, n = of_one_row(entries), above + below
    share = np.where(random.random(n) < 0.3, random.integers(0, 2, n), random.random(n).round(2))
    found = find_facets(c, share, 1.0)
    labels = labellings(n)
    # The least that the row costs when labels are drawn with these shares, by all linear functions below it.
    hull = minimum_over_draws(np.abs(labels @ entries), labels, share)
    gain = hull - abs(entries @ share)
    assert len(found) == (gain > facets._WORTH)
    if not len(found):
        return
    wider = with_facets(c, found)
    costs = priced(wider, labels)
    assert (costs[:, 1] <= costs[:, 0] + 1e-12).all()
    # The slopes were rounded: a person's by half a step at most, or rounded down.
    assert priced(wider, share[None, :])[0, 1] == pytest.approx(hull, abs=2 * n / FACET_GRID)


def minimum_over_draws(cost: np.ndarray, labels: np.ndarray, share: np.ndarray) -> float:
    from scipy.optimize import linprog

    equal = np.vstack([labels.T, np.ones(len(labels))])
    return float(linprog(cost, A_eq=equal, b_eq=np.append(share, 1.0), method="highs").fun)


def test_no_facet_where_everybody_is_sure_or_a_row_has_many_people() -> None:
    entries = np.array([0.5, 0.5, -0.5, -0.5])
    assert len(find_facets(of_one_row(entries), np.array([0.0, 1.0, 1.0, 1.0]), 1.0)) == 0
    # Five with seven or eight: with a label each for one person or two, they are never alike.
    for n, n_found in ((MOST_PEOPLE - 5, 1), (MOST_PEOPLE - 4, 0)):
        entries = np.concatenate([np.full(5, 1 / 5), np.full(n, -1 / n)])
        share = np.concatenate([[0.5, 0.5, 0, 0, 0], [1.0, 0.4], np.zeros(n - 2)])
        assert len(find_facets(of_one_row(entries), share, 1.0)) == n_found


def test_facets_that_are_known_are_not_taken_in_again() -> None:
    found = Facets(np.array([3, 4]), np.eye(2, MOST_PEOPLE, dtype=np.int64))
    more = Facets(np.array([3, 3]), np.eye(2, MOST_PEOPLE, dtype=np.int64))
    both = NO_FACETS.and_new(found).and_new(more)
    assert both.row.tolist() == [3, 4, 3]
    assert Facets.read(both.write()).slope.tolist() == both.slope.tolist()
    assert len(Facets.read(NO_FACETS.write())) == 0


def any_facets(compiled: Compiled, seed: int) -> Facets:
    """Slopes by chance: whatever they are, the facet is below its row."""
    random = np.random.default_rng(seed)
    size = np.bincount(compiled.rows, minlength=len(compiled.weight))
    rows = random.permutation(np.repeat(np.flatnonzero(size <= MOST_PEOPLE), 2))[:8]
    slopes = random.integers(-FACET_GRID, FACET_GRID, (len(rows), MOST_PEOPLE))
    return Facets(rows, slopes * (np.arange(MOST_PEOPLE) < size[rows][:, None]))


@given(
    problem=problems(task="classification", max_people=7, max_classes=2, max_values=3, max_columns=2, limits=False),
    seed=st.integers(0, 999),
)
@settings(deadline=None, max_examples=40)
def test_bounds_are_never_above_the_optimum_whatever_the_facets(problem: Problem, seed: int) -> None:
    problem = problem.with_shape(Shape(max_depth=3))
    worker = Worker(problem, compile_problem(problem), Budget())
    c, best = worker.compiled, brute_force(problem).objective
    assert best is not None
    assume(worker.has_facets)
    worker.adopt(any_facets(c, seed))
    worker.begin(None, 2 * best + 1.0, frozenset())
    reached = [worker.climb(box, CLIMB).box for box in first_boxes(c, np.zeros_like(c.weight), 1.0, 3, walk=False)]
    assert min((box.bound for box in reached), default=-np.inf) <= best + 1e-9
    for box in reached:
        assert len(box.mu) == len(c.weight) + len(worker.facets)


def nearest(
    centre: np.ndarray, constants: np.ndarray, slopes: np.ndarray, level: float, owner: np.ndarray
) -> tuple[np.ndarray, float]:
    n = len(constants)
    pull, point, mixture = np.zeros(n), np.empty_like(centre), np.zeros(n)
    by_owner = np.argsort(owner, kind="stable")
    top = kernels.nearest_above(centre, constants, slopes, level, 1e-10, pull, point, mixture, owner, by_owner)
    return point, top


def room(point: np.ndarray, owner: np.ndarray) -> np.ndarray:
    """How much each row's multiplier and those of its facets are below 1 together."""
    n_rows = len(point) - len(owner)
    return np.asarray(1 - np.abs(point[:n_rows]) - np.bincount(owner, weights=point[n_rows:], minlength=n_rows))


@given(seed=st.integers(0, 10_000), n_rows=st.integers(1, 4), n_facets=st.integers(0, 5), n_planes=st.integers(1, 4))
@settings(deadline=None, max_examples=150)
def test_the_nearest_multipliers_of_rows_and_facets(seed: int, n_rows: int, n_facets: int, n_planes: int) -> None:
    random = np.random.default_rng(seed)
    owner, n = random.integers(0, n_rows, n_facets), n_rows + n_facets
    centre = np.concatenate([random.uniform(-1, 1, n_rows), random.uniform(0, 1, n_facets)])
    shrunk = 1 + np.concatenate([1 - room(centre, owner), (1 - room(centre, owner))[owner]])
    centre /= shrunk
    slopes, constants = random.normal(size=(n_planes, n)), random.normal(size=n_planes)
    level = float((constants + slopes @ centre).min() + random.uniform(0, 1))
    point, top = nearest(centre, constants, slopes, level, owner)
    assert (room(point, owner) >= -1e-9).all()
    assert (point[n_rows:] >= 0).all()
    anywhere = random.uniform(0, 1, (500, n)) * np.append(random.choice([-1, 1], n_rows), np.ones(n_facets))
    anywhere /= [[1 + value for value in np.append(1 - room(p, owner), (1 - room(p, owner))[owner])] for p in anywhere]
    assert (constants + anywhere @ slopes.T).min(axis=1).max() <= top + 1e-9
    if (constants + slopes @ point).min() < level - 1e-7:
        return  # out of reach, or the rounds ran out
    other = minimize(
        lambda x: 0.5 * ((x - centre) ** 2).sum(),
        centre,
        jac=lambda x: x - centre,
        bounds=[(-1, 1)] * n_rows + [(0, 1)] * n_facets,
        constraints=[
            {"type": "ineq", "fun": lambda x: constants + slopes @ x - level, "jac": lambda _: slopes},
            {"type": "ineq", "fun": lambda x: room(x, owner)},
        ],
        options={"ftol": 1e-12, "maxiter": 300},
    )
    if other.success:
        assert 0.5 * ((point - centre) ** 2).sum() <= other.fun + 1e-5


def by_chance(seed: int, n_people: int = 40, n_neighbors: int = 6) -> Problem:
    """Outcomes by chance, so that bounds are far below the best tree."""
    random = np.random.default_rng(seed)
    columns = {"x": random.integers(9, size=n_people), "z": random.integers(7, size=n_people)}
    people = people_from(columns, random.integers(2, size=n_people), {"g": ["ab"[i] for i in np.arange(n_people) % 2]})
    return pose(people, fairness=DisparateTreatment(n_neighbors), fairness_weight=1.0, shape=Shape(max_depth=3))


def solved(problem: Problem, n_jobs: int = 1) -> Solution:
    """Solved with facets found wherever there are any."""
    with patch.object(warmup, "_NEAR", -1.0):
        return SearchSolver().solve(problem, Budget(n_jobs=n_jobs))


def proof_of(certificate: Certificate) -> LabelsProof:
    proof = certificate.proof
    assert isinstance(proof, LabelsProof)
    return proof


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_facets_the_answer_is_the_same_and_its_certificate_holds(seed: int) -> None:
    problem = by_chance(seed)
    with patch.object(facets, "_MOST_ROWS", 0):
        plain = SearchSolver().solve(problem, Budget())
    assert plain.certificate is not None
    assert not len(proof_of(plain.certificate).facets)
    answer = solved(problem)
    assert answer.proven
    assert answer.objective == pytest.approx(plain.objective, abs=1e-9)
    assert answer.certificate is not None
    proof = proof_of(answer.certificate)
    assert len(proof.facets) > 3
    assert any(mu[len(compile_problem(problem).weight) :].any() for mu in multipliers(proof.regions))
    for certificate in (answer.certificate, certificate_from_bytes(answer.certificate.to_bytes())):
        verdict = check(certificate, problem)
        assert verdict.holds, verdict.reason


@given(problem=problems(task="classification", max_people=9, max_classes=2, max_depth=3, max_columns=2))
@settings(deadline=None, max_examples=60)
def test_with_facets_the_optimum_is_that_of_all_trees(problem: Problem) -> None:
    answer = solved(problem)
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)
    if answer.certificate is not None:
        verdict = check(answer.certificate, problem)
        assert verdict.holds, verdict.reason


def test_how_many_work_does_not_matter_to_facets() -> None:
    problem = by_chance(4)
    alone, together = solved(problem), solved(problem, n_jobs=3)
    assert alone.tree == together.tree
    assert alone.message == together.message
    assert alone.certificate is not None
    assert together.certificate is not None
    assert alone.certificate.to_bytes() == together.certificate.to_bytes()


def multipliers(regions: tuple[Region, ...] | list[Region]) -> Iterator[np.ndarray]:
    """All of a proof."""
    for region in regions:
        yield region.mu
        yield from multipliers(region.parts)
        for node in () if region.labels is None else region.labels.nodes():
            yield node.mu
            yield from multipliers(node.parts)


@pytest.fixture(scope="module")
def certified() -> tuple[Problem, Certificate]:
    problem = by_chance(1)
    certificate = solved(problem).certificate
    assert certificate is not None
    assert len(proof_of(certificate).facets) > 3
    return problem, certificate


def reason(certificate: Certificate, problem: Problem, changed: LabelsProof) -> str:
    verdict = check(replace(certificate, proof=changed), problem)
    assert not verdict.holds
    return verdict.reason


def with_multiplier(proof: LabelsProof, row: int, value: int) -> LabelsProof:
    """The proof with one multiplier of its first region changed."""
    mu = proof.regions[0].mu.copy()
    mu = np.vstack([mu, np.zeros((proof.rows - len(mu), 2), dtype=np.int32)])
    mu[row, 1] = value
    return replace(proof, regions=(replace(proof.regions[0], mu=mu), *proof.regions[1:]))


def test_facets_that_are_none_are_refused(certified: tuple[Problem, Certificate]) -> None:
    problem, certificate = certified
    proof = proof_of(certificate)
    n_rows = len(compile_problem(problem).weight)
    first, row = proof.facets, int(proof.facets.row[0])
    beyond = Facets(np.where(np.arange(len(first)) == 0, n_rows, first.row), first.slope)
    assert "a row of the disparity that there is not" in reason(certificate, problem, replace(proof, facets=beyond))
    slope = first.slope.copy()
    slope[0, -1] = 1
    strangers = Facets(first.row, slope)
    assert "not about the" in reason(certificate, problem, replace(proof, facets=strangers))
    assert "one a row and class" in reason(certificate, problem, replace(proof, facets=NO_FACETS))
    for place, value in ((n_rows, -1), (n_rows, GRID + 1), (row, GRID)):
        changed = with_multiplier(with_multiplier(proof, n_rows, GRID // 2), place, value)
        assert "with the facets of a row" in reason(certificate, problem, changed)


def test_a_facet_changed_gives_nothing_away(certified: tuple[Problem, Certificate]) -> None:
    """The checker believes no constant: a steeper facet is worth less elsewhere, and the proof no longer closes."""
    problem, certificate = certified
    proof = proof_of(certificate)
    steeper = Facets(proof.facets.row, 50 * proof.facets.slope)
    assert "does not rule out" in reason(certificate, problem, replace(proof, facets=steeper))


def test_facets_are_for_two_classes() -> None:
    random = np.random.default_rng(0)
    columns = {"x": random.integers(5, size=30), "z": random.integers(4, size=30)}
    people = people_from(columns, random.integers(3, size=30), {"g": ["ab"[i] for i in np.arange(30) % 2]})
    problem = pose(people, fairness=DisparateTreatment(4), fairness_weight=0.5, shape=Shape(max_depth=3))
    answer = solved(problem)
    assert answer.certificate is not None
    proof = proof_of(answer.certificate)
    assert not len(proof.facets)
    one = Facets(np.zeros(1, dtype=np.int64), np.zeros((1, MOST_PEOPLE), dtype=np.int64))
    assert "two classes" in reason(answer.certificate, problem, replace(proof, facets=one))


def test_one_operator_row_is_what_the_tests_mean() -> None:
    c = of_one_row(np.array([0.5, 0.5, -0.5, -0.5]))
    rows = Disparity(sp.csr_array(np.array([[0.5, 0.5, -0.5, -0.5]])), np.array([[0.0, 1.0]]))
    for labels in labellings(4):
        assert priced(c, labels[None, :])[0, 0] == pytest.approx(rows.value(np.column_stack([1 - labels, labels])))
