"""The checker of proofs about few disparity rows: true ones hold, tampered ones and false claims are refused."""

from __future__ import annotations

import base64
import json
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli_runs import run
from edited_certificates import STRANGE, TOLERANCE, edited_is_answered, reason
from evenleaf.case import Answer, Question, make_case
from evenleaf.estimators import FairTreeClassifier
from evenleaf.fairness import DisparateImpact, EqualizedOdds
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, solve
from evenleaf.solve.certificate import Certificate, certificate_from_bytes, make_certificate
from evenleaf.solve.certify import check
from evenleaf.solve.certify.fronts import forks, lists, proof, slots
from evenleaf.solve.certify.fronts.asked import ask, needless
from evenleaf.solve.certify.fronts.outlines import cuts_left_over, interval, subsets_left_over
from evenleaf.solve.certify.fronts.shares import fair_shares
from evenleaf.solve.fronts import FrontSolver, engine, oracle, record
from evenleaf.solve.fronts import lists as search_lists
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT, Box, FrontsProof, Step, walk
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.table import People
from evenleaf.testing import SHELF, brute_force, people_from
from evenleaf.testing.strategies import problems
from evenleaf.tree import Leaf, Tree, tree_to_json
from report_cases import loan_columns, write_csv
from test_certify import worse_trees

SOLVER = FrontSolver()
FEW_ROWS = ("impact", "conditional", "opportunity", "predictive", "odds", "mistreatment", "combination")


def proof_of(problem: Problem) -> Certificate:
    solution = SOLVER.solve(problem, Budget())
    assert solution.proven
    assert isinstance(solution.certificate, Certificate)
    return solution.certificate


def steps_of(certificate: Certificate) -> list[Step]:
    assert isinstance(certificate.proof, FrontsProof)
    return list(walk(certificate.proof.top))


@pytest.fixture
def cramped() -> Iterator[None]:
    """Lists and tables so short, in the search and in the check, that parts are made smaller all the time."""
    with pytest.MonkeyPatch.context() as monkey:
        monkey.setattr(engine, "_POINTS", 8)
        monkey.setattr(oracle, "MOST_BLOCKS", 2)
        monkey.setattr(oracle, "FEW_BLOCKS", 2)
        monkey.setattr(oracle, "MOST_LEVELS", 2)
        monkey.setattr(search_lists, "MOST_SUBSETS", 2)
        monkey.setattr(search_lists, "_MOST_SINGLES", 1)
        monkey.setattr(search_lists, "_MOST_FORKS", 3)
        yield


@pytest.fixture
def strict() -> Iterator[None]:
    """A checker with short lists, few levels that are tried one by one, and little patience."""
    with pytest.MonkeyPatch.context() as monkey:
        monkey.setattr(lists, "MOST_POINTS", 6)
        monkey.setattr(lists, "_MOST_FORKS", 6)
        monkey.setattr(lists, "_MOST_TESTS", 4)
        monkey.setattr(slots, "MOST_LISTED_LEVELS", 2)
        monkey.setattr(slots, "_FEW", 2)
        monkey.setattr(forks, "_MOST_SPELT", 2)
        monkey.setattr(forks, "_SHOWN", 1)
        yield


# True proofs.


def holds(problem: Problem) -> None:
    if SOLVER.accepts(problem):
        certificate = proof_of(problem)
        for form in (certificate, certificate.to_bytes()):
            verdict = check(form, problem)
            assert verdict.holds, verdict.reason
            assert verdict.reason == ""
            assert len(verdict.checked) in (5, 6)


def test_proofs_of_the_shelf_hold() -> None:
    checked = 0
    for entry in SHELF:
        problem = entry.build()
        if SOLVER.accepts(problem):
            verdict = check(proof_of(problem).to_bytes(), problem)
            assert verdict.holds, f"{entry.name}: {verdict.reason}"
            checked += 1
    assert checked > 50


