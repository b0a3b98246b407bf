"""`evenleaf predict` from the outside: the same decisions as the tree's, row by row, in memory that does not grow."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import run
from evenleaf.case import Answer, Tally, answer_point, predict_lines, read_answer
from evenleaf.errors import InputError
from evenleaf.tree import Leaf, Tree, tree_to_json
from report_cases import csv_text, hostile_columns, loan_case, loan_columns, loan_frontier, pay_columns, write_csv

RUN = [sys.executable, "-c", "from evenleaf.cli import main; main()"]
MEASURED = """
import resource, sys
from evenleaf.cli.run import run
code = run(sys.argv[1:])
sys.stderr.write(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}")
sys.exit(code)
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    return str(answer_point(loan_case(), loan_frontier().points[0]).write(tmp_path / "model.json"))


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write_csv(tmp_path / "new.csv", loan_columns(300, seed=5))


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def expected(columns: dict[str, list[Any]]) -> list[str]:
    return [str(label) for label in loan_frontier().points[0].tree.predict(columns)]


def test_every_row_gets_its_decision(
    model: str, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("predict", model, table, "--out", str(tmp_path / "out.csv")) == 0
    assert "300 people decided" in capsys.readouterr().err
    rows, before = read((tmp_path / "out.csv").read_text("utf-8")), read(Path(table).read_text("utf-8"))
    assert [row["predicted_granted"] for row in rows] == expected(loan_columns(300, seed=5))
    assert [{name: row[name] for name in old} for row, old in zip(rows, before, strict=True)] == before


def test_blocks_change_nothing(model: str, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = b"".join(predict_lines(read_answer(model), table, Tally()))
    monkeypatch.setattr("evenleaf.case.stream.file_blocks.__defaults__", (7,))
    assert b"".join(predict_lines(read_answer(model), table, Tally())) == whole


def test_standard_input_to_standard_output(model: str) -> None:
    columns = loan_columns(40, seed=6)
    command = [*RUN, "predict", model, "-", "--only"]
    piped = subprocess.run(command, input=csv_text(columns), capture_output=True, text=True, check=True)
    assert [row["predicted_granted"] for row in read(piped.stdout)] == expected(columns)
    assert piped.stderr == ""


def test_a_reader_that_leaves_early_is_no_error(model: str, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "long.csv", loan_columns(40_000))
    process = subprocess.Popen([*RUN, "predict", model, table], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().startswith(b"age,")
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 141


def test_the_rule_that_decided(model: str, table: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run("predict", model, table, "--why", "--json") == 0
    lines = [json.loads(line) for line in capsysbinary.readouterr().out.decode("utf-8").splitlines()]
    assert len(lines) == 300
    for line in lines:
        assert line["because"].endswith(f"so granted = {line['predicted_granted']}")


def test_protected_columns_are_not_needed(model: str, tmp_path: Path) -> None:
    columns = loan_columns(30)
    del columns["group"], columns["granted"]
    table = write_csv(tmp_path / "few.csv", columns)
    assert run("predict", model, table, "--out", str(tmp_path / "o.csv")) == 0
    found = [row["predicted_granted"] for row in read((tmp_path / "o.csv").read_text("utf-8"))]
    assert found == expected(loan_columns(30))


def test_unseen_levels_are_counted(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = loan_columns(30)
    columns["job"] = ["astronaut", *columns["job"][1:]]
    assert run("predict", model, write_csv(tmp_path / "t.csv", columns), "--out", str(tmp_path / "o.csv")) == 0
    assert "1 value of 'job' unknown to the tree and treated as missing" in capsys.readouterr().err
    columns["job"][0] = None
    found = [row["predicted_granted"] for row in read((tmp_path / "o.csv").read_text("utf-8"))]
    assert found == expected(columns)


def test_tsv_out(model: str, table: str, tmp_path: Path) -> None:
    assert run("predict", model, table, "--only", "--out", str(tmp_path / "o.tsv")) == 0
    assert run("predict", model, table, "--out", str(tmp_path / "all.tsv")) == 0
    assert "\tpredicted_granted\n" in (tmp_path / "all.tsv").read_text("utf-8")


@pytest.mark.needs("pyarrow")
def test_parquet_in(model: str, table: str, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    columns = loan_columns(300, seed=5)
    columns["hours"] = [None if value != value else value for value in columns["hours"]]
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert run("predict", model, str(tmp_path / "t.parquet"), "--out", str(tmp_path / "o.csv")) == 0
    rows = read((tmp_path / "o.csv").read_text("utf-8"))
    assert [row["predicted_granted"] for row in rows] == expected(loan_columns(300, seed=5))
    assert [row["hours"] for row in rows] == [row["hours"] for row in read(Path(table).read_text("utf-8"))]


def test_numbers_are_decided_as_numbers(tmp_path: Path) -> None:
    columns = pay_columns()
    from evenleaf.case import Question, make_case
    from evenleaf.solve import solve

    case = make_case(columns, Question("pay", ("group",), fairness=("didi",), max_depth=1, leaves="linear"))
    solution = solve(case.problem, solver="local")
    assert solution.tree is not None
    model = Answer.of(case, solution).write(tmp_path / "m.json")
    table = write_csv(tmp_path / "t.csv", columns)
    assert run("predict", str(model), table, "--out", str(tmp_path / "o.csv")) == 0
    found = [float(row["predicted_pay"]) for row in read((tmp_path / "o.csv").read_text("utf-8"))]
    assert found == solution.tree.predict(columns).tolist()


def test_a_tree_without_questions_reads_nothing(tmp_path: Path, table: str) -> None:
    case = loan_case()
    tree = Tree(case.people.features.schema, case.problem.target, (Leaf(1.0),))
    (tmp_path / "tree.json").write_text(json.dumps(tree_to_json(tree)), encoding="utf-8")
    assert run("predict", str(tmp_path / "tree.json"), table, "--only", "--out", str(tmp_path / "o.csv")) == 0
    found = [row["predicted_granted"] for row in read((tmp_path / "o.csv").read_text("utf-8"))]
    assert found == ["yes"] * 300


@pytest.mark.needs("pandas")
def test_a_model_saved_from_python(tmp_path: Path, table: str) -> None:
    import pandas as pd

    from evenleaf import FairTreeClassifier, save_model

    columns = loan_columns(80)
    frame = pd.DataFrame(columns)
    estimator = FairTreeClassifier(max_depth=1, fairness=None).fit(frame[["age", "hours"]], columns["granted"])
    save_model(estimator, tmp_path / "saved.json")
    assert run("predict", str(tmp_path / "saved.json"), table, "--only", "--out", str(tmp_path / "o.csv")) == 0
    (name,) = read((tmp_path / "o.csv").read_text("utf-8"))[0]
    new = pd.DataFrame(loan_columns(300, seed=5))[["age", "hours"]]
    found = [row[name] for row in read((tmp_path / "o.csv").read_text("utf-8"))]
    assert found == estimator.predict(new).tolist()


def test_hostile_names_go_through(tmp_path: Path) -> None:
    from evenleaf.case import Question, make_case
    from evenleaf.solve import solve

    columns = hostile_columns()
    _, _, _, group, target = columns
    case = make_case(columns, Question(target, (group,), n_neighbors=5, fairness_weight=0.0))
    solution = solve(case.problem)
    assert solution.tree is not None
    model = Answer.of(case, solution).write(tmp_path / "m.json")
    table = write_csv(tmp_path / "t.csv", columns)
    assert run("predict", str(model), table, "--out", str(tmp_path / "o.csv")) == 0
    found = [row[f"predicted_{target}"] for row in read((tmp_path / "o.csv").read_text("utf-8"))]
    assert found == solution.tree.predict(columns).tolist()


def test_a_header_without_rows(model: str, tmp_path: Path) -> None:
    table = write_csv(tmp_path / "t.csv", {name: [] for name in loan_columns(10)})
    assert run("predict", model, table, "--out", str(tmp_path / "o.csv")) == 0
    assert (tmp_path / "o.csv").read_text("utf-8") == "age,hours,job,group,granted,predicted_granted\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: {**c, "age": ["old", *c["age"][1:]]}, "column 'age' must hold numbers, but row 1 holds 'old'"),
        (lambda c: {**c, "age": [*c["age"][:-1], "1_0"]}, "row 30 holds '1_0'"),
        (lambda c: {**c, "age": ["inf", *c["age"][1:]]}, "row 1 holds 'inf'"),
        (lambda c: {name: c[name] for name in c if name != "age"}, "there is no column 'age'"),
        (lambda c: {**c, "predicted_granted": c["job"]}, "has a column 'predicted_granted' already"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_no_file(
    change: Any, words: str, model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = write_csv(tmp_path / "t.csv", change(loan_columns(30)))
    assert run("predict", model, table, "--out", str(tmp_path / "o.csv")) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert not list(tmp_path.glob("*o.csv*"))


def test_a_late_mistake_names_its_row(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = loan_columns(100)
    columns["age"] = [*columns["age"][:90], "young", *columns["age"][91:]]
    table = write_csv(tmp_path / "t.csv", columns)
    monkeypatch.setattr("evenleaf.case.stream.file_blocks.__defaults__", (16,))
    with pytest.raises(InputError, match="row 91 holds 'young'"):
        list(predict_lines(read_answer(model), table, Tally()))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "not JSON, or only a part of it"),
        ("{", "not JSON, or only a part of it"),
        ("[]", "must hold a JSON object"),
        ("{}", "not an Evenleaf model"),
        ('{"format": "evenleaf-answer", "version": 99}', "written by a newer Evenleaf"),
        ('{"format": "evenleaf-answer", "version": true}', "the version is unknown"),
        ('{"format": "evenleaf-answer", "version": 1}', "a tree must be a JSON object"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_files_that_are_no_model(
    content: str, words: str, table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text(content, encoding="utf-8")
    assert run("predict", str(tmp_path / "bad.json"), table) == 2
    assert words in capsys.readouterr().err


def test_a_million_rows_in_bounded_memory(model: str, tmp_path: Path) -> None:
    """Ten times the rows must not take more memory: the peak may move by what allocators do, not by the table."""
    rng = np.random.default_rng(0)
    block = [f"{age},{hours},{job}" for age, hours, job in zip(
        rng.integers(18, 70, 1000), rng.integers(10, 60, 1000), rng.choice(["clerk", "nurse", ""], 1000), strict=True
    )]  # fmt: skip
    peaks = []
    for thousands in (100, 1000):
        table = tmp_path / f"{thousands}.csv"
        with table.open("w", encoding="utf-8") as file:
            file.write("age,hours,job\n")
            file.writelines("\n".join(block) + "\n" for _ in range(thousands))
        out = tmp_path / f"{thousands}-out.csv"
        command = [sys.executable, "-c", MEASURED, "predict", model, str(table), "--only", "--out", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"{1000 * thousands:,} people decided" in done.stderr
        peaks.append(int(done.stderr.rpartition("peak ")[2]))
        with out.open(encoding="utf-8") as file:
            assert sum(1 for _ in file) == 1000 * thousands + 1
    assert (tmp_path / "1000.csv").stat().st_size > 10_000_000
    assert peaks[1] < peaks[0] + 12_000  # KiB; the table itself would take hundreds of thousands
