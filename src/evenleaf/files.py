"""Files that are either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, parts: Iterable[bytes]) -> None:
    """Write beside the place and move into it: a crash or a second writer never leaves half a file."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("wb") as file:
            file.writelines(parts)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
