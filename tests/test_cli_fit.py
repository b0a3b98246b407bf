"""`evenleaf fit` and `evenleaf frontier` from the outside: files in, files out, words, codes."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import refused, run
from evenleaf.case import Question, make_case, open_case, read_answer
from evenleaf.cli.live import Knowledge, display
from evenleaf.metrics import dtdi
from evenleaf.problem import Problem, Score
from evenleaf.solve import Budget, Solution, Status, Stop, TracePoint, solve
from evenleaf.solve import choose as choose_module
from evenleaf.tree import Leaf, Tree, tree_from_json
from report_cases import csv_text, loan_case, loan_columns, loan_frontier, pay_columns, write_csv

FIT = ("--target", "granted", "--protected", "group", "--neighbors", "5")


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write_csv(tmp_path / "loans.csv", loan_columns())


def test_the_tree_on_the_terminal(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", table, *FIT) == 0
    out, err = capsys.readouterr()
    assert err == ""
    point = loan_frontier().at(1.0)
    for text in (
        "160 in",
        "granted: classification (inferred; --task overrides)",
        "group (3 levels)",
        "age, hours [",
        "job (3 levels)",
        f"{point.loss:.2%}",
        f"{point.discrimination:.4f}",
        "proven optimal",
        "with λ = 1",
    ):
        assert text in out
    # Several trees may be optimal at this λ; the command shows the one that solving it gives.
    tree = solve(loan_case().problem.with_weight(1.0)).tree
    assert str(tree).splitlines()[0] in out


def test_the_model_file_holds_the_answer(table: str, tmp_path: Path) -> None:
    assert run("fit", table, *FIT, "-w", "0.25", "--out", str(tmp_path / "model.json")) == 0
    answer = read_answer(tmp_path / "model.json")
    case = loan_case().weighing(0.25)
    expected = loan_frontier().value(0.25)
    assert answer.claim is not None
    assert answer.claim.proven
    assert answer.claim.objective == pytest.approx(expected)
    assert case.problem.evaluate(answer.tree).objective == pytest.approx(expected)
    assert answer.checksum == case.checksum
    assert answer.question is not None
    assert answer.question.fairness_weight == 0.25
    assert answer.question.protected == ("group",)


def test_pure_data(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", table, *FIT, "--json") == 0
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads(out)
    assert data["format"] == "evenleaf-answer"
    tree = tree_from_json(data["tree"])
    assert loan_case().problem.evaluate(tree).objective == pytest.approx(loan_frontier().value(1.0))


def test_a_limit_instead_of_a_weight(table: str, tmp_path: Path) -> None:
    assert run("fit", table, *FIT, "--max-discrimination", "0.1", "--out", str(tmp_path / "m.json")) == 0
    answer = read_answer(tmp_path / "m.json")
    assert answer.claim is not None
    assert answer.claim.discrimination <= 0.1
    assert answer.question is not None
    assert answer.question.max_discrimination == 0.1


def test_without_fairness_no_groups_are_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = loan_columns()
    del columns["group"]
    table = write_csv(tmp_path / "t.csv", columns)
    assert run("fit", table, "--target", "granted", "--fairness", "none", "--depth", "1") == 0
    assert "proven optimal" in capsys.readouterr().out


def test_a_heuristic_leaves_with_three(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", table, *FIT, "--solver", "greedy", "--out", str(tmp_path / "m.json")) == 3
    assert "not proven (a heuristic: it does not prove)" in capsys.readouterr().out
    answer = read_answer(tmp_path / "m.json")
    assert answer.claim is not None
    assert answer.claim.status is Status.FEASIBLE


class Refuses:
    """A solver that has proven that there is nothing to find."""

    name = "refuses"
    status = Status.INFEASIBLE

    def accepts(self, problem: Problem) -> bool:  # noqa: ARG002
        return True

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:  # noqa: ARG002
        return Solution(None, None, np.inf, self.status, Stop.FINISHED, self.name, 0.0)


class FindsNothing(Refuses):
    """A solver that ran out of time before the first tree."""

    status = Status.UNKNOWN


@pytest.mark.parametrize(("solver", "code", "words"), [(Refuses, 4, "No tree keeps"), (FindsNothing, 3, "No tree was")])
def test_no_tree(
    solver: type[Refuses],
    code: int,
    words: str,
    table: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(choose_module.SOLVERS, "greedy", lambda _: solver())
    files = ["--out", str(tmp_path / "m.json"), "--report", str(tmp_path / "r.html")]
    assert run("fit", table, *FIT, "--solver", "greedy", *files) == code
    assert words in capsys.readouterr().out
    assert not (tmp_path / "m.json").exists()
    assert not (tmp_path / "r.html").exists()
    assert run("fit", table, *FIT, "--solver", "greedy", "--json") == code
    assert json.loads(capsys.readouterr().out) == {"status": str(solver.status)}


def test_the_page_has_the_whole_trade_off(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/evenleaf", "fit", "my loans.csv", "--report", "page.html"])
    assert run("fit", table, *FIT, "--report", str(tmp_path / "page.html")) == 0
    data = page_data(tmp_path / "page.html")
    assert len(data["trees"]) == len(loan_frontier())
    assert data["asked"]["fairness_weight"] == 1.0
    chosen = data["trees"][data["chosen"]]
    assert chosen["loss"] + chosen["discrimination"] == pytest.approx(loan_frontier().value(1.0))
    assert data["includes_rows"] is False
    assert data["provenance"]["command"] == "evenleaf fit 'my loans.csv' --report page.html"


def page_data(path: Path) -> dict[str, Any]:
    inside = path.read_text("utf-8").partition('id="evenleaf-data">')[2].partition("</script>")[0]
    found = json.loads(inside)
    assert isinstance(found, dict)
    return found


def test_new_people_are_looked_at_too(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures among new people by the plain functions, and their levels by the schema of the first."""
    columns = loan_columns(200, seed=9)
    columns["job"] = ["astronaut", *columns["job"][1:]]
    new = write_csv(tmp_path / "new.csv", columns)
    assert run("frontier", table, *FIT, "--test", new, "--report", str(tmp_path / "p.html")) == 0
    assert "among new" in capsys.readouterr().out
    features = {name: columns[name] for name in ("age", "hours", "job")}
    for entry, point in zip(page_data(tmp_path / "p.html")["trees"], loan_frontier(), strict=True):
        predicted = point.tree.predict(features)
        assert entry["fresh"]["n"] == 200
        assert entry["fresh"]["accuracy"] == pytest.approx((predicted == np.array(columns["granted"])).mean())
        known = {**features, "job": [None, *columns["job"][1:]]}
        index = dtdi(predicted.tolist(), known, sensitive_features=columns["group"], n_neighbors=5)
        assert entry["fresh"]["discrimination"] == pytest.approx(index, abs=1e-12)
    assert run("fit", table, *FIT, "--test", new) == 0
    assert "(200 in" in capsys.readouterr().out
    columns["granted"] = ["perhaps", *columns["granted"][1:]]
    assert run("fit", table, *FIT, "--test", write_csv(tmp_path / "odd.csv", columns)) == 2
    assert "but the tree decides between ['no', 'yes']" in capsys.readouterr().err


