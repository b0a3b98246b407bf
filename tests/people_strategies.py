"""Small tables of people for hypothesis: both kinds of columns, missing values, ties, weights, several groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from evenleaf.table import People, Table, make_groups, make_outcome

CLASSES = ("a", "b", "c", "d")
GROUPS = ("p", "q", "r", "s", "t")


@dataclass(frozen=True)
class Sample:
    """The same people as plain lists, for the loops, and as `People`, for the library."""

    y: list[Any]
    classes: tuple[str, ...] | None
    protected: dict[str, list[str | None]]
    weight: list[int]
    quantitative: list[list[int | None]]
    categorical: list[list[str | None]]

    @property
    def n(self) -> int:
        return len(self.y)

    @property
    def group(self) -> list[tuple[str | None, ...]]:
        """The joint levels of the protected columns."""
        return list(zip(*self.protected.values(), strict=True))

    @property
    def columns(self) -> dict[str, np.ndarray]:
        numbers = {f"q{i}": np.array(column, dtype=float) for i, column in enumerate(self.quantitative)}
        levels = {f"c{i}": np.array(column, dtype=object) for i, column in enumerate(self.categorical)}
        return numbers | levels

    @property
    def features(self) -> Table:
        return Table.of(self.columns, categorical=[f"c{i}" for i in range(len(self.categorical))])

    @property
    def protected_table(self) -> Table:
        columns = {name: np.array(values, dtype=object) for name, values in self.protected.items()}
        return Table.of(columns, categorical=list(columns))

    def people(self, groups: Any = "joint") -> People:
        task: Any = "regression" if self.classes is None else "classification"
        outcome = make_outcome(self.y, task=task, classes=self.classes)
        partitions = make_groups(self.protected_table, groups)
        return People(self.features, outcome, partitions, np.array(self.weight, dtype=float))

    def repeated(self) -> Sample:
        """Everybody as many times as their weight says, each time with weight 1."""
        times = [i for i, w in enumerate(self.weight) for _ in range(w)]

        def pick(column: list[Any]) -> list[Any]:
            return [column[i] for i in times]

        return Sample(
            pick(self.y),
            self.classes,
            {name: pick(column) for name, column in self.protected.items()},
            [1] * len(times),
            [pick(column) for column in self.quantitative],
            [pick(column) for column in self.categorical],
        )


@st.composite
def samples(
    draw: st.DrawFn,
    *,
    regression: bool | None = None,
    max_people: int = 12,
    weights: bool = True,
    protected_columns: int = 1,
    missing: bool = True,
) -> Sample:
    """People with at least two groups; few distinct values, so that ties and duplicates are common."""
    n = draw(st.integers(2, max_people))
    numbers = draw(st.booleans()) if regression is None else regression
    classes = None if numbers else CLASSES[: draw(st.integers(2, 4))]
    entry: Any = st.integers(-4, 4).map(lambda v: v / 4) if classes is None else st.sampled_from(classes)
    y = draw(st.lists(entry, min_size=n, max_size=n))
    blank = [st.none()] if missing and draw(st.booleans()) else []
    number = st.one_of(st.integers(-2, 3), *blank)
    level = st.one_of(st.sampled_from(["x", "y", "z"]), *blank)
    n_quantitative = draw(st.integers(0, 2))
    n_categorical = draw(st.integers(0 if n_quantitative else 1, 2))
    return Sample(
        y,
        classes,
        {f"g{i}": draw(_group_column(n, i == 0)) for i in range(protected_columns)},
        draw(_weights(n)) if weights else [1] * n,
        [draw(st.lists(number, min_size=n, max_size=n)) for _ in range(n_quantitative)],
        [draw(st.lists(level, min_size=n, max_size=n)) for _ in range(n_categorical)],
    )


@st.composite
def _group_column(draw: st.DrawFn, n: int, two: bool) -> list[str | None]:
    """A protected column; the first one has at least two levels, so that there is somebody to compare."""
    levels = GROUPS[: draw(st.integers(2, 5))]
    column: list[str | None] = draw(st.lists(st.sampled_from(levels), min_size=n, max_size=n))
    if len(set(column)) < 2 or two:
        column[0], column[1] = "p", "q"
    return column


@st.composite
def _weights(draw: st.DrawFn, n: int) -> list[int]:
    weight = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    weight[0] = max(weight[0], 1)
    return weight
