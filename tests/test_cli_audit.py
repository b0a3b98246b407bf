"""`evenleaf audit` from the outside: what is printed where, and with which exit code."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from cli_runs import refused, run
from evenleaf.cli.progress import late_progress

HEADER = "age,job,race,sex,granted,amount"
ROWS = [
    f"{20 + i % 30},{'xyz'[i % 3]},{'pqr'[i % 5 % 3]},{'fm'[i % 2]},{'no' if i % 4 else 'yes'},{i % 7}.5"
    for i in range(50)
]


@pytest.fixture
def table(tmp_path: Path) -> str:
    return write(tmp_path / "people.csv", [HEADER, *ROWS])


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_tables_on_the_terminal(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", table, "--target", "granted", "--protected", "race", "--protected", "sex") == 0
    out, err = capsys.readouterr()
    assert err == ""
    for text in (
        "Audit of",
        "people        50",
        "granted: classification (inferred; --task overrides)",
        "race (3 levels), sex (2 levels)",
        "age, amount",
        "job (3 levels)",
        "compared by",
        "race × sex",
        "Rate of granted = yes by race",
        "everybody",
        "too few",
        "nobody near",
        "They do not say why groups differ",
    ):
        assert text in out


def test_pure_data(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", table, "--target", "granted", "--protected", "race", "--json") == 0
    out, err = capsys.readouterr()
    data = json.loads(out)
    assert err == ""
    assert list(data)[:3] == ["table", "format", "version"]
    assert (data["table"], data["format"], data["n_people"]) == (table, "evenleaf-audit", 50)
    assert [note["index"] for note in data["views"][0]["indices"]] == ["didi", "dtdi"]


def test_options_reach_the_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{row},{1 + i % 3},{'gone' if i == 7 else i}" for i, row in enumerate(ROWS)]
    path = write(tmp_path / "more.csv", [f"{HEADER},count,code", *rows])
    options = ["--protected", "race", "--protected", "sex", "--groups", "each", "--neighbors", "4", "--json"]
    options += ["--weight", "count", "--missing", "gone", "--drop-incomplete", "--categorical", "code"]
    assert run("audit", path, "--target", "amount", "--task", "regression", "--ignore", "job", *options) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["task"], data["task_inferred"], data["n_people"], data["n_dropped"]) == ("regression", False, 49, 1)
    assert (data["settings"]["groups"], data["settings"]["n_neighbors"]) == ("each", 4)
    kinds = {column["name"]: (column["role"], column["kind"]) for column in data["columns"]}
    assert "job" not in kinds
    assert kinds["count"] == ("weight", "quantitative")
    assert kinds["code"] == ("feature", "categorical")


def test_didi_alone_and_a_named_class(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--index", "didi", "--positive", "no"]
    assert run("audit", table, "--target", "granted", "--protected", "sex", *options) == 0
    out = capsys.readouterr().out
    assert "Rate of granted = no by sex" in out
    assert "DTDI" not in out


def test_means_and_several_classes(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("audit", table, "--target", "amount", "--protected", "sex", "--task", "regression") == 0
    assert "Mean of amount by sex" in capsys.readouterr().out
    assert run("audit", table, "--target", "job", "--protected", "sex") == 0
    out = capsys.readouterr().out
    assert "Rates of job by sex" in out
    assert "decision" in out


@pytest.mark.parametrize(("target", "task"), [("granted", "classification"), ("age", "regression")])
def test_a_group_without_weight_has_no_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], target: str, task: str
) -> None:
    rows = [f"{20 + i},{i % 2},{'pqr'[i % 3]},{0 if i % 3 == 2 else 1}" for i in range(120)]
    path = write(tmp_path / "weights.csv", ["age,granted,race,count", *rows])
    arguments = ["audit", path, "--target", target, "--task", task, "--protected", "race", "--weight", "count"]
    assert run(*arguments) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(" r ")]
    assert line.split() == ["r", "40", "–", "–", "0.0000", "0.0000"]
    assert run(*arguments, "--json") == 0
    group = json.loads(capsys.readouterr().out)["views"][0]["groups"][2]
    assert (group["group"], group["share"], group["figures"][0]["value"]) == ("r", 0.0, None)


def test_many_groups_are_cut_on_the_terminal_and_whole_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{i % 9},g{i % 70},{i % 2}" for i in range(210)]
    path = write(tmp_path / "many.csv", ["age,town,granted", *rows])
    arguments = ["audit", path, "--target", "granted", "--protected", "town", "--index", "didi"]
    assert run(*arguments) == 0
    out = capsys.readouterr().out
    assert "… the 50 largest of 70 groups; --json has them all" in out
    assert sum(line.startswith(" g") for line in out.splitlines()) == 51  # with the header
    assert run(*arguments, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["views"][0]["groups"]) == 70


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join([HEADER, *ROWS]).encode())))
    assert run("audit", "-", "--target", "granted", "--protected", "sex", "--json") == 0
    assert json.loads(capsys.readouterr().out)["n_people"] == 50


@pytest.mark.needs("pyarrow")
@pytest.mark.needs("polars")
def test_parquet(table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import polars as pl

    path = tmp_path / "people.parquet"
    pl.read_csv(table).write_parquet(path)
    found = []
    for source in (table, str(path)):
        assert run("audit", source, "--target", "granted", "--protected", "race", "--json") == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] | {"table": ""} == found[1] | {"table": ""}


def test_names_cannot_command_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither escape sequences nor the markup of the library that draws the tables."""
    rows = [f"{i},{('[red]p[/red]', chr(27) + '[31mq')[i % 2]},{i % 2}" for i in range(12)]
    path = write(tmp_path / "odd.csv", ["age,[bold]race,granted", *rows])
    assert run("audit", path, "--target", "granted", "--protected", "[bold]race") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[red]p[/red]" in out
    assert "[bold]race" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "grantd", "--protected", "race"], "no column 'grantd'; did you mean 'granted'?"),
        (["--target", "granted", "--protected", "rase"], "did you mean 'race'?"),
        (["--target", "granted", "--protected", "granted"], "is the target and also protected"),
        (["--target", "granted", "--protected", "race", "--protected", "race"], "given as protected twice"),
        (["--target", "granted", "--protected", "race", "--ignore", "granted"], "to be ignored and also the target"),
        (["--target", "granted", "--protected", "race", "--ignore", "agee"], "did you mean 'age'?"),
        (["--target", "granted", "--protected", "race", "--categorical", "jop"], "did you mean 'job'?"),
        (["--target", "granted", "--protected", "race", "--positive", "maybe"], "no class 'maybe'"),
        (["--target", "granted", "--protected", "race", "--neighbors", "51"], "--neighbors 51 is more than the table"),
        (["--target", "granted", "--protected", "race", "--neighbors", "-3"], "--neighbors"),
        (["--target", "granted", "--protected", "race", "--neighbors", "ten"], "--neighbors"),
        (["--target", "granted", "--protected", "race", "--groups", "both"], "'both' is not one of 'joint', 'each'"),
        (["--target", "granted", "--protected", "race", "--task", "rank"], "'rank' is not one of 'auto'"),
        (["--target", "granted", "--protected", "race", "--index", "gini"], "'gini' is not one of 'didi'"),
        (["--target", "granted", "--protected", "race", "--task", "regression"], "must hold numbers, but row 1"),
        (["--target", "granted", "--protected", "race", "--frob"], "no such option: --frob"),
        (["--protected", "race"], "missing option '--target'; see evenleaf audit --help"),
        (["--target", "granted"], "missing option '--protected'"),
    ],
)
def test_bad_options(table: str, capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    assert message in refused(capsys, "audit", table, *options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gap.csv", b"age,race,granted\n1,p,yes\n2,q,\n", "'granted' is missing in row 2; fill it in"),
        ("gap.csv", b"age,race,granted\n1,p,yes\n2,q,NaN\n", "with --drop-incomplete"),
        ("far.csv", b"age,race,granted\n1,p,yes\ninf,q,no\n", "'age' holds an infinite value in row 2"),
        ("far.csv", b"age,race,granted\n1,p,1.5\n2,q,inf\n", "'granted' is infinite in row 2"),
        ("one.csv", b"age,race,granted\n1,p,yes\n2,p,no\n", "'race' has only one group ('p')"),
        ("same.csv", b"age,race,granted\n1,p,yes\n2,q,yes\n", "only one value ('yes')"),
        ("empty.csv", b"", "is empty"),
        ("header.csv", b"age,race,granted\n", "no rows"),
        ("ragged.csv", b"age,race,granted\n1,p\n", "is not a table: row 1 has 2 values"),
        ("twice.csv", b"race,race,granted\n1,p,yes\n", "two columns are called 'race'"),
        ("junk.csv", bytes(range(256)) * 20, "error: "),
        ("junk.csv", b"\xff\xfe\x00\x01" * 50, "not text in UTF-8"),
        ("junk.csv.gz", b"this is not gzip", "gzip"),
        ("junk.parquet", b"PAR1 this is not parquet", "is not a Parquet file"),
        ("image.csv", b"\x89PNG\r\n\x1a\n" + bytes(64), "error: "),
    ],
)
def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert message in refused(capsys, "audit", str(path), "--target", "granted", "--protected", "race")


