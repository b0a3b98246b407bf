"""Claims that brute force knows, with proofs over labels made by hand: neither search nor kernel is involved."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from certified import certificate_by, claim_is_refused, claim_of, constant_trees, worse_classifiers
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certify import check
from evenleaf.solve.certify.labels import bounds, proof
from evenleaf.solve.proofs.labels import GRID, LEFT, OPEN, RIGHT, Labels, LabelsProof, Region
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Tree
from label_proofs import SOLVER, is_certified, regions_of


def whole_regions(problem: Problem, compiled: Compiled) -> list[Region]:
    """One region a feature that may be a root, at multipliers of zero."""
    schema, found = problem.people.features.schema, []
    for f, size in enumerate(compiled.sizes):
        if allowed_pairs(problem.shape, schema, compiled, f).any():
            sides = np.full(size, OPEN, dtype=np.int8) if compiled.unordered[f] else None
            last = 0 if sides is not None else int(size) - 2
            found.append(Region(f, 0, last, sides, np.zeros(compiled.weight.shape, dtype=np.int32), 1.0))
    return found


def every_labelling(problem: Problem, compiled: Compiled, claim: float) -> Labels:
    """A tree of labels that decides everybody; in its leaves the multipliers that price that labelling truly."""
    rows = np.zeros((compiled.n_people, len(compiled.weight)))
    person = np.repeat(np.arange(compiled.n_people), np.diff(compiled.pointers))
    rows[person, compiled.rows] = compiled.entries

    def grow(labels: tuple[int, ...]) -> Labels:
        if len(labels) < compiled.n_people:
            node = Labels(np.zeros(compiled.weight.shape, dtype=np.int32), 1.0, len(labels), 1)
            node.children = (grow((*labels, 0)), grow((*labels, 1)))
            return node
        differences = rows.T @ np.eye(2)[list(labels)]
        scale, limit = 1.0, problem.max_discrimination
        if limit is not None:
            excess = float((compiled.weight * np.abs(differences)).sum()) - limit - 1e-9
            scale = 2 * claim / excess if excess > 0 else 0.0
        return Labels((GRID * np.sign(differences)).astype(np.int32), scale)

    return grow(())


def complete_proof(problem: Problem, tree: Tree) -> LabelsProof:
    """The strongest proof that the format can express for a tiny problem with two classes."""
    compiled = compile_problem(problem)
    regions = whole_regions(problem, compiled)
    for region in regions:
        region.labels = every_labelling(problem, compiled, problem.evaluate(tree).objective)
    return LabelsProof(tuple(regions))


@given(problem=problems(task="classification", max_people=5, max_classes=2))
@settings(max_examples=40)
def test_complete_proofs_hold_for_the_best_tree_only(problem: Problem) -> None:
    assume(is_certified(problem))
    best = brute_force(problem)
    assert best.tree is not None
    verdict = check(claim_of(problem, best.tree, complete_proof(problem, best.tree)), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_classifiers(problem):
        claim_is_refused(problem, tree, complete_proof(problem, tree))


@given(problem=problems(task="classification", forms=("plain",), max_depth=4, max_values=3, max_columns=2))
@settings(max_examples=80)
def test_without_fairness_the_bound_is_exact(problem: Problem) -> None:
    """No rows, no multipliers: one region a feature is a proof if, and only if, the tree is the best."""
    assume(is_certified(problem))
    regions = whole_regions(problem, compile_problem(problem))
    best = brute_force(problem)
    assert best.tree is not None
    verdict = check(claim_of(problem, best.tree, LabelsProof(tuple(regions))), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_classifiers(problem):
        claim_is_refused(problem, tree, LabelsProof(tuple(regions)))


@given(problem=problems(task="classification", max_people=6, max_classes=2, max_values=5, max_depth=4, max_columns=2))
@settings(max_examples=60)
def test_bounds_for_many_levels_never_prove_a_false_claim(problem: Problem) -> None:
    """Levels that pick their sides, here with few levels, so that brute force knows the truth."""
    with (
        patch.object(proof, "MOST_LISTED_LEVELS", 0),
        patch.multiple(bounds, _MOST_LISTED_CHILD_LEVELS=1, _MOST_LISTED_TALL_LEVELS=1),
    ):
        regions = whole_regions(problem, compile_problem(problem))
        for tree in worse_classifiers(problem):
            claim_is_refused(problem, tree, LabelsProof(tuple(regions)))
            if problem.shape.max_depth < 4:
                claim_is_refused(problem, tree, complete_proof(problem, tree))


def junk_labels(random: np.random.Generator, compiled: Compiled, depth: int, scale: float) -> Labels:
    mu = random.integers(-GRID, GRID + 1, compiled.weight.shape).astype(np.int32)
    if random.random() < 0.5:
        mu = (GRID * np.sign(mu)).astype(np.int32)
    node = Labels(mu, scale)
    if depth:
        node.person = int(random.integers(compiled.n_people))
        node.label = int(random.integers(compiled.n_labels + 1))
        node.children = tuple(junk_labels(random, compiled, depth - 1, scale) for _ in range(2))  # type: ignore[assignment]
    return node


def junk_parts(random: np.random.Generator, compiled: Compiled, region: Region, scale: float) -> None:
    """Random multipliers, a random split, random trees of labels."""
    region.mu, region.scale = junk_labels(random, compiled, 0, scale).mu, scale
    halves: list[Region] = []
    if region.sides is not None and (region.sides == OPEN).any():
        for side in (LEFT, RIGHT):
            sides = region.sides.copy()
            sides[np.flatnonzero(sides == OPEN)[0]] = side
            halves.append(replace(region, sides=sides, parts=[]))
    elif region.first < region.last:
        middle = int(random.integers(region.first, region.last))
        halves = [replace(region, last=middle, parts=[]), replace(region, first=middle + 1, parts=[])]
    if halves and random.random() < 0.7:
        region.parts = halves
        for half in halves:
            junk_parts(random, compiled, half, scale)
    else:
        region.labels = junk_labels(random, compiled, 3, scale)


def junk_is_refused(problem: Problem, seed: int) -> None:
    random = np.random.default_rng(seed)
    compiled = compile_problem(problem)
    for tree in worse_classifiers(problem):
        regions = whole_regions(problem, compiled)
        for region in regions:
            scale = 1.0 if problem.max_discrimination is None else float(random.choice([0.0, 0.3, 1.0, 20.0]))
            junk_parts(random, compiled, region, scale)
        claim_is_refused(problem, tree, LabelsProof(tuple(regions)))


@given(
    problem=problems(task="classification", max_people=7, max_values=3, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60)
def test_junk_never_proves_a_false_claim(problem: Problem, seed: int) -> None:
    junk_is_refused(problem, seed)


@pytest.mark.long
@given(
    problem=problems(task="classification", max_people=7, max_values=3, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=3000)
def test_much_junk_never_proves_a_false_claim(problem: Problem, seed: int) -> None:
    junk_is_refused(problem, seed)


def test_a_test_that_parts_only_people_not_placed_yet_is_not_ruled_out() -> None:
    """While all levels of the root are open nobody is on either side, and every test below must stay possible."""
    people = people_from({"c": list("pqppr"), "d": list("pqpqr")}, [0, 0, 0, 1, 0], {"g": list("abaaa")})
    problem = pose(people, shape=Shape(max_depth=3))
    compiled = compile_problem(problem)
    (constant,) = constant_trees(problem, [0])
    for seed in range(10):
        regions = whole_regions(problem, compiled)
        for region in regions:
            junk_parts(np.random.default_rng(seed), compiled, region, 1.0)
        claim_is_refused(problem, constant, LabelsProof(tuple(regions)))


@given(problem=problems(task="classification", max_people=8, max_values=3, max_depth=3, limits=False))
@settings(max_examples=40)
def test_the_proof_of_the_best_tree_does_not_prove_a_worse_one(problem: Problem) -> None:
    certificate = certificate_by(SOLVER, problem)
    for tree in worse_classifiers(problem):
        claim_is_refused(problem, tree, LabelsProof(regions_of(certificate)))