@given(problem=problems(task="classification", notions=FEW_ROWS, max_groups=4))
@settings(max_examples=60)
def test_proofs_hold(problem: Problem) -> None:
    holds(problem)


@given(problem=problems(task="classification", max_people=10, max_values=7, forms=("limit",)))
@settings(max_examples=40)
def test_proofs_of_the_constrained_form_hold(problem: Problem) -> None:
    holds(problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=10, max_depth=3, max_classes=4))
@settings(max_examples=40)
def test_deep_proofs_hold(problem: Problem) -> None:
    holds(problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_depth=4, max_columns=2))
@settings(max_examples=20)
def test_proofs_of_depth_four_hold(problem: Problem) -> None:
    holds(problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_depth=3, max_columns=2))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_proofs_of_many_small_parts_hold(cramped: None, problem: Problem) -> None:
    holds(problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=9, max_values=6, max_columns=2))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_proofs_about_levels_in_small_parts_hold(cramped: None, strict: None, problem: Problem) -> None:
    with patch.object(lists, "MOST_POINTS", 1000):
        holds(problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_depth=3, max_columns=2))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_checker_with_short_lists_makes_parts_smaller(strict: None, problem: Problem) -> None:
    holds(problem)


@pytest.mark.long
@given(problem=problems(task="classification", max_people=14, max_values=8, max_columns=4, max_classes=4, max_depth=3))
@settings(max_examples=1000)
def test_many_proofs_hold(problem: Problem) -> None:
    holds(problem)


def test_tests_of_a_fork_are_counted_once(strict: None) -> None:
    """A part with a test of levels that are open: its trees may be as large as the limit allows, and none is lost."""
    columns = {"c": list("ppqqrrss"), "x": [0, 1] * 4}
    people = people_from(columns, [0, 1, 1, 0, 0, 1, 1, 0], {"g": list("abababab")})
    shape = Shape(max_depth=2, max_leaves=4, max_feature_uses={"c": 1})
    problem = pose(people, shape=shape, fairness=DisparateImpact(), fairness_weight=0.1)
    top = Step(None, np.zeros((1, 1)), (), [Step(Box(0, 0, 0, np.full(4, OPEN, dtype=np.int8)), np.zeros((1, 1)))])
    best, worse = brute_force(problem), brute_force(problem.with_shape(replace(shape, max_leaves=3)))
    assert best.tree is not None
    assert worse.tree is not None
    assert best.objective < worse.objective  # and only trees that begin with c are that good
    with patch.object(lists, "MOST_POINTS", 1000), patch.object(lists, "_MOST_FORKS", 1000):
        assert check(claim_of(problem, best.tree, top), problem).holds
        refused(problem, worse.tree, top)