def test_no_file_and_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--target", "granted", "--protected", "race"]
    assert "there is no file" in refused(capsys, "audit", str(tmp_path / "none.csv"), *options)
    assert "is a folder" in refused(capsys, "audit", str(tmp_path), *options)


def test_parquet_without_a_reader_names_the_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setattr("evenleaf.table.read.find_spec", lambda _: None)
    message = refused(capsys, "audit", str(path), "--target", "granted", "--protected", "race")
    assert "pip install 'evenleaf[pyarrow]'" in message


def test_help_version_and_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"evenleaf {version('evenleaf')}\n"
    for arguments in (["--help"], ["-h"], []):
        assert run(*arguments) == 0
        out = capsys.readouterr().out
        assert "evenleaf audit people.csv --target granted --protected sex" in out
        assert "Exit codes" in out
    assert run("audit", "--help") == 0
    assert "--drop-incomplete" in capsys.readouterr().out


def test_unknown_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such command 'adit'" in refused(capsys, "adit")
    assert "missing argument 'TABLE'" in refused(capsys, "audit")


def test_help_does_not_load_what_it_does_not_need() -> None:
    heavy = ("numpy", "scipy", "sklearn", "narwhals")
    code = f"import sys; from evenleaf.cli.run import run; run(['--help']); print(sys.modules.keys() & {set(heavy)})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_interruption_leaves_no_traceback() -> None:
    """The program is interrupted while it reads: so much was sent that it must have begun to."""
    command = [sys.executable, "-c", "from evenleaf.cli import main; main()"]
    arguments = ["audit", "-", "--target", "granted", "--protected", "race"]
    with subprocess.Popen(
        [*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        process.stdin.write("\n".join([HEADER, *ROWS * 400]))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err == "error: interrupted; nothing was written\n"


def test_interruption_of_the_work_itself(
    table: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evenleaf.audit.audit_file", interrupted)
    assert run("audit", table, "--target", "granted", "--protected", "race") == 130
    assert "Traceback" not in capsys.readouterr().err


class _Screen(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("evenleaf.cli.progress.PATIENCE", 0.0)
    with late_progress("looking around") as progress:
        assert progress is not None
        for done in (0.2, 0.6, 1.0):
            progress(done)
    assert "looking around" in screen.getvalue()


def test_progress_keeps_quiet_when_it_is_quick_or_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = _Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with late_progress("looking around") as progress:
        assert progress is not None
        progress(0.5)
        progress(1.0)
    assert screen.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with late_progress("looking around") as progress:
        assert progress is None


def test_a_terminal_without_these_characters_gets_substitutes(table: str) -> None:
    arguments = ["audit", table, "--target", "granted", "--protected", "race", "--protected", "sex"]
    code = f"from evenleaf.cli import main; main({arguments!r})"
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment, check=True)
    assert b"race ? sex" in done.stdout
