"""Files to tables: CSV and TSV by the standard library, Parquet by pyarrow or polars where installed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.table.delimited import STANDARD_INPUT, read_texts
from evenleaf.table.frames import RawColumns, raw_columns
from evenleaf.table.parse import MISSING_MARKERS, parse_column
from evenleaf.table.schema import find_name, level_label
from evenleaf.table.values import objects_of

__all__ = ["MISSING_MARKERS", "parse_column", "read_columns"]

# pandas writes the row labels of a filtered frame into the file under these names: they are not a column.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


def read_columns(
    path: str | Path,
    *,
    missing: Iterable[str] = MISSING_MARKERS,
    categorical: Iterable[str] = (),
    leave_out: Iterable[str] = (),
) -> RawColumns:
    """The columns of a CSV, TSV (also gzipped) or Parquet file; "-" is CSV on standard input.

    `missing` are the texts that stand for no value in CSV (Parquet has its own), `categorical` names the
    columns to read as texts even where they look like numbers, `leave_out` those not to look at.
    """
    source = Path(path)
    if str(path) != STANDARD_INPUT:
        check_file(source)
        if source.suffix.lower() in (".parquet", ".pq"):
            return _parquet_columns(source, _several(categorical), _several(leave_out))
    texts = read_texts(source)
    declared, ignored = _known(_several(categorical), texts), _known(_several(leave_out), texts)
    markers = frozenset(_several(missing))
    return {
        name: parse_column(name, column, markers, name in declared)
        for name, column in texts.items()
        if name not in ignored
    }


def _several(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _known(asked: list[str], columns: Iterable[str]) -> set[str]:
    """The columns asked for, all of which must be there."""
    names = list(columns)
    return {names[find_name(name, names)] for name in asked}


def check_file(path: Path) -> None:
    """There must be a file, and something in it."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder; name the file with the table")
        if not path.exists():
            raise InputError(f"there is no file {path}")
        if path.is_file() and path.stat().st_size == 0:
            raise InputError(f"{path} is empty; a table needs a header line and at least one row")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _parquet_columns(path: Path, categorical: list[str], leave_out: list[str]) -> RawColumns:
    try:
        frame = _read_parquet(path)
    except MissingExtraError:
        raise
    except Exception as error:  # whatever the reader's own errors are called
        raise InputError(f"{path} is not a Parquet file: {error}") from error
    names = [str(name) for name in getattr(frame, "column_names", None) or frame.columns]
    declared, ignored = _known(categorical, names), _known(leave_out, names)
    kept = [name for name in names if name not in ignored and not _PANDAS_INDEX.fullmatch(name)]
    columns = raw_columns(frame, only=kept)
    if not any(map(len, columns.values())):
        raise InputError(f"{path} has columns but no rows")
    texts = {name: objects_of(map(level_label, columns[name]), len(columns[name])) for name in declared - ignored}
    return {**columns, **texts}


def _read_parquet(path: Path) -> Any:
    """The file as a frame; it is opened here, so that no reader takes its name for a pattern or a partition."""
    with path.open("rb") as file:
        if find_spec("pyarrow"):
            import pyarrow.parquet as parquet

            return parquet.ParquetFile(file).read()
        if find_spec("polars"):
            import polars

            return polars.read_parquet(file)
    raise MissingExtraError("reading Parquet needs pyarrow or polars: pip install 'evenleaf[pyarrow]'")
