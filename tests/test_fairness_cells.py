"""The search by cells where the library itself chooses it: the same people as the search by index."""

from __future__ import annotations

import numpy as np
import pytest

from evenleaf.fairness.cells import CellSearch
from evenleaf.fairness.distance import MixedSpace
from evenleaf.fairness.nearest import NearestSearch
from evenleaf.fairness.neighbours import nearest_neighbourhoods
from evenleaf.table import Groups, People, Table, make_outcome


def people(n: int, n_categorical: int, n_quantitative: int, n_levels: int = 4) -> People:
    """Levels that hang together, as education, job and income do, so that many people share a cell."""
    rng = np.random.default_rng(n)
    kind = rng.integers(0, 40, n)
    base = rng.integers(0, n_levels, (40, n_categorical))[kind]
    levels = np.where(rng.random(base.shape) < 0.08, rng.integers(0, n_levels, base.shape), base)
    columns = {f"c{j}": levels[:, j].astype(str).astype(object) for j in range(n_categorical)}
    columns |= {f"q{j}": rng.normal(size=n).round(1) for j in range(n_quantitative)}
    groups = Groups(("g",), ("p", "q"), np.arange(n) % 2)
    return People(Table.of(columns), make_outcome(np.arange(n) % 3, task="classification"), (groups,), np.ones(n))


def chosen(sample: People) -> CellSearch | None:
    return NearestSearch(MixedSpace(sample.features), np.arange(sample.n_people))._cells


@pytest.mark.parametrize("include_self", [True, False])
def test_the_same_neighbours_either_way(include_self: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = people(1500, n_categorical=8, n_quantitative=2)
    assert chosen(sample) is not None
    by_cells = nearest_neighbourhoods(sample, 10, include_self=include_self)
    monkeypatch.setattr(CellSearch, "worthwhile", False)
    assert chosen(sample) is None
    by_index = nearest_neighbourhoods(sample, 10, include_self=include_self)
    assert (by_cells.kind == by_index.kind).all()
    assert (by_cells.weights != by_index.weights).nnz == 0


def test_more_neighbours_than_there_are_kinds_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """So many that every cell must be looked at, for some people among few others."""
    sample = people(700, n_categorical=8, n_quantitative=1)
    few = np.arange(0, 700, 7)
    monkeypatch.setattr("evenleaf.fairness.nearest._FEW", 0)
    assert chosen(sample) is not None
    by_cells = nearest_neighbourhoods(sample, 95, reference=few)
    monkeypatch.setattr(CellSearch, "worthwhile", False)
    by_index = nearest_neighbourhoods(sample, 95, reference=few)
    assert (by_cells.weights != by_index.weights).nnz == 0


def test_it_is_not_chosen_where_it_would_not_pay() -> None:
    assert chosen(people(900, n_categorical=1, n_quantitative=20)) is None  # large cells
    assert chosen(people(900, n_categorical=0, n_quantitative=20)) is None  # one cell
    assert chosen(people(900, n_categorical=2, n_quantitative=1)) is None  # few dimensions: a tree is faster
    assert chosen(people(300, n_categorical=8, n_quantitative=2)) is None  # few people: all pairs
    assert chosen(people(900, n_categorical=12, n_quantitative=1, n_levels=30)) is None  # nearly a cell a person