@pytest.mark.long
@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_depth=3))
@settings(max_examples=1000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_many_proofs_of_small_parts_hold(cramped: None, problem: Problem) -> None:
    holds(problem)


# False claims.


def claim_of(problem: Problem, tree: Tree, top: Step) -> Certificate:
    return make_certificate(problem, tree, problem.evaluate(tree).objective, TOLERANCE, FrontsProof(top))


def refused(problem: Problem, tree: Tree, top: Step) -> None:
    verdict = check(claim_of(problem, tree, top), problem)
    assert not verdict.holds
    better = ("does not rule out", "for everybody is better")
    assert any(words in verdict.reason for words in better), (verdict.reason, str(tree))


class Junk:
    """Random proofs: random multipliers, parts of random tests in places that there are, some of them dropped."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.problem, self.compiled = problem, compile_problem(problem)
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
        for tree in worse_trees(problem):
            refused(problem, tree, Junk(problem, seed).top())


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
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_junk_never_proves_a_false_claim_to_a_strict_checker(strict: None, problem: Problem, seed: int) -> None:
    junk_is_refused(problem, seed)


@pytest.mark.long
@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_values=4, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_much_junk_never_proves_a_false_claim(strict: None, problem: Problem, seed: int) -> None:
    junk_is_refused(problem, seed)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_values=3, max_depth=3))
@settings(max_examples=40)
def test_the_proof_of_the_best_tree_does_not_prove_a_worse_one(problem: Problem) -> None:
    certificate = proof_of(problem)
    for tree in worse_trees(problem):
        refused(problem, tree, steps_of(certificate)[0])


@given(
    problem=problems(task="classification", notions=FEW_ROWS, max_people=7, max_values=3, max_columns=2, max_depth=3),
    seed=st.integers(0, 1000),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_torn_proof_does_not_prove_a_worse_tree(cramped: None, strict: None, problem: Problem, seed: int) -> None:
    """A true proof with parts dropped, parts closed that were split, and multipliers swapped."""
    random = np.random.default_rng(seed)
    certificate = certificate_from_bytes(proof_of(problem).to_bytes())
    steps = steps_of(certificate)
    for step in steps:
        step.parts = [part for part in step.parts if random.random() < 0.8]
        if random.random() < 0.2:
            step.parts = []
        if len(step.mus):
            step.mus = steps[0].mus if random.random() < 0.5 else -step.mus
    for tree in worse_trees(problem):
        refused(problem, tree, steps[0])


# Tampering.


def mixed(n: int = 40, depth: int = 2, **asked: Any) -> Problem:
    """People without a pattern, so that a proof takes work."""
    number = np.arange(n)
    x, z = number * 7 % 11, number * number % 5
    columns = {"x": x, "z": z, "c": [f"level {i}" for i in (number * 5 + 1) % 7 % 4]}
    people = people_from(columns, (x + 2 * z + number % 3) % 2, {"g": ["abc"[i] for i in number * 3 % 7 % 3]})
    return pose(people, shape=Shape(max_depth=depth), fairness=DisparateImpact(), **(asked or {"fairness_weight": 0.3}))


@pytest.fixture(params=[{"fairness_weight": 0.3}, {"max_discrimination": 0.2}])
def tampered(request: pytest.FixtureRequest, cramped: None) -> tuple[Problem, Certificate]:
    problem = mixed(**request.param)
    certificate = certificate_from_bytes(proof_of(problem).to_bytes())
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
    cheaper = replace(certificate, objective=certificate.objective - 0.01)
    assert "the tree has the objective" in reason(cheaper, problem)
    constant = Tree(problem.people.features.schema, problem.target, (Leaf(0.0),))
    assert "the tree has the objective" in reason(replace(certificate, tree=tree_to_json(constant)), problem)
    found = worse_trees(problem)
    assert found
    for tree in found:
        refused(problem, tree, steps_of(certificate)[0])


def test_other_table_or_question(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    people = problem.people
    outcome = replace(people.outcome, values=1 - people.outcome.values)
    for other in (
        replace(problem, people=replace(people, outcome=outcome)),
        replace(problem, people=replace(people, weight=2 * people.weight)),
        problem.with_weight(0.31),
        problem.with_limit(0.21),
        problem.with_shape(Shape(max_depth=2, min_samples_leaf=2)),
        pose(people, fairness=EqualizedOdds(1), fairness_weight=0.3),
    ):
        assert reason(certificate, other) == "the certificate is about another table or question"


def test_a_proof_about_classes_says_nothing_about_numbers() -> None:
    people = people_from({"x": [1, 2, 3]}, [0.5, 1.5, 2.0], task="regression")
    problem = pose(people, shape=Shape(max_depth=1))
    tree = brute_force(problem).tree
    assert tree is not None
    said = reason(claim_of(problem, tree, Step(None, np.zeros((1, 0)))), problem)
    assert "a proof over fronts speaks about trees that decide classes" in said


def test_round_trip(tampered: tuple[Problem, Certificate]) -> None:
    data = tampered[1].to_bytes()
    again = certificate_from_bytes(data)
    assert again.to_bytes() == data
    assert again.n_nodes == tampered[1].n_nodes


def test_progress_is_told(tampered: tuple[Problem, Certificate]) -> None:
    problem, certificate = tampered
    told: list[tuple[int, int]] = []
    assert check(certificate, problem, lambda done, total: told.append((done, total))).holds
    assert told == sorted(told)
    assert told[-1] == (certificate.n_nodes, certificate.n_nodes)


def test_a_certificate_is_optional() -> None:
    problem = mixed()
    without = FrontSolver(certificate=False).solve(problem, Budget())
    assert without.proven
    assert without.certificate is None
    assert without.tree == SOLVER.solve(problem, Budget()).tree


def test_a_proof_that_grows_too_long_is_given_up(cramped: None) -> None:
    with patch.object(record, "_MOST_PARTS", 10):
        solution = SOLVER.solve(mixed(), Budget())
    assert solution.proven
    assert solution.certificate is None
    assert "too long to be written down" in solution.message


EDITED: list[tuple[Problem, bytes, float]] = []


@given(seed=st.integers(0, 10**6), value=st.sampled_from(STRANGE))
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_edits_with_a_right_checksum_are_answered(cramped: None, seed: int, value: Any) -> None:
    """Whatever somebody writes in there, there is an answer; and yes is said only of the best tree."""
    if not EDITED:
        problem = mixed(20)
        certificate = proof_of(problem)
        EDITED.append((problem, certificate.to_bytes(), certificate.objective))
    edited_is_answered(*EDITED[0], seed, value)


# Files and estimators.


@pytest.mark.parametrize("form", [{"fairness_weight": 1.0}, {"max_discrimination": 0.1}])
def test_a_file_carries_the_proof(form: dict[str, float], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_csv(tmp_path / "loans.csv", loan_columns())
    question = Question("granted", ("group",), fairness=("didi",), max_depth=2, **form)  # type: ignore[arg-type]
    case = make_case(loan_columns(), question)
    solution = solve(case.problem)
    assert solution.solver == "fronts"
    model = Answer.of(case, solution).write(tmp_path / "model.json")
    assert run("verify", str(model), table, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["holds"], found["proven"]) == (True, True)
    assert "without the solver" in found["checks"][-1]["words"]
    data = json.loads(model.read_text("utf-8"))
    raw = bytearray(base64.b64decode(data["certificate"]))
    raw[-5] ^= 1
    data["certificate"] = base64.b64encode(bytes(raw)).decode("ascii")
    model.write_text(json.dumps(data), encoding="utf-8")
    assert run("verify", str(model), table, "--json") == 1
    assert "cut short or edited" in json.loads(capsys.readouterr().out)["checks"][-1]["words"]


def test_an_estimator_has_and_keeps_the_proof() -> None:
    columns = loan_columns()
    y, groups = columns.pop("granted"), columns["group"]
    frame = pd.DataFrame({name: values for name, values in columns.items() if name != "group"})
    model = FairTreeClassifier(fairness="didi", fairness_weight=1.0, max_depth=2)
    model.fit(frame, y, sensitive_features=groups)
    assert model.solution_.solver == "fronts"
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 (our own bytes)
    problem = model.pose(frame, y, sensitive_features=groups)
    for fitted in (model, again):
        verdict = check(fitted.solution_.certificate, problem)
        assert verdict.holds, verdict.reason


# The parts of the checker.


def test_no_kernel_is_shared_with_the_search() -> None:
    files = list(Path(proof.__file__).parent.glob("*.py"))
    assert len(files) > 4
    for file in files:
        text = file.read_text("utf-8")
        assert "solve.fronts" not in text, file.name
        assert "numba" not in text, file.name
        lines = [line for line in text.splitlines() if "import" in line and "solve.search" in line]
        assert all("search.compiled import" in line for line in lines), file.name


@given(
    points=st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=30),
    added=st.tuples(*[st.integers(-6, 6)] * 3),
    n_disparities=st.integers(0, 2),
    penalty=st.booleans(),
)
@settings(max_examples=200)
def test_needless_points_are_never_needed(
    points: list[tuple[int, ...]], added: tuple[int, ...], n_disparities: int, penalty: bool
) -> None:
    """Whatever is added to all points, the best sum is still there; for disparities also those that are kept alike."""
    vectors = np.array(points, dtype=np.float64)[:, : n_disparities + 1] * 0.1
    kept = vectors[~needless(vectors, penalty, 0)]
    both = [(rows + 0.1 * np.array(added)[: n_disparities + 1]) for rows in (vectors, kept)]
    if penalty:
        best = [float((rows[:, 0] + np.abs(rows[:, 1:]).sum(axis=1)).min()) for rows in both]
        assert best[0] == pytest.approx(best[1], abs=1e-12)
        return
    for limit in (0.0, 0.2, 0.5):
        found = [rows[np.abs(rows[:, 1:]).sum(axis=1) <= limit + 1e-9, 0].min(initial=np.inf) for rows in both]
        assert found[0] == pytest.approx(found[1], abs=1e-12)


@given(
    points=st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=1, max_size=30),
    added=st.tuples(*[st.integers(-6, 6)] * 2),
    side=st.sampled_from([1, -1]),
)
@settings(max_examples=100)
def test_points_needless_for_one_side(points: list[tuple[int, ...]], added: tuple[int, ...], side: int) -> None:
    vectors = np.array(points, dtype=np.float64) * 0.1
    both = [rows + 0.1 * np.array(added) for rows in (vectors, vectors[~needless(vectors, False, side)])]
    for limit in (0.0, 0.2, 0.5):
        found = [rows[side * rows[:, 1] <= limit + 1e-9, 0].min(initial=np.inf) for rows in both]
        assert found[0] == pytest.approx(found[1], abs=1e-12)


@given(
    parts=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=4),
    present=st.lists(st.booleans(), min_size=8, max_size=8).filter(any),
)
@settings(max_examples=100)
def test_cuts_left_over(parts: list[tuple[int, int]], present: list[bool]) -> None:
    """Every cut that parts somebody is like one in a part, or like one in what is left over."""
    there = np.array(present)
    whole = interval(8, 0, 6)
    held = [(min(pair), max(pair)) for pair in parts]
    left = [cuts_of(sides) for sides in cuts_left_over(whole, [interval(8, *pair) for pair in held], there)]
    alike = np.cumsum(there)
    spoken = {int(alike[cut]) for first, last in [*held, *left] for cut in range(first, last + 1)}
    assert spoken >= {int(n) for n in alike[:7]} - {0, int(alike[-1])}


def cuts_of(sides: np.ndarray) -> tuple[int, int]:
    return int((sides == LEFT).sum()) - 1, 7 - int((sides == RIGHT).sum())


@given(
    parts=st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), max_size=5),
    present=st.lists(st.booleans(), min_size=4, max_size=4).filter(any),
    mirrored=st.booleans(),
)
@settings(max_examples=100)
def test_subsets_left_over(parts: list[list[int]], present: list[bool], mirrored: bool) -> None:
    """Every subset of the levels that are there, or its mirror image, is in a part or left over."""
    there, held = np.array(present), [np.array(part, dtype=np.int8) for part in parts]
    left = list(subsets_left_over(np.full(4, OPEN, dtype=np.int8), held, there, mirrored=mirrored))

    def spoken_of(subset: np.ndarray) -> bool:
        return any(((sides == OPEN) | (sides == subset))[there].all() for sides in [*held, *left])

    for number in range(16):
        subset = (number >> np.arange(4)) & 1
        assert spoken_of(subset) or (mirrored and spoken_of(1 - subset))


@given(problem=problems(task="classification", forms=("limit",), notions=FEW_ROWS, max_classes=2, max_depth=2))
@settings(max_examples=100)
def test_fair_shares_are_all_there_are(problem: Problem) -> None:
    """Where it names shares, the best tree has one of them."""
    shares = fair_shares(problem) if SOLVER.accepts(problem) else None
    if shares is None:
        return
    constants = [Tree(problem.people.features.schema, problem.target, (Leaf(float(k)),)) for k in range(2)]
    best = brute_force(problem)
    if len(shares) == 2:
        assert best.objective == pytest.approx(min(problem.evaluate(tree).objective for tree in constants), abs=1e-9)
    assert best.tree is not None
    share = float(np.mean(best.tree.predict(problem.people.features)))
    assert np.abs(shares - share).min() <= 1e-9


def alike(people: People, limit: float) -> bool:
    shares = fair_shares(pose(people, fairness=DisparateImpact(), max_discrimination=limit))
    return shares is not None and len(shares) == 2


def test_fair_shares_count_people() -> None:
    """Groups of 7 and 9 people: shares that differ are at least 1/63 apart, and a common share is 0 or 1."""
    people = people_from({"x": list(range(16))}, [0, 1] * 8, {"g": ["a"] * 7 + ["b"] * 9})
    assert alike(people, 0.0)
    problem = pose(people, fairness=DisparateImpact(), max_discrimination=0.0)
    labels = [np.array([1] * a + [0] * (7 - a) + [1] * b + [0] * (9 - b)) for a in range(8) for b in range(10)]
    step = min(problem.disparity.value(problem.psi(one)) for one in labels if one.min() < one.max())
    assert alike(people, 0.99 * step)
    assert fair_shares(pose(people, fairness=DisparateImpact(), max_discrimination=1.01 * step)) is None
    even = people_from({"x": list(range(16))}, [0, 1] * 8, {"g": ["a"] * 6 + ["b"] * 10})
    shares = fair_shares(pose(even, fairness=DisparateImpact(), max_discrimination=0.0))
    assert shares is not None
    assert shares.tolist() == [0.0, 0.5, 1.0]


@st.composite
def with_a_common_divisor(draw: st.DrawFn) -> Problem:
    """Exactly equal rates for two groups whose sizes have a common divisor."""
    random = np.random.default_rng(draw(st.integers(0, 10_000)))
    sizes = draw(st.sampled_from([(4, 6), (3, 6), (4, 4), (6, 9), (8, 4)]))
    n_people = sum(sizes)
    features: dict[str, Any] = {"x": random.integers(0, 6, n_people).astype(float)}
    if draw(st.booleans()):
        features["y"] = random.integers(0, draw(st.sampled_from([2, 4])), n_people).astype(float)
    if draw(st.booleans()):
        features["z"] = random.choice(list("abc"), n_people).tolist()
    outcome = random.permutation(np.arange(n_people) % 2)
    people = people_from(features, outcome.tolist(), {"g": np.repeat(["a", "b"], sizes).tolist()})
    shape = Shape(max_depth=draw(st.sampled_from([1, 2])), min_samples_leaf=draw(st.sampled_from([1, 2])))
    return pose(people, fairness=DisparateImpact(), max_discrimination=0.0, shape=shape)


@given(problem=with_a_common_divisor())
@settings(max_examples=40)
def test_each_share_is_proven(problem: Problem) -> None:
    answer = SOLVER.solve(problem, Budget())
    assert answer.proven
    assert answer.objective == pytest.approx(brute_force(problem).objective, abs=1e-9)
    assert answer.certificate is not None
    again = certificate_from_bytes(answer.certificate.to_bytes())
    assert check(again, problem).holds
    if isinstance(again.proof, FrontsProof) and len(again.proof.others):
        without = replace(again.proof, others=again.proof.others[:-1])
        assert not check(replace(again, proof=without), problem).holds
