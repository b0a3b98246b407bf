"""COMPAS: who is charged again, without the scores, the consequences and the names."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenleaf.datasets.assemble import (
    Names,
    assemble,
    complete_rows,
    missing,
    one_or_not,
    take_rows,
    two_classes,
)
from evenleaf.datasets.checks import column_names, one_of
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.fetch import content
from evenleaf.datasets.registry import find
from evenleaf.table.frames import RawColumns
from evenleaf.table.parse import parse_column

CompasKind = Literal["violent", "two_year", "violent_two_year"]
CompasRace = Literal["as_is", "african_american_or_not"]

_MISSING = frozenset({"", "N/A"})
_ALWAYS = (
    *("sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count"),
    *("days_b_screening_arrest", "c_charge_degree"),
)
_EXTRA = ("age_cat", "c_days_from_compas", "c_charge_desc")
# Read to decide who is in the table, and never given out.
_FILTERS = ("is_recid", "c_jail_in", "score_text", "v_score_text", "c_charge_desc", "days_b_screening_arrest")
_TEXTS = frozenset(
    {"sex", "race", "age_cat", "c_charge_degree", "c_charge_desc", "c_jail_in", "score_text", "v_score_text"}
)


@dataclass(frozen=True)
class _Kind:
    path: str
    target: str
    words: tuple[str, str]


_KINDS = {
    "violent": _Kind("compas/compas-scores.csv", "is_violent_recid", ("no new violent charge", "new violent charge")),
    "two_year": _Kind("compas/compas-scores-two-years.csv", "two_year_recid", ("no new charge", "new charge")),
    "violent_two_year": _Kind(
        "compas/compas-scores-two-years-violent.csv",
        "two_year_recid",
        ("no new violent charge", "new violent charge"),
    ),
}


def load_compas(
    kind: CompasKind = "violent",
    protected: Names = ("race",),
    *,
    race: CompasRace = "as_is",
    complete: bool = False,
    screened_within_30_days: bool = False,
    extra: Sequence[str] = (),
) -> Dataset:
    """Who is charged again (paper, data set C).

    `kind="violent"` is the paper's: people with a known outcome, a jail record, both scores and a described
    charge that is not a traffic offence. "two_year" and "violent_two_year" are ProPublica's tables as they
    are. `days_b_screening_arrest` is missing for 307 people of the two-year table and stays missing unless
    `complete`. `extra` adds age_cat, c_days_from_compas or c_charge_desc, left out as near copies of other
    columns or for having some five hundred levels.
    """
    chosen = _KINDS[one_of("a kind of COMPAS", kind, tuple(_KINDS))]
    one_of("a value of race", race, ("as_is", "african_american_or_not"))
    added = column_names("extra", extra, _EXTRA) if len(extra) else ()
    entry, columns = find("compas"), _columns(chosen)
    columns = take_rows(columns, _included(columns, kind, screened_within_30_days))
    if race == "african_american_or_not":
        columns["race"] = one_or_not(columns["race"], "African-American")
    kept = {name: columns[name] for name in (*_ALWAYS, *added)}
    rows = complete_rows(kept) if complete else np.ones(len(columns["age"]), dtype=bool)
    return assemble(
        entry,
        take_rows(kept, rows),
        two_classes(entry, columns[chosen.target][rows] == 1.0, chosen.words, chosen.target),
        protected,
        "race as recorded" if race == "as_is" else "race: African-American, or not",
        positive=chosen.words[1],
    )


def _included(columns: RawColumns, kind: str, screened_within_30_days: bool) -> np.ndarray:
    rows = np.ones(len(columns["age"]), dtype=bool)
    if kind == "violent":
        rows &= (columns["is_recid"] != -1.0) & (columns["c_charge_degree"] != "O")
        for name in ("c_jail_in", "score_text", "v_score_text", "c_charge_desc"):
            rows &= ~missing(columns[name])
    if screened_within_30_days:
        # A comparison with a missing number is false, so people without an arrest date leave here too.
        rows &= np.abs(columns["days_b_screening_arrest"]) <= 30
        rows &= (columns["is_recid"] != -1.0) & (columns["c_charge_degree"] != "O")
        rows &= ~missing(columns["score_text"])
    return rows


def _columns(kind: _Kind) -> RawColumns:
    text = content(find("compas").file(kind.path)).decode("utf-8")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    wanted = dict.fromkeys((*_ALWAYS, *_EXTRA, *_FILTERS, kind.target))
    # Some names stand twice in the header with the same values under both: the first is taken.
    return {name: parse_column(name, _cells(rows, header.index(name)), _MISSING, name in _TEXTS) for name in wanted}


def _cells(rows: list[list[str]], place: int) -> list[str]:
    return [row[place] for row in rows]
