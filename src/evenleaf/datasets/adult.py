"""Adult, read from the bytes embedded in the package."""

from __future__ import annotations

import csv
import gzip
from importlib.resources import files
from typing import Literal

from evenleaf.datasets.assemble import Names, assemble, complete_rows, one_or_not, take_rows, two_classes
from evenleaf.datasets.checks import one_of
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.registry import find
from evenleaf.table.frames import RawColumns
from evenleaf.table.parse import parse_column

Race = Literal["as_is", "white_or_not"]
Education = Literal["number", "name", "both"]

_COLUMNS = (
    *(
        "age",
        "workclass",
        "fnlwgt",
        "education",
        "education-num",
        "marital-status",
        "occupation",
        "relationship",
    ),
    *("race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income"),
)
_MISSING = frozenset({"?"})
_EDUCATION: dict[str, frozenset[str]] = {
    "number": frozenset({"education"}),
    "name": frozenset({"education-num"}),
    "both": frozenset(),
}


def load_adult(
    protected: Names = ("race",),
    complete: bool = True,
    *,
    race: Race = "as_is",
    education: Education = "number",
    survey_weights: bool = False,
) -> Dataset:
    """Who earns more than 50,000 dollars a year (paper, data set B); needs no network and no data folder.

    `protected` names any columns; the rest are features. `complete` keeps the 45,222 people without a
    missing value. `race="white_or_not"` makes two groups of the five. `education-num` orders the same
    levels that `education` names, so that one of them is enough: "number", "name" or "both".
    `survey_weights` weighs people by fnlwgt, which is never a feature.
    """
    one_of("a value of race", race, ("as_is", "white_or_not"))
    out = {"fnlwgt", "income"} | _EDUCATION[one_of("a value of education", education, tuple(_EDUCATION))]
    entry, columns = find("adult"), _columns()
    if complete:
        columns = take_rows(columns, complete_rows(columns))
    if race == "white_or_not":
        columns["race"] = one_or_not(columns["race"], "White")
    return assemble(
        entry,
        {name: values for name, values in columns.items() if name not in out},
        two_classes(entry, columns["income"] == ">50K", ("<=50K", ">50K")),
        protected,
        "race as recorded" if race == "as_is" else "race: White, or not",
        positive=entry.positive,
        weight=columns["fnlwgt"] if survey_weights else None,
    )


def embedded(name: str) -> bytes:
    """The published bytes of adult.data or adult.test."""
    return gzip.decompress(files("evenleaf.datasets").joinpath("data", f"{name}.gz").read_bytes())


def _columns() -> RawColumns:
    # The test part opens with a remark, ends its labels in a full stop, and both end in an empty line.
    lines = embedded("adult.data").decode("ascii").splitlines()
    lines += embedded("adult.test").decode("ascii").splitlines()[1:]
    rows = [row for row in csv.reader(lines, skipinitialspace=True) if row]
    texts = dict(zip(_COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    texts["income"] = [text.rstrip(".") for text in texts["income"]]
    declared = {*find("adult").categorical, "income"}
    return {name: parse_column(name, texts[name], _MISSING, name in declared) for name in _COLUMNS}
