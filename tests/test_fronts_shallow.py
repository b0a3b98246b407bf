"""Depth 1 and 2 over columns of two values, from counts of bits: brute force, the search by bounds, corners, proofs."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenleaf.fairness import DisparateImpact, EqualizedOdds, EqualOpportunity, Notion
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.certificate import Certificate, certificate_from_bytes
from evenleaf.solve.certify import check
from evenleaf.solve.fronts import FrontSolver
from evenleaf.solve.fronts.bits import find_bits
from evenleaf.solve.fronts.kernels.bits import number_kinds
from evenleaf.solve.fronts.shallow import find_shallow
from evenleaf.table import People, Table
from evenleaf.testing import check_against_brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import SubsetTest, tidy

SOLVER = FrontSolver()
FEW_ROWS = ("impact", "conditional", "opportunity", "predictive", "odds", "mistreatment", "combination")


@given(
    problem=problems(
        task="classification",
        notions=FEW_ROWS,
        max_people=10,
        max_values=2,
        max_classes=2,
        max_groups=4,
        limits=False,
        missing=False,
    )
)
@settings(max_examples=150)
def test_every_tree_is_looked_at(problem: Problem) -> None:
    assume(problem.shape.max_depth > 0)
    assert find_shallow(problem) is not None
    check_against_brute_force(SOLVER.solve, problem)


def random_people(seed: int, n_people: int, n_columns: int, n_groups: int, *, weighted: bool = False) -> People:
    draw = np.random.default_rng(seed)
    columns = {f"b{place}": draw.integers(0, 2, n_people) * draw.choice([1.0, -3.0]) for place in range(n_columns)}
    groups = draw.integers(0, n_groups, n_people)
    tilt = 0.6 * columns["b0"] + 0.4 * (groups == 0) + draw.random(n_people)
    weight = draw.choice([1.0, 2.0, 0.5], n_people) if weighted else None
    outcome = (tilt > np.median(tilt)).astype(int).tolist()
    return people_from(columns, outcome, {"g": [f"g{code}" for code in groups]}, weight=weight)


@given(
    seed=st.integers(0, 10_000),
    n_people=st.sampled_from([30, 63, 64, 65, 200]),
    n_groups=st.integers(2, 5),
    notion=st.sampled_from([DisparateImpact(), EqualOpportunity(1), EqualizedOdds(1)]),
    limit=st.sampled_from([None, 0.0, 0.05, 0.3]),
    shape=st.sampled_from([Shape(max_depth=1), Shape(), Shape(min_samples_leaf=7)]),
    weighted=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_agrees_with_the_search_by_bounds(
    seed: int, n_people: int, n_groups: int, notion: Notion, limit: float | None, shape: Shape, weighted: bool
) -> None:
    people = random_people(seed, n_people, 6, n_groups, weighted=weighted)
    form = {"fairness_weight": 0.4} if limit is None else {"max_discrimination": limit}
    problem = pose(people, fairness=notion, shape=shape, **form)  # type: ignore[arg-type]
    found = SOLVER.solve(problem, Budget())
    assert found.message == "every tree was looked at"
    searched = SOLVER._searched(problem, Budget(), None)
    assert searched.proven
    assert found.objective == pytest.approx(searched.objective, abs=1e-12)


def test_counts_are_those_of_people() -> None:
    people = random_people(3, 130, 5, 3)
    bits = find_bits(pose(people, fairness=DisparateImpact()))
    assert bits is not None
    set_bits = np.array([values == values.max() for values in people.features.data])
    set_bits = np.where(np.array(bits.upper_is_set)[:, None], set_bits, ~set_bits)
    together = (set_bits[:, None] & set_bits[None]).sum(axis=2)
    np.testing.assert_array_equal(bits.counts.sum(axis=0), together)
    assert bits.counts.dtype == np.int64


def test_bits_of_many_columns_are_gathered_eight_at_a_time() -> None:
    """Constant columns in between take no bit, and columns beyond eight and sixteen begin anew."""
    draw = np.random.default_rng(5)
    columns = {f"b{place}": draw.integers(0, 2, 1300) if place % 5 else np.full(1300, 3) for place in range(24)}
    people = people_from(columns, draw.integers(0, 2, 1300).tolist(), {"g": draw.integers(0, 3, 1300).tolist()})
    bits = find_bits(pose(people, fairness=DisparateImpact()))
    assert bits is not None
    assert bits.features == [place for place in range(24) if place % 5]
    table = np.array([people.features.data[column] for column in bits.features])
    upper = np.where(np.array(bits.upper_is_set)[:, None], table == 1, table == 0)
    for kind, counts in enumerate(bits.counts):
        of_kind = upper[:, bits.kinds.kind == kind].astype(int)
        np.testing.assert_array_equal(counts, of_kind @ of_kind.T)


@given(seed=st.integers(0, 10_000), n_people=st.sampled_from([1, 511, 512, 513, 1500]), n_rows=st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_kinds_are_numbered_as_they_come(seed: int, n_people: int, n_rows: int) -> None:
    draw = np.random.default_rng(seed)
    codes, columns = draw.integers(0, 2, n_people), draw.integers(-1, 2, (n_rows, n_people))
    kind, example, heads = number_kinds(codes, columns, 64)
    known: dict[tuple[int, ...], int] = {}
    people = zip(codes.tolist(), *columns.tolist(), strict=True)
    expected = [known.setdefault(person, len(known)) for person in people]
    assert kind.tolist() == expected
    assert example.tolist() == [expected.index(number) for number in range(len(known))]
    assert heads.tolist() == np.bincount(expected).tolist()
    assert len(number_kinds(codes, columns, len(known))[1]) == len(known)
    assert len(known) == 1 or not len(number_kinds(codes, columns, len(known) - 1)[1])


@pytest.mark.parametrize(
    "column",
    [[0.0, 1.0, 2.0, 1.0] * 3, [0.0, np.nan, 1.0, 1.0] * 3, [np.nan, 0.0, 0.0, 0.0] * 3, [0.0, -0.0, 0.0, 0.0] * 3],
    ids=["three values", "missing", "one value and missing", "two zeros"],
)
def test_other_columns_are_left_to_the_search_by_bounds(column: list[float]) -> None:
    outcome, groups = [0, 1, 1, 0, 1, 0] * 2, {"g": ["a", "b", "b", "a"] * 3}
    plain = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0] * 2
    problem = pose(people_from({"x": column, "b": plain}, outcome, groups), fairness=DisparateImpact())
    assert find_shallow(problem) is None
    check_against_brute_force(SOLVER.solve, problem)


@pytest.mark.parametrize(
    "shape",
    [Shape(max_leaves=3), Shape(max_feature_uses=1), Shape(max_features_used=1), Shape(max_depth=3)],
    ids=["leaves", "uses", "features", "depth"],
)
def test_limits_that_couple_tests_are_left_to_the_search_by_bounds(shape: Shape) -> None:
    problem = pose(random_people(1, 40, 4, 2), fairness=DisparateImpact(), shape=shape)
    assert find_shallow(problem) is None


def test_levels_and_constant_columns() -> None:
    columns = {
        "level": ["yes", "no", "no", "yes", "no"] * 4,
        "same": [7.0] * 20,
        "number": [2.0, 2.0, 5.0, 5.0, 2.0] * 4,
    }
    problem = pose(
        people_from(columns, [1, 0, 1, 1, 0] * 4, {"g": ["a", "b", "a", "b", "b"] * 4}),
        fairness=DisparateImpact(),
        fairness_weight=0.1,
    )
    shallow = find_shallow(problem)
    assert shallow is not None
    assert len(shallow.bits.features) == 2
    check_against_brute_force(SOLVER.solve, problem)


def test_trees_have_their_canonical_form() -> None:
    depths = set()
    for seed in range(12):
        people = random_people(seed, 150, 6, 2, weighted=bool(seed % 2))
        tree = SOLVER.solve(pose(people, fairness=DisparateImpact(), max_discrimination=0.2), Budget()).tree
        assert tree is not None
        assert tree == tidy(tree, people.features, people.weight)
        depths.add(tree.depth)
    assert 2 in depths


def test_levels_that_nobody_has_are_spelled_as_tidy_spells_them() -> None:
    """The levels in the middle and at the end are not among these people: they go with the heavier side."""
    spelled = set()
    for seed in range(20):
        everybody = random_people(seed, 150, 4, 2, weighted=bool(seed % 2))
        levels = {f"b{place}": ["a", "c"] for place in range(4)}
        texts = {name: np.array(levels[name])[(everybody.features.column(name) != 0).astype(int)] for name in levels}
        seen = {name: [*values.tolist(), "b", "d"] for name, values in texts.items()}
        table = Table.of(seen).take(np.arange(150))
        people = replace(everybody, features=table)
        tree = SOLVER.solve(pose(people, fairness=DisparateImpact(), max_discrimination=0.2), Budget()).tree
        assert tree is not None
        assert tree == tidy(tree, people.features, people.weight)
        spelled |= {test.left for test in tree.tests if isinstance(test, SubsetTest)}
    assert spelled == {(0,), (0, 1, 3)}


@pytest.mark.parametrize("limit", [None, 0.05])
@pytest.mark.parametrize("n_groups", [2, 4])
def test_the_certificate_is_written_when_it_is_asked_for(limit: float | None, n_groups: int) -> None:
    form = {"fairness_weight": 0.4} if limit is None else {"max_discrimination": limit}
    problem = pose(random_people(7, 200, 6, n_groups), fairness=DisparateImpact(), **form)  # type: ignore[arg-type]
    solution = SOLVER.solve(problem, Budget())
    assert isinstance(solution.certificate, Certificate)
    assert "proof" not in vars(solution.certificate)
    verdict = check(solution.certificate, problem)
    assert verdict.holds, verdict.reason
    assert solution.certificate.objective == solution.objective
    assert "_make" not in vars(solution.certificate)


def test_a_deferred_certificate_is_written_before_it_travels() -> None:
    problem = pose(random_people(8, 100, 5, 2), fairness=DisparateImpact(), max_discrimination=0.05)
    travelled = pickle.loads(pickle.dumps(SOLVER.solve(problem, Budget()).certificate))  # noqa: S301 (our own bytes)
    assert check(travelled, problem).holds
    again = certificate_from_bytes(SOLVER.solve(problem, Budget()).certificate.to_bytes())
    assert check(again, problem).holds
    assert again.to_bytes() == travelled.to_bytes()


def test_no_certificate_where_none_is_wanted() -> None:
    problem = pose(random_people(9, 50, 3, 2), fairness=DisparateImpact())
    assert FrontSolver(certificate=False).solve(problem, Budget()).certificate is None


@given(seed=st.integers(0, 10_000), n_people=st.sampled_from([4, 63, 200]), sparse=st.booleans(), even=st.booleans())
@settings(max_examples=40, deadline=None)
def test_a_kind_adds_what_its_people_add(seed: int, n_people: int, sparse: bool, even: bool) -> None:
    """An operator that names everybody is read as it is stored, another one is filled up: both by the definition."""
    draw = np.random.default_rng(seed)
    people = random_people(seed, n_people, 3, 2, weighted=not even)
    assume(len(set(people.outcome.values.tolist())) == 2 and len(set(people.groups[0].codes.tolist())) == 2)
    notion: Notion = EqualOpportunity(1) if sparse else DisparateImpact()
    problem = pose(people, fairness=notion, fairness_weight=0.4)
    bits = find_bits(problem)
    assert bits is not None
    kinds, given_second = bits.kinds, draw.integers(0, 2, n_people)
    counts = np.bincount(kinds.kind[given_second == 1], minlength=len(kinds.heads))
    total = counts @ kinds.vectors
    assert total[-1] == given_second.sum()
    loss = problem.loss.value(people.outcome, given_second, people.share)
    assert kinds.offset[0] + total[0] == pytest.approx(loss, abs=1e-12)
    disparity = np.abs(kinds.offset[1:] + total[1:-1]).sum()
    assert disparity == pytest.approx(0.4 * problem.disparity.value(problem.psi(given_second)), abs=1e-12)
