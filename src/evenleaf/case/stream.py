"""A table in blocks of rows, read against a schema that is known: nothing is inferred, so nothing is held back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.table import Column, Schema, find_name
from evenleaf.table.delimited import STANDARD_INPUT, text_rows
from evenleaf.table.frames import RawColumns, raw_columns
from evenleaf.table.read import check_file
from evenleaf.table.schema import level_label
from evenleaf.table.values import objects_of

BLOCK = 20_000


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows as texts, as they stand in the file, and the columns of the schema ready for a table."""

    names: list[str]
    rows: list[list[str]]
    columns: RawColumns


def file_blocks(path: str | Path, schema: Schema, missing: frozenset[str], size: int = BLOCK) -> Iterator[Block]:
    """The rows of a CSV, TSV (also gzipped) or Parquet file, block by block; "-" is CSV on standard input.

    A file with a header and no rows gives one empty block, so that its columns are still checked.
    """
    source = Path(path)
    if str(path) != STANDARD_INPUT:
        check_file(source)
        if source.suffix.lower() in (".parquet", ".pq"):
            yield from _parquet_blocks(source, schema, size)
            return
    rows = text_rows(source)
    names = next(rows)
    places = [find_name(column.name, names) for column in schema]
    first = 1
    while (block := list(islice(rows, size))) or first == 1:
        columns = {
            column.name: _column(column, [row[place].strip() for row in block], missing, first)
            for column, place in zip(schema, places, strict=True)
        }
        yield Block(names, block, columns)
        first += max(1, len(block))


def _column(column: Column, texts: list[str], missing: frozenset[str], first: int) -> np.ndarray:
    if column.is_categorical:
        return objects_of((None if text in missing else text for text in texts), len(texts))
    return np.fromiter(
        (math.nan if text in missing else _number(column.name, text, row) for row, text in enumerate(texts, first)),
        np.float64,
        len(texts),
    )


def _number(name: str, text: str, row: int) -> float:
    try:
        number = math.inf if "_" in text else float(text)  # Python reads 12_34 as a number; in a table it is a code
    except ValueError:
        number = math.inf
    if math.isinf(number):
        raise InputError(
            f"column {name!r} must hold numbers, but row {row} holds {text!r}; mend it, or leave it empty as missing"
        )
    return number


def _parquet_blocks(path: Path, schema: Schema, size: int) -> Iterator[Block]:
    for frame in _parquet_frames(path, size):
        names = [str(name) for name in getattr(frame, "column_names", None) or frame.columns]
        columns = raw_columns(frame, only=schema.names)
        cells = [_texts(column) for column in (frame[name] for name in names)]
        yield Block(names, [list(row) for row in zip(*cells, strict=True)], columns)


def _parquet_frames(path: Path, size: int) -> Iterator[Any]:
    """pyarrow reads piece by piece; polars, where it is the only one installed, reads the whole file."""
    try:
        with path.open("rb") as file:
            if find_spec("pyarrow"):
                import pyarrow as pa
                import pyarrow.parquet as parquet

                reader = parquet.ParquetFile(file)
                for batch in reader.iter_batches(batch_size=size):
                    yield pa.Table.from_batches([batch])
                return
            if find_spec("polars"):
                import polars

                yield from polars.read_parquet(file).iter_slices(size)
                return
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from error
    raise MissingExtraError("reading Parquet needs pyarrow or polars: pip install 'evenleaf[pyarrow]'")


def _texts(column: Any) -> list[str]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    return ["" if (label := level_label(value)) is None else label for value in values]
