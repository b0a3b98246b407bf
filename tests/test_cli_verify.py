"""`evenleaf verify` from the outside: what holds is said to hold, and every false claim is found."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from cli_runs import run
from evenleaf.case import Answer, Question, answer_point, make_case, read_answer, verify_file
from evenleaf.errors import InputError
from evenleaf.solve import Budget, solve
from evenleaf.tree import Leaf, Tree, tree_to_json
from report_cases import loan_case, loan_columns, loan_frontier, write_csv


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write_csv(tmp_path / "loans.csv", loan_columns())


@pytest.fixture
def model(tmp_path: Path) -> Path:
    point = loan_frontier().at(1.0)
    return Answer.at_weight(loan_case(), point, 1.0).write(tmp_path / "model.json")


def verdicts(data: dict[str, Any]) -> dict[str, str]:
    return {check["what"]: check["verdict"] for check in data["checks"]}


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = run("verify", *arguments, "--json")
    return code, json.loads(capsys.readouterr().out)


def test_what_holds_without_a_certificate(model: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = checked(capsys, str(model), table)
    assert code == 3
    assert (data["holds"], data["proven"]) == (True, False)
    found = verdicts(data)
    assert found.pop("optimum") == "not checked"
    assert set(found) == {"table", "limits", "loss", "discrimination", "objective", "index"}
    assert set(found.values()) == {"holds"}


@pytest.fixture
def certified(tmp_path: Path) -> Path:
    return answer_point(loan_case(), loan_frontier().at(1.0), 1.0).write(tmp_path / "certified.json")


def test_a_certificate_is_a_proof(certified: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, data = checked(capsys, str(certified), table)
    assert code == 0
    assert (data["holds"], data["proven"]) == (True, True)
    assert set(verdicts(data).values()) == {"holds"}
    assert "without the solver" in data["checks"][-1]["words"]
    assert run("verify", str(certified), table) == 0
    assert "none is better on these people" in " ".join(capsys.readouterr().out.split())


def test_a_damaged_certificate_is_found(certified: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(certified.read_text("utf-8"))
    raw = bytearray(base64.b64decode(data["certificate"]))
    raw[-5] ^= 1
    data["certificate"] = base64.b64encode(bytes(raw)).decode("ascii")
    certified.write_text(json.dumps(data), encoding="utf-8")
    code, found = checked(capsys, str(certified), table)
    assert (code, verdicts(found)["optimum"]) == (1, "fails")


def test_a_certificate_for_another_question_proves_nothing(
    certified: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The certificate of one λ under the model of another: all figures true, and no proof."""
    other = Answer.at_weight(loan_case(), loan_frontier().at(0.9), 0.9).to_json()
    other["certificate"] = json.loads(certified.read_text("utf-8"))["certificate"]
    certified.write_text(json.dumps(other), encoding="utf-8")
    code, found = checked(capsys, str(certified), table)
    assert (code, verdicts(found)["optimum"]) == (1, "fails")
    assert "another table or question" in found["checks"][-1]["words"]


