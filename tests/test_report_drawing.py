"""Drawings for papers: valid files of each format, names as they are."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from evenleaf.case import Question, make_case
from evenleaf.errors import InputError
from evenleaf.report.drawing import save_frontier, save_tree
from evenleaf.solve import solve
from report_cases import hostile_columns, loan_case, loan_frontier

pytestmark = pytest.mark.needs("matplotlib")
STARTS = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}


@pytest.mark.parametrize("kind", STARTS)
def test_the_trade_off(kind: str, tmp_path: Path) -> None:
    first = save_frontier(loan_frontier(), tmp_path / f"a.{kind}", loan_case()).read_bytes()
    assert first.startswith(STARTS[kind])
    assert save_frontier(loan_frontier(), tmp_path / f"b.{kind}", loan_case()).read_bytes() == first


@pytest.mark.parametrize("kind", ["pdf", "png"])
def test_a_tree(kind: str, tmp_path: Path) -> None:
    for point in loan_frontier():
        place = save_tree(point.tree, tmp_path / f"tree.{kind}", loan_case().people)
        assert place.read_bytes().startswith(STARTS[kind])


def test_a_tree_as_svg_says_how_many_people(tmp_path: Path) -> None:
    point = loan_frontier().points[0]
    text = save_tree(point.tree, tmp_path / "tree.svg", loan_case().people).read_text("utf-8")
    assert "160 people" in "".join(ET.fromstring(text).itertext())  # noqa: S314 (we wrote it)


@pytest.mark.parametrize("kind", STARTS)
def test_hostile_names(kind: str, tmp_path: Path) -> None:
    columns = hostile_columns()
    _, _, _, group, target = columns
    case = make_case(columns, Question(target, (group,), n_neighbors=5, fairness_weight=0.0))
    tree = solve(case.problem).tree
    assert tree is not None
    place = save_tree(tree, tmp_path / f"tree.{kind}", case.people)
    if kind == "svg":
        root = ET.fromstring(place.read_text("utf-8"))  # noqa: S314 (we wrote it)
        assert [element for element in root.iter() if element.tag.endswith(("script", "img"))] == []
    else:
        assert place.stat().st_size > 1000


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="drawings are written as"):
        save_frontier(loan_frontier(), tmp_path / "plot.docx", loan_case())
    assert list(tmp_path.iterdir()) == []
