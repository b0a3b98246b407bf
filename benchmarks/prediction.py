"""How fast a learnt tree decides: rows a minute in memory on one core, and the time of a single row.

    python benchmarks/prediction.py                   about a minute

The tree is the best one of depth 2 on Adult, which tests numbers and levels. Only the columns that it looks at are
read. Processor time is counted, so that other work on the machine does not matter; of the single row it is what
pandas, narwhals, scikit-learn and Evenleaf take together, and in the next line what Evenleaf takes by itself once
the row is a table.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from evenleaf import FairTreeClassifier
from evenleaf.datasets import load_adult
from evenleaf.tree import tree_python

RESULTS = Path(__file__).parent / "results" / "prediction.json"
REPEATS = 300


def seconds(run: Callable[[], Any], repeats: int = 1) -> float:
    """Processor seconds a run, after one that is not counted where there are several."""
    if repeats > 1:
        run()
    started = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - started) / repeats


def learnt() -> tuple[FairTreeClassifier, pd.DataFrame]:
    adult = load_adult()
    people = pd.DataFrame(adult.frame_columns())
    income = people.pop(adult.outcome.name)
    model = FairTreeClassifier().fit(people.head(5_000), income.head(5_000), sensitive_features="race")
    return model, people


def as_function(model: FairTreeClassifier) -> Callable[[dict[str, Any]], Any]:
    """The tree as the dependency-free Python function that `tree_python` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "exported.py"
        path.write_text(tree_python(model.tree_), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("exported", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module.predict


def many(model: FairTreeClassifier, people: pd.DataFrame, n_rows: int) -> dict[str, float]:
    """Rows a minute for each kind of table."""
    rows = people.sample(n_rows, replace=True, random_state=0).reset_index(drop=True)
    texts = [name for name in rows if not pd.api.types.is_numeric_dtype(rows[name])]
    numbers = np.random.default_rng(0).normal(size=(n_rows, 10))
    plain = FairTreeClassifier().fit(numbers[:500], numbers[:500, 0] > numbers[:500, 1])
    tables: dict[str, tuple[FairTreeClassifier, Any]] = {
        "numpy, numbers": (plain, numbers),
        "pandas, categories": (model, rows.astype(dict.fromkeys(texts, "category"))),
        "pandas, texts": (model, rows),
        "polars, texts": (model, pl.from_pandas(rows)),
    }
    return {name: 60 * n_rows / seconds(partial(learner.predict, table)) for name, (learner, table) in tables.items()}


def one(model: FairTreeClassifier, people: pd.DataFrame) -> dict[str, float]:
    """Milliseconds for a single row."""
    row = people.head(1)
    tree, table = model._encoded(row)
    function = as_function(model)
    record = {str(name): value for name, value in row.iloc[0].items()}
    runs: dict[str, Callable[[], Any]] = {
        "pandas frame, everything": lambda: model.predict(row),
        "table, the tree alone": lambda: tree.decide(table),
        "dict, exported function": lambda: function(record),
    }
    return {name: 1_000 * seconds(run, REPEATS) for name, run in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    settings = parser.parse_args()
    model, people = learnt()
    print(model.tree_)
    rates, single = many(model, people, settings.rows), one(model, people)
    for name, rate in rates.items():
        print(f"{name:28} {rate / 1e6:8.1f} million rows a minute")
    for name, milliseconds in single.items():
        print(f"one row: {name:28} {milliseconds:8.4f} ms")
    RESULTS.write_text(json.dumps({"rows_a_minute": rates, "single_row_ms": single}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
