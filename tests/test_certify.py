"""The checker: true proofs hold, tampered ones are refused for the right reason, false claims are never accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from edited_certificates import STRANGE, TOLERANCE, copy_of, edited_is_answered, reason
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.certificate import Certificate, certificate_from_bytes, make_certificate
from evenleaf.solve.certify import check
from evenleaf.solve.certify.labels import bounds, proof
from evenleaf.solve.certify.labels.roots import levels_left_over
from evenleaf.solve.proofs.labels import GRID, LEFT, OPEN, RIGHT, Labels, LabelsProof, Region
from evenleaf.solve.search import SearchSolver
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.solve.search.solver import why_no_certificate
from evenleaf.testing import SHELF, brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Leaf, Tree, tree_to_json

SOLVER = SearchSolver(certificate=True)


def is_certified(problem: Problem) -> bool:
    """Whether the search takes a problem on, and writes a certificate for it."""
    return SOLVER.accepts(problem) and not why_no_certificate(problem)


def proof_of(problem: Problem) -> Certificate:
    solution = SOLVER.solve(problem, Budget())
    assert solution.proven
    assert isinstance(solution.certificate, Certificate)
    return solution.certificate


def mixed(n: int = 16, levels: int = 4, depth: int = 2, **asked: Any) -> Problem:
    """People without a pattern, so that a proof takes work; `levels` of the column c."""
    number = np.arange(n)
    x, z = number * 7 % 11, number * number % 5
    columns = {"x": x, "z": z, "c": [f"level {i}" for i in (number * 5 + 1) % (levels + 3) % levels]}
    people = people_from(columns, (x + 2 * z + number % 3) % 2, {"g": ["ab"[i] for i in number * 3 % 7 % 2]})
    fairness = asked.pop("fairness", DisparateTreatment(n_neighbors=4))
    return pose(people, shape=Shape(max_depth=depth), fairness=fairness, **(asked or {"fairness_weight": 0.3}))


def regions_of(certificate: Certificate) -> tuple[Region, ...]:
    assert isinstance(certificate.proof, LabelsProof)
    return certificate.proof.regions


def walk(regions: tuple[Region, ...] | list[Region]) -> Iterator[Region]:
    for region in regions:
        yield region
        yield from walk(region.parts)


def label_nodes(certificate: Certificate) -> Iterator[Labels]:
    stack = [region.labels for region in walk(regions_of(certificate)) if region.labels is not None]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children or ())


def every_node(certificate: Certificate) -> list[Region | Labels]:
    return [*walk(regions_of(certificate)), *label_nodes(certificate)]


# True proofs.


def test_proofs_of_the_shelf_hold() -> None:
    checked = 0
    for entry in SHELF:
        problem = entry.build()
        if is_certified(problem):
            verdict = check(proof_of(problem).to_bytes(), problem)
            assert verdict.holds, f"{entry.name}: {verdict.reason}"
            checked += 1
    assert checked > 50


def holds(problem: Problem) -> None:
    if is_certified(problem):
        certificate = proof_of(problem)
        for form in (certificate, certificate.to_bytes()):
            verdict = check(form, problem)
            assert verdict.holds, verdict.reason
            assert verdict.reason == ""
            assert len(verdict.checked) == 6


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
    told: list[tuple[int, int]] = []
    certificate = proof_of(problem)
    assert check(certificate, problem, lambda done, total: told.append((done, total))).holds
    n_regions = len(list(walk(regions_of(certificate))))
    assert told == sorted(told)
    assert told[-1] == (n_regions, n_regions)


def test_round_trip() -> None:
    certificate = proof_of(mixed())
    data = certificate.to_bytes()
    again = certificate_from_bytes(data)
    assert again.to_bytes() == data
    assert again.n_nodes == certificate.n_nodes


# Claims that brute force knows, with proofs made by hand: neither search nor kernel is involved.


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


def claim_of(problem: Problem, tree: Tree, regions: list[Region]) -> Certificate:
    return make_certificate(problem, tree, problem.evaluate(tree).objective, TOLERANCE, LabelsProof(tuple(regions)))


def complete_proof(problem: Problem, tree: Tree) -> Certificate:
    """The strongest proof that the format can express for a tiny problem with two classes."""
    compiled = compile_problem(problem)
    regions = whole_regions(problem, compiled)
    for region in regions:
        region.labels = every_labelling(problem, compiled, problem.evaluate(tree).objective)
    return claim_of(problem, tree, regions)


def worse_trees(problem: Problem) -> list[Tree]:
    """Valid trees that are worse than the best: the best constant, and the best tree of less depth."""
    best = brute_force(problem).objective
    schema = problem.people.features.schema
    found = [Tree(schema, problem.target, (Leaf(float(label)),)) for label in range(len(problem.target.classes or ()))]
    if problem.shape.max_depth > 1:
        shallow = brute_force(problem.with_shape(replace(problem.shape, max_depth=problem.shape.max_depth - 1))).tree
        assert shallow is not None
        found.append(shallow)
    scored = [(problem.evaluate(tree), tree) for tree in found]
    return [tree for score, tree in scored if score.feasible and score.objective > best + 2 * TOLERANCE]


def refused_where_false(problem: Problem, tree: Tree, certificate: Certificate) -> None:
    verdict = check(certificate, problem)
    assert not verdict.holds
    better = ("does not rule out", "for everybody is better")
    assert any(words in verdict.reason for words in better), (verdict.reason, str(tree))


@given(problem=problems(task="classification", max_people=5, max_classes=2))
@settings(max_examples=40)
def test_complete_proofs_hold_for_the_best_tree_only(problem: Problem) -> None:
    assume(is_certified(problem))
    best = brute_force(problem)
    assert best.tree is not None
    verdict = check(complete_proof(problem, best.tree), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_trees(problem):
        refused_where_false(problem, tree, complete_proof(problem, tree))


@given(problem=problems(task="classification", forms=("plain",), max_depth=4, max_values=3, max_columns=2))
@settings(max_examples=80)
def test_without_fairness_the_bound_is_exact(problem: Problem) -> None:
    """No rows, no multipliers: one region a feature is a proof if, and only if, the tree is the best."""
    assume(is_certified(problem))
    regions = whole_regions(problem, compile_problem(problem))
    best = brute_force(problem)
    assert best.tree is not None
    verdict = check(claim_of(problem, best.tree, regions), problem)
    assert verdict.holds, verdict.reason
    for tree in worse_trees(problem):
        refused_where_false(problem, tree, claim_of(problem, tree, regions))


@given(problem=problems(task="classification", max_people=6, max_classes=2, max_values=5, max_depth=4, max_columns=2))
@settings(max_examples=60)
def test_bounds_for_many_levels_never_prove_a_false_claim(problem: Problem) -> None:
    """Levels that pick their sides, here with few levels, so that brute force knows the truth."""
    with (
        patch.object(proof, "MOST_LISTED_LEVELS", 0),
        patch.multiple(bounds, _MOST_LISTED_CHILD_LEVELS=1, _MOST_LISTED_TALL_LEVELS=1),
    ):
        regions = whole_regions(problem, compile_problem(problem))
        for tree in worse_trees(problem):
            refused_where_false(problem, tree, claim_of(problem, tree, regions))
            if problem.shape.max_depth < 4:
                refused_where_false(problem, tree, complete_proof(problem, tree))


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
    for tree in worse_trees(problem):
        regions = whole_regions(problem, compiled)
        for region in regions:
            scale = 1.0 if problem.max_discrimination is None else float(random.choice([0.0, 0.3, 1.0, 20.0]))
            junk_parts(random, compiled, region, scale)
        refused_where_false(problem, tree, claim_of(problem, tree, regions))


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
    constant = Tree(people.features.schema, problem.target, (Leaf(0.0),))
    for seed in range(10):
        regions = whole_regions(problem, compiled)
        for region in regions:
            junk_parts(np.random.default_rng(seed), compiled, region, 1.0)
        refused_where_false(problem, constant, claim_of(problem, constant, regions))


@given(problem=problems(task="classification", max_people=8, max_values=3, max_depth=3, limits=False))
@settings(max_examples=40)
def test_the_proof_of_the_best_tree_does_not_prove_a_worse_one(problem: Problem) -> None:
    certificate = proof_of(problem)
    for tree in worse_trees(problem):
        refused_where_false(problem, tree, claim_of(problem, tree, list(regions_of(certificate))))


# Tampering.


@pytest.fixture(scope="module", params=[{"fairness_weight": 0.3}, {"max_discrimination": 0.2}])
def tampered(request: pytest.FixtureRequest) -> tuple[Problem, Certificate]:
    problem = mixed(**request.param)
    certificate = proof_of(problem)
    assert any(True for _ in label_nodes(certificate))
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
    certificate = proof_of(problem)
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
    certificate = proof_of(problem)
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
    cheaper = replace(certificate, objective=certificate.objective - 0.01)
    assert "the tree has the objective" in reason(cheaper, problem)
    assert "the tree has the objective" in reason(replace(certificate, objective=np.nan), problem)
    for tolerance in (0.1, -1.0, np.nan):
        assert "a proof to within" in reason(replace(certificate, tolerance=tolerance), problem)
    schema = problem.people.features.schema
    constant = Tree(schema, problem.target, (Leaf(0.0),))
    assert "the tree has the objective" in reason(replace(certificate, tree=tree_to_json(constant)), problem)
    for tree in worse_trees(problem):
        refused_where_false(problem, tree, claim_of(problem, tree, list(regions_of(certificate))))


def test_tree_that_breaks_a_limit() -> None:
    problem = mixed(max_discrimination=0.2)
    plain = pose(problem.people, shape=Shape(max_depth=2))
    unfair = brute_force(plain).tree
    assert unfair is not None
    certificate = claim_of(problem, unfair, list(regions_of(proof_of(problem))))
    assert "the tree breaks a limit: the discrimination" in reason(certificate, problem)


def test_other_table_or_question(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    people = problem.people
    changed = people.features.data[0].copy()
    changed[0] += 0.5
    table = replace(people.features, data=(changed, *people.features.data[1:]))
    outcome = replace(people.outcome, values=1 - people.outcome.values)
    for other in (
        replace(problem, people=replace(people, features=table)),
        replace(problem, people=replace(people, outcome=outcome)),
        replace(problem, people=replace(people, weight=2 * people.weight)),
        replace(problem, disparity=2 * problem.disparity),
        problem.with_weight(0.31),
        problem.with_limit(0.21),
        problem.with_shape(Shape(max_depth=2, min_samples_leaf=2)),
        mixed(fairness=DisparateImpact()),
    ):
        assert reason(certificate, other) == "the certificate is about another table or question"


def test_damaged_bytes(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    data = certificate.to_bytes()
    assert "cut short or edited" in reason(data[:-1], problem)
    assert "cut short or edited" in reason(data[:100] + bytes([data[100] ^ 1]) + data[101:], problem)
    assert "not an Evenleaf certificate" in reason(b"something else", problem)
    assert "not an Evenleaf certificate" in reason(b"", problem)


@given(seed=st.integers(0, 10**6), value=st.sampled_from(STRANGE))
@settings(max_examples=150)
def test_edits_with_a_right_checksum_are_answered(seed: int, value: Any) -> None:
    edited_is_answered(*EDITED, seed, value)


def _edited() -> tuple[Problem, bytes, float]:
    problem = mixed(12)
    certificate = proof_of(problem)
    return problem, certificate.to_bytes(), certificate.objective


EDITED = _edited()


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
    assert "a proof over labels speaks about trees that decide classes" in reason(claim_of(problem, tree, []), problem)


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