def test_a_certificate_for_a_better_tree_proves_nothing(
    certified: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    worse = Answer.at_weight(loan_case(), loan_frontier().points[0], 1.0).to_json()
    worse["certificate"] = json.loads(certified.read_text("utf-8"))["certificate"]
    certified.write_text(json.dumps(worse), encoding="utf-8")
    code, found = checked(capsys, str(certified), table)
    assert (code, verdicts(found)["optimum"]) == (1, "fails")
    assert "about a better tree" in found["checks"][-1]["words"]


def test_solving_again_proves(model: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("verify", str(model), table, "--solve-again") == 0
    out = capsys.readouterr().out
    assert "✓  optimum" in out
    assert "solved anew" in out
    assert "none is better on these people" in " ".join(out.split())


@pytest.mark.parametrize("name", ["loss", "discrimination", "objective"])
def test_a_false_figure_is_found(name: str, model: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(model.read_text("utf-8"))
    data["claim"][name] -= 1e-4
    model.write_text(json.dumps(data), encoding="utf-8")
    code, found = checked(capsys, str(model), table)
    assert code == 1
    assert verdicts(found)[name] == "fails"
    assert run("verify", str(model), table) == 1
    assert "A claim of this model is false" in capsys.readouterr().out


def test_another_table_is_found(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = loan_columns()
    columns["age"][3] += 1
    code, found = checked(capsys, str(model), write_csv(tmp_path / "other.csv", columns))
    assert code == 1
    assert verdicts(found)["table"] == "fails"


def test_other_classes_are_found(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = loan_columns()
    columns["granted"] = ["maybe" if value == "yes" else value for value in columns["granted"]]
    code, found = checked(capsys, str(model), write_csv(tmp_path / "other.csv", columns))
    assert code == 1
    assert verdicts(found)["decision"] == "fails"


def test_a_broken_limit_is_found(model: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(model.read_text("utf-8"))
    data["question"]["max_depth"] = 1
    model.write_text(json.dumps(data), encoding="utf-8")
    code, found = checked(capsys, str(model), table)
    assert code == 1
    assert verdicts(found)["limits"] == "fails"


def test_a_worse_tree_that_claims_to_be_best(tmp_path: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All figures true, but a better tree exists: only solving (or a certificate) can tell."""
    case = loan_case().weighing(0.0)
    worse = loan_frontier().points[-1]
    model = Answer.at_weight(case, worse, 0.0).write(tmp_path / "m.json")
    code, found = checked(capsys, str(model), table)
    assert (code, verdicts(found)["optimum"]) == (3, "not checked")
    code, found = checked(capsys, str(model), table, "--solve-again")
    assert (code, verdicts(found)["optimum"]) == (1, "fails")


def test_a_bound_below_the_objective_proves_nothing(
    model: Path, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = json.loads(model.read_text("utf-8"))
    data["claim"]["bound"] = 0.0
    model.write_text(json.dumps(data), encoding="utf-8")
    code, found = checked(capsys, str(model), table)
    assert (code, verdicts(found)["optimum"]) == (1, "fails")


def test_a_tree_without_a_claim_of_proof(tmp_path: Path, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    case = loan_case()
    model = Answer.of(case, solve(case.problem, solver="greedy")).write(tmp_path / "m.json")
    code, found = checked(capsys, str(model), table)
    assert (code, verdicts(found)["optimum"]) == (3, "not checked")


@pytest.mark.parametrize("fairness", [("didi",), ("dtdi", "0.5*didi"), ("equalized-odds",), ("none",)])
def test_every_notion_and_both_forms(fairness: tuple[str, ...], tmp_path: Path, table: str) -> None:
    for form in ({}, {"fairness_weight": 0.3}, {"max_discrimination": 0.2}):
        if fairness == ("none",) and form:
            continue
        question = Question("granted", ("group",), fairness=fairness, max_depth=1, n_neighbors=5, **form)  # type: ignore[arg-type]
        case = make_case(loan_columns(), question)
        model = Answer.of(case, solve(case.problem)).write(tmp_path / "m.json")
        found = verify_file(read_answer(model), table, solve_again=Budget(60))
        assert found.holds, found.checks
        assert found.proven


def test_a_level_that_is_missing_from_the_table_changes_no_code(model: Path, tmp_path: Path) -> None:
    columns = loan_columns()
    columns["job"] = [None if value == "clerk" else value for value in columns["job"]]
    found = verify_file(read_answer(model), write_csv(tmp_path / "other.csv", columns))
    assert not found.holds  # another table, said so, instead of an error about columns


def test_a_bare_tree_claims_nothing(tmp_path: Path, table: str) -> None:
    case = loan_case()
    tree = Tree(case.people.features.schema, case.problem.target, (Leaf(1.0),))
    (tmp_path / "tree.json").write_text(json.dumps(tree_to_json(tree)), encoding="utf-8")
    with pytest.raises(InputError, match="there is nothing to verify"):
        verify_file(read_answer(tmp_path / "tree.json"), table)


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("question", [], "must be a JSON object"),
        ("question", {"target": 3}, "does not say which column is decided"),
        ("question", {"target": "y", "surprise": 1}, "unknown entry 'surprise'"),
        ("question", {"target": "y", "protected": "group"}, "must be a list of texts"),
        ("question", {"target": "y", "weight": {}}, "must be a plain value"),
        ("claim", 3, "must be a JSON object"),
        ("claim", {"loss": "low"}, "must be a number"),
        ("claim", dict.fromkeys(("loss", "discrimination", "objective", "bound", "seconds"), 0.0), "unknown status"),
        ("checksum", 3, "checksum must be a text"),
        ("certificate", "***", "certificate is damaged"),
    ],
)
def test_edited_files_are_refused(entry: str, value: Any, words: str, model: Path) -> None:
    data = {**json.loads(model.read_text("utf-8")), entry: value}
    model.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_answer(model)
