"""Claims that brute force knows, with proofs about numbers made by hand: neither search nor kernel is involved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import certificate_by, claim_is_refused, claim_of
from evenleaf.problem import Problem
from evenleaf.solve.certify import check
from evenleaf.solve.certify.values.numbers import Numbers
from evenleaf.solve.proofs.values import GRID, Kept, Node, Roots, ValuesProof
from evenleaf.testing import brute_force
from evenleaf.testing.strategies import problems
from value_proofs import SOLVER, plain_node, single_roots, usable, whole_roots, worse_regressors


def one_by_one(numbers: Numbers) -> list[Node]:
    """The proof that looks at every tree: each root, with each test on the left, with each test on the right."""
    tops = []
    for feature in range(numbers.n_features):
        top = plain_node(numbers, whole_roots(numbers, feature))
        tops.append(top)
        for root in single_roots(numbers, feature):
            node = plain_node(numbers, root)
            top.parts.append(node)
            for left in range(numbers.n_tests + 1):
                part = plain_node(numbers, Kept(0, (left, left + 1)))
                node.parts.append(part)
                part.parts = [plain_node(numbers, Kept(1, (right, right + 1))) for right in range(numbers.n_tests + 1)]
    return tops


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
    verdict = check(claim_of(problem, best.tree, ValuesProof(tuple(tops))), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_regressors(problem):
        claim_is_refused(problem, tree, ValuesProof(tuple(tops)))


@given(problem=problems(task="regression", forms=("plain",), max_values=4))
@settings(max_examples=60)
def test_without_fairness_the_bound_is_exact(problem: Problem) -> None:
    """No rows, no multipliers: a node a root is a proof if, and only if, the tree is the best."""
    usable(problem)
    numbers = Numbers.of(problem)
    tops = [plain_node(numbers, root) for f in range(numbers.n_features) for root in single_roots(numbers, f)]
    best = brute_force(problem)
    assert best.tree is not None
    verdict = check(claim_of(problem, best.tree, ValuesProof(tuple(tops))), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_regressors(problem):
        claim_is_refused(problem, tree, ValuesProof(tuple(tops)))


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
    for tree in worse_regressors(problem):
        tops = [plain_node(numbers, whole_roots(numbers, feature)) for feature in range(numbers.n_features)]
        for top in tops:
            scale = 1.0 if problem.max_discrimination is None else float(random.choice([0.0, 0.3, 1.0, 20.0, 1e15]))
            junk_parts(random, numbers, top, scale, 5)
        claim_is_refused(problem, tree, ValuesProof(tuple(tops)))


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
    certificate = certificate_by(SOLVER, problem)
    assert isinstance(certificate.proof, ValuesProof)
    for tree in worse_regressors(problem):
        claim_is_refused(problem, tree, certificate.proof)
