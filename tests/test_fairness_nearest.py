"""The neighbour search against sorting everybody by (rounded distance, row)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenleaf.errors import InputError
from evenleaf.fairness.cells import CellSearch
from evenleaf.fairness.neighbours import Neighbourhoods, nearest_neighbourhoods, per_group_neighbourhoods
from evenleaf.table import Groups, People, Table, make_outcome


@pytest.fixture(autouse=True, params=["index", "cells", "all pairs"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """The search chooses its way by the size and kind of the table; here every way is tested on the same tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenleaf.fairness.nearest._FEW", 10_000 if request.param == "all pairs" else 0)
        patch.setattr("evenleaf.fairness.nearest._FEW_DIMENSIONS", 0)
        patch.setattr(CellSearch, "worthwhile", request.param == "cells")
        patch.setattr("evenleaf.fairness.cells._MOST_PAIRS", 100)
        yield


def people_of(columns: dict[str, np.ndarray], categorical: list[str] | None = None) -> People:
    table = Table.of(columns, categorical=categorical or "from_dtype")
    n = table.n_rows
    groups = Groups(("g",), ("p", "q", "r"), np.arange(n) % 3)
    return People(table, make_outcome(np.arange(n) % 2, task="classification"), (groups,), np.ones(n))


def distances(columns: dict[str, np.ndarray], categorical: list[str]) -> np.ndarray:
    """The design's distance, squared and rounded, as a table of all pairs."""
    n = len(next(iter(columns.values())))
    total = np.zeros((n, n))
    for name, values in columns.items():
        if name in categorical:
            total += values[:, None] != values[None, :]
            continue
        gone = np.isnan(values)
        filled = np.where(gone, values[~gone].mean() if not gone.all() else 0.0, values)
        spread = filled.std()
        total += ((filled[:, None] - filled[None, :]) / (spread if spread > 0 else 1.0)) ** 2
        total += gone[:, None] != gone[None, :]
    return np.round(total, 9)


def expected_rows(distance: np.ndarray, k: int, include_self: bool, among: np.ndarray) -> list[set[int]]:
    rows = []
    for j in range(len(distance)):
        others = [int(i) for i in among if include_self or i != j]
        rows.append(set(sorted(others, key=lambda i, j=j: (distance[i, j], i))[:k]))  # type: ignore[misc]
    return rows


def found_rows(around: Neighbourhoods) -> list[set[int]]:
    matrix = around.weights.toarray()
    assert set(np.unique(matrix)) <= {0.0, 1.0}
    return [set(np.flatnonzero(matrix[kind]).tolist()) for kind in around.kind]


def mixed(seed: int, n: int) -> tuple[dict[str, np.ndarray], list[str]]:
    """Few distinct values, so that most distances tie; some values missing."""
    rng = np.random.default_rng(seed)
    columns: dict[str, np.ndarray] = {
        "age": rng.integers(0, 4, n).astype(float),
        "income": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 3, n) * 1000.0),
        "city": rng.choice(np.array(["x", "y", "z"], dtype=object), n),
    }
    chosen = rng.permutation(list(columns))[: rng.integers(1, 4)].tolist()
    return {name: columns[name] for name in chosen}, ["city"]


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(12, 80), st.integers(1, 11), st.booleans())
def test_mixed_tables_with_many_ties(seed: int, n: int, k: int, include_self: bool) -> None:
    columns, categorical = mixed(seed, n)
    found = nearest_neighbourhoods(people_of(columns), k, include_self=include_self)
    assert found_rows(found) == expected_rows(distances(columns, categorical), k, include_self, np.arange(n))


@pytest.mark.parametrize("include_self", [True, False])
def test_three_hundred_people_of_few_kinds(include_self: bool) -> None:
    columns, categorical = mixed(7, 300)
    found = nearest_neighbourhoods(people_of(columns), 10, include_self=include_self)
    assert found_rows(found) == expected_rows(distances(columns, categorical), 10, include_self, np.arange(300))


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(1, 40))
def test_many_binary_columns_take_the_brute_force_path(seed: int, k: int) -> None:
    """More than 15 columns: the fast search then works with rounding errors of its own."""
    rng = np.random.default_rng(seed)
    columns = {f"b{i}": rng.choice(np.array(["no", "yes"], dtype=object), 60) for i in range(12)}
    columns |= {f"q{i}": rng.normal(size=60).round(1) for i in range(4)}
    found = nearest_neighbourhoods(people_of(columns), k)
    categorical = [name for name in columns if name.startswith("b")]
    assert found_rows(found) == expected_rows(distances(columns, categorical), k, True, np.arange(60))


