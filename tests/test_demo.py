"""The demo: every file it names is there, reads back, and says what the screen said."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

import pytest

from evenleaf.case import read_answer, verify_file
from evenleaf.cli.run import run
from evenleaf.demo import run_demo
from evenleaf.errors import InputError


def test_files_read_back(tmp_path: Path) -> None:
    said: list[str] = []
    folder = tmp_path / "new" / "folder"
    demo = run_demo(folder, said.append, n_people=200)
    assert len(said) == 4
    assert all(path.exists() for path in demo.files)
    assert demo.frontier.proven
    plain, fair = demo.trees["plain"], demo.trees["fair"]
    assert fair.discrimination <= plain.discrimination
    assert fair.loss >= plain.loss
    answer = read_answer(folder / "model.json")
    assert answer.tree == fair.tree
    assert verify_file(answer, folder / "adult-sample.csv").proven
    assert json.loads((folder / "audit.json").read_text("utf-8")) == demo.report.to_json()
    inside = demo.page.read_text("utf-8").partition('id="evenleaf-data">')[2].partition("</script>")[0]
    assert len(json.loads(inside)["trees"]) == len(demo.frontier)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenleaf.demo.run_demo.__defaults__", (lambda _: None, 150, nullcontext))
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["demo", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "all proven" in printed
    assert str(tmp_path / "out" / "model.json") in printed
    assert f"Open {tmp_path / 'out' / 'report.html'} in a browser." in printed


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot write into"):
        run_demo(tmp_path / "file" / "demo")
