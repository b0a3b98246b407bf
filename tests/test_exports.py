"""Every export decides as the tree does: 100,000 random rows with missing, unseen and borderline values."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.table import Column, Kind, Schema, Table
from evenleaf.testing.strategies import peoples, trees
from evenleaf.tree import (
    Branch,
    Leaf,
    LinearTest,
    SubsetTest,
    Target,
    Term,
    ThresholdTest,
    Tree,
    columns_of,
    compact,
    explain,
    rules,
    select_sql,
    tree_dot,
    tree_from_json,
    tree_onnx,
    tree_python,
    tree_sql,
    tree_svg,
    tree_to_json,
)

N_ROWS = 100_000
LEVELS = ("O'Brien", 'say "hi"', "a, b", "back\\slash", "new\nline", "größer", "", "<b>&amp;")
CODES = ("1", "2", "10")
SCHEMA = Schema(
    (
        Column("income", Kind.QUANTITATIVE, has_missing=True),
        Column("first name", Kind.CATEGORICAL, LEVELS, has_missing=True),
        Column('odd "name"', Kind.QUANTITATIVE),
        Column("code", Kind.CATEGORICAL, CODES),
        Column("never used", Kind.QUANTITATIVE),
    )
)
Rows = dict[str, list[Any]]


def plain_tree() -> Tree:
    """Thresholds with ugly digits and subsets of odd levels; the missing go both ways."""
    nodes = (
        Branch(ThresholdTest(0, 0.1 + 0.2, missing_left=True), 1, 4),
        Branch(SubsetTest(1, (0, 1, 4, 6), missing_left=False), 2, 3),
        Leaf(0),
        Leaf(2),
        Branch(SubsetTest(3, (1,), missing_left=True), 5, 8),
        Branch(ThresholdTest(2, -1e-7, missing_left=False), 6, 7),
        Leaf(1),
        Leaf(0),
        Leaf(1),
    )
    return Tree(SCHEMA, Target("it's", ("no", "may'be", "yes")), nodes)


def number_tree() -> Tree:
    nodes = (
        Branch(SubsetTest(1, (2, 3, 5, 7), missing_left=True), 1, 2),
        Leaf(-0.25),
        Branch(ThresholdTest(2, 1.5, missing_left=True), 3, 4),
        Leaf(9.75),
        Leaf(1 / 3),
    )
    return Tree(SCHEMA, Target("pay", None, -0.125, 3.5), nodes)


def linear_tree() -> Tree:
    terms = (Term(0, 0.7, fill=0.4), Term(2, -1.3, fill=-2.0), Term(1, 0.25, level=3))
    nodes = (
        Branch(LinearTest(terms, 0.55), 1, 2),
        Leaf(0.5, (Term(2, 0.3, fill=0.1), Term(3, 1.1, level=2))),
        Branch(LinearTest((Term(2, 1.0),), -0.5), 3, 4),
        Leaf(1.0, (Term(0, -2.0, fill=5.0),)),
        Leaf(7.0),
    )
    return Tree(SCHEMA, Target("score", None, -1.0, 2.0), nodes)


def label_trees() -> list[Tree]:
    """Labels of every type that there is."""
    nodes = (Branch(ThresholdTest(0, 0.5), 1, 2), Leaf(0), Leaf(1))
    kinds: list[tuple[Any, ...]] = [(3, 7), (0.5, 1.5), (False, True), ("a", "b")]
    return [Tree(SCHEMA, Target("y", labels), nodes) for labels in kinds]


TREES = {"plain": plain_tree, "numbers": number_tree, "linear": linear_tree}


def random_rows(n_rows: int, seed: int = 0) -> Rows:
    """Missing values, levels nobody has seen, and numbers on and beside every threshold."""
    draw = np.random.default_rng(seed)
    borders = [0.1 + 0.2, 0.3, -1e-7, 0.0, 1.5, 0.5, np.nextafter(0.3, 1), np.nextafter(1.5, 2), -0.5, 1e300]
    rows: Rows = {}
    for name in ("income", 'odd "name"', "never used"):
        values = np.where(draw.random(n_rows) < 0.4, draw.choice(borders, n_rows), draw.normal(0, 2, n_rows))
        absent = draw.random(n_rows) < 0.1
        rows[name] = [None if gone else value for value, gone in zip(values.tolist(), absent, strict=True)]
    for name, levels in (("first name", (*LEVELS, "unseen", None)), ("code", (*CODES, "11", "01", None))):
        rows[name] = draw.choice(np.array(levels, dtype=object), n_rows).tolist()
    return rows


ROWS = random_rows(N_ROWS)
TABLE = Table.of(ROWS, schema=SCHEMA)


def decided(tree: Tree, rows: Rows | Table = TABLE) -> list[Any]:
    return list(tree.predict(rows).tolist())


@pytest.fixture(scope="module")
def sqlite() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    names = ["income", "first name", 'odd "name"', "code", "never used"]
    types = ["REAL", "TEXT", "REAL", "TEXT", "REAL"]
    columns = ", ".join('"' + n.replace('"', '""') + f'" {t}' for n, t in zip(names, types, strict=True))
    connection.execute(f"CREATE TABLE people ({columns})")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", zip(*(ROWS[n] for n in names), strict=True))
    return connection


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_sqlite(make: Callable[[], Tree], sqlite: sqlite3.Connection) -> None:
    tree = make()
    found = [row[0] for row in sqlite.execute(f"SELECT {tree_sql(tree)} FROM people ORDER BY rowid")]  # noqa: S608
    assert found == decided(tree)


def test_a_whole_query(sqlite: sqlite3.Connection) -> None:
    cursor = sqlite.execute(select_sql(plain_tree(), "people"))
    assert [column[0] for column in cursor.description][-1] == "decided it's"
    assert sum(1 for _ in cursor) == N_ROWS


@pytest.mark.needs("duckdb", "pyarrow")
@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_duckdb(make: Callable[[], Tree]) -> None:
    import duckdb
    import pyarrow as pa

    tree = make()
    people = pa.table({**ROWS, "place": list(range(N_ROWS))})
    connection = duckdb.connect()
    connection.register("people", people)
    query = f"SELECT {tree_sql(tree)} FROM people ORDER BY place"  # noqa: S608
    assert [row[0] for row in connection.execute(query).fetchall()] == decided(tree)


@pytest.mark.needs("duckdb")
@pytest.mark.parametrize("tree", label_trees(), ids=["whole", "fraction", "truth", "text"])
def test_labels_in_sql(tree: Tree) -> None:
    import duckdb

    question = f"SELECT {tree_sql(tree)} FROM (SELECT CAST(? AS DOUBLE) AS income)"  # noqa: S608
    for value in (0.5, 0.6, None):
        expected = decided(tree, {name: [value] if name == "income" else [None] for name in SCHEMA.names})
        (row,) = duckdb.execute(question, [value]).fetchall()
        assert [row[0]] == expected
        (again,) = sqlite3.connect(":memory:").execute(question, [value])
        assert [again[0]] == expected


def test_codes_may_be_numbers_in_sql() -> None:
    """A categorical column of numbers has texts for levels; a database keeps the numbers."""
    tree = Tree(
        SCHEMA, Target("y", ("no", "yes")), (Branch(SubsetTest(3, (0, 2), missing_left=False), 1, 2), Leaf(1), Leaf(0))
    )
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE t (code INTEGER)")
    connection.executemany("INSERT INTO t VALUES (?)", [(1,), (2,), (10,), (11,), (None,)])
    query = f"SELECT {tree_sql(tree)} FROM t"  # noqa: S608
    assert [row[0] for row in connection.execute(query)] == ["yes", "no", "yes", "no", "no"]


def imported(source: str, folder: Path, name: str = "predict") -> Callable[[dict[str, Any]], Any]:
    path = folder / "exported.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("exported", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_python(make: Callable[[], Tree], tmp_path: Path) -> None:
    tree = make()
    source = tree_python(tree)
    assert "import" not in re.sub(r'""".*?"""', "", source, flags=re.DOTALL)
    predict = imported(source, tmp_path)
    names = list(ROWS)
    found = [predict(dict(zip(names, row, strict=True))) for row in zip(*ROWS.values(), strict=True)]
    assert found == decided(tree)


def test_python_takes_what_a_row_may_hold(tmp_path: Path) -> None:
    predict = imported(tree_python(plain_tree(), "decide"), tmp_path, "decide")
    rows: list[dict[str, Any]] = [{}, {"income": float("nan"), "first name": None}, {"income": 1, "code": 2.0}]
    rows += [{"income": 1, "code": 2, 'odd "name"': -1}, {"income": 1, "code": True}]
    columns = {name: [row.get(name) for row in rows] for name in SCHEMA.names}
    as_levels = {name: values if name != "code" else [None, None, "2", "2", "True"] for name, values in columns.items()}
    assert [predict(row) for row in rows] == decided(plain_tree(), as_levels)
    with pytest.raises(ValueError, match="cannot be the name"):
        tree_python(plain_tree(), "two words")


def onnx_answers(tree: Tree, rows: Rows) -> list[Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(tree_onnx(tree).SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {}
    for entry in session.get_inputs():
        values = rows[entry.name]
        if entry.type == "tensor(string)":
            feeds[entry.name] = np.array(
                ["no such level" if value is None else value for value in values], dtype=object
            )
        else:
            feeds[entry.name] = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    (answer,) = session.run(None, feeds)
    return list(answer.tolist())


@pytest.mark.needs("onnx", "onnxruntime")
@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_onnx(make: Callable[[], Tree]) -> None:
    assert onnx_answers(make(), ROWS) == decided(make())


@pytest.mark.needs("onnx", "onnxruntime")
@pytest.mark.parametrize("tree", label_trees(), ids=["whole", "fraction", "truth", "text"])
def test_labels_in_onnx(tree: Tree) -> None:
    rows = random_rows(50, seed=1)
    assert onnx_answers(tree, rows) == decided(tree, rows)


@pytest.mark.needs("onnx")
def test_a_tree_that_asks_nothing_has_no_graph() -> None:
    with pytest.raises(InputError, match="looks at no column"):
        tree_onnx(Tree(SCHEMA, Target("y", ("a", "b")), (Leaf(0),)))


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_json(make: Callable[[], Tree]) -> None:
    tree = make()
    again = tree_from_json(json.loads(json.dumps(tree_to_json(tree))))
    assert again == tree
    assert decided(again) == decided(tree)


@pytest.mark.parametrize("make", TREES.values(), ids=TREES)
def test_compact_looks_at_nothing_else(make: Callable[[], Tree]) -> None:
    tree = make()
    small = compact(tree)
    assert small.schema.names == tuple(SCHEMA.names[column] for column in columns_of(tree))
    assert "never used" not in small.schema.names
    assert decided(small, TABLE) == decided(tree)


@given(data=st.data())
@settings(max_examples=60)
def test_any_tree(data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Trees of every shape, foolish ones included: empty subsets, tests that ask nothing, numbers out of range."""
    people = data.draw(peoples(task=data.draw(st.sampled_from(("classification", "regression")))))
    tree = data.draw(trees(people, linear=True))
    table = people.features
    raw: Rows = {}
    for position, column in enumerate(table.schema):
        levels = np.array([*column.levels, None], dtype=object)
        values = levels[table.data[position]] if column.is_categorical else table.data[position]
        raw[column.name] = [None if value is None or value != value else value for value in values.tolist()]
    expected = decided(tree, raw)
    predict = imported(tree_python(tree), tmp_path_factory.mktemp("exported"))
    rows = [dict(zip(raw, row, strict=True)) for row in zip(*raw.values(), strict=True)]
    assert [predict(row) for row in rows] == expected
    connection = sqlite3.connect(":memory:")
    connection.execute(f"CREATE TABLE t ({', '.join(raw)})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * len(raw))})", zip(*raw.values(), strict=True))  # noqa: S608
    assert [row[0] for row in connection.execute(f"SELECT {tree_sql(tree)} FROM t")] == expected  # noqa: S608
    assert compact(tree).predict(raw).tolist() == expected
    ElementTree.fromstring(tree_svg(tree))  # noqa: S314 (our own text)


