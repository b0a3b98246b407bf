"""The markers `needs` and `long`, and hypothesis that finds the same examples on every CI run."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest
from hypothesis import settings

ON_CI = os.environ.get("CI") == "true"

# What a test may need, and the package that brings it; "data" is a folder, not a package.
PACKAGES = {
    "distributed": "distributed",
    "duckdb": "duckdb",
    "fairlearn": "fairlearn",
    "gurobi": "gurobipy",
    "matplotlib": "matplotlib",
    "onnx": "onnx",
    "onnxruntime": "onnxruntime",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "scip": "pyscipopt",
    "skops": "skops",
}
# A browser is a program, and a package that drives it.
PROGRAMS = {"chromium": (("chromium", "chromium-browser"), "playwright")}

settings.register_profile("default", deadline=None)
settings.register_profile("reproducible", deadline=None, derandomize=True, database=None)
settings.load_profile("reproducible" if ON_CI else "default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the tests that take minutes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests are left out rather than skipped: a skip would read as something missing."""
    if config.getoption("--long") or re.search(r"\blong\b", config.getoption("-m") or ""):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for thing in marker.args:
            reason = why_missing(thing)
            if reason and ON_CI:
                pytest.fail(f"{reason} (on CI nothing is skipped)", pytrace=False)
            if reason:
                pytest.skip(reason)


def why_missing(thing: str) -> str | None:
    """Why a test that needs `thing` cannot run here, None where it can."""
    if thing == "data":
        folder = os.environ.get("EVENLEAF_DATA_DIR")
        if not folder:
            return "needs the data: set EVENLEAF_DATA_DIR to the folder that holds it"
        return None if Path(folder).is_dir() else f"needs the data: EVENLEAF_DATA_DIR is no folder: {folder}"
    if thing in PROGRAMS:
        names, package = PROGRAMS[thing]
        if not any(map(which, names)):
            return f"needs {thing}: no such program is installed"
        return None if find_spec(package) else f"needs {thing}: the package {package} is not installed"
    if thing not in PACKAGES:
        pytest.fail(f"nothing called {thing!r} is known; add it to PACKAGES in tests/conftest.py", pytrace=False)
    package = PACKAGES[thing]
    return None if find_spec(package) else f"needs {thing}: the package {package} is not installed"