def test_rows_only_where_asked_for(table: str, tmp_path: Path) -> None:
    assert run("fit", table, *FIT, "-w", "0", "--report", str(tmp_path / "p.html"), "--include-rows") == 0
    data = page_data(tmp_path / "p.html")
    assert data["includes_rows"] is True
    assert data["trees"][0]["people"]


@pytest.mark.needs("matplotlib")
def test_drawings(table: str, tmp_path: Path) -> None:
    assert run("fit", table, *FIT, "--depth", "1", "--draw", str(tmp_path / "tree.svg")) == 0
    assert (tmp_path / "tree.svg").read_text("utf-8").startswith("<svg")
    assert run("frontier", table, *FIT, "--depth", "1", "--plot", str(tmp_path / "plot.pdf")) == 0
    assert (tmp_path / "plot.pdf").read_bytes().startswith(b"%PDF")


def test_standard_input_and_tsv(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = csv_text(loan_columns())
    code = [sys.executable, "-c", "from evenleaf.cli import main; main()", "fit", "-", *FIT, "--depth", "1", "--json"]
    piped = subprocess.run(code, input=text, capture_output=True, text=True, check=False)
    assert piped.returncode == 0
    (tmp_path / "t.tsv").write_text(text.replace(",", "\t"), encoding="utf-8")
    assert run("fit", str(tmp_path / "t.tsv"), *FIT, "--depth", "1", "--json") == 0
    own, other = json.loads(capsys.readouterr().out), json.loads(piped.stdout)
    assert own["tree"] == other["tree"]
    assert own["checksum"] == other["checksum"]


@pytest.mark.needs("pyarrow")
def test_parquet_has_the_same_checksum(table: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    columns = loan_columns()
    columns["hours"] = [None if value != value else value for value in columns["hours"]]
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    question = Question("granted", ("group",), n_neighbors=5)
    assert open_case(tmp_path / "t.parquet", question).checksum == open_case(table, question).checksum


def test_numbers_are_learned_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = write_csv(tmp_path / "pay.csv", pay_columns(30))
    arguments = ("--target", "pay", "--protected", "group", "--fairness", "didi", "--depth", "1")
    code = run("fit", table, *arguments, "--solver", "local")
    assert code in (0, 3)
    out = capsys.readouterr().out
    assert "pay: regression (inferred" in out
    assert "mean absolute error" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "grnted", "--protected", "group"], "did you mean 'granted'?"),
        (["--target", "granted"], "no protected column was given"),
        (["--target", "granted", "--protected", "group", "--fairness", "dtd"], "did you mean 'dtdi'?"),
        (["--target", "granted", "--protected", "group", "--fairness", "x*dtdi"], "is not a number"),
        (
            ["--target", "granted", "--protected", "group", "--fairness", "none", "--fairness", "didi"],
            "cannot be combined",
        ),
        (
            ["--target", "granted", "--protected", "group", "-w", "-1"],
            "--fairness-weight must be a number of at least 0",
        ),
        (["--target", "granted", "--protected", "group", "-w", "1", "--max-discrimination", "0.1"], "not both"),
        (["--target", "granted", "--protected", "group", "--only", "agee"], "did you mean 'age'?"),
        (["--target", "granted", "--protected", "group", "--time-limit", "0"], "time-limit"),
        (["--target", "granted", "--protected", "group", "--out", "/nowhere/m.json"], "there is no folder"),
        (["--target", "granted", "--protected", "group", "--neighbors", "500"], "--neighbors 500 is more than"),
        (["--target", "granted", "--protected", "group", "--positive", "maybe"], "no class 'maybe'"),
    ],
)
def test_mistakes_are_one_sentence(
    arguments: list[str], words: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refused(capsys, "fit", table, *arguments)


def test_names_never_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    age, job, target = "\x1b[31mage\x07", "\x1b]0;owned\x07job", "\x9bgranted"
    names = {"age": age, "job": job, "granted": target, "hours": "hours", "group": "[bold]group[/]"}
    table = write_csv(tmp_path / "t.csv", {names[name]: values for name, values in loan_columns().items()})
    assert run("fit", table, "--target", target, "--protected", "[bold]group[/]", "--neighbors", "5", "-w", "0") == 0
    assert run("frontier", table, "--target", target, "--protected", "[bold]group[/]", "--depth", "1") == 0
    out = capsys.readouterr().out
    assert not set("\x1b\x07\x9b") & set(out)
    assert "[bold]group[/]" in out
    assert "\N{REPLACEMENT CHARACTER}[31mage" in out


def test_the_trade_off_as_table_and_files(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--out", str(tmp_path / "f.csv"), "--report", str(tmp_path / "p.html")]
    assert run("frontier", table, *FIT, *files) == 0
    out = capsys.readouterr().out
    assert f"{len(loan_frontier())} trees, all proven" in out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "f.csv").read_text("utf-8"))))
    assert [float(row["loss"]) for row in rows] == [point.loss for point in loan_frontier()]
    assert [row["weight_to"] for row in rows][-1] == ""
    assert len(page_data(tmp_path / "p.html")["trees"]) == len(rows)
    assert f"wrote {tmp_path / 'p.html'}" in out


