"""CSV and TSV, plain or gzipped, to columns of texts. A file that is not quite a table is refused, never guessed at."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from evenleaf.errors import InputError
from evenleaf.table.schema import check_unique

STANDARD_INPUT = "-"


def read_texts(path: Path) -> dict[str, list[str]]:
    """The columns of a text file by the names in its header line, each value without outer blanks."""
    rows = text_rows(path)
    names = next(rows)
    kept = list(rows)
    if not kept:
        raise InputError(f"{_source(path)} has a header but no rows")
    columns = zip(*kept, strict=True)
    return {name: list(map(str.strip, column)) for name, column in zip(names, columns, strict=True)}


def text_rows(path: Path) -> Iterator[list[str]]:
    """The names in the header line, then one row at a time as it stands in the file: a long one fits into memory."""
    source = _source(path)
    try:
        with _opened(path) as stream:
            yield from _rows(stream, path, source)
    except UnicodeDecodeError as error:
        raise InputError(f"{source} is not text in UTF-8 (byte {error.start}); save it as CSV in UTF-8") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{source} is not a whole gzip file: {error}") from error
    except OSError as error:
        raise InputError(f"{source} cannot be read: {error.strerror or error}") from error


def _source(path: Path) -> str:
    return "standard input" if str(path) == STANDARD_INPUT else str(path)


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    if str(path) == STANDARD_INPUT:
        buffer = getattr(sys.stdin, "buffer", None)
        if buffer is None:
            yield sys.stdin  # somebody put a plain text stream there
            return
        stream = io.TextIOWrapper(buffer, encoding="utf-8-sig", newline="")
        try:
            yield stream
        finally:
            stream.detach()  # standard input is not ours to close
        return
    with path.open("rb") as raw, _unzipped(path, raw) as binary:
        yield io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")


def _unzipped(path: Path, raw: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if path.suffix.lower() == ".gz" else raw


def _rows(stream: TextIO, path: Path, source: str) -> Iterator[list[str]]:
    lines = _without_nulls(stream, source)
    start = next((line for line in lines if line.strip()), None)
    if start is None:
        raise InputError(f"{source} is empty; a table needs a header line and at least one row")
    # Strict: a quote that is opened and never closed would swallow the rest of the file.
    rows = csv.reader(chain([start], lines), delimiter=_delimiter(start, path), skipinitialspace=True, strict=True)
    try:
        names = _header(next(rows), source)
        yield names
        yield from _full_rows(rows, len(names), source)
    except csv.Error as error:
        raise InputError(f"{source} is not a table: line {rows.line_num}: {error} (is a quote left open?)") from error


def _without_nulls(stream: Iterable[str], source: str) -> Iterator[str]:
    for line in stream:
        if "\0" in line:
            raise InputError(f"{source} is not a table: it holds binary data (CSV, TSV and Parquet are read)")
        yield line


def _delimiter(start: str, path: Path) -> str:
    """A tab where the file is called .tsv; else whichever of comma, semicolon and tab the header has most of."""
    if ".tsv" in [suffix.lower() for suffix in path.suffixes]:
        return "\t"
    bare = re.sub(r'"[^"]*"', "", start)
    return max(",;\t", key=bare.count)


def _header(cells: list[str], source: str) -> list[str]:
    names = [name.strip() for name in cells]
    if not any(names):
        raise InputError(f"{source} has no header line that names its columns")
    if "" in names:
        raise InputError(f"{source}: column {names.index('') + 1} has no name in the header line; name it or remove it")
    check_unique(names)
    return names


def _full_rows(rows: Iterable[list[str]], width: int, source: str) -> Iterator[list[str]]:
    """Every row but the blank ones; a row that is too short or too long is an error."""
    number = 0
    for row in rows:
        if len(row) == width:
            number += 1
            yield row
        elif len(row) > 1 or "".join(row).strip():
            raise InputError(
                f"{source} is not a table: row {number + 1} has {len(row)} values where the header has {width}"
            )
