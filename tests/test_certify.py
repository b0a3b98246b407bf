"""The checker of proofs over labels: true proofs hold, and tampered ones are refused for the right reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from certified import (
    certificate_by,
    certificate_holds,
    claim_is_refused,
    claim_of,
    constant_trees,
    progress_is_told,
    read_again,
    shelf_certificates,
    worse_classifiers,
)
from edited_certificates import (
    STRANGE,
    copy_of,
    damage_is_seen,
    edited_is_answered,
    other_figures_are_seen,
    other_questions_are_seen,
    reason,
)
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.certificate import Certificate
from evenleaf.solve.certify.labels import proof
from evenleaf.solve.certify.labels.roots import levels_left_over
from evenleaf.solve.proofs.labels import GRID, OPEN, RIGHT, LabelsProof
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from label_proofs import SOLVER, every_node, is_certified, label_nodes, mixed, regions_of, walk

# True proofs.


def test_proofs_of_the_shelf_hold() -> None:
    assert shelf_certificates(SOLVER, is_certified) > 50


def holds(problem: Problem) -> None:
    if is_certified(problem):
        certificate_holds(certificate_by(SOLVER, problem), problem, steps=(6,))


@given(problem=problems(task="classification"))
@settings(max_examples=60)
def test_proofs_hold(problem: Problem) -> None:
    holds(problem)


@given(problem=problems(task="classification", max_people=10, max_values=7, forms=("limit",)))
@settings(max_examples=40)
def test_proofs_of_the_constrained_form_hold(problem: Problem) -> None:
    holds(problem)


@given(problem=problems(task="classification", max_people=10, max_depth=3, max_classes=4, limits=False))
@settings(max_examples=40)
def test_deep_proofs_hold(problem: Problem) -> None:
    holds(problem)


def test_a_proof_holds_what_it_needs_where_a_mixture_agrees_and_is_no_tree() -> None:
    """The multipliers that a second ascent starts from are not written down: it may not use what they rule out."""
    columns = {"x0": list("pprpr"), "x1": list("qppsp"), "x2": [0.0, 3.0, 0.0, 1.0, 1.0]}
    people = people_from(columns, [2, 0, 1, 3, 0], {"g": list("ababa")})
    holds(pose(people, fairness=DisparateImpact(), fairness_weight=1.0, shape=Shape(max_depth=2)))


@pytest.mark.long
@given(problem=problems(task="classification", max_people=14, max_values=8, max_columns=4, max_classes=4, max_depth=3))
@settings(max_examples=1000)
def test_many_proofs_hold(problem: Problem) -> None:
    holds(problem)


@pytest.mark.parametrize("asked", [{"fairness_weight": 0.1}, {"fairness_weight": 1000.0}, {"max_discrimination": 0.1}])
@pytest.mark.parametrize(("n", "levels", "depth"), [(24, 12, 2), (30, 3, 2), (16, 3, 3)])
def test_proofs_about_many_levels_and_labels_hold(n: int, levels: int, depth: int, asked: dict[str, float]) -> None:
    holds(mixed(n, levels, depth, **asked))


def test_progress_is_told() -> None:
    problem = mixed()
    certificate = certificate_by(SOLVER, problem)
    progress_is_told(certificate, problem, len(list(walk(regions_of(certificate)))))


def test_round_trip() -> None:
    read_again(certificate_by(SOLVER, mixed()))


# Tampering.


@pytest.fixture(scope="module", params=[(40, {"fairness_weight": 1.0}), (16, {"max_discrimination": 0.2})])
def tampered(request: pytest.FixtureRequest) -> tuple[Problem, Certificate]:
    n, asked = request.param
    problem = mixed(n, **asked)
    certificate = certificate_by(SOLVER, problem)
    assert any(node.children is not None for node in label_nodes(certificate))
    return problem, certificate


def test_other_multipliers(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered[0], copy_of(tampered[1])
    for node in every_node(certificate):
        node.mu[:] = -node.mu
    assert "does not rule out trees that begin with the test" in reason(certificate, problem)
    regions_of(certificate)[0].mu[0, -1] = GRID + 1
    assert "not between −1 and 1" in reason(certificate, problem)
    regions_of(certificate)[0].mu = np.zeros((1, 1), dtype=np.int32)
    assert "not between −1 and 1, one a row and class" in reason(certificate, problem)


@pytest.mark.parametrize("scale", [-1.0, np.nan, np.inf])
def test_impossible_scales(tampered: tuple[Problem, Certificate], scale: float) -> None:
    certificate = copy_of(tampered[1])
    regions_of(certificate)[0].scale = scale
    assert "scaled by" in reason(certificate, tampered[0])


def test_the_weight_of_fairness_cannot_be_scaled() -> None:
    problem = mixed()
    certificate = certificate_by(SOLVER, problem)
    for node in every_node(certificate):
        node.scale = 2.0
    assert "scaled by 2" in reason(certificate, problem)


def test_dropped_region(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    for dropped in regions_of(certificate):
        rest = tuple(region for region in regions_of(certificate) if region is not dropped)
        name = compile_problem(problem).features[dropped.feature].column
        said = reason(replace(certificate, proof=LabelsProof(rest)), problem)
        assert "no region of the proof holds trees that begin with the test" in said
        assert problem.people.features.schema.names[name] in said


def test_shrunk_region(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered[0], copy_of(tampered[1])
    numbers = next(region for region in regions_of(certificate) if region.sides is None)
    numbers.last -= 1
    numbers.parts = []
    assert "no region of the proof holds" in reason(certificate, problem)
    certificate = copy_of(tampered[1])
    levels = next(region for region in regions_of(certificate) if region.sides is not None)
    assert levels.sides is not None
    levels.sides[-1] = RIGHT
    levels.parts = []
    assert "no region of the proof holds trees that begin with the test 'c is" in reason(certificate, problem)


def test_region_without_its_reasons(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered[0], copy_of(tampered[1])
    for region in walk(regions_of(certificate)):
        region.labels = None
    assert "does not rule out" in reason(certificate, problem)
    certificate = copy_of(tampered[1])
    for node in label_nodes(certificate):
        node.children = None
    assert "does not rule out" in reason(certificate, problem)


def test_part_outside_its_region() -> None:
    problem = mixed(60, 3, fairness_weight=0.3)
    certificate = certificate_by(SOLVER, problem)
    whole = next(region for region in regions_of(certificate) if region.sides is None and region.last > 1)
    whole.parts = [replace(whole, parts=[]), *whole.parts]
    whole.last -= 1
    assert "reaches outside" in reason(certificate, problem)


def test_regions_of_nothing(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    changes: list[tuple[dict[str, Any], str]] = [
        ({"feature": 99}, "a feature that there is not"),
        ({"feature": -1}, "a feature that there is not"),
        ({"first": 3, "last": 2}, "not an interval"),
        ({"last": 10**6}, "not an interval"),
        ({"sides": np.zeros(3, dtype=np.int8)}, "not an interval"),
    ]
    for change, words in changes:
        certificate = copy_of(tampered[1])
        changed = [replace(region, **change) if region.feature == 0 else region for region in regions_of(certificate)]
        assert words in reason(replace(certificate, proof=LabelsProof(tuple(changed))), problem)


def test_other_people_or_labels(tampered: tuple[Problem, Certificate]) -> None:
    problem = tampered[0]
    n_people = compile_problem(problem).n_people
    certificate = copy_of(tampered[1])
    for node in label_nodes(certificate):
        if node.children is not None:
            node.children = (node.children[1], node.children[0])
    assert "does not rule out" in reason(certificate, problem)
    for person, label in ((n_people, 1), (-1, 1), (0, 2), (0, -1)):
        certificate = copy_of(tampered[1])
        for node in label_nodes(certificate):
            if node.children is not None:
                node.person, node.label = person, label
        assert "nobody, or no label" in reason(certificate, problem)


def test_other_claims(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    other_figures_are_seen(certificate, problem, *constant_trees(problem, [0]))
    for tree in worse_classifiers(problem):
        claim_is_refused(problem, tree, LabelsProof(regions_of(certificate)))


def test_tree_that_breaks_a_limit() -> None:
    problem = mixed(max_discrimination=0.2)
    plain = pose(problem.people, shape=Shape(max_depth=2))
    unfair = brute_force(plain).tree
    assert unfair is not None
    proven = LabelsProof(regions_of(certificate_by(SOLVER, problem)))
    assert "the tree breaks a limit: the discrimination" in reason(claim_of(problem, unfair, proven), problem)


def test_other_table_or_question(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    other_questions_are_seen(certificate, problem, mixed(fairness=DisparateImpact()))


def test_damaged_bytes(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    damage_is_seen(certificate, problem)


@pytest.fixture(scope="module")
def to_edit() -> tuple[Problem, bytes, float]:
    problem = mixed(12)
    certificate = certificate_by(SOLVER, problem)
    return problem, certificate.to_bytes(), certificate.objective


@given(seed=st.integers(0, 10**6), value=st.sampled_from(STRANGE))
@settings(max_examples=150)
def test_edits_with_a_right_checksum_are_answered(to_edit: tuple[Problem, bytes, float], seed: int, value: Any) -> None:
    edited_is_answered(*to_edit, seed, value)


# What is out of reach, what is not used, and the cover of subsets.


def test_no_kernel_is_shared_with_the_search() -> None:
    files = list(Path(proof.__file__).parent.glob("*.py"))
    assert len(files) > 4
    for file in files:
        lines = [line for line in file.read_text("utf-8").splitlines() if "import" in line and "solve.search" in line]
        assert all("search.compiled import" in line or "search.limits import" in line for line in lines), file.name


def test_what_it_does_not_check() -> None:
    people = people_from({"x": [1, 2, 3]}, [0.5, 1.5, 2.0], task="regression")
    problem = pose(people, shape=Shape(max_depth=1))
    tree = brute_force(problem).tree
    assert tree is not None
    said = reason(claim_of(problem, tree, LabelsProof(())), problem)
    assert "a proof over labels speaks about trees that decide classes" in said


@given(cuts=st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), max_size=6))
@settings(max_examples=100)
def test_subsets_left_over(cuts: list[list[int]]) -> None:
    """A subset is left over if, and only if, no part holds it."""
    parts = [np.array(cut, dtype=np.int8) for cut in cuts]
    left = list(levels_left_over(np.full(4, OPEN, dtype=np.int8), parts))

    def held(subset: np.ndarray, sets: list[np.ndarray]) -> bool:
        return any(((sides == OPEN) | (sides == subset)).all() for sides in sets)

    for number in range(16):
        subset = (number >> np.arange(4)) & 1
        assert held(subset, left) != held(subset, parts)