def test_the_trade_off_as_json(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("frontier", table, *FIT, "--json", "--out", str(tmp_path / "f.json")) == 0
    data = json.loads(capsys.readouterr().out)
    assert data == json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert data["proven"] is True
    for entry, point in zip(data["trees"], loan_frontier(), strict=True):
        assert tree_from_json(entry["tree"]) == point.tree


def test_choosing_by_questions(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("nonsense\na\na\na\na\n"))
    assert run("frontier", table, *FIT, "--prefer", "--model", str(tmp_path / "m.json")) == 0
    err = capsys.readouterr().err
    assert "Which would you rather defend?" in err
    assert "You would defend tree 1:" in err
    answer = read_answer(tmp_path / "m.json")
    assert answer.tree == loan_frontier().points[0].tree
    assert answer.question is not None
    assert answer.question.fairness_weight is not None
    assert 0 < answer.question.fairness_weight < loan_frontier().points[0].weight_to
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run("frontier", table, *FIT, "--prefer") == 2
    assert "were not answered" in capsys.readouterr().err


def test_a_stop_in_the_middle_keeps_the_best(tmp_path: Path) -> None:
    """Ctrl-C once, whenever it comes after the search has begun: a tree, a file, and the code that says so."""
    rng = np.random.default_rng(0)
    columns: dict[str, list[Any]] = {f"x{i}": rng.random(2000).round(3).tolist() for i in range(12)}
    columns["group"] = rng.choice(["p", "q", "r"], 2000).tolist()
    columns["y"] = rng.choice(["no", "yes"], 2000).tolist()
    table = write_csv(tmp_path / "hard.csv", columns)
    model = tmp_path / "m.json"
    code = "from evenleaf.cli import main; main()"
    arguments = ["fit", table, "--target", "y", "--protected", "group", "--out", str(model), "--fairness", "dtdi"]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:  # the columns are shown right before the search begins
        if "quantitative" in line:
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, (out, err)
    assert "not proven (interrupted)" in out
    answer = read_answer(model)
    assert answer.claim is not None
    assert answer.claim.stop is Stop.INTERRUPTED
    assert answer.claim.bound <= answer.claim.objective


def test_a_stop_between_two_solves_keeps_the_trees(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C where no solver is there to answer it: what was seen is arranged, and nothing is claimed of it."""
    solved: list[int] = []

    def stop(self: Knowledge, done: int, waiting: int) -> None:
        solved.append(done)
        if done == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(Knowledge, "on_solved", stop)
    assert run("frontier", table, *FIT, "--out", str(tmp_path / "f.json")) == 3
    assert solved == [1, 2, 3]
    assert "not all proven" in capsys.readouterr().out
    data = json.loads((tmp_path / "f.json").read_text("utf-8"))
    assert len(data["trees"]) >= 2
    assert data["proven"] is False
    best = min(entry["loss"] for entry in data["trees"])
    assert best == pytest.approx(loan_frontier().points[0].loss)


def test_what_is_shown_while_one_waits() -> None:
    knowledge = Knowledge(index="DTDI")
    assert [name for name, _ in knowledge.words()] == ["time"]
    knowledge.on_progress(TracePoint(1.0, 0.1, 0.2))
    knowledge.on_score(Score(0.15, 0.05, 0.2, ()))
    words = dict(knowledge.words())
    assert words["incumbent"] == "0.20000"
    assert words["bound"] == "0.10000"
    assert words["gap"] == "50.00%"
    assert words["accuracy"] == "85.00%"
    assert words["DTDI"] == "0.0500"
    knowledge.on_solved(3, 2)
    assert dict(knowledge.words())["λ solved"] == "3, 2 waiting"


class Terminal(io.StringIO):
    """A screen that remembers what was drawn on it."""

    def isatty(self) -> bool:
        return True


def test_the_display_is_drawn_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet, screen = io.StringIO(), Terminal()
    for stream in (quiet, screen):
        monkeypatch.setattr(sys, "stderr", stream)
        with display(Knowledge()) as (_, begin):
            begin()
            time.sleep(0.6)
    assert quiet.getvalue() == ""
    assert "Ctrl-C once stops" in screen.getvalue()


def test_a_watched_problem_tells_and_changes_nothing() -> None:
    import pickle

    from evenleaf.case.watch import WatchedProblem, only_better

    told: list[Score] = []
    problem = loan_case().problem
    watched = WatchedProblem.of(problem, only_better(told.append))
    solution = solve(watched)
    assert solution.objective == solve(problem).objective
    objectives = [score.objective for score in told]
    assert objectives == sorted(objectives, reverse=True)
    assert objectives[-1] == solution.objective
    tree = Tree(problem.people.features.schema, problem.target, (Leaf(0.0),))
    assert watched.with_weight(3.0).evaluate(tree) == problem.with_weight(3.0).evaluate(tree)
    again = pickle.loads(pickle.dumps(watched))  # noqa: S301 (another process gets the plain problem)
    assert type(again) is Problem


def test_questions_travel_as_json() -> None:
    question = Question("y", ("a", "b"), fairness=("dtdi", "0.5*didi"), allowed_features=("x",), max_leaves=3)
    assert Question.from_json(json.loads(json.dumps(question.to_json()))) == question
    assert question.index == "DTDI + 0.5·DIDI"
    assert len(question.harms) == 2


def test_the_checksum_is_about_values() -> None:
    question = Question("granted", ("group",), n_neighbors=5)
    columns = loan_columns()
    first = make_case(columns, question).checksum
    columns["age"][0] += 1
    assert make_case(columns, question).checksum != first


def test_completion_is_offered(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "COLUMNS", "120")
    assert run("--help") == 0
    assert "--install-completion" in capsys.readouterr().out
    assert run("fit", "--help") == 0
    assert "Example: evenleaf fit" in capsys.readouterr().out