@pytest.mark.parametrize("include_self", [True, False])
def test_people_who_are_all_the_same(include_self: bool) -> None:
    columns = {"age": np.full(40, 3.7), "city": np.full(40, "x", dtype=object)}
    found = nearest_neighbourhoods(people_of(columns), 5, include_self=include_self)
    assert found_rows(found) == expected_rows(np.zeros((40, 40)), 5, include_self, np.arange(40))


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 9), st.booleans())
def test_every_group_gives_its_nearest_and_small_groups_give_all(seed: int, n: int, k: int, include_self: bool) -> None:
    columns, categorical = mixed(seed, n)
    people = people_of(columns)
    codes = np.minimum(np.arange(n), 2)  # two people alone in their groups, the others in one
    found = found_rows(per_group_neighbourhoods(people, k, codes, include_self=include_self))
    distance = distances(columns, categorical)
    parts = [expected_rows(distance, k, include_self, np.flatnonzero(codes == group)) for group in range(3)]
    assert found == [a | b | c for a, b, c in zip(*parts, strict=True)]


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(1, 8), st.booleans())
def test_the_euclidean_metric_is_the_default_distance(seed: int, k: int, include_self: bool) -> None:
    columns, _ = mixed(seed, 30)
    people = people_of(columns)
    plain = nearest_neighbourhoods(people, k, include_self=include_self)
    for metric in ("euclidean", lambda a, b: float(np.linalg.norm(a - b))):
        assert found_rows(nearest_neighbourhoods(people, k, include_self=include_self, metric=metric)) == found_rows(
            plain
        )


def test_another_metric_finds_other_people() -> None:
    """From the corner, (2, 2) is nearer than (3, 0) by the largest step and farther by the sum of steps."""
    columns = {"a": np.array([0.0, 2.0, 3.0, -9.0, 9.0]), "b": np.array([0.0, 2.0, 0.0, 9.0, -9.0])}
    columns["b"] *= columns["a"].std() / columns["b"].std()
    by_sum = nearest_neighbourhoods(people_of(columns), 1, include_self=False, metric="manhattan")
    by_step = nearest_neighbourhoods(people_of(columns), 1, include_self=False, metric="chebyshev")
    assert found_rows(by_sum)[0] == {2}
    assert found_rows(by_step)[0] == {1}


@pytest.mark.parametrize("factor", [1e-200, 1e-5, 1e9, 1e200])
def test_the_unit_of_a_column_does_not_matter(factor: float) -> None:
    """Squares of such values leave the range of floats; the scaled distance must not."""
    columns, categorical = mixed(3, 50)
    columns = columns | {"age": np.arange(50) % 7 * 1.0}
    stretched = columns | {"age": columns["age"] * factor - 3 * factor}
    expected = expected_rows(distances(columns, categorical), 6, True, np.arange(50))
    assert found_rows(nearest_neighbourhoods(people_of(stretched), 6)) == expected


def test_a_constant_column_with_gaps_only_separates_the_gaps() -> None:
    columns = {"age": np.array([0.1, np.nan, 0.1, 0.1, np.nan, 0.1, 0.1])}
    found = found_rows(nearest_neighbourhoods(people_of(columns), 2))
    assert found == [{0, 2}, {1, 4}, {0, 2}, {0, 2}, {1, 4}, {0, 2}, {0, 2}]


@pytest.mark.parametrize(
    ("metric", "message"),
    [("eucledean", "no metric 'eucledean'"), (lambda *_: -1.0, "negative"), (lambda *_: np.nan, "not a number")],
)
def test_bad_metrics(metric: Any, message: str) -> None:
    columns, _ = mixed(1, 20)
    with pytest.raises(InputError, match=message):
        nearest_neighbourhoods(people_of(columns), 3, metric=metric)
