"""The demo: every file it names is there, reads back, and says what the screen said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenleaf.cli.run import run
from evenleaf.demo import run_demo
from evenleaf.errors import InputError
from evenleaf.tree import tree_from_json


def test_files_read_back(tmp_path: Path) -> None:
    said: list[str] = []
    demo = run_demo(tmp_path / "new" / "folder", said.append, n_people=300)
    assert len(said) == 3
    assert all(path.exists() for path in demo.files)
    for learned in demo.trees:
        assert learned.solution.proven
        tree = tree_from_json(
            json.loads((tmp_path / "new" / "folder" / f"tree-{learned.name}.json").read_text("utf-8"))
        )
        assert tree == learned.solution.tree
        assert learned.problem.evaluate(tree) == learned.solution.score
    plain, fair = (learned.solution.score for learned in demo.trees)
    assert plain is not None
    assert fair is not None
    assert fair.discrimination <= plain.discrimination
    assert fair.loss >= plain.loss
    report = json.loads((tmp_path / "new" / "folder" / "audit.json").read_text("utf-8"))
    assert report == demo.report.to_json()


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenleaf.demo.run_demo.__defaults__", (lambda _: None, 200))
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["demo", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "proven optimal" in printed
    assert str(tmp_path / "out" / "tree-fair.json") in printed


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="cannot write into"):
        run_demo(tmp_path / "file" / "demo")
