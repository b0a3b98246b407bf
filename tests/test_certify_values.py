"""The checker of proofs about numbers: true proofs hold, and go with files and estimators."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from certified import certificate_by, certificate_holds, progress_is_told, read_again, shelf_certificates
from cli_runs import run
from evenleaf import FairTreeRegressor
from evenleaf.case import Answer, Question, make_case
from evenleaf.errors import InputError
from evenleaf.estimators import load_model, save_model
from evenleaf.fairness import DisparateImpact, DisparateTreatment
from evenleaf.problem import Problem, pose
from evenleaf.solve import Budget, solve
from evenleaf.solve.certificate import certificate_from_bytes
from evenleaf.solve.certify import check
from evenleaf.solve.values import ValueSolver, kernels
from evenleaf.testing import people_from
from evenleaf.testing.strategies import problems
from report_cases import pay_columns, write_csv
from stopped_early import cancelled
from value_proofs import SOLVER, mixed, nodes_of


def holds(problem: Problem) -> None:
    """Six lines; four where no error can be below that of the tree."""
    certificate_holds(certificate_by(SOLVER, problem), problem, steps=(4, 6))


def test_proofs_of_the_shelf_hold() -> None:
    assert shelf_certificates(SOLVER, SOLVER.accepts) > 8


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
    assert len(nodes_of(certificate_by(SOLVER, problem))) > 30
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
    assert nodes_of(certificate_by(SOLVER, problem)) == []


@pytest.mark.parametrize(("scale", "shift"), [(1e2, -3e5), (1e-4, 5.0)])
def test_the_unit_of_the_outcome_does_not_matter(scale: float, shift: float) -> None:
    problem = mixed()
    outcome = replace(problem.people.outcome, values=problem.people.outcome.values * scale + shift)
    people = replace(problem.people, outcome=outcome)
    holds(pose(people, fairness=DisparateTreatment(n_neighbors=4), fairness_weight=0.3))


def test_progress_is_told() -> None:
    problem = mixed()
    certificate = certificate_by(SOLVER, problem)
    progress_is_told(certificate, problem, certificate.n_nodes)


def test_round_trip() -> None:
    for problem in (mixed(), mixed(max_discrimination=0.1), mixed(depth=0)):
        certificate = certificate_by(SOLVER, problem)
        for one, other in zip(nodes_of(read_again(certificate)), nodes_of(certificate), strict=True):
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
    with pytest.raises(InputError, match="memory must be a positive number"):
        ValueSolver(memory=0)


def test_a_search_that_was_stopped_has_none() -> None:
    assert SOLVER.solve(mixed(60), cancelled()).certificate is None


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
