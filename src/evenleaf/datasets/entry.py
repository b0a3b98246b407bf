"""What is known about a data set before it is read: where it is from and what it holds."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from evenleaf.table import Task

Prepare = Callable[[bytes], bytes]
_WIDTH = 100


@dataclass(frozen=True)
class DataFile:
    """One file: its place in a data folder, the checksum of its uncompressed content, where it is published.

    `prepare` turns what the publisher offers into the content the checksum is of (without personal
    columns, with a header); None where the two are the same. A URL that ends in .zip is opened, and the
    member of the same name is read.
    """

    path: str
    sha256: str
    urls: tuple[str, ...] = ()
    prepare: Prepare | None = None


@dataclass(frozen=True)
class Entry:
    """One data set of the registry."""

    name: str
    title: str
    source: str
    citation: str
    licence: str
    page: str
    files: tuple[DataFile, ...]
    target: str
    task: Task
    positive: str | None
    protected: tuple[str, ...]
    categorical: tuple[str, ...]
    dropped: tuple[tuple[str, str], ...]
    groups: str
    options: tuple[tuple[str, str], ...]
    description: str

    def file(self, path: str) -> DataFile:
        """The file at that place of the data folder."""
        return next(file for file in self.files if file.path == path)

    @property
    def checksums(self) -> dict[str, str]:
        """The sha256 of each file's uncompressed content, to be recorded with results."""
        return {file.path: file.sha256 for file in self.files}

    def text(self) -> str:
        """Everything above as a page of plain text."""
        positive = f", positive class {self.positive!r}" if self.positive else ""
        facts = [
            ("source", f"{self.source} ({self.page})"),
            ("citation", self.citation),
            ("licence", self.licence),
            ("decided", f"{self.target} ({self.task}{positive})"),
            ("protected", ", ".join(self.protected)),
            ("groups", self.groups),
            *[(f"option {option}", meaning) for option, meaning in self.options],
            *[(f"without {columns}", reason) for columns, reason in self.dropped],
            *[(f"sha256 {path}", checksum) for path, checksum in self.checksums.items()],
        ]
        lines = [f"{self.name}: {self.title}", "", textwrap.fill(self.description, _WIDTH), ""]
        lines += [_hanging(f"{label}: {value}") for label, value in facts]
        return "\n".join(lines)


def _hanging(line: str) -> str:
    """A fold that leaves checksums and addresses whole, so that they can be copied."""
    return textwrap.fill(line, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
