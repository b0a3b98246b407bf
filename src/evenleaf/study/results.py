"""A finished study, read back: rows as plain data, and the row at λ* of every fold and method."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from evenleaf.datasets import find
from evenleaf.errors import InputError
from evenleaf.study.names import FAMILIES
from evenleaf.study.protocol import chosen_step
from evenleaf.study.runner import RECORD, RESULTS, TIMINGS
from evenleaf.table import Task

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Results:
    """Results and timings have the same keys, line by line; the record says what they come from."""

    rows: tuple[Row, ...]
    timings: tuple[Row, ...]
    record: Row

    @classmethod
    def read(cls, folder: Path) -> Results:
        """From the folder of a study that was run to its end."""
        try:
            record = json.loads((folder / RECORD).read_text("utf-8"))
            return cls(_lines(folder / RESULTS), _lines(folder / TIMINGS), record)
        except FileNotFoundError as error:
            raise InputError(f"{folder} holds no finished study: {Path(error.filename).name} is not there") from error

    @property
    def protocol(self) -> Row:
        """The settings of the protocol."""
        return self.record["settings"]["protocol"]

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets, in the order of the settings."""
        return tuple(plan["name"] for plan in self.record["settings"]["data"])

    def task(self, data: str) -> Task:
        """What is decided in a data set: classes or numbers."""
        plan = next(plan for plan in self.record["settings"]["data"] if plan["name"] == data)
        return find(plan["loader"]).task

    def of(self, kind: str, **wanted: Any) -> list[Row]:
        """The rows of one kind that have these values."""
        return [row for row in self.rows if row["kind"] == kind and _has(row, wanted)]

    def timed(self, kind: str, **wanted: Any) -> list[Row]:
        """The timings of one kind that have these values."""
        return [row for row in self.timings if row["kind"] == kind and _has(row, wanted)]

    @cached_property
    def chosen(self) -> tuple[Row, ...]:
        """One row a data set, index, fold and method: the one at λ*, with whether the tolerance was reached."""
        by_chain: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.of("trade-off"):
            by_chain.setdefault((row["data"], row["index"], row["fold"], row["method"]), []).append(row)
        tolerance = self.protocol["tolerance"]
        found = []
        for (_, index, _, method), rows in by_chain.items():
            row = dict(chosen_step(rows, index, tolerance))
            found.append({**row, "reached": row["train"][index] < tolerance, "family": FAMILIES[method]})
        return tuple(found)

    def fairest(self, data: str, index: str) -> list[Row]:
        """The rows at λ* of one data set and index."""
        return [row for row in self.chosen if row["data"] == data and row["index"] == index]

    def methods(self, data: str) -> list[str]:
        """The methods that were run on a data set, in the order of the settings."""
        kind = "classification" if self.task(data) == "classification" else "regression"
        return list(self.record["settings"][kind])


def _lines(path: Path) -> tuple[Row, ...]:
    return tuple(json.loads(line) for line in path.read_text("utf-8").splitlines() if line)


def _has(row: Row, wanted: dict[str, Any]) -> bool:
    return all(row.get(name) == value for name, value in wanted.items())


def mean(values: Iterable[float]) -> float:
    """The plain mean."""
    listed = list(values)
    return sum(listed) / len(listed)
