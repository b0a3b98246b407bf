"""Communities and Crime: violent crime rates, protected by whether a community is majority Black."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Literal

import numpy as np

from evenleaf.datasets.assemble import assemble, missing
from evenleaf.datasets.checks import column_names, one_of
from evenleaf.datasets.community_columns import SCALED, STATES
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.fetch import content
from evenleaf.datasets.registry import find
from evenleaf.datasets.select import keep_important
from evenleaf.errors import InputError
from evenleaf.table import make_outcome
from evenleaf.table.frames import RawColumns
from evenleaf.table.parse import parse_column

Definition = Literal["majority_black", "normalised"]

IDENTIFIERS = ("state", "county", "community", "communityname", "fold")
RACE_COLUMNS = ("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp")
_MISSING = frozenset({"?"})
_DEFINITIONS = {
    "majority_black": ("majority Black", "not majority Black"),
    "normalised": ("normalised racepctblack > 0.5", "normalised racepctblack <= 0.5"),
}


def load_communities(
    definition: Definition = "majority_black",
    *,
    features: Sequence[str] = "complete",
    n_features: int | None = None,
    seed: int = 0,
) -> Dataset:
    """The violent crime rate of communities (paper, the regression data set Crime).

    The protected column race is made here. "majority_black", the paper's words, takes communities where
    more than half of the inhabitants are Black (58); "normalised" takes a scaled racepctblack above 0.5,
    which is a share of about 26 % (239). `features` is "complete" (columns without gaps), "all", or names;
    `n_features` keeps the most important of them by repeated cross-validation (`evenleaf.datasets.select`).
    """
    one_of("a definition", definition, tuple(_DEFINITIONS))
    entry, columns = find("communities"), _columns()
    yes, no = _DEFINITIONS[definition]
    member = _majority_black(columns) if definition == "majority_black" else columns["racepctblack"] > 0.5
    kept = {name: columns[name] for name in _features(features, columns)}
    loaded = assemble(
        entry,
        {"race": np.where(member, yes, no).astype(object), **kept},
        make_outcome(columns[entry.target], task="regression", name=entry.target),
        "race",
        f"{yes}, or not",
    )
    return loaded if n_features is None else keep_important(loaded, n_features, seed=seed)


def _features(chosen: Sequence[str], columns: RawColumns) -> tuple[str, ...]:
    out = {*IDENTIFIERS, *RACE_COLUMNS, find("communities").target}
    known = [name for name in columns if name not in out]
    if chosen == "all":
        return tuple(known)
    if chosen == "complete":
        return tuple(name for name in known if not missing(columns[name]).any())
    if isinstance(chosen, str) and chosen not in columns:
        one_of('"complete", "all" or a column of communities', chosen, ["complete", "all", *known])
    for name in [chosen] if isinstance(chosen, str) else chosen:
        if name in out:
            raise InputError(f"column {name!r} of communities is never a feature: {_why_not(name)}")
    return column_names("features", chosen, known)


def _why_not(name: str) -> str:
    if name in RACE_COLUMNS:
        return "race is protected"
    return "it says which community it is" if name in IDENTIFIERS else "it is what is predicted"


def _majority_black(columns: RawColumns) -> np.ndarray:
    lines = _lines("communities/CommViolPredUnnormalizedData.txt")
    share = {(row["communityname"], row["state"]): row["racepctblack"] for row in csv.DictReader(lines)}
    places = zip(columns["communityname"], columns["state"], strict=True)
    return np.array([float(share[name, STATES[state]]) > 50 for name, state in places])


def _columns() -> RawColumns:
    rows = list(csv.reader(_lines("communities/communities.data")))
    texts = dict(zip(SCALED, map(list, zip(*rows, strict=True)), strict=True))
    return {name: parse_column(name, texts[name], _MISSING, name in IDENTIFIERS) for name in SCALED}


def _lines(path: str) -> list[str]:
    return content(find("communities").file(path)).decode("ascii").splitlines()
