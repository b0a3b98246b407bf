"""The checker of proofs about numbers: true proofs hold, tampered ones are refused, false claims never accepted."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cli_runs import run
from edited_certificates import STRANGE, TOLERANCE, copy_of, edited_is_answered, reason
from evenleaf import FairTreeRegressor
from evenleaf.case import Answer, Question, make_case
from evenleaf.errors import InputError
from evenleaf.estimators import load_model, save_model
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, solve
from evenleaf.solve.certificate import Certificate, certificate_from_bytes, make_certificate
from evenleaf.solve.certify import check
from evenleaf.solve.certify.values import proof
from evenleaf.solve.certify.values.leaves import best_multipliers, cost_alone, leaf_costs, least_cost
from evenleaf.solve.certify.values.numbers import Numbers
from evenleaf.solve.certify.values.stumps import stump_costs, without_twins
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.proofs.values import GRID, Kept, Node, Roots, ValuesProof
from evenleaf.solve.values import ValueSolver, kernels
from evenleaf.solve.values.recorder import _runs
from evenleaf.testing import SHELF, brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Leaf, Tree, tree_to_json
from report_cases import pay_columns, write_csv

SOLVER = ValueSolver()


def proof_of(problem: Problem) -> Certificate:
    solution = SOLVER.solve(problem, Budget())
    assert solution.proven
    assert isinstance(solution.certificate, Certificate)
    return solution.certificate


def mixed(n: int = 24, levels: int = 4, depth: int = 2, **asked: Any) -> Problem:
    """People without a pattern, so that a proof takes work; `levels` of the column c."""
    number = np.arange(n)
    x, z = number * 7 % 11, number * number % 5
    columns = {"x": x, "z": z, "c": [f"level {i}" for i in (number * 5 + 1) % (levels + 3) % levels]}
    outcome = ((x + 2 * z + number * 5 % 7) % 9).astype(float)
    people = people_from(columns, outcome, {"g": ["ab"[i] for i in number * 3 % 7 % 2]}, task="regression")
    fairness = asked.pop("fairness", DisparateTreatment(n_neighbors=4))
    limits = asked.pop("limits", {})
    shape = Shape(max_depth=depth, **limits)
    return pose(people, shape=shape, fairness=fairness, **(asked or {"fairness_weight": 0.3}))


def nodes_of(certificate: Certificate) -> list[Node]:
    assert isinstance(certificate.proof, ValuesProof)
    return list(certificate.proof.walk())


def with_tops(certificate: Certificate, tops: list[Node]) -> Certificate:
    return replace(certificate, proof=ValuesProof(tuple(tops)))


# True proofs.


def holds(problem: Problem) -> None:
    certificate = proof_of(problem)
    for form in (certificate, certificate.to_bytes()):
        verdict = check(form, problem)
        assert verdict.holds, verdict.reason
        assert verdict.reason == ""
        assert len(verdict.checked) >= 4


def test_proofs_of_the_shelf_hold() -> None:
    checked = 0
    for entry in SHELF:
        problem = entry.build()
        if SOLVER.accepts(problem) and problem.shape.max_depth <= 2:
            verdict = check(proof_of(problem).to_bytes(), problem)
            assert verdict.holds, f"{entry.name}: {verdict.reason}"
            checked += 1
    assert checked > 8


@given(problem=problems(task="regression", forms=("weight", "plain")))
@settings(max_examples=40)
def test_proofs_hold(problem: Problem) -> None:
    assume(SOLVER.accepts(problem))
    holds(problem)


@given(problem=problems(task="regression", max_values=6, forms=("limit",)))
@settings(max_examples=30)
def test_proofs_of_the_constrained_form_hold(problem: Problem) -> None:
    assume(SOLVER.accepts(problem))
    holds(problem)


@pytest.mark.long
@given(problem=problems(task="regression", max_people=12, max_values=6))
@settings(max_examples=600)
def test_many_proofs_hold(problem: Problem) -> None:
    assume(SOLVER.accepts(problem))
    holds(problem)


@pytest.mark.parametrize("asked", [{"fairness_weight": 0.1}, {"fairness_weight": 2.0}, {"max_discrimination": 0.1}])
@pytest.mark.parametrize(("n", "levels"), [(60, 3), (40, 6)])
def test_proofs_that_take_work_hold(n: int, levels: int, asked: dict[str, Any]) -> None:
    problem = mixed(n, levels, **asked)
    assert len(nodes_of(proof_of(problem))) > 30
    holds(problem)


@pytest.mark.parametrize(
    "limits",
    [
        {"max_leaves": 3},
        {"max_features_used": 2},
        {"max_feature_uses": 1},
        {"max_feature_uses": {"x": 0}},
        {"min_samples_leaf": 7},
        {"allowed_features": ("x", "c")},
        {"max_leaves": 3, "min_samples_leaf": 5, "max_feature_uses": {"z": 1}},
    ],
)
def test_proofs_under_limits_hold(limits: dict[str, Any]) -> None:
    holds(mixed(limits=limits))
    holds(mixed(limits=limits, max_discrimination=0.2))


@pytest.mark.parametrize("depth", [0, 1])
def test_shallow_proofs_hold(depth: int) -> None:
    holds(mixed(depth=depth))


def test_an_outcome_that_never_changes_needs_no_proof() -> None:
    problem = pose(people_from({"x": [1, 2, 3]}, [2.0, 2.0, 2.0], task="regression"))
    holds(problem)
    assert nodes_of(proof_of(problem)) == []


@pytest.mark.parametrize(("scale", "shift"), [(1e2, -3e5), (1e-4, 5.0)])
def test_the_unit_of_the_outcome_does_not_matter(scale: float, shift: float) -> None:
    problem = mixed()
    outcome = replace(problem.people.outcome, values=problem.people.outcome.values * scale + shift)
    people = replace(problem.people, outcome=outcome)
    holds(pose(people, fairness=DisparateTreatment(n_neighbors=4), fairness_weight=0.3))


def test_progress_is_told() -> None:
    problem = mixed()
    told: list[tuple[int, int]] = []
    certificate = proof_of(problem)
    assert check(certificate, problem, lambda done, total: told.append((done, total))).holds
    assert told == sorted(told)
    assert told[-1] == (certificate.n_nodes, certificate.n_nodes)


def test_round_trip() -> None:
    for problem in (mixed(), mixed(max_discrimination=0.1), mixed(depth=0)):
        certificate = proof_of(problem)
        data = certificate.to_bytes()
        again = certificate_from_bytes(data)
        assert again.to_bytes() == data
        assert again.n_nodes == certificate.n_nodes
        for one, other in zip(nodes_of(again), nodes_of(certificate), strict=True):
            assert one.within == other.within
            assert np.array_equal(one.mu, other.mu)


def test_recording_changes_nothing() -> None:
    problem = mixed(60)
    with_proof, without = SOLVER.solve(problem, Budget()), ValueSolver(certificate=False).solve(problem, Budget())
    assert without.certificate is None
    assert with_proof.tree == without.tree
    assert with_proof.message == without.message


def test_what_has_no_certificate_says_why() -> None:
    small = ValueSolver(memory=1e-4).solve(mixed(60), Budget())
    assert small.proven
    assert small.certificate is None
    assert "no certificate: it did not fit into the memory allowed" in small.message
    wide = people_from({"x": [1, 2, 3]}, [0.0, 1.0, 1e5], task="regression")
    answer = SOLVER.solve(pose(wide), Budget())
    assert answer.certificate is None
    assert "the outcome's range is above 5,000" in answer.message
    deep = SOLVER.solve(mixed(12, depth=3), Budget())
    assert deep.proven
    assert deep.certificate is None
    assert "there is none beyond depth 2" in deep.message
    with pytest.raises(InputError, match="memory must be a positive number"):
        ValueSolver(memory=0)


def test_a_search_that_was_stopped_has_none() -> None:
    budget = Budget()
    budget.cancel()
    assert SOLVER.solve(mixed(60), budget).certificate is None


def test_a_side_that_costs_less_than_nothing() -> None:
    """Prices may be below zero, and so may a side: the cheapest pair is then not where the left side is cheapest."""
    people = people_from(
        {"x": [0, 0, 0, 1, 0, 2, 0, 0], "z": [0, 0, 1, 1, 0, 0, 0, 0]},
        [0, 0, 2, 2, 0, 0, 0, 0],
        {"g": list("abaaabaa")},
        task="regression",
    )
    holds(pose(people, fairness=DisparateImpact(), max_discrimination=0.1))
    random, offsets = np.random.default_rng(0), np.array([0, 2, 4, 6])
    alive, allowed = np.ones((2, 7), dtype=np.uint8), np.ones((4, 4), dtype=np.bool_)
    for _ in range(100):
        out, cheapest, where = random.normal(size=(2, 7)), np.empty((2, 4)), np.empty((2, 4), dtype=np.int64)
        value, _, _ = kernels.best_pair(out, alive, allowed, offsets, cheapest, where)
        assert value == pytest.approx(out[0].min() + out[1].min())


# The parts of the checker, against the definitions.


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_the_cheapest_value_of_a_leaf(seed: int) -> None:
    random = np.random.default_rng(seed)
    levels = np.unique(np.concatenate([[0.0, 1.0], random.random(int(random.integers(0, 5)))]))
    mass, pull = random.random((3, len(levels))), random.normal(size=3)
    values = np.union1d(levels, np.linspace(0, 1, 50))
    dense = (mass[:, :, None] * np.abs(levels[:, None] - values)).sum(axis=1) + pull[:, None] * values
    assert least_cost(mass, pull, levels) == pytest.approx(dense.min(axis=1))


@given(problem=problems(task="regression", max_people=10, notions=("impact", "treatment")), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_stumps_cost_what_their_leaves_do(problem: Problem, seed: int) -> None:
    assume(SOLVER.accepts(problem) and problem.target.low < problem.target.high)
    numbers, random = Numbers.of(problem), np.random.default_rng(seed)
    prices = random.normal(size=len(numbers.count)) * 0.3
    people = np.flatnonzero(random.random(len(numbers.count)) < 0.7)
    assume(len(people))
    least, joining = int(random.integers(1, 4)), int(random.integers(0, 2))
    every = np.ones(numbers.n_tests + 1, dtype=np.bool_)
    cost = stump_costs(numbers, people, prices, every, least, joining)
    alone = cost_alone(numbers, prices)
    for test in range(numbers.n_tests + 1):
        parts = [part for part in parted(numbers, people, test) if test < numbers.n_tests or len(part)]
        total = sum(cost_of_leaf(numbers, part, prices) for part in parts)
        crowded = all(numbers.count[part].sum() + joining >= least for part in parts)
        assert cost[test] == pytest.approx(total if crowded else np.inf)
        assert total >= alone[people].sum() - 1e-12


def parted(numbers: Numbers, people: np.ndarray, test: int) -> list[np.ndarray]:
    """The people left and right of a test, from the meaning of its number."""
    if test == numbers.n_tests:
        return [people, people[:0]]
    feature = int(np.searchsorted(numbers.offsets, test, side="right")) - 1
    number, rank = test - int(numbers.offsets[feature]), numbers.ranks[feature][people]
    right = rank > number
    if numbers.unordered[feature]:
        right = np.array([r > 0 and bool((number + 1) & (1 << (int(r) - 1))) for r in rank], dtype=np.bool_)
    return [people[~right], people[right]]


def cost_of_leaf(numbers: Numbers, people: np.ndarray, prices: np.ndarray) -> float:
    outcome = numbers.levels[numbers.level[people]]
    return min(float(numbers.share[people] @ np.abs(outcome - u) + prices[people].sum() * u) for u in numbers.levels)


@given(problem=problems(task="regression", max_people=8, max_values=4), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_twins_are_left_out_and_nothing_else(problem: Problem, seed: int) -> None:
    """Of the tests of a feature that part people alike exactly one is kept, and none that does not part them."""
    assume(SOLVER.accepts(problem) and problem.target.low < problem.target.high)
    numbers = Numbers.of(problem)
    people = np.flatnonzero(np.random.default_rng(seed).random(len(numbers.count)) < 0.6)
    kept = without_twins(numbers, people, np.ones(numbers.n_tests + 1, dtype=np.bool_))
    assert kept[-1]
    for feature in range(numbers.n_features):
        tests = range(int(numbers.offsets[feature]), int(numbers.offsets[feature + 1]))
        parts = {test: frozenset(tuple(part) for part in parted(numbers, people, test)) for test in tests}
        wanted = {part for part in parts.values() if () not in part}
        found = [parts[test] for test in tests if kept[test]]
        assert len(found) == len(set(found))
        assert set(found) == wanted


@given(problem=problems(task="regression", max_people=9, forms=("weight", "limit")), seed=st.integers(0, 10**6))
@settings(max_examples=60)
def test_multipliers_of_a_tree_price_it_truly(problem: Problem, seed: int) -> None:
    assume(SOLVER.accepts(problem) and problem.target.low < problem.target.high)
    numbers = Numbers.of(problem)
    leaf = np.random.default_rng(seed).integers(0, 3, len(numbers.count))
    _, leaf = np.unique(leaf, return_inverse=True)
    limit = problem.max_discrimination
    scaled = None if limit is None else limit / numbers.unit
    mu, scale = best_multipliers(numbers, leaf, scaled)
    cost = leaf_costs(numbers, leaf, numbers.prices(mu, scale)) - scale * (scaled or 0.0)
    true = best_leaves(problem, leaf[numbers.kind], int(leaf.max()) + 1)
    assert true is not None
    assert cost * numbers.unit == pytest.approx(true[1], abs=1e-7)
    assert (np.abs(mu) <= 1).all()


@given(possible=st.lists(st.booleans(), min_size=1, max_size=12), seed=st.integers(0, 10**6))
@settings(max_examples=100)
def test_runs_hold_what_is_kept(possible: list[bool], seed: int) -> None:
    was = np.array(possible)
    chosen = was & (np.random.default_rng(seed).random(len(was)) < 0.5)
    held = []
    for kept in (chosen, was & ~chosen):
        runs = _runs(kept, was)
        inside = np.zeros(len(was), dtype=np.bool_)
        for start, stop in zip(runs[::2], runs[1::2], strict=True):
            inside[start:stop] = True
        assert np.array_equal(inside & was, kept)
        held.append(inside)
    assert (held[0] | held[1]).all() or not was.any()


# Claims that brute force knows, with proofs made by hand: neither search nor kernel is involved.


def single_roots(numbers: Numbers, feature: int) -> list[Roots]:
    """Every root of a feature, one by one."""
    tests = np.arange(numbers.offsets[feature + 1] - numbers.offsets[feature])
    if not numbers.unordered[feature]:
        return [Roots(feature, int(test), int(test)) for test in tests]
    sides = ~numbers.sends_left(feature, tests)
    return [Roots(feature, sides=tuple(int(side) for side in row)) for row in sides]


def whole(numbers: Numbers, feature: int) -> Roots:
    """All roots of a feature."""
    size = int(numbers.ranks[feature].max()) + 1
    return Roots(feature, sides=(0,) + (2,) * (size - 1)) if numbers.unordered[feature] else Roots(feature, 0, size - 2)


def plain_node(numbers: Numbers, within: Roots | Kept | None, scale: float = 1.0) -> Node:
    return Node(within, np.zeros(len(numbers.weight), dtype=np.int32), scale)


def one_by_one(numbers: Numbers) -> list[Node]:
    """The proof that looks at every tree: each root, with each test on the left, with each test on the right."""
    tops = []
    for feature in range(numbers.n_features):
        top = plain_node(numbers, whole(numbers, feature))
        tops.append(top)
        for root in single_roots(numbers, feature):
            node = plain_node(numbers, root)
            top.parts.append(node)
            for left in range(numbers.n_tests + 1):
                part = plain_node(numbers, Kept(0, (left, left + 1)))
                node.parts.append(part)
                part.parts = [plain_node(numbers, Kept(1, (right, right + 1))) for right in range(numbers.n_tests + 1)]
    return tops


def claim_of(problem: Problem, tree: Tree, tops: list[Node]) -> Certificate:
    return make_certificate(problem, tree, problem.evaluate(tree).objective, TOLERANCE, ValuesProof(tuple(tops)))


def worse_trees(problem: Problem) -> list[Tree]:
    """Valid trees that are worse than the best: constants, the best tree of less depth, the best with a value moved."""
    best, schema, target = brute_force(problem), problem.people.features.schema, problem.target
    found = [Tree(schema, target, (Leaf(float(value)),)) for value in np.unique(problem.people.outcome.values)]
    if problem.shape.max_depth > 1:
        shallow = brute_force(problem.with_shape(replace(problem.shape, max_depth=problem.shape.max_depth - 1))).tree
        assert shallow is not None
        found.append(shallow)
    assert best.tree is not None
    middle = (target.low + target.high) / 2
    for place, node in enumerate(best.tree.nodes):
        if isinstance(node, Leaf):
            moved = Leaf(node.value + 0.01 * (middle - node.value))
            found.append(Tree(schema, target, (*best.tree.nodes[:place], moved, *best.tree.nodes[place + 1 :])))
    scored = [(problem.evaluate(tree), tree) for tree in found]
    return [tree for score, tree in scored if score.feasible and score.objective > best.objective + 2 * TOLERANCE]


def refused_where_false(problem: Problem, tree: Tree, certificate: Certificate) -> None:
    said = reason(certificate, problem)
    assert "does not rule out" in said or "one value for everybody is better" in said, (said, str(tree))


def usable(problem: Problem) -> None:
    assume(SOLVER.accepts(problem) and problem.target.low < problem.target.high)


@given(problem=problems(task="regression", max_people=5, max_columns=2, max_values=3))
@settings(max_examples=40)
def test_looking_at_every_tree_proves_the_best_one_only(problem: Problem) -> None:
    usable(problem)
    best, tops = brute_force(problem), one_by_one(Numbers.of(problem))
    assert best.tree is not None
    if problem.shape.max_depth < 2:
        for top in tops:
            for node in top.parts:
                node.parts = []
    verdict = check(claim_of(problem, best.tree, tops), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_trees(problem):
        refused_where_false(problem, tree, claim_of(problem, tree, tops))


@given(problem=problems(task="regression", forms=("plain",), max_values=4))
@settings(max_examples=60)
def test_without_fairness_the_bound_is_exact(problem: Problem) -> None:
    """No rows, no multipliers: a node a root is a proof if, and only if, the tree is the best."""
    usable(problem)
    numbers = Numbers.of(problem)
    tops = [plain_node(numbers, root) for f in range(numbers.n_features) for root in single_roots(numbers, f)]
    best = brute_force(problem)
    assert best.tree is not None
    verdict = check(claim_of(problem, best.tree, tops), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_trees(problem):
        refused_where_false(problem, tree, claim_of(problem, tree, tops))


def junk_mu(random: np.random.Generator, numbers: Numbers) -> np.ndarray:
    mu = random.integers(-GRID, GRID + 1, len(numbers.weight))
    return (GRID * np.sign(mu) if random.random() < 0.5 else mu).astype(np.int32)


def junk_parts(random: np.random.Generator, numbers: Numbers, node: Node, scale: float, depth: int) -> None:
    """Random multipliers and random ways to part a set, which together hold all of it."""
    node.mu, node.scale = junk_mu(random, numbers), scale
    if not depth:
        return
    root = node.within
    if isinstance(root, Roots) and random.random() < 0.6:
        node.parts = [plain_node(numbers, within) for within in junk_roots(random, root)]
    if not node.parts and random.random() < 0.7:
        point = int(random.integers(0, numbers.n_tests + 2))
        place = int(random.integers(0, 2))
        runs = ((0, point), (point, numbers.n_tests + 1))
        node.parts = [plain_node(numbers, Kept(place, run)) for run in runs]
    elif not node.parts:
        node.parts = [plain_node(numbers, None)]
    for part in node.parts:
        junk_parts(random, numbers, part, scale, depth - 1)


def junk_roots(random: np.random.Generator, root: Roots) -> list[Roots]:
    open_levels = [rank for rank, side in enumerate(root.sides) if side == 2]
    if len(open_levels) > 1:
        rank = int(random.choice(open_levels[1:]))
        return [replace(root, sides=(*root.sides[:rank], side, *root.sides[rank + 1 :])) for side in (0, 1)]
    if not root.sides and root.first < root.last:
        middle = int(random.integers(root.first, root.last))
        return [replace(root, last=middle), replace(root, first=middle + 1)]
    return []


def junk_is_refused(problem: Problem, seed: int) -> None:
    usable(problem)
    random, numbers = np.random.default_rng(seed), Numbers.of(problem)
    for tree in worse_trees(problem):
        tops = [plain_node(numbers, whole(numbers, feature)) for feature in range(numbers.n_features)]
        for top in tops:
            scale = 1.0 if problem.max_discrimination is None else float(random.choice([0.0, 0.3, 1.0, 20.0, 1e15]))
            junk_parts(random, numbers, top, scale, 5)
        refused_where_false(problem, tree, claim_of(problem, tree, tops))


@given(problem=problems(task="regression", max_people=7, max_values=3), seed=st.integers(0, 1000))
@settings(max_examples=60)
def test_junk_never_proves_a_false_claim(problem: Problem, seed: int) -> None:
    junk_is_refused(problem, seed)


@pytest.mark.long
@given(problem=problems(task="regression", max_people=7, max_values=4), seed=st.integers(0, 1000))
@settings(max_examples=1500)
def test_much_junk_never_proves_a_false_claim(problem: Problem, seed: int) -> None:
    junk_is_refused(problem, seed)


@given(problem=problems(task="regression", max_people=8, max_values=3))
@settings(max_examples=50)
def test_the_proof_of_the_best_tree_does_not_prove_a_worse_one(problem: Problem) -> None:
    usable(problem)
    certificate = proof_of(problem)
    assert isinstance(certificate.proof, ValuesProof)
    for tree in worse_trees(problem):
        refused_where_false(problem, tree, claim_of(problem, tree, list(certificate.proof.nodes)))


# Tampering.


@pytest.fixture(scope="module", params=[{"fairness_weight": 0.3}, {"max_discrimination": 0.2}])
def tampered(request: pytest.FixtureRequest) -> tuple[Problem, Certificate]:
    problem = mixed(40, **request.param)
    certificate = proof_of(problem)
    assert check(certificate, problem).holds
    kinds = {type(node.within) for node in nodes_of(certificate)}
    assert kinds == {Roots, Kept, type(None)}  # so that every kind of part is tried below
    return problem, certificate


def test_other_multipliers(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        node.mu = np.zeros_like(node.mu)
    assert "does not rule out" in reason(certificate, problem)
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        node.mu = -node.mu
    assert "does not rule out" in reason(certificate, problem)


def test_multipliers_out_of_range(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    limited = problem.max_discrimination is not None
    first = nodes_of(tampered[1])[0].mu
    for mu in (first[:-1], np.full_like(first, GRID + 1), np.full_like(first, -(1 << 31))):
        certificate = copy_of(tampered[1])
        nodes_of(certificate)[0].mu = mu
        assert "not between −1 and 1" in reason(certificate, problem)
    for scale in (-1.0, np.nan, np.inf, *([] if limited else [2.0])):
        certificate = copy_of(tampered[1])
        nodes_of(certificate)[0].scale = scale
        assert "are scaled by" in reason(certificate, problem)


@pytest.mark.parametrize("scale", [1e12, 1e30, 1e300, 1.7e308])
def test_a_scale_at_which_sums_are_no_longer_exact_proves_nothing(scale: float) -> None:
    problem = mixed(max_discrimination=0.2)
    certificate = proof_of(problem)
    tree = worse_trees(problem)[-1]
    for node in nodes_of(certificate):
        node.scale, node.parts = scale, []
    assert isinstance(certificate.proof, ValuesProof)
    said = reason(claim_of(problem, tree, list(certificate.proof.nodes)), problem)
    assert "does not rule out" in said or "everybody is better" in said or "beyond all numbers" in said


def test_missing_sets(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    assert isinstance(certificate.proof, ValuesProof)
    tops = list(certificate.proof.nodes)
    for dropped in tops:
        said = reason(with_tops(certificate, [node for node in tops if node is not dropped]), problem)
        assert "no part of the proof holds trees that begin with the test" in said
    assert "no part of the proof holds" in reason(with_tops(certificate, []), problem)


def test_missing_parts(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    for kind, words in ((Roots, "no part of the proof holds trees"), (Kept, "no part of the proof holds some tests")):
        certificate = copy_of(tampered[1])
        for node in nodes_of(certificate):
            if node.parts and isinstance(node.parts[0].within, kind):
                node.parts = node.parts[1:]
        assert words in reason(certificate, problem)
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        node.parts = []
    assert "does not rule out" in reason(certificate, problem)


def test_shrunk_roots(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    for levels in (False, True):
        certificate = copy_of(tampered[1])
        assert isinstance(certificate.proof, ValuesProof)
        for node in certificate.proof.nodes:
            root = node.within
            if isinstance(root, Roots) and bool(root.sides) == levels:
                node.within = (
                    replace(root, sides=(*root.sides[:-1], 0)) if levels else replace(root, last=root.last - 1)
                )
        assert "no part of the proof holds trees that begin with the test" in reason(certificate, problem)


def test_edited_splits(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        if node.parts and isinstance(node.parts[0].within, Kept):
            node.parts[0].within = replace(node.parts[0].within, runs=(0, 0))
    assert "no part of the proof holds some tests" in reason(certificate, problem)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"place": 2}, "not parted at one place"),
        ({"place": -1}, "not parted at one place"),
        ({"runs": (0, 3, 5)}, "not kept in whole runs"),
        ({"runs": (-5, -2)}, "no part of the proof holds some tests"),
        ({"runs": ()}, "no part of the proof holds some tests"),
    ]
    for change, words in changes:
        certificate = copy_of(tampered[1])
        for node in nodes_of(certificate):
            if isinstance(node.within, Kept):
                node.within = replace(node.within, **change)
        assert words in reason(certificate, problem)


def test_sets_of_nothing(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    changes: list[tuple[Any, str]] = [
        (None, "a feature that there is not"),
        (Kept(0, (0, 3)), "a feature that there is not"),
        (Roots(99, 0, 1), "a feature that there is not"),
        (Roots(-1, 0, 1), "a feature that there is not"),
        (Roots(0, 3, 2), "not an interval"),
        (Roots(0, 0, 10**6), "not an interval"),
        (Roots(0, sides=(0, 1)), "not an interval"),
        (Roots(2, 0, 1), "where each level goes"),
        (Roots(2, sides=(0, 3, 2, 2)), "where each level goes"),
        (Roots(2, sides=(0, 2)), "where each level goes"),
    ]
    for within, words in changes:
        certificate = copy_of(tampered[1])
        assert isinstance(certificate.proof, ValuesProof)
        levels = "level" in words
        for node in certificate.proof.nodes:
            if isinstance(node.within, Roots) and bool(node.within.sides) == levels:
                node.within = within
        assert words in reason(certificate, problem)


def test_parts_of_another_kind_or_feature(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        if node.parts and isinstance(node.parts[0].within, Kept):
            node.parts[0].within = Roots(0, 0, 1)
    assert "parted in no way that there is" in reason(certificate, problem)
    certificate = copy_of(tampered[1])
    for node in nodes_of(certificate):
        for part in node.parts:
            if isinstance(part.within, Roots):
                part.within = replace(part.within, feature=part.within.feature + 1)
    assert "a part on another feature" in reason(certificate, problem)


def test_roots_are_not_parted_below_tests() -> None:
    """Which tests part people alike depends on the roots, so that a set whose tests were parted keeps its roots."""
    problem = mixed()
    numbers, tree = Numbers.of(problem), brute_force(problem.with_shape(Shape(max_depth=1))).tree
    assert tree is not None
    tops = [plain_node(numbers, whole(numbers, feature)) for feature in range(numbers.n_features)]
    for top in tops:
        below = plain_node(numbers, Kept(0, (0, numbers.n_tests + 1)))
        below.parts = [plain_node(numbers, top.within)]
        top.parts = [below]
    assert "parted in no way that there is" in reason(claim_of(problem, tree, tops), problem)


def test_other_claims(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    cheaper = replace(certificate, objective=certificate.objective - 0.01)
    assert "the tree has the objective" in reason(cheaper, problem)
    assert "the tree has the objective" in reason(replace(certificate, objective=np.nan), problem)
    for tolerance in (0.1, 1.1e-6, -1.0, np.nan):
        assert "a proof to within" in reason(replace(certificate, tolerance=tolerance), problem)
    constant = Tree(problem.people.features.schema, problem.target, (Leaf(problem.target.low),))
    assert "the tree has the objective" in reason(replace(certificate, tree=tree_to_json(constant)), problem)
    worse = claim_of(problem, constant, [])
    assert reason(worse, problem) == "one value for everybody is better"


def test_other_table_or_question(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    people = problem.people
    changed = people.features.data[0].copy()
    changed[0] += 0.5
    table = replace(people.features, data=(changed, *people.features.data[1:]))
    outcome = replace(people.outcome, values=people.outcome.values[::-1])
    for other in (
        replace(problem, people=replace(people, features=table)),
        replace(problem, people=replace(people, outcome=outcome)),
        replace(problem, people=replace(people, weight=2 * people.weight)),
        replace(problem, disparity=2 * problem.disparity),
        problem.with_weight(0.31),
        problem.with_limit(0.21),
        problem.with_shape(Shape(max_depth=2, min_samples_leaf=2)),
    ):
        assert reason(certificate, other) == "the certificate is about another table or question"


def test_proofs_that_speak_about_something_else() -> None:
    columns, groups = {"x": [1, 2, 3, 4]}, {"g": list("abab")}
    classes = pose(people_from(columns, [0, 1, 1, 0], groups), shape=Shape(max_depth=1))
    tree = brute_force(classes).tree
    assert tree is not None
    assert "cannot speak about an outcome with classes" in reason(claim_of(classes, tree, []), classes)
    numbers = people_from(columns, [0.0, 1.0, 2.0, 0.5], groups, task="regression")
    deep = pose(numbers, shape=Shape(max_depth=3))
    tree = brute_force(deep).tree
    assert tree is not None
    assert "can be checked down to depth 2" in reason(claim_of(deep, tree, []), deep)


def test_damaged_bytes(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    data = certificate.to_bytes()
    assert "cut short or edited" in reason(data[:-1], problem)
    assert "cut short or edited" in reason(data[:100] + bytes([data[100] ^ 1]) + data[101:], problem)


def _edited() -> tuple[Problem, bytes, float]:
    problem = mixed(16)
    certificate = proof_of(problem)
    return problem, certificate.to_bytes(), certificate.objective


EDITED = _edited()


@given(seed=st.integers(0, 10**6), value=st.sampled_from(STRANGE))
@settings(max_examples=120)
def test_edits_with_a_right_checksum_are_answered(seed: int, value: Any) -> None:
    edited_is_answered(*EDITED, seed, value)


def test_no_kernel_is_shared_with_the_search() -> None:
    files = list(Path(proof.__file__).parent.glob("*.py"))
    assert len(files) > 4
    allowed = ("values.compiled import", "search.limits import")
    for file in files:
        lines = file.read_text("utf-8").splitlines()
        imports = [line for line in lines if "import" in line and ("solve.search" in line or "solve.values" in line)]
        assert all(any(words in line for words in allowed) for line in imports), file.name


# Through files and estimators.


@pytest.fixture
def pay_model(tmp_path: Path) -> tuple[Path, str]:
    columns = pay_columns()
    case = make_case(columns, Question("pay", ("group",), fairness=("dtdi",), n_neighbors=5, fairness_weight=0.3))
    answer = Answer.of(case, solve(case.problem))
    return answer.write(tmp_path / "model.json"), write_csv(tmp_path / "pay.csv", columns)


def verified(capsys: pytest.CaptureFixture[str], model: Path, table: str) -> tuple[int, dict[str, Any]]:
    code = run("verify", str(model), table, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_verify_checks_a_model_of_numbers(pay_model: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, data = verified(capsys, *pay_model)
    assert code == 0
    assert (data["holds"], data["proven"]) == (True, True)
    assert "without the solver" in data["checks"][-1]["words"]


def test_verify_finds_a_damaged_certificate(pay_model: tuple[Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    model, table = pay_model
    data = json.loads(model.read_text("utf-8"))
    certificate = certificate_from_bytes(base64.b64decode(data["certificate"]))
    for node in nodes_of(certificate):
        node.mu, node.parts = np.zeros_like(node.mu), []
    data["certificate"] = base64.b64encode(certificate.to_bytes()).decode("ascii")
    model.write_text(json.dumps(data), encoding="utf-8")
    code, found = verified(capsys, model, table)
    assert code == 1
    assert found["checks"][-1]["verdict"] == "fails"
    assert "does not rule out" in found["checks"][-1]["words"]


def test_estimators_carry_it(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    X, groups = random.integers(0, 9, (40, 3)).astype(float), random.choice(["a", "b"], 40)
    y = np.round(X[:, 0] + random.normal(0, 1, 40), 1)
    model = FairTreeRegressor(fairness=DisparateImpact(), fairness_weight=0.5)
    model.fit(X, y, sensitive_features=groups)
    problem = model.pose(X, y, sensitive_features=groups)
    assert check(model.solution_.certificate, problem).holds
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.solution_.certificate.to_bytes() == model.solution_.certificate.to_bytes()
    without = FairTreeRegressor(fairness=DisparateImpact(), solver="search", solver_options={"certificate": False})
    assert without.fit(X, y, sensitive_features=groups).solution_.certificate is None
