"""Proofs about regression trees of depth 3: true ones hold, edited ones and false claims do not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from certified import certificate_by, certificate_holds, claim_is_refused, claim_of, read_again
from edited_certificates import STRANGE, copy_of, edited_is_answered, reason
from evenleaf.datasets import load_diabetes
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.certify import check
from evenleaf.solve.certify.values.coupled import Coupled, places_tested
from evenleaf.solve.certify.values.numbers import Numbers
from evenleaf.solve.certify.values.subtrees import SubtreesBelow
from evenleaf.solve.proofs.values import Capped, Kept, Node, Roots, ValuesProof
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.values import worker
from evenleaf.solve.values.ascent import LOOK
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import problems
from paid_rows import Priced, some_prices
from value_proofs import (
    SOLVER,
    mixed,
    nodes_of,
    plain_node,
    single_roots,
    usable,
    whole_roots,
    without_first_parts,
    worse_regressors,
)


def stuck_certificate(problem: Problem) -> Certificate:
    """The proof of a search whose bounds give up at once, so that tests and people's values are split."""
    with pytest.MonkeyPatch.context() as patch:
        for name, effort in (("DEEP_CLIMB", Effort(2, 1, 0.9)), ("DEEP_LIGHT", LOOK), ("DEEP_GLANCE", LOOK)):
            patch.setattr(worker, name, effort)
        patch.setattr(worker, "_MOST_CAPS", 3)
        return certificate_by(SOLVER, problem)


def deep(problem: Problem) -> Problem:
    usable(problem)
    return problem.with_shape(replace(problem.shape, max_depth=3))


def tiny(**asked: Any) -> Any:
    return problems(task="regression", max_depth=3, max_columns=2, max_values=3, **asked)


@given(problem=tiny(forms=("weight", "plain")))
@settings(max_examples=40)
def test_proofs_hold(problem: Problem) -> None:
    problem = deep(problem)
    certificate_holds(certificate_by(SOLVER, problem), problem, steps=(4, 6))


@given(problem=tiny(forms=("weight",)))
@settings(max_examples=30)
def test_proofs_by_splits_hold(problem: Problem) -> None:
    problem = deep(problem)
    certificate_holds(stuck_certificate(problem), problem, steps=(4, 6))


@given(problem=tiny(forms=("limit",)))
@settings(max_examples=20)
def test_proofs_of_the_constrained_form_hold(problem: Problem) -> None:
    problem = deep(problem)
    assume(problem.max_discrimination is not None and problem.max_discrimination > 0)
    found = SOLVER.solve(problem, Budget())
    assert found.proven
    assert found.certificate is not None
    certificate_holds(found.certificate, problem, steps=(4, 6))


@pytest.mark.parametrize(
    "limits",
    [
        {},
        {"max_leaves": 5},
        {"max_features_used": 2},
        {"max_feature_uses": 1},
        {"max_feature_uses": {"x": 0, "c": 2}, "max_leaves": 6},
        {"min_samples_leaf": 3},
    ],
)
def test_proofs_under_limits_hold(limits: dict[str, Any]) -> None:
    problem = mixed(16, 3, depth=3, limits=limits)
    certificate_holds(certificate_by(SOLVER, problem), problem, steps=(6,))


@given(problem=tiny(max_people=6, forms=("weight", "plain")), data=st.data())
@settings(max_examples=20)
def test_the_proof_of_the_best_tree_does_not_prove_a_worse_one(problem: Problem, data: st.DataObject) -> None:
    problem = deep(problem)
    certificate = (stuck_certificate if data.draw(st.booleans()) else lambda p: certificate_by(SOLVER, p))(problem)
    assert isinstance(certificate.proof, ValuesProof)
    for tree in worse_regressors(problem):
        claim_is_refused(problem, tree, certificate.proof)