def test_svg_is_a_drawing_with_words() -> None:
    tree = plain_tree()
    drawing = ElementTree.fromstring(tree_svg(tree, lambda node: f"{node} people"))  # noqa: S314
    space = "{http://www.w3.org/2000/svg}"
    assert len(drawing.findall(f"{space}rect")) == len(tree.nodes)
    assert len(drawing.findall(f"{space}line")) == len(tree.nodes) - 1
    words = " ".join(span.text or "" for span in drawing.iter(f"{space}tspan"))
    assert "income ≤ 0.3" in words
    assert "it's = may'be" in words
    assert "4 people" in words
    assert drawing.attrib["aria-label"] == "decision tree for it's"
    assert str(tree) in (drawing.findtext(f"{space}desc") or "")
    boxes = [(float(box.attrib["x"]), float(box.attrib["y"])) for box in drawing.findall(f"{space}rect")]
    assert len(set(boxes)) == len(boxes)


def test_svg_survives_control_characters() -> None:
    schema = Schema((Column("x\x07", Kind.CATEGORICAL, ("\x00", "\x1f")),))
    tree = Tree(schema, Target("y\x0b", ("a\x01", "b")), (Branch(SubsetTest(0, (0,)), 1, 2), Leaf(0), Leaf(1)))
    ElementTree.fromstring(tree_svg(tree))  # noqa: S314


