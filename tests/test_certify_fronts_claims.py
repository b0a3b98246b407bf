"""Proofs about few disparity rows: false claims and edited certificates are refused for the right reason."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import (
    certificate_by,
    claim_is_refused,
    claim_of,
    constant_trees,
    progress_is_told,
    read_again,
    worse_classifiers,
)
from edited_certificates import (
    STRANGE,
    damage_is_seen,
    edited_is_answered,
    other_figures_are_seen,
    other_questions_are_seen,
    reason,
)
from evenleaf.fairness import EqualizedOdds
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.certify import check
from evenleaf.solve.certify.fronts import lists, proof
from evenleaf.solve.certify.fronts.asked import ask
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT, Box, FrontsProof, Step
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from front_proofs import FEW_ROWS, SOLVER, cramped, mixed, steps_of, strict

# False claims.


class Junk:
    """Random proofs: random multipliers, parts of random tests in places that there are, some of them dropped."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.problem, self.compiled = problem, compile_problem(problem, pairs=False)
        self.width = int((self.compiled.weight > 0).sum())
        self.features = ask(problem, self.compiled).features

    def mus(self) -> np.ndarray:
        rows = int(self.random.integers(1, 4))
        most = 1.0 if self.problem.max_discrimination is None else float(self.random.choice([0.3, 1.0, 20.0, 1e5]))
        mus = self.random.uniform(-most, most, (rows, self.width))
        return most * np.sign(mus) if self.random.random() < 0.3 else mus

    def top(self) -> Step:
        top = Step(None, self.mus())
        self.fill(top, self.problem.shape.max_depth, 4)
        return top

    def fill(self, step: Step, depth: int, left: int) -> None:
        """Open the slot at the end of the path that is always left, or halve the test above it."""
        if not depth or not left or self.random.random() < 0.2:
            return
        for feature in self.features:
            for tests in self.tests(feature):
                if self.random.random() < 0.9:
                    part = Step(tests, self.mus() if self.random.random() < 0.5 else np.zeros((0, self.width)))
                    part.place = (*step.place, 0)
                    step.parts.append(part)
                    self.fill(part, depth - 1, left - 1)
        if self.random.random() < 0.5:
            step.parts.append(Step(None, np.zeros((0, self.width))))

    def tests(self, feature: int) -> list[Box]:
        size = int(self.compiled.sizes[feature])
        if self.compiled.unordered[feature]:
            whole = np.full(size, OPEN, dtype=np.int8)
            level = int(self.random.integers(size))
            sides = [np.where(np.arange(size) == level, side, whole).astype(np.int8) for side in (LEFT, RIGHT)]
            return [Box(feature, 0, 0, one) for one in sides]
        middle = int(self.random.integers(size - 1))
        return [Box(feature, 0, middle)] + ([Box(feature, middle + 1, size - 2)] if middle < size - 2 else [])


def junk_is_refused(problem: Problem, seed: int) -> None:
    if SOLVER.accepts(problem):
        for tree in worse_classifiers(problem):
            claim_is_refused(problem, tree, FrontsProof(Junk(problem, seed).top()))


@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_values=3, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60)
def test_junk_never_proves_a_false_claim(problem: Problem, seed: int) -> None:
    junk_is_refused(problem, seed)


@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_values=4, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60)
def test_junk_never_proves_a_false_claim_to_a_strict_checker(problem: Problem, seed: int) -> None:
    with strict():
        junk_is_refused(problem, seed)


@pytest.mark.long
@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_values=4, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=2000)
def test_much_junk_never_proves_a_false_claim(problem: Problem, seed: int) -> None:
    with strict():
        junk_is_refused(problem, seed)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_values=3, max_depth=3))
@settings(max_examples=40)
def test_the_proof_of_the_best_tree_does_not_prove_a_worse_one(problem: Problem) -> None:
    certificate = certificate_by(SOLVER, problem)
    for tree in worse_classifiers(problem):
        claim_is_refused(problem, tree, FrontsProof(steps_of(certificate)[0]))


@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_values=3, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40)
def test_a_torn_proof_does_not_prove_a_worse_tree(problem: Problem, seed: int) -> None:
    """A true proof with parts dropped, parts closed that were split, and multipliers swapped."""
    with cramped(), strict():
        random = np.random.default_rng(seed)
        certificate = read_again(certificate_by(SOLVER, problem))
        steps = steps_of(certificate)
        for step in steps:
            step.parts = [part for part in step.parts if random.random() < 0.8]
            if random.random() < 0.2:
                step.parts = []
            if len(step.mus):
                step.mus = steps[0].mus if random.random() < 0.5 else -step.mus
        for tree in worse_classifiers(problem):
            claim_is_refused(problem, tree, FrontsProof(steps[0]))


