"""The house rules that a reviewer would otherwise have to check by eye."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import evenleaf

SOURCE = Path(evenleaf.__file__).parent
ROOMS = [
    "errors",
    "files",
    "table",
    "fairness",
    "tree",
    "problem",
    "solve",
    "metrics",
    "audit",
    "estimators",
    "baselines",
    "datasets",
    "case",
    "study",
    "report",
    "demo",
    "cli",
    "testing",
]
FACE = "evenleaf"  # the package's own __init__ and __main__, which may show whatever the rooms hold
NUMBA_HOME = Path("solve/search/kernels/compile.py")
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
FORBIDDEN_CALLS = {"eval", "exec"}
MOST_LINES_A_FILE = 400
MOST_LINES_A_FUNCTION = 80

Parsed = tuple[Path, ast.Module]


def source_files() -> list[Parsed]:
    paths = sorted(SOURCE.rglob("*.py"))
    return [(path.relative_to(SOURCE), ast.parse(path.read_text("utf-8"))) for path in paths]


def room_of(path: Path) -> str:
    if path.parts[0] in ("__init__.py", "__main__.py"):
        return FACE
    return path.parts[0].removesuffix(".py")


def imported(path: Path, module: ast.Module) -> Iterator[str]:
    """The full dotted name of everything a file imports, wherever in the file it does so."""
    package = ["evenleaf", *path.parts[:-1]]
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def wrong_way(path: Path, module: ast.Module) -> list[str]:
    """The imports that go against the order of the rooms."""
    room = room_of(path)
    if room == FACE:
        return []
    if room not in ROOMS:
        return [f"{path}: the room {room!r} is not in the list of rooms"]
    found = []
    for name in imported(path, module):
        top, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if top != "evenleaf" or target == "__version__":
            continue
        if target not in ROOMS or ROOMS.index(target) > ROOMS.index(room):
            found.append(f"{path}: imports {name}")
    return found


def uses_numba(path: Path, module: ast.Module) -> bool:
    return any(name.partition(".")[0] == "numba" for name in imported(path, module))


def dangers(path: Path, module: ast.Module) -> list[str]:
    """Whatever could run code that came in with the data."""
    modules = [name for name in imported(path, module) if FORBIDDEN_MODULES & set(name.split("."))]
    names = [node.id for node in ast.walk(module) if isinstance(node, ast.Name) and node.id in FORBIDDEN_CALLS]
    hidden = [
        node.attr
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute)
        and node.attr in FORBIDDEN_CALLS
        and isinstance(node.value, ast.Name)
        and node.value.id in ("builtins", "__builtins__")
    ]
    return [f"{path}: {what}" for what in [*modules, *names, *hidden]]


def long_functions(path: Path, module: ast.Module) -> list[str]:
    return [
        f"{path}: {node.name} has {length} lines"
        for node in ast.walk(module)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > MOST_LINES_A_FUNCTION
    ]


def test_the_source_is_found() -> None:
    names = {str(path) for path, _ in source_files()}
    assert {"errors.py", str(Path("table/table.py")), "__init__.py"} <= names


def test_imports_go_one_way() -> None:
    assert [found for path, module in source_files() for found in wrong_way(path, module)] == []


def test_numba_lives_in_one_file() -> None:
    assert {path for path, module in source_files() if uses_numba(path, module)} <= {NUMBA_HOME}


def test_nothing_runs_code_from_outside() -> None:
    assert [found for path, module in source_files() for found in dangers(path, module)] == []


def test_files_are_short() -> None:
    lengths = {str(path): len((SOURCE / path).read_text("utf-8").splitlines()) for path, _ in source_files()}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES_A_FILE} == {}


def test_functions_are_short() -> None:
    assert [found for path, module in source_files() for found in long_functions(path, module)] == []


@pytest.mark.parametrize(
    ("path", "line", "allowed"),
    [
        ("tree/tree.py", "from evenleaf.table import Table", True),
        ("table/table.py", "from evenleaf.tree import Tree", False),
        ("table/table.py", "import evenleaf.tree.tree as tree", False),
        ("table/table.py", "from evenleaf import tree", False),
        ("table/table.py", "from evenleaf import FairTreeClassifier", False),
        ("table/table.py", "from ..solve import result", False),
        ("table/table.py", "from .. import solve", False),
        ("table/table.py", "from .schema import Schema", True),
        ("table/table.py", "from . import schema", True),
        ("solve/mip/model.py", "from ..result import Status", True),
        ("solve/mip/model.py", "from ...report import page", False),
        ("table/table.py", "def late():\n    from evenleaf.cli import main", False),
        ("metrics.py", "from evenleaf.solve import result", True),
        ("metrics.py", "from evenleaf.estimators import classifier", False),
        ("cli/main.py", "from evenleaf import __version__", True),
        ("cellar/wine.py", "import os", False),
        ("__init__.py", "from evenleaf.cli import main", True),
    ],
)
def test_wrong_way_sees_every_form_of_import(path: str, line: str, allowed: bool) -> None:
    assert (wrong_way(Path(path), ast.parse(line)) == []) is allowed


@pytest.mark.parametrize(
    ("line", "harmless"),
    [
        ("import pickle", False),
        ("from pickle import loads", False),
        ("def late():\n    import dill as d", False),
        ("eval('1')", False),
        ("run = exec", False),
        ("import builtins\nbuiltins.eval('1')", False),
        ("frame.eval('a + b')", True),
        ("import json", True),
    ],
)
def test_dangers_are_seen(line: str, harmless: bool) -> None:
    assert (dangers(Path("table/table.py"), ast.parse(line)) == []) is harmless


def test_numba_is_seen_wherever_it_is_imported() -> None:
    assert uses_numba(Path("a.py"), ast.parse("def f():\n    from numba import njit"))
    assert not uses_numba(Path("a.py"), ast.parse("import numbers"))


def test_long_functions_are_seen() -> None:
    body = "\n".join(["    pass"] * MOST_LINES_A_FUNCTION)
    assert long_functions(Path("a.py"), ast.parse(f"def f():\n{body}")) == ["a.py: f has 81 lines"]
    assert long_functions(Path("a.py"), ast.parse(f"def f():\n{body}".removesuffix("\n    pass"))) == []


MARKED = """
import pytest

