"""Frames out: the caller gets the kind of frame that the caller brought, or whichever is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import narwhals as nw

_LIBRARIES = ("pandas", "polars", "pyarrow")


def library_of(data: Any) -> str | None:
    """The library of a frame, None for an array."""
    package = type(data).__module__.partition(".")[0]
    return package if package in _LIBRARIES else None


def make_frame(columns: Mapping[str, list[Any]], library: str | None) -> Any:
    """A frame of that library; without one, of the first that is installed; without any, a dict of columns."""
    chosen = library or next((name for name in _LIBRARIES if find_spec(name)), None)
    if chosen is None:
        return dict(columns)
    backend: Any = chosen
    return nw.from_dict(dict(columns), backend=backend).to_native()
