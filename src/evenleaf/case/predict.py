"""Decide about the people of a file, a block of rows at a time: memory does not grow with the file."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenleaf.case.answer import Answer
from evenleaf.case.stream import Block, file_blocks
from evenleaf.errors import InputError
from evenleaf.table import Table
from evenleaf.table.read import MISSING_MARKERS
from evenleaf.tree import Tree, compact, explain

PREFIX = "predicted_"


@dataclass
class Tally:
    """What was decided, counted while it streams by."""

    n_people: int = 0
    decisions: Counter[Any] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        """Plain counts."""
        decisions = {str(label): count for label, count in self.decisions.items()}
        return {"n_people": self.n_people, "decisions": decisions, "unseen": dict(self.unseen)}


def predict_lines(
    answer: Answer,
    path: str | Path,
    tally: Tally,
    *,
    as_json: bool = False,
    only: bool = False,
    why: bool = False,
    delimiter: str = ",",
) -> Iterator[bytes]:
    """The output of a prediction in pieces of bytes, and the counts into `tally` as they become known.

    Every row of the table comes back with one more column, `predicted_<target>`; `only` leaves the others out,
    `why` adds the rule that decided. `as_json` gives one JSON object a line instead of CSV.
    """
    tree = compact(answer.tree)
    name = PREFIX + tree.target.name
    markers = frozenset(MISSING_MARKERS if answer.question is None else answer.question.missing)
    added = [name, "because"] if why else [name]
    header_written = as_json
    for block in file_blocks(path, tree.schema, markers):
        if not only and set(added) & set(block.names):
            taken = next(column for column in added if column in block.names)
            raise InputError(f"the table has a column {taken!r} already; rename it, or ask for the predictions only")
        table = Table.of(block.columns, schema=tree.schema) if len(tree.schema) else _empty(tree, block)
        decided = _decided(tree, table)
        _count(tally, tree, table, decided)
        news = [decided, explain(tree, table)] if why else [decided]
        kept = (block.names, block.rows) if not only else ([], itertools.repeat([], len(decided)))
        if as_json:
            yield _json_lines([*kept[0], *added], kept[1], news)
        else:
            yield _csv_lines([] if header_written else [*kept[0], *added], kept[1], news, delimiter)
        header_written = True


def _empty(tree: Tree, block: Block) -> Table:
    """A tree without questions reads nothing, and still decides about everybody."""
    return Table(tree.schema, (), (), len(block.rows))


def _decided(tree: Tree, table: Table) -> list[Any]:
    decided = tree.decide(table)
    if tree.target.classes is None:
        return decided.tolist()
    return [tree.target.classes[code] for code in decided.tolist()]


def _count(tally: Tally, tree: Tree, table: Table, decided: list[Any]) -> None:
    tally.n_people += len(decided)
    if tree.target.classes is not None:
        tally.decisions.update(decided)
    for column, count in zip(tree.schema.names, table.unseen, strict=True):
        if count:
            tally.unseen[column] += count


def _csv_lines(header: Sequence[str], rows: Iterable[Sequence[str]], news: list[Any], delimiter: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n", delimiter=delimiter)
    if header:
        writer.writerow(header)
    writer.writerows([*row, *new] for row, new in zip(rows, zip(*news, strict=True), strict=True))
    return text.getvalue().encode("utf-8")


def _json_lines(names: Sequence[str], rows: Iterable[Sequence[str]], news: list[Any]) -> bytes:
    lines = (
        json.dumps(dict(zip(names, [*row, *new], strict=True)), ensure_ascii=False) + "\n"
        for row, new in zip(rows, zip(*news, strict=True), strict=True)
    )
    return "".join(lines).encode("utf-8")
