"""One column of texts, as a file holds it, to numbers or levels."""

from __future__ import annotations

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.values import objects_of

MISSING_MARKERS = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"})
# A column is taken for numbers with a slip in it, rather than for text, when this share parses.
_NUMBERS_WITH_A_SLIP = 0.9


def parse_column(name: str, texts: list[str], missing: frozenset[str], declared: bool = False) -> np.ndarray:
    """Numbers where every value is one, texts otherwise; one slip in a column of numbers is an error."""
    values = [None if text in missing else text for text in texts]
    if not declared:
        texts_only = {value for value in set(values) if value is not None and not _is_number(value)}
        if not texts_only:
            return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
        _refuse_slips(name, values, [row for row, value in enumerate(values) if value in texts_only])
    return objects_of(values, len(values))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # Python reads 12_34 as a number; in a table it is a code


def _refuse_slips(name: str, values: list[str | None], slips: list[int]) -> None:
    row, texts = slips[0], [values[row] or "" for row in slips]
    known = sum(value is not None for value in values)
    if all("," in text and _is_number(text.replace(",", "")) for text in set(texts)):
        raise InputError(
            f"column {name!r} writes numbers with a comma (row {row + 1} holds {texts[0]!r}); "
            "write them with a decimal point, or declare the column categorical"
        )
    if len(slips) < (1 - _NUMBERS_WITH_A_SLIP) * known:
        raise InputError(
            f"column {name!r} holds numbers, but row {row + 1} holds {texts[0]!r}; "
            "mend it, mark it as missing, or declare the column categorical"
        )
