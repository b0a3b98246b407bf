"""From what a publisher offers to the content whose checksum is recorded.

Every function keeps the cells as they are: it leaves out columns or mends a header, and writes plain CSV
with "\\n" line ends. Content it does not recognise comes back unchanged, and fails its checksum later.
Latin-1 is used both ways because it gives every byte back as it was, whatever the true encoding.
"""

from __future__ import annotations

import csv
import io

from evenleaf.datasets.community_columns import UNSCALED

PERSONAL_COLUMNS = frozenset(["id", "name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"])
_CLIENT_CODES = ["", *[f"X{number}" for number in range(1, 24)], "Y"]
_CLIENT_NAMES = [
    *["ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"],
    *["PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"],
    *[f"BILL_AMT{month}" for month in range(1, 7)],
    *[f"PAY_AMT{month}" for month in range(1, 7)],
    "default payment next month",
]


def without_people(original: bytes) -> bytes:
    """ProPublica's table without its eight personal columns: names, birth date, identifier, case numbers."""
    rows = _rows(original)
    header = rows[0] if rows else []
    kept = [place for place, name in enumerate(header) if name not in PERSONAL_COLUMNS]
    if len(kept) == len(header):
        return original
    return _csv([[row[place] for place in kept if place < len(row)] for row in rows])


def client_names(original: bytes) -> bytes:
    """UCI's CSV of the credit card clients (ID, X1 … X23, Y) under the two header rows of its spreadsheet."""
    rows = _rows(original)
    if not rows or rows[0] != ["ID", *_CLIENT_CODES[1:]]:
        return original
    return _csv([_CLIENT_CODES, _CLIENT_NAMES, *rows[1:]])


def communities_header(original: bytes) -> bytes:
    """UCI's unnormalised communities with their header, which some copies of the file lack."""
    rows = _rows(original)
    header = list(UNSCALED)
    if not rows or len(rows[0]) != len(header):
        return original
    return _csv(rows if rows[0] == header else [header, *rows])


def _rows(content: bytes) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(content.decode("latin-1"), newline="")) if row]


def _csv(rows: list[list[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("latin-1")