def test_dot_names_every_node_and_edge() -> None:
    text = tree_dot(plain_tree(), lambda node: f"node {node}")
    assert text.count("->") == len(plain_tree().nodes) - 1
    assert 'label="income ≤ 0.3 (missing: yes)?\\nnode 0"' in text
    assert 'say \\"hi\\"' in text
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)


def test_explanations_are_the_rules_that_hold() -> None:
    tree = plain_tree()
    rows: Rows = {
        "income": [0.1, 9.0, None, 9.0],
        "first name": ["O'Brien", None, "never seen", "größer"],
        'odd "name"': [0.0, -1.0, None, 5.0],
        "code": ["1", "2", "1", "99"],
        "never used": [None] * 4,
    }
    found = explain(tree, Table.of(rows, schema=SCHEMA))
    assert found[0].startswith("income ≤ 0.3 and first name is one of {O'Brien")
    assert found[0].endswith("so it's = no")
    assert found[1] == "income > 0.3 and code is 2 and odd \"name\" ≤ -1e-07, so it's = may'be"
    assert found[2] == "income is missing or unknown and first name is missing or unknown, so it's = yes"
    assert found[3] == 'income > 0.3 and code is missing or unknown and odd "name" > -1e-07, so it\'s = no'
    assert len(rules(tree)) == tree.n_leaves
    assert found[1] in rules(tree)
    alone = Tree(SCHEMA, Target("y", ("a", "b")), (Leaf(1),))
    assert explain(alone, Table.of(rows, schema=SCHEMA)) == ["everybody: y = b"] * 4
    linear = explain(linear_tree(), Table.of(rows, schema=SCHEMA))
    assert "(income and first name missing)" not in linear[0]
    assert "missing" in linear[2]
