"""Equal rows and distinct values: the same as sorting says, whatever the columns hold and however keys are packed."""

from __future__ import annotations

import numpy as np
import pytest

from evenleaf.table import Table, distinct, equal_rows, table


def by_hand(data: tuple[np.ndarray, ...]) -> tuple[list[int], list[int]]:
    seen: dict[tuple[float | str, ...], int] = {}
    first: list[int] = []
    kind: list[int] = []
    for row, values in enumerate(zip(*data, strict=True)):
        key = tuple("missing" if value != value else float(value) + 0.0 for value in values)
        if key not in seen:
            seen[key] = len(first)
            first.append(row)
        kind.append(seen[key])
    return first, kind


def columns(draw: np.random.Generator, n_people: int) -> np.ndarray:
    kinds = (
        draw.choice([0.0, -0.0, np.nan, 1.5, 2.0], (n_people, 2)),
        draw.choice([1e12, -1e18, 5.0, 1e300], (n_people, 2)),
        draw.integers(-3, 3, (n_people, 2)).astype(float),
        draw.integers(0, 2, (n_people, 2)) * 1e6,
    )
    return np.column_stack([kinds[number] for number in draw.integers(0, len(kinds), 3)])


@pytest.mark.parametrize("packed", [True, False], ids=["one key", "keys renumbered all the time"])
def test_equal_rows(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not packed:
        monkeypatch.setattr(table, "_LARGEST_KEY", 6)
        monkeypatch.setattr(table, "_FEW_KEYS", -10_000)
    draw = np.random.default_rng(0)
    for _ in range(100):
        people = Table.of(columns(draw, int(draw.integers(1, 30))))
        first, kind = equal_rows(people)
        assert (first.tolist(), kind.tolist()) == by_hand(people.data)


def test_no_column_makes_everybody_equal() -> None:
    first, kind = equal_rows(Table.of(np.zeros((3, 1))).select([]))
    assert first.tolist() == [0]
    assert kind.tolist() == [0, 0, 0]


def test_distinct() -> None:
    draw = np.random.default_rng(1)
    for _ in range(100):
        values = columns(draw, 20)[:, 0]
        values = values[~np.isnan(values)]
        known, place = distinct(values)
        assert (np.diff(known) > 0).all()
        assert (known[place] == values).all()
        assert set(place.tolist()) == set(range(len(known)))