def test_plain(): pass

@pytest.mark.long
def test_long(): pass

@pytest.mark.needs("data")
def test_data(): pass

@pytest.mark.needs("a unicorn")
def test_typo(): pass

def test_profile():
    from hypothesis import settings
    assert settings.default.deadline is None
    print("derandomize", settings.default.derandomize)
"""


def run_marked(folder: Path, *options: str, **environment: str) -> str:
    """What pytest says about a folder that has the house's conftest and the tests above."""
    shutil.copy(Path(__file__).with_name("conftest.py"), folder / "conftest.py")
    (folder / "test_marked.py").write_text(MARKED, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    long\n    needs(thing)\n", encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if name not in ("CI", "EVENLEAF_DATA_DIR")}
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *options]
    return subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, check=False
    ).stdout


def test_what_is_missing_is_skipped_at_home(tmp_path: Path) -> None:
    said = run_marked(tmp_path)
    assert "set EVENLEAF_DATA_DIR" in said
    assert "nothing called 'a unicorn' is known" in said
    assert "derandomize False" in said
    assert "2 passed, 1 skipped, 1 deselected, 1 error" in said


def test_what_is_missing_fails_on_ci(tmp_path: Path) -> None:
    said = run_marked(tmp_path, CI="true")
    assert "on CI nothing is skipped" in said
    assert "derandomize True" in said
    assert "2 passed, 1 deselected, 2 errors" in said


def test_the_data_folder_must_exist(tmp_path: Path) -> None:
    assert "EVENLEAF_DATA_DIR is no folder" in run_marked(tmp_path, EVENLEAF_DATA_DIR=str(tmp_path / "nowhere"))
    assert "PASSED test_marked.py::test_data" in run_marked(tmp_path, EVENLEAF_DATA_DIR=str(tmp_path))


@pytest.mark.parametrize("options", [["--long"], ["-m", "long"]])
def test_long_tests_run_when_asked_for(tmp_path: Path, options: list[str]) -> None:
    assert "PASSED test_marked.py::test_long" in run_marked(tmp_path, *options)
