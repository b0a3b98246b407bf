"""Evenleaf against pystreed in one run: the same binary tables, two groups, statistical parity or equal opportunity.

    python benchmarks/against_pystreed.py --depths 2 3

pystreed (a peer, needed for this benchmark only: the extra `peers`) takes binary features and two groups; so
quantitative columns become indicators of a few quantiles and categorical ones of their commonest levels. The limit is
0.01 on the difference of the two groups' rates. Errors are counted from the predictions of either side. With
--groups the protected column keeps all its groups, which only Evenleaf can do.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.datasets import Dataset, load_adult, load_communities, load_compas, load_default
from evenleaf.fairness import DisparateImpact, EqualOpportunity, Notion
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver
from evenleaf.table import People
from evenleaf.testing import people_from

LIMIT = 0.01
RESULTS = Path(__file__).parent / "results"
DATA: dict[str, tuple[Callable[[], Dataset], Callable[[], Dataset]]] = {
    "adult": (lambda: load_adult(race="white_or_not"), load_adult),
    "compas": (
        lambda: load_compas(kind="two_year", race="african_american_or_not"),
        lambda: load_compas(kind="two_year"),
    ),
    "communities": (lambda: load_communities("normalised"), lambda: load_communities("normalised")),
    "default": (load_default, lambda: load_default(protected=("EDUCATION",))),
}


@dataclass(frozen=True, eq=False)
class Binary:
    """A table of zeros and ones, outcomes, and group codes."""

    x: np.ndarray
    y: np.ndarray
    group: np.ndarray


def binary(people: People, thresholds: int) -> Binary:
    """Indicators of quantiles and of the commonest levels."""
    columns = []
    for column, values in zip(people.features.schema, people.features.data, strict=True):
        if column.is_categorical:
            common = np.argsort(-np.bincount(values[values >= 0]))[:thresholds]
            columns += [values == level for level in common]
        else:
            cuts = np.unique(np.nanquantile(values, np.arange(1, thresholds + 1) / (thresholds + 1)))
            columns += [values <= cut for cut in cuts]
    x = np.unique(np.array(columns, dtype=np.int64), axis=0).T
    x = x[:, (x.min(axis=0) < x.max(axis=0))]
    y = np.asarray(people.outcome.values)
    if people.outcome.classes is None:  # a rate of crimes: above the median or not
        y = y > np.median(y)
    return Binary(x, y.astype(np.int64), people.groups[0].codes.astype(np.int64))


def asked(table: Binary, task: str, depth: int) -> Problem:
    """The same limit in Evenleaf's terms: DIDI counts both classes, so it is twice the difference of two rates."""
    names = {f"b{place}": table.x[:, place].astype(float) for place in range(table.x.shape[1])}
    groups = {"g": [f"g{code}" for code in table.group]}
    people = people_from(names, table.y.tolist(), groups, classes=(0, 1))
    notion: Notion = DisparateImpact() if task == "parity" else EqualOpportunity(1)
    limit = 2 * LIMIT if task == "parity" else LIMIT
    return pose(people, fairness=notion, max_discrimination=limit, shape=Shape(max_depth=depth))


def ours(table: Binary, task: str, depth: int, seconds: float) -> dict[str, Any]:
    problem = asked(table, task, depth)
    _ = problem.simplified  # a part of posing the problem
    started = time.process_time()
    answer = FrontSolver().solve(problem, Budget(time_limit=seconds))
    cpu = time.process_time() - started
    return {"errors": round(answer.objective * len(table.y)), "proven": answer.proven, "cpu": cpu, "gap": answer.gap}


def theirs(table: Binary, task: str, depth: int, seconds: float) -> dict[str, Any]:
    from pystreed import STreeDGroupFairnessClassifier  # type: ignore[import-untyped,import-not-found,unused-ignore]

    name = "group-fairness" if task == "parity" else "equality-of-opportunity"
    x = np.column_stack([table.group, table.x])
    model = STreeDGroupFairnessClassifier(name, discrimination_limit=LIMIT, max_depth=depth, time_limit=seconds)
    started = time.process_time()
    model.fit(x, table.y)
    cpu = time.process_time() - started
    errors = int((np.asarray(model.predict(x)).ravel() != table.y).sum())
    return {"errors": errors, "proven": bool(model.fit_result.is_optimal()), "cpu": cpu}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of either side")
    parser.add_argument("--thresholds", type=int, default=2, help="indicators a column")
    parser.add_argument("--only", help="one data set")
    parser.add_argument("--theirs", type=int, default=4, help="the deepest trees that pystreed is asked for")
    parser.add_argument("--groups", action="store_true", help="all groups of the protected column; Evenleaf alone")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name, loaders in DATA.items():
        if arguments.only and name != arguments.only:
            continue
        table = binary(loaders[int(arguments.groups)]().people(), arguments.thresholds)
        for depth in arguments.depths:  # compiles the kernels
            ours(Binary(table.x[:50], table.y[:50], np.arange(50) % 2), "parity", depth, 60.0)
        for task in ("parity", "opportunity"):
            for depth in arguments.depths:
                row = {"data": name, "n": len(table.y), "features": table.x.shape[1], "task": task, "depth": depth}
                row |= {"groups": int(table.group.max()) + 1, "ours": ours(table, task, depth, arguments.seconds)}
                if not arguments.groups and depth <= arguments.theirs:
                    row["theirs"] = theirs(table, task, depth, arguments.seconds)
                rows.append(row)
                print(json.dumps(row), flush=True)
                keep(rows, "against_pystreed_groups.json" if arguments.groups else "against_pystreed.json")


def keep(rows: list[dict[str, Any]], name: str) -> None:
    """Written after every case: the peer may crash and take the run with it. A case run again replaces its row."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / name
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    fresh = {(row["data"], row["task"], row["depth"]): row for row in [*old, *rows]}
    path.write_text(json.dumps(list(fresh.values()), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
