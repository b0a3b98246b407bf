"""The files that `fit` and `frontier` write besides the model and the page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.case import Answered
from evenleaf.errors import InputError
from evenleaf.files import write_whole
from evenleaf.tree import tree_to_json

FORMAT = "evenleaf-frontier"
VERSION = 1


def check_place(path: Path | None) -> None:
    """A file that cannot be written is said before anything is solved."""
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the file to write")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} into")


def frontier_to_json(answered: Answered) -> dict[str, Any]:
    """The question, and every tree with its interval of λ, its figures and its claim."""
    points = () if answered.frontier is None else answered.frontier.points
    return {
        "format": FORMAT,
        "version": VERSION,
        "question": answered.case.question.to_json(),
        "checksum": answered.case.checksum,
        "proven": answered.frontier is not None and answered.frontier.proven,
        "trees": [
            {
                **_figures(point),
                "status": str(point.solution.status),
                "gap": 0.0 if point.proven else point.solution.gap,
                "tree": tree_to_json(point.tree),
            }
            for point in points
        ],
    }


def write_frontier(answered: Answered, path: Path) -> None:
    """Trees as JSON, or (.csv, .tsv) their figures as a table."""
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        text = io.StringIO(newline="")
        points = () if answered.frontier is None else answered.frontier.points
        rows = [_figures(point) for point in points]
        writer = csv.DictWriter(text, list(rows[0]), delimiter="\t" if suffix == ".tsv" else ",", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_text(path, text.getvalue())
    elif suffix == ".json":
        write_text(path, json.dumps(frontier_to_json(answered), ensure_ascii=False, allow_nan=False, indent=1))
    else:
        raise InputError(f"{path.name}: the trees are written as .json, their figures as .csv or .tsv")


def _figures(point: Any) -> dict[str, Any]:
    return {
        "loss": point.loss,
        "discrimination": point.discrimination,
        "weight_from": point.weight_from,
        "weight_to": None if np.isinf(point.weight_to) else point.weight_to,
        "depth": point.depth,
        "leaves": point.leaves,
        "proven": point.proven,
    }


def draw_tree(answered: Answered, path: Path) -> None:
    """The tree as SVG, PDF or PNG."""
    from evenleaf.report.drawing import save_tree

    if answered.solution is not None and answered.solution.tree is not None:
        save_tree(answered.solution.tree, path, answered.case.people)


def draw_frontier(answered: Answered, path: Path) -> None:
    """The trade-off as SVG, PDF or PNG."""
    from evenleaf.report.drawing import save_frontier

    if answered.frontier is not None:
        save_frontier(answered.frontier, path, answered.case)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_pieces(path, [text.encode("utf-8")])


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file piece by piece, whole or not at all."""
    try:
        write_whole(path, pieces)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
