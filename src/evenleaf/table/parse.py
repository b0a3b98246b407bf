"""One column of texts, as a file holds it, to numbers or levels."""

from __future__ import annotations

from collections import Counter

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table.values import objects_of

MISSING_MARKERS = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"})
# A column is taken for numbers with a slip in it, rather than for text, when this share parses.
_NUMBERS_WITH_A_SLIP = 0.9


def parse_column(name: str, texts: list[str], missing: frozenset[str], declared: bool = False) -> np.ndarray:
    """Numbers where every value is one, texts otherwise; one slip in a column of numbers is an error."""
    counts = Counter(texts)  # each different text is looked at once, however many people share it
    numbers = {text: np.nan if text in missing else _number(text) for text in counts}
    known = counts.keys() - missing
    words = {text for text in known if numbers[text] is None}
    if not words and not declared:
        return np.fromiter(map(numbers.__getitem__, texts), np.float64, len(texts))
    if not declared:
        _refuse_slips(name, texts, words, sum(map(counts.__getitem__, words)), sum(map(counts.__getitem__, known)))
    levels = {text: text if text in known else None for text in counts}
    return objects_of(map(levels.__getitem__, texts), len(texts))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if "_" in text else number  # Python reads 12_34 as a number; in a table it is a code


def _refuse_slips(name: str, texts: list[str], words: set[str], n_words: int, n_known: int) -> None:
    row, slip = next((row, text) for row, text in enumerate(texts) if text in words)
    if all("," in word and _number(word.replace(",", "")) is not None for word in words):
        raise InputError(
            f"column {name!r} writes numbers with a comma (row {row + 1} holds {slip!r}); "
            "write them with a decimal point, or declare the column categorical"
        )
    if n_words < (1 - _NUMBERS_WITH_A_SLIP) * n_known:
        raise InputError(
            f"column {name!r} holds numbers, but row {row + 1} holds {slip!r}; "
            "mend it, mark it as missing, or declare the column categorical"
        )