@given(problem=tiny(forms=("plain",), max_people=7))
@settings(max_examples=40)
def test_without_fairness_the_bound_is_exact(problem: Problem) -> None:
    """No rows, no multipliers: a node a root (and set of places) is a proof if, and only if, the tree is the best."""
    problem = deep(problem)
    assume(problem.shape.max_feature_uses is None and problem.shape.max_features_used is None)
    numbers = Numbers.of(problem)
    roots = [root for feature in range(numbers.n_features) for root in single_roots(numbers, feature)]
    tested = places_tested(problem.shape.max_leaves)
    proof = ValuesProof(tuple(plain_node(numbers, replace(root, tested=t)) for root in roots for t in tested))
    best = brute_force(problem)
    assert best.tree is not None
    verdict = check(claim_of(problem, best.tree, proof), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_regressors(problem):
        claim_is_refused(problem, tree, proof)


def junk_below(random: np.random.Generator, numbers: Numbers, node: Node, levels: int) -> None:
    """Random ways to part the trees of one root, which together hold all of them."""
    if not levels:
        return
    point, place = int(random.integers(0, numbers.n_tests + 2)), int(random.integers(0, 6))
    person, value = int(random.integers(0, len(numbers.count))), float(random.choice([0.0, 0.3, 0.5, 1.0]))
    kept = (Kept(place, (0, point)), Kept(place, (point, numbers.n_tests + 1)))
    capped = (Capped(person, value, above=False), Capped(person, value, above=True))
    node.parts = [plain_node(numbers, within) for within in (kept if random.random() < 0.5 else capped)]
    for part in node.parts:
        junk_below(random, numbers, part, levels - 1)


@given(problem=tiny(forms=("weight", "plain"), max_people=6), seed=st.integers(0, 1000))
@settings(max_examples=40)
def test_junk_never_proves_a_false_claim(problem: Problem, seed: int) -> None:
    problem = deep(problem)
    random, numbers = np.random.default_rng(seed), Numbers.of(problem)
    roots = [root for feature in range(numbers.n_features) for root in single_roots(numbers, feature)]
    for tree in worse_regressors(problem):
        tops = [plain_node(numbers, root) for root in roots]
        for top in tops:
            junk_below(random, numbers, top, 3)
        claim_is_refused(problem, tree, ValuesProof(tuple(tops)))


# What the checker computes, against the definitions.


def subtree_costs(numbers: Numbers, side: np.ndarray, tests: tuple[int, ...], stump: Any, least: int) -> float:
    """A tree of six tests below a root, stump by stump; a test that leaves too few people in a leaf is none."""
    below, total = SubtreesBelow(numbers, Shape(max_depth=3), None), 0.0  # type: ignore[arg-type]
    none = numbers.n_tests
    for s in (0, 1):
        if tests[s] == none and tests[2 + 2 * s : 4 + 2 * s] != (none, none):
            return np.inf
        child = below.goes_right(tests[s])
        for c in (0, 1) if tests[s] != none else (0,):
            test = tests[2 + 2 * s + c]
            grand = below.goes_right(test)
            leaves = [np.flatnonzero((side == s) & (child == c) & (grand == g)) for g in (0, 1)]
            crowd = [numbers.count[leaf].sum() for leaf in leaves]
            enough = crowd[0] >= least and (test == none or crowd[1] >= least)
            total += stump(*leaves) if enough else np.inf
    return total


@given(problem=problems(task="regression", max_people=6, max_columns=1, max_values=4, forms=("plain",)), data=st.data())
@settings(max_examples=40, deadline=None)
def test_survivors_are_the_tests_of_cheap_trees(problem: Problem, data: st.DataObject) -> None:
    """Against every tree there is below a root, with prices, caps and a least number of people a leaf."""
    usable(problem)
    numbers, random = Numbers.of(problem), np.random.default_rng(data.draw(st.integers(0, 10**6)))
    assume(0 < numbers.n_tests <= 5)
    least, n = int(random.integers(1, 3)), len(numbers.count)
    below = SubtreesBelow(numbers, Shape(max_depth=3, min_samples_leaf=least), problem.people.features.schema)
    caps = tuple(
        Capped(int(random.integers(0, n)), float(random.choice([0.0, 0.4, 1.0])), bool(random.random() < 0.5))
        for _ in range(int(random.integers(0, 3)))
    )
    trees = replace(below.start(0, np.array([int(random.integers(0, numbers.offsets[1]))]), 0b111111), caps=caps)
    trees = replace(trees, alive=trees.alive & (random.random(trees.alive.shape) < 0.8))
    values = np.union1d(numbers.levels, [cap.value for cap in caps])
    prices = some_prices(numbers, random)
    priced = Priced.at(numbers, numbers.operator, prices.person, prices.steep, prices.lean)

    def fitting(leaf: np.ndarray) -> np.ndarray:
        """The values that the caps of its people allow a leaf."""
        mine = [cap for cap in caps if cap.person in leaf]
        return values[[all((u >= cap.value) if cap.above else (u <= cap.value) for cap in mine) for u in values]]

    def stump(lower: np.ndarray, upper: np.ndarray) -> float:
        return priced.stump(lower, upper, fitting(lower), fitting(upper))

    every = list(product(*(np.flatnonzero(row).tolist() for row in trees.alive)))
    assume(every and len(every) <= 5000)
    costs = np.array([subtree_costs(numbers, trees.side, tests, stump, least) for tests in every])
    budget = float(np.quantile(costs[np.isfinite(costs)], 0.3)) + 1e-9 if np.isfinite(costs).any() else 1.0
    expected = np.zeros_like(trees.alive)
    for tests, value in zip(every, costs, strict=True):
        if value < budget:
            expected[np.arange(6), tests] = True
    found = below.survivors(trees, prices, budget)
    assert (found | ~expected).all(), "a test of a cheap tree was dropped"
    assert found.any(axis=1).all() == expected.any()


def test_places_for_few_leaves() -> None:
    assert places_tested(None) == places_tested(8) == [0b111111]
    assert places_tested(2) == [0]
    assert sorted(places_tested(3)) == [0b01, 0b10]
    assert sorted(places_tested(4)) == sorted([0b11, 0b0101, 0b1001, 0b010010, 0b100010])
    assert len(places_tested(7)) == 4


def test_columns_are_counted_where_they_are_certain() -> None:
    problem = mixed(12, 3, depth=3, limits={"max_feature_uses": {"x": 1}, "max_features_used": 2})
    numbers = Numbers.of(problem)
    coupled = Coupled(problem.shape, problem.people.features.schema, numbers)
    every = np.ones((6, numbers.n_tests + 1), dtype=np.bool_)
    left = coupled.left(0, every)
    assert not left[:, coupled.of_test == 0].any()
    assert left[:, coupled.of_test != 0].all()
    left[3] &= coupled.of_test == 2
    left = coupled.left(0, left)
    assert set(coupled.of_test[left[0]]) == {2}
    assert set(coupled.of_test[left[1]]) == {2, -1}
    left[1] = coupled.of_test == 1
    assert not coupled.left(0, left).any()
    assert coupled.counted(0, (0, numbers.n_tests)) == Counter({0: 2})


# Edited proofs.


@pytest.fixture(scope="module")
def tampered() -> tuple[Problem, Certificate]:
    people = load_diabetes().sample(14, seed=5).people()
    shape = Shape(max_depth=3, allowed_features=("bmi", "bp", "s5"), min_samples_leaf=2)
    problem = pose(people, fairness=DisparateTreatment(n_neighbors=4), fairness_weight=1.0, shape=shape)
    certificate = stuck_certificate(problem)
    assert check(certificate, problem).holds
    assert {type(node.within) for node in nodes_of(certificate)} == {Roots, Kept, Capped, type(None)}
    return problem, certificate


def test_round_trip(tampered: tuple[Problem, Certificate]) -> None:
    few = certificate_by(SOLVER, mixed(12, 3, depth=3, limits={"max_leaves": 4}))
    for certificate in (tampered[1], few):
        for one, other in zip(nodes_of(read_again(certificate)), nodes_of(certificate), strict=True):
            assert one.within == other.within


def test_edited_caps(tampered: tuple[Problem, Certificate]) -> None:
    problem, n_people = tampered[0], len(Numbers.of(tampered[0]).count)
    lost = "no part of the proof holds some values of a person"
    changes: list[tuple[Any, str]] = [
        (lambda cap: replace(cap, value=cap.value + (0.1 if cap.above else -0.1)), lost),
        (lambda cap: replace(cap, above=True), lost),
        (lambda cap: replace(cap, value=np.nan), lost),
        (lambda cap: replace(cap, value=np.inf), lost),
        (lambda cap: replace(cap, person=n_people), "of several people, or of nobody"),
        (lambda cap: replace(cap, person=-1), "of several people, or of nobody"),
        (lambda cap: replace(cap, person=int(cap.above)), "of several people, or of nobody"),
        (lambda _: Kept(7, (0, 1)), "not parted at one place"),
    ]
    for change, words in changes:
        certificate = copy_of(tampered[1])
        for node in nodes_of(certificate):
            if isinstance(node.within, Capped):
                node.within = change(node.within)
        assert words in reason(certificate, problem)
    certificate = without_first_parts(copy_of(tampered[1]), Capped)
    assert lost in reason(certificate, problem)


def test_other_multipliers_and_missing_parts(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        node.mu = np.zeros_like(node.mu)
    assert "does not rule out" in reason(certificate, problem)
    for kind in (Roots, Kept):
        certificate = without_first_parts(copy_of(tampered[1]), kind)
        assert "no part of the proof holds" in reason(certificate, problem)
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        node.parts = []
    assert "does not rule out" in reason(certificate, problem)


def test_sets_that_are_only_parted(tampered: tuple[Problem, Certificate]) -> None:
    """A set need not be priced if its parts are, but where nothing is priced nothing is proven."""
    problem = tampered[0]
    certificate = copy_of(tampered[1])
    assert isinstance(certificate.proof, ValuesProof)
    tops = [replace(node, parts=[replace(node, within=None)], priced=False) for node in certificate.proof.nodes]
    wrapped = replace(certificate, proof=ValuesProof(tuple(tops)))
    assert check(wrapped.to_bytes(), problem).holds
    assert [node.priced for node in nodes_of(copy_of(wrapped))] == [node.priced for node in nodes_of(wrapped)]
    for node in nodes_of(certificate):
        node.priced = False
    said = reason(certificate, problem)
    assert "does not rule out" in said or "no part of the proof holds" in said
    for top in tops:
        top.parts = []
    assert "does not rule out" in reason(wrapped, problem)


def test_sets_of_places_must_all_be_there() -> None:
    problem = mixed(12, 3, depth=3, limits={"max_leaves": 4})
    certificate = certificate_by(SOLVER, problem)
    assert isinstance(certificate.proof, ValuesProof)
    for tested in places_tested(4):
        kept = [n for n in certificate.proof.nodes if isinstance(n.within, Roots) and n.within.tested != tested]
        assert 0 < len(kept) < len(certificate.proof.nodes)
        fewer = replace(certificate, proof=ValuesProof(tuple(kept)))
        assert "no part of the proof holds trees that begin with the test" in reason(fewer, problem)


def test_caps_are_for_deep_trees_only() -> None:
    problem = mixed(12, 3, fairness=DisparateImpact(), fairness_weight=0.3)
    numbers, tree = Numbers.of(problem), brute_force(problem.with_shape(Shape(max_depth=1))).tree
    assert tree is not None
    tops = [plain_node(numbers, whole_roots(numbers, feature)) for feature in range(numbers.n_features)]
    for top in tops:
        top.parts = [plain_node(numbers, Capped(0, 0.5, above)) for above in (False, True)]
    assert "parted in no way that there is" in reason(claim_of(problem, tree, ValuesProof(tuple(tops))), problem)


@pytest.fixture(scope="module")
def to_edit(tampered: tuple[Problem, Certificate]) -> tuple[Problem, bytes, float]:
    problem, certificate = tampered
    return problem, certificate.to_bytes(), certificate.objective


@given(seed=st.integers(0, 10**6), value=st.sampled_from(STRANGE))
@settings(max_examples=60)
def test_edits_with_a_right_checksum_are_answered(to_edit: tuple[Problem, bytes, float], seed: int, value: Any) -> None:
    edited_is_answered(*to_edit, seed, value)