# Tampering.


@pytest.fixture(params=[{"fairness_weight": 0.3}, {"n": 60, "max_discrimination": 0.05}])
def tampered(request: pytest.FixtureRequest) -> tuple[Problem, Certificate]:
    problem = mixed(**request.param)
    with cramped():
        certificate = read_again(certificate_by(SOLVER, problem))
    assert certificate.n_nodes > 5
    return problem, certificate


def test_multipliers_that_cannot_be(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    top = steps_of(certificate)[0]
    width, asked = top.mus.shape[1], 1.0 if problem.max_discrimination is None else 1e5
    for wrong in (
        np.full((1, width), 1.01 * asked),
        np.full((1, width), np.nan),
        np.full((1, width), np.inf),
        np.zeros((1, width + 1)),
        np.zeros((0, width)),
        np.zeros(width),
    ):
        top.mus = wrong
        assert "the multipliers of the certificate are not between" in reason(certificate, problem)


def test_parts_of_nothing(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    step = next(step for step in steps_of(certificate) if step.parts)
    kept = step.parts
    changes = [
        (Box(99, 0, 0), "a feature that there is not"),
        (Box(-1, 0, 0), "a feature that there is not"),
        (Box(0, 3, 2), "not an interval"),
        (Box(0, 0, 10**6), "not an interval"),
        (Box(0, 0, 0, np.zeros(3, dtype=np.int8)), "not an interval"),
        (Box(2, 0, 0), "does not say where each level goes"),
        (Box(2, 0, 0, np.full(4, 3, dtype=np.int8)), "does not say where each level goes"),
    ]
    for box, words in changes:
        step.parts = [Step(box, kept[0].mus), *kept]
        assert words in reason(certificate, problem)
    step.parts, step.place = kept, (0, 1, 0, 1)
    assert "a place that its outline does not have" in reason(certificate, problem)


def test_parts_that_do_not_fit(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    top = steps_of(certificate)[0]
    stump = Step(Box(0, 0, 0), top.mus, (0,), [Step(Box(0, 0, 0), top.mus, (0, 0), [Step(Box(0, 0, 0), top.mus)])])
    top.place, top.parts = (), [stump]
    assert "deeper than a tree may be" in reason(certificate, problem)
    top.parts = [Step(Box(0, 0, 3), top.mus, (), [Step(Box(1, 0, 0), top.mus)])]
    assert "tests another feature" in reason(certificate, problem)


def test_dropped_parts_are_looked_at_all_the_same(tampered: tuple[Problem, Certificate]) -> None:
    """What a certificate does not speak about is not believed: without allowance for it, the proof fails."""
    problem, certificate = tampered
    for step in steps_of(certificate):
        step.parts = []
    with patch.object(proof, "_MOST_OWN", 0), patch.object(lists, "MOST_POINTS", 3):
        assert "the proof does not rule out" in reason(certificate, problem)
    assert check(certificate, problem).holds  # a small problem, which the checker can part by itself


def test_other_claims(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    other_figures_are_seen(certificate, problem, *constant_trees(problem, [0]))
    found = worse_classifiers(problem)
    assert found
    for tree in found:
        claim_is_refused(problem, tree, FrontsProof(steps_of(certificate)[0]))


def test_other_table_or_question(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    other_questions_are_seen(certificate, problem, pose(problem.people, fairness=EqualizedOdds(1), fairness_weight=0.3))


def test_damaged_bytes(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    damage_is_seen(certificate, problem)


def test_a_proof_about_classes_says_nothing_about_numbers() -> None:
    people = people_from({"x": [1, 2, 3]}, [0.5, 1.5, 2.0], task="regression")
    problem = pose(people, shape=Shape(max_depth=1))
    tree = brute_force(problem).tree
    assert tree is not None
    said = reason(claim_of(problem, tree, FrontsProof(Step(None, np.zeros((1, 0))))), problem)
    assert "a proof over fronts speaks about trees that decide classes" in said


def test_round_trip(tampered: tuple[Problem, Certificate]) -> None:
    read_again(tampered[1])


def test_progress_is_told(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    progress_is_told(certificate, problem, certificate.n_nodes)


@pytest.fixture(scope="module")
def to_edit() -> tuple[Problem, bytes, float]:
    problem = mixed(20)
    with cramped():
        certificate = certificate_by(SOLVER, problem)
    return problem, certificate.to_bytes(), certificate.objective


@given(seed=st.integers(0, 10**6), value=st.sampled_from(STRANGE))
@settings(max_examples=100)
def test_edits_with_a_right_checksum_are_answered(to_edit: tuple[Problem, bytes, float], seed: int, value: Any) -> None:
    edited_is_answered(*to_edit, seed, value)
