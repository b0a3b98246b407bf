"""Default: credit card clients in Taiwan."""

from __future__ import annotations

import csv

from evenleaf.datasets.assemble import Names, assemble, decode, two_classes
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.fetch import content
from evenleaf.datasets.registry import find
from evenleaf.table.frames import RawColumns
from evenleaf.table.parse import parse_column

_WORDS = {
    "SEX": {"1": "male", "2": "female"},
    "EDUCATION": {"1": "graduate school", "2": "university", "3": "high school", "4": "other"},
    "MARRIAGE": {"1": "married", "2": "single", "3": "other"},
}
# EDUCATION 0, 5, 6 and MARRIAGE 0 occur, but the publisher does not say what they mean.
_UNEXPLAINED = "code {}"


def load_default(protected: Names = ("SEX",)) -> Dataset:
    """Who fails to pay the credit card bill next month (paper, data set A)."""
    entry, columns = find("default"), _columns()
    target = columns.pop(entry.target)
    del columns["ID"]
    return assemble(
        entry,
        columns,
        two_classes(entry, target == 1.0, ("no default", "default")),
        protected,
        "sex as recorded",
        positive=entry.positive,
    )


def _columns() -> RawColumns:
    # The first header row numbers the columns (X1 … Y); the second names them.
    lines = content(find("default").files[0]).decode("ascii").splitlines()[1:]
    names, *rows = csv.reader(lines)
    texts = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    columns = {name: parse_column(name, texts[name], frozenset(), name in _WORDS) for name in names}
    return columns | {name: decode(columns[name], words, _UNEXPLAINED) for name, words in _WORDS.items()}
