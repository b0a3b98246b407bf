"""Files to tables: CSV and TSV by the standard library, Parquet by pyarrow or polars where installed."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.table.frames import RawColumns
from evenleaf.table.schema import check_unique

MISSING_MARKERS = frozenset({"", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL"})
# A column is taken for numbers with a slip in it, rather than for text, when this share parses.
_NUMBERS_WITH_A_SLIP = 0.9


def read_columns(
    path: str | Path, *, missing: Iterable[str] = MISSING_MARKERS, categorical: Iterable[str] = ()
) -> RawColumns:
    """The columns of a CSV, TSV (also gzipped) or Parquet file; "-" is CSV on standard input."""
    source = Path(path)
    if str(path) != "-":
        _check_file(source)
        if source.suffix.lower() in (".parquet", ".pq"):
            return _read_parquet(source)
    markers, declared = frozenset(missing), frozenset(categorical)
    with _opened(source) as stream:
        names, rows = _rows(stream, source)
        texts = _transpose(names, rows, source)
    return {name: parse_column(name, texts[name], markers, name in declared) for name in names}


def parse_column(name: str, texts: list[str], missing: frozenset[str], declared: bool = False) -> np.ndarray:
    """Numbers where every value is one, texts otherwise; one slip in a column of numbers is an error."""
    values = [None if text in missing else text for text in texts]
    if declared:
        return _as_objects(values)
    try:
        return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)
    except ValueError:
        pass
    slips = [row for row, value in enumerate(values) if value is not None and not _is_number(value)]
    known = sum(value is not None for value in values)
    if len(slips) < (1 - _NUMBERS_WITH_A_SLIP) * known:
        raise InputError(
            f"column {name!r} holds numbers, but row {slips[0] + 1} holds {values[slips[0]]!r}; "
            "mend it, mark it as missing, or declare the column categorical"
        )
    return _as_objects(values)


def _as_objects(values: list[str | None]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise InputError(f"{path} is a folder; name the file with the table")
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty; a table needs a header line and at least one row")


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    if str(path) == "-":
        yield sys.stdin
        return
    binary: Any = gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")
    with binary, io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as stream:
        yield stream


def _rows(stream: TextIO, path: Path) -> tuple[list[str], Iterator[list[str]]]:
    try:
        start = stream.readline()
        if "\0" in start:
            raise InputError(f"{path} is not a table: it holds binary data (CSV, TSV or Parquet are read)")
        delimiter = _delimiter(start, path)
        header = next(csv.reader([start], delimiter=delimiter, skipinitialspace=True), [])
    except (UnicodeDecodeError, gzip.BadGzipFile, csv.Error) as error:
        raise InputError(f"{path} is not a table: it is not text in UTF-8 ({error})") from error
    names = [name.strip() for name in header]
    if not any(names):
        raise InputError(f"{path} has no header line that names its columns")
    if "" in names:
        raise InputError(f"{path}: column {names.index('') + 1} has no name in the header line")
    check_unique(names)
    return names, csv.reader(stream, delimiter=delimiter, skipinitialspace=True)


def _delimiter(start: str, path: Path) -> str:
    """A tab where the name or the header says so; else whichever of , and ; the header has more of."""
    if ".tsv" in [suffix.lower() for suffix in path.suffixes] or start.count("\t") > start.count(","):
        return "\t"
    return ";" if start.count(";") > start.count(",") else ","


def _transpose(names: list[str], rows: Iterator[list[str]], path: Path) -> dict[str, list[str]]:
    kept: list[list[str]] = []
    try:
        for number, row in enumerate(rows, start=1):
            if len(row) == len(names):
                kept.append(row)
            elif row:
                raise InputError(
                    f"{path} is not a table: row {number} has {len(row)} values where the header has {len(names)}"
                )
    except (UnicodeDecodeError, csv.Error, EOFError, OSError) as error:
        raise InputError(f"{path} is not a table: after row {len(kept)}, {error}") from error
    if not kept:
        raise InputError(f"{path} has a header but no rows")
    return {
        name: [value.strip() for value in column]
        for name, column in zip(names, zip(*kept, strict=True), strict=True)
    }


def _read_parquet(path: Path) -> RawColumns:
    from evenleaf.table.frames import raw_columns

    try:
        if find_spec("pyarrow"):
            import pyarrow.parquet as parquet

            return raw_columns(parquet.read_table(path))
        if find_spec("polars"):
            import polars

            return raw_columns(polars.read_parquet(path))
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} is not a Parquet file: {error}") from error
    raise MissingExtraError("reading Parquet needs pyarrow or polars: pip install 'evenleaf[pyarrow]'")
