"""Proofs about numbers that were edited are refused for the right reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import certificate_by, claim_of, constant_trees
from edited_certificates import (
    STRANGE,
    copy_of,
    damage_is_seen,
    edited_is_answered,
    other_figures_are_seen,
    other_questions_are_seen,
    reason,
)
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.certify import check
from evenleaf.solve.certify.values.numbers import Numbers
from evenleaf.solve.proofs.values import GRID, Kept, Node, Roots, ValuesProof
from evenleaf.testing import brute_force, people_from
from value_proofs import SOLVER, mixed, nodes_of, plain_node, whole_roots, without_first_parts, worse_regressors


@pytest.fixture(scope="module", params=[{"fairness_weight": 3.0}, {"max_discrimination": 0.1}])
def tampered(request: pytest.FixtureRequest) -> tuple[Problem, Certificate]:
    problem = mixed(40, **request.param)
    certificate = certificate_by(SOLVER, problem)
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
    certificate = certificate_by(SOLVER, problem)
    tree = worse_regressors(problem)[-1]
    for node in nodes_of(certificate):
        node.scale, node.parts = scale, []
    assert isinstance(certificate.proof, ValuesProof)
    said = reason(claim_of(problem, tree, certificate.proof), problem)
    assert "does not rule out" in said or "everybody is better" in said or "beyond all numbers" in said


def with_tops(certificate: Certificate, tops: list[Node]) -> Certificate:
    return replace(certificate, proof=ValuesProof(tuple(tops)))


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
        certificate = without_first_parts(copy_of(tampered[1]), kind)
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
    tops = [plain_node(numbers, whole_roots(numbers, feature)) for feature in range(numbers.n_features)]
    for top in tops:
        below = plain_node(numbers, Kept(0, (0, numbers.n_tests + 1)))
        below.parts = [plain_node(numbers, top.within)]
        top.parts = [below]
    assert "parted in no way that there is" in reason(claim_of(problem, tree, ValuesProof(tuple(tops))), problem)


def test_other_claims(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    (constant,) = constant_trees(problem, [problem.target.low])
    other_figures_are_seen(certificate, problem, constant)
    assert reason(claim_of(problem, constant, ValuesProof(())), problem) == "one value for everybody is better"


def test_other_table_or_question(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    other_questions_are_seen(certificate, problem)


def test_proofs_that_speak_about_something_else() -> None:
    columns, groups = {"x": [1, 2, 3, 4]}, {"g": list("abab")}
    classes = pose(people_from(columns, [0, 1, 1, 0], groups), shape=Shape(max_depth=1))
    tree = brute_force(classes).tree
    assert tree is not None
    assert "cannot speak about an outcome with classes" in reason(claim_of(classes, tree, ValuesProof(())), classes)
    numbers = people_from(columns, [0.0, 1.0, 2.0, 0.5], groups, task="regression")
    deep = pose(numbers, shape=Shape(max_depth=4))
    tree = brute_force(deep).tree
    assert tree is not None
    assert "can be checked down to depth 3" in reason(claim_of(deep, tree, ValuesProof(())), deep)


def test_damaged_bytes(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    damage_is_seen(certificate, problem)


@pytest.fixture(scope="module")
def to_edit() -> tuple[Problem, bytes, float]:
    problem = mixed(16)
    certificate = certificate_by(SOLVER, problem)
    return problem, certificate.to_bytes(), certificate.objective


@given(seed=st.integers(0, 10**6), value=st.sampled_from(STRANGE))
@settings(max_examples=120)
def test_edits_with_a_right_checksum_are_answered(to_edit: tuple[Problem, bytes, float], seed: int, value: Any) -> None:
    edited_is_answered(*to_edit, seed, value)
