"""Where the figures come from: versions, seed, checksum of the data, command. Enough to make them again."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from evenleaf import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "highspy")


def provenance(*, checksum: str, seed: int, command: str | None = None, solver: str = "auto") -> dict[str, Any]:
    """The block as plain data; the time is in UTC, to the second."""
    return {
        "evenleaf": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
        "seed": seed,
        "solver": solver,
        "checksum": checksum,
        "command": command,
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
