"""Rows that survive a crash: each is one line, written whole and forced to the disk before the next run starts.

A kill in the middle of a write leaves half a line. Every row begins on a line of its own, so that half a line spoils
nothing but itself: it is passed over on reading, and its run is done again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenleaf.errors import InputError

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Journal:
    """The file that runs are written to as they finish, in whatever order that is."""

    path: Path

    def append(self, key: Key, result: Mapping[str, Any], timing: Mapping[str, Any]) -> None:
        """Write one row; several processes may do so at once."""
        self._write({"key": list(key), "result": result, "timing": timing})

    def open_for(self, fingerprint: str) -> dict[Key, dict[str, Any]]:
        """The rows that are there already; a journal of other settings is refused."""
        if not self.path.exists():
            self._write({"study": fingerprint})
            return {}
        lines = list(self._lines())
        heads = [line["study"] for line in lines if "study" in line]
        if heads and heads[0] != fingerprint:
            raise InputError(
                f"{self.path.parent} holds the results of a study with other settings; "
                "choose another folder with --out, or remove that one"
            )
        if not heads:
            self._write({"study": fingerprint})
        return rows_of(lines)

    def rows(self) -> dict[Key, dict[str, Any]]:
        """Every finished run; of a run that was done twice the first counts."""
        return rows_of(list(self._lines()))

    def _write(self, line: Mapping[str, Any]) -> None:
        text = json.dumps(line, sort_keys=True, allow_nan=False, ensure_ascii=False)
        place = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(place, f"\n{text}\n".encode())
            os.fsync(place)
        finally:
            os.close(place)

    def _lines(self) -> Iterator[dict[str, Any]]:
        for text in self.path.read_bytes().split(b"\n"):
            if not text.strip():
                continue
            try:
                line = json.loads(text)
            except (UnicodeDecodeError, json.JSONDecodeError):
                continue  # half a line, left by a kill
            if isinstance(line, dict):
                yield line


def rows_of(lines: list[dict[str, Any]]) -> dict[Key, dict[str, Any]]:
    """The runs among the lines, by their keys."""
    rows: dict[Key, dict[str, Any]] = {}
    for line in lines:
        if {"key", "result", "timing"} <= set(line):
            rows.setdefault(tuple(line["key"]), line)
    return rows


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Refuse a second study in the same folder while one is running; the lock ends with its process."""
    place = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _lock(place, folder)
        yield
    finally:
        os.close(place)


def _lock(place: int, folder: Path) -> None:
    try:
        import fcntl
    except ImportError:  # where there is no such lock, two runs at once only repeat each other's work
        return
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(f"another study is running in {folder}; wait for it, or choose another folder") from error
