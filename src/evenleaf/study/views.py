"""What each figure shows, as plain data: no drawing here, and nothing is computed while drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evenleaf.study.fold import GAMMA_BINS
from evenleaf.study.results import Results, Row, mean

Point = tuple[float, float]

# Average seconds a tree in the paper (Gurobi 7.5.2, 20 CPUs, limits of 5 and 10 hours).
PAPER_SECONDS = {"default": 18_421.43, "adult": 15_944.94, "compas": 18_161.64, "crime": 36_007.0}


@dataclass(frozen=True)
class Cloud:
    """The points of one family in accuracy–discrimination space, and their convex hull."""

    family: str
    points: tuple[Point, ...]
    hull: tuple[Point, ...]


def clouds(results: Results, data: str, index: str) -> list[Cloud]:
    """Figure 1: one point a fold and method at λ*, (discrimination, accuracy or error) on the test people."""
    by_family: dict[str, list[Point]] = {}
    numbers = results.task(data) == "regression"
    for row in results.fairest(data, index):
        by_family.setdefault(row["family"], []).append((row["test"][index], performance(row, numbers=numbers)))
    return [Cloud(family, tuple(points), tuple(convex_hull(points))) for family, points in by_family.items()]


def performance(row: Row, *, numbers: bool) -> float:
    """Accuracy for classes, the mean absolute error for numbers, on the test people."""
    loss = float(row["test"]["loss"])
    return loss if numbers else 1.0 - loss


def convex_hull(points: list[Point]) -> list[Point]:
    """The corners of the hull, counter-clockwise; a segment or a point where there is no area."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    return _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]


def _chain(points: list[Point]) -> list[Point]:
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@dataclass(frozen=True)
class Fairest:
    """A method at its least discrimination: what it is worth on test people, over the folds."""

    method: str
    family: str
    values: tuple[float, ...]
    train: tuple[float, ...]
    discrimination: tuple[float, ...]
    reached: int
    constant: int
    settings: tuple[float, ...]
    proven: int | None

    @property
    def mean(self) -> float:
        """The mean over the folds."""
        return mean(self.values)

    @property
    def folds(self) -> int:
        """How many folds."""
        return len(self.values)


def fairest(results: Results, data: str, index: str) -> list[Fairest]:
    """Figure 3: every method at λ*; first those that reached the tolerance in every fold, then best first."""
    numbers = results.task(data) == "regression"
    found = []
    for method in results.methods(data):
        rows = [row for row in results.fairest(data, index) if row["method"] == method]
        if rows:
            found.append(_fairest(method, rows, index, numbers=numbers))
    return sorted(found, key=lambda entry: (entry.reached < entry.folds, entry.mean if numbers else -entry.mean))


def _fairest(method: str, rows: list[Row], index: str, *, numbers: bool) -> Fairest:
    proofs = [row["status"] == "proven" for row in rows if "status" in row]
    return Fairest(
        method,
        rows[0]["family"],
        tuple(performance(row, numbers=numbers) for row in rows),
        tuple(row["train"][index] for row in rows),
        tuple(row["test"][index] for row in rows),
        sum(row["reached"] for row in rows),
        sum(row["constant"] for row in rows),
        tuple(row["setting"] for row in rows),
        sum(proofs) if proofs else None,
    )


@dataclass(frozen=True)
class AtDepth:
    """The best tree of a depth for one λ."""

    weight: float
    depth: int
    objective: float
    bound: float
    proven: bool
    accuracy: float
    dtdi: float
    test_accuracy: float
    test_dtdi: float


def by_depth(results: Results) -> list[AtDepth]:
    """Figure 2(a, b): objective, accuracy and fairness against depth."""
    return [
        AtDepth(
            row["setting"],
            row["depth limit"],
            row["objective"],
            row["bound"],
            row["status"] == "proven",
            1 - row["train"]["loss"],
            row["train"]["dtdi"],
            1 - row["test"]["loss"],
            row["test"]["dtdi"],
        )
        for row in sorted(results.of("depth"), key=lambda row: (row["setting"], row["depth limit"]))
    ]


@dataclass(frozen=True)
class Race:
    """Bound and incumbent of one method over time; None where nothing was known yet."""

    method: str
    people: int
    status: str
    seconds: float
    trace: tuple[tuple[float, float | None, float | None], ...]


def races(results: Results) -> list[Race]:
    """Figure 2(c): the search and the mixed-integer program on the same question."""
    people = {row["method"]: row["people"] for row in results.of("bounds")}
    return [
        Race(row["method"], people[row["method"]], row["status"], row["seconds"], tuple(map(tuple, row["trace"])))
        for row in sorted(results.timed("bounds"), key=lambda row: row["method"], reverse=True)
    ]


@dataclass(frozen=True)
class Gaps:
    """The distribution of γ(x) over the test people for one tree."""

    weight: float
    dtdi: float
    counts: tuple[int, ...]

    @property
    def alike(self) -> float:
        """The part of the people whose γ is zero up to the width of a bin."""
        return self.counts[GAMMA_BINS // 2] / sum(self.counts)


def gaps(results: Results, data: str) -> list[Gaps]:
    """Figure 2(d): λ = 0, the first λ tried whose DTDI in training is at most half of that, and λ*."""
    rows = sorted(
        results.of("trade-off", data=data, index="dtdi", fold=0, method="MIP-DT"), key=lambda row: row["step"]
    )
    rows = [row for row in rows if "gamma" in row]
    if not rows:
        return []
    half = next((row for row in rows if row["train"]["dtdi"] <= rows[0]["train"]["dtdi"] / 2), rows[-1])
    last = next(
        row for row in results.chosen if row["method"] == "MIP-DT" and _same(row, rows[0], ("data", "index", "fold"))
    )
    wanted = {row["step"]: row for row in (rows[0], half, last)}
    return [Gaps(row["setting"], row["test"]["dtdi"], tuple(row["gamma"])) for row in wanted.values()]


def _same(one: Row, other: Row, names: tuple[str, ...]) -> bool:
    return all(one[name] == other[name] for name in names)


def gamma_centres() -> np.ndarray:
    """The middle of each bin of γ."""
    edges = np.linspace(-1, 1, GAMMA_BINS + 1)
    return (edges[:-1] + edges[1:]) / 2


@dataclass(frozen=True)
class Times:
    """How long the trees of a data set took, and how long the paper's did."""

    data: str
    people: int
    proven: tuple[float, ...]
    stopped: tuple[float, ...]
    paper: float | None

    @property
    def average(self) -> float:
        """Seconds a tree, proven or not."""
        return mean((*self.proven, *self.stopped))


def times(results: Results, index: str = "dtdi") -> list[Times]:
    """Solve times of MIP-DT over all folds and λ, against the average that the paper reports."""
    found = []
    plans: dict[str, Any] = {plan["name"]: plan for plan in results.record["settings"]["data"]}
    for data in results.data:
        status = {_run(row): row["status"] for row in results.of("trade-off", data=data, index=index, method="MIP-DT")}
        timed = results.timed("trade-off", data=data, index=index, method="MIP-DT")
        if timed:
            proven = tuple(row["seconds"] for row in timed if status[_run(row)] == "proven")
            stopped = tuple(row["seconds"] for row in timed if status[_run(row)] != "proven")
            found.append(Times(data, plans[data]["train"], proven, stopped, PAPER_SECONDS.get(data)))
    return found


def _run(row: Row) -> tuple[Any, ...]:
    return row["fold"], row["run"]
