"""The checker of proofs about few disparity rows: true proofs hold, and go with files and estimators."""

from __future__ import annotations

import base64
import json
import pickle
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from certified import certificate_by, certificate_holds, claim_is_refused, claim_of, shelf_certificates
from cli_runs import run
from evenleaf.case import Answer, Question, make_case
from evenleaf.estimators import FairTreeClassifier
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, solve
from evenleaf.solve.certify import check
from evenleaf.solve.certify.fronts import lists
from evenleaf.solve.fronts import FrontSolver, oracle, record, splitting
from evenleaf.solve.fronts.pieces import Pieces
from evenleaf.solve.proofs.fronts import OPEN, Box, FrontsProof, Step
from evenleaf.testing import brute_force, people_from
from evenleaf.testing.strategies import problems
from front_proofs import FEW_ROWS, SOLVER, cramped, mixed, strict
from report_cases import loan_columns, write_csv


def holds(problem: Problem) -> None:
    """Six lines; five where a limit leaves only trees that decide everybody alike."""
    if SOLVER.accepts(problem):
        certificate_holds(certificate_by(SOLVER, problem), problem, steps=(5, 6))


def test_proofs_of_the_shelf_hold() -> None:
    assert shelf_certificates(SOLVER, SOLVER.accepts) > 50


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
@settings(max_examples=60)
def test_proofs_of_many_small_parts_hold(problem: Problem) -> None:
    with cramped():
        holds(problem)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("limit", [None, 0.05])
def test_proofs_of_boxes_in_pieces_hold(seed: int, limit: float | None) -> None:
    random = np.random.default_rng(seed)
    features = {"a": random.permutation(80), "b": random.integers(0, 8, 80)}
    groups = random.choice(["p", "q"], 80).tolist()
    people = people_from(features, random.integers(0, 2, 80).tolist(), {"g": groups})
    problem = pose(people, fairness=DisparateImpact(), fairness_weight=0.3, shape=Shape(max_depth=3))
    numbers: list[float] = []

    class Spied(Pieces):
        def number(self, free: np.ndarray, mu: np.ndarray, above: float) -> tuple[float, np.ndarray]:
            found = super().number(free, mu, above)
            numbers.append(found[0])
            return found

    with cramped(), patch.object(oracle, "MOST_CUTS_TO_FORK", 0), patch.object(splitting, "Pieces", Spied):
        holds(problem if limit is None else problem.with_limit(limit))
    assert any(2 < number < splitting.MOST_PIECES for number in numbers)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=9, max_values=6, max_columns=2))
@settings(max_examples=60)
def test_proofs_about_levels_in_small_parts_hold(problem: Problem) -> None:
    with cramped(), strict(), patch.object(lists, "MOST_POINTS", 1000):
        holds(problem)


@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_depth=3, max_columns=2))
@settings(max_examples=60)
def test_a_checker_with_short_lists_makes_parts_smaller(problem: Problem) -> None:
    with strict():
        holds(problem)


@pytest.mark.long
@given(problem=problems(task="classification", max_people=14, max_values=8, max_columns=4, max_classes=4, max_depth=3))
@settings(max_examples=1000)
def test_many_proofs_hold(problem: Problem) -> None:
    holds(problem)


def test_tests_of_a_fork_are_counted_once() -> None:
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
    with strict(), patch.multiple(lists, MOST_POINTS=1000, _MOST_FORKS=1000):
        assert check(claim_of(problem, best.tree, FrontsProof(top)), problem).holds
        claim_is_refused(problem, worse.tree, FrontsProof(top))


@pytest.mark.long
@given(problem=problems(task="classification", notions=FEW_ROWS, max_people=8, max_depth=3))
@settings(max_examples=1000)
def test_many_proofs_of_small_parts_hold(problem: Problem) -> None:
    with cramped():
        holds(problem)


def test_a_certificate_is_optional() -> None:
    problem = mixed()
    without = FrontSolver(certificate=False).solve(problem, Budget())
    assert without.proven
    assert without.certificate is None
    assert without.tree == SOLVER.solve(problem, Budget()).tree


def test_a_proof_that_grows_too_long_is_given_up() -> None:
    with cramped(), patch.object(record, "_MOST_PARTS", 10):
        solution = SOLVER.solve(mixed(), Budget())
    assert solution.proven
    assert solution.certificate is None
    assert "too long to be written down" in solution.message


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
