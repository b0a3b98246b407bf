"""Small tables and their trade-offs, for the tests of the page and of the command line."""

from __future__ import annotations

import csv
import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.case import Case, Question, make_case
from evenleaf.report import Summary, summarise
from evenleaf.solve import Budget, Frontier, frontier

N_PEOPLE = 160

HOSTILE = (
    "<script>window.broken = 1</script>",
    '"\'><img src=x onerror="window.broken = 1">',
    "</script><script>window.broken = 1</script>",
    "{{data}} ${1 + 1} $x^2$ &lt;b&gt;",
    "🌳🧑🏽‍⚖️ emoji",
    "שלום \u202e right to left",
    "مرحبا",
    "long " + "x" * 295,
)


def loan_columns(n: int = N_PEOPLE, seed: int = 0) -> dict[str, list[Any]]:
    """People of three groups who were granted something or not; two columns have gaps."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 70, n)
    hours = rng.integers(10, 60, n).astype(float)
    job = rng.choice(["clerk", "driver", "nurse"], n)
    group = rng.choice(["east", "west", "north"], n, p=[0.5, 0.3, 0.2])
    luck = rng.random(n)
    granted = (age > 35) & (luck < np.where(group == "east", 0.9, 0.45)) | (job == "nurse") & (luck < 0.7)
    hours[rng.random(n) < 0.06] = np.nan
    jobs = [None if gone else str(value) for value, gone in zip(job, rng.random(n) < 0.05, strict=True)]
    return {
        "age": age.astype(float).tolist(),
        "hours": hours.tolist(),
        "job": jobs,
        "group": group.tolist(),
        "granted": np.where(granted, "yes", "no").tolist(),
    }


def pay_columns(n: int = 60, seed: int = 1) -> dict[str, list[Any]]:
    """People whose pay is a number."""
    columns = loan_columns(n, seed)
    rng = np.random.default_rng(seed)
    pay = 10 + np.array(columns["age"]) / 5 + rng.normal(0, 1, n) - 2 * (np.array(columns["group"]) == "west")
    del columns["granted"]
    return {**columns, "pay": np.round(pay, 3).tolist()}


def hostile_columns(n: int = 120) -> dict[str, list[Any]]:
    """The same people, with names and levels that would do harm if anything but text were made of them."""
    columns = loan_columns(n)
    jobs = {"clerk": HOSTILE[0], "driver": HOSTILE[1], "nurse": HOSTILE[5], None: None}
    groups = {"east": HOSTILE[2], "west": HOSTILE[6], "north": HOSTILE[7]}
    return {
        HOSTILE[7]: columns["age"],
        HOSTILE[4]: columns["hours"],
        HOSTILE[3]: [jobs[value] for value in columns["job"]],
        HOSTILE[1]: [groups[value] for value in columns["group"]],
        HOSTILE[0]: [{"yes": HOSTILE[2], "no": HOSTILE[5]}[value] for value in columns["granted"]],
    }


def csv_text(columns: dict[str, list[Any]]) -> str:
    """The columns as CSV; a gap is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if value is None or value != value else _cell(value) for value in row])
    return text.getvalue()


def _cell(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def write_csv(path: Path, columns: dict[str, list[Any]]) -> str:
    path.write_text(csv_text(columns), encoding="utf-8")
    return str(path)


@cache
def loan_case() -> Case:
    return make_case(loan_columns(), Question("granted", ("group",), n_neighbors=5), source="loans.csv")


@cache
def loan_frontier() -> Frontier:
    return frontier(loan_case().problem, Budget(60))


@cache
def loan_summary() -> Summary:
    return summarise(loan_case(), loan_frontier(), command="evenleaf frontier loans.csv", n_resamples=50)
