"""What a result depends on besides the settings: versions, machine, and the checksums of the data."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from evenleaf.datasets import find
from evenleaf.study.config import StudyConfig

PACKAGES = ("evenleaf", "numpy", "scipy", "scikit-learn", "numba", "highspy", "joblib", "fairlearn", "matplotlib")


def provenance(config: StudyConfig) -> dict[str, Any]:
    """Plain data, written beside the results."""
    return {
        "settings": config.to_json(),
        "fingerprint": config.fingerprint,
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "machine": {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()},
        "sha256": {plan.loader: find(plan.loader).checksums for plan in config.data},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
