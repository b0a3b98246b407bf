"""Time to proof at the paper's sizes and beyond: every feature, every threshold, every subset, depth 2, DTDI.

    python benchmarks/paper_scale.py --quick          a slice in about five minutes
    python benchmarks/paper_scale.py                  all of it

The similar people are looked up first and counted apart; the kernels are compiled before the first case. The paper
reports 15,945 to 18,421 s a tree (N = 1,000 to 5,000) on 20 CPUs with its time limit reached and the gap open; the
last column is that time over ours. Machines differ, so read it as an order of magnitude.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evenleaf.datasets import Dataset, load_adult, load_compas, load_default
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.search import SearchSolver

PAPER_SECONDS = {"adult": 15_944.94, "default": 18_421.43, "compas violent": 18_161.64}
DATA: dict[str, Callable[[], Dataset]] = {
    "adult": lambda: load_adult(race="white_or_not"),
    "adult, five groups": load_adult,
    "default": load_default,
    "compas violent": lambda: load_compas(kind="violent", race="african_american_or_not"),
    "compas two-year": lambda: load_compas(kind="two_year", race="african_american_or_not"),
}
WEIGHTS = (0.1, 0.3, 1.0, 3.0)
RESULTS = Path(__file__).parent / "results" / "paper_scale.json"


def cases(quick: bool) -> Iterator[tuple[str, int | None, int]]:
    """(data set, people or None for all, seed)."""
    for name in DATA:
        sizes: tuple[int | None, ...] = (1_000,) if quick else (1_000, 5_000, None)
        for size in sizes:
            yield from ((name, size, seed) for seed in ((1,) if quick or size is None else (1, 2, 3)))


def question(data: Dataset, size: int | None, seed: int) -> tuple[Problem, float]:
    """The problem without its λ, and the seconds its neighbours took."""
    started = time.perf_counter()
    people = (data if size is None else data.sample(min(size, data.n_people), seed=seed)).people()
    problem = pose(people, fairness=DisparateTreatment(n_neighbors=10), shape=Shape(max_depth=2))
    _ = problem.simplified
    return problem, time.perf_counter() - started


def measure(problem: Problem, limit: float) -> dict[str, Any]:
    answer = SearchSolver().solve(problem, Budget(time_limit=limit))
    early = [point.objective for point in answer.trace if point.seconds <= 1.0]
    return {
        "status": str(answer.status),
        "seconds": round(answer.seconds, 3),
        "objective": answer.objective,
        "bound": answer.bound,
        "gap": answer.gap,
        "first_second": None if not early else early[-1] / answer.objective - 1 if answer.objective else 0.0,
        "work": answer.message,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="N = 1,000 and one seed")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a case")
    parser.add_argument("--only", help="one data set")
    arguments = parser.parse_args()
    warm, _ = question(load_adult(), 100, 0)
    SearchSolver().solve(warm, Budget())
    rows: list[dict[str, Any]] = []
    print(
        f"{'data':20}{'N':>8}{'seed':>5}{'λ':>6}  {'status':10}{'seconds':>9}{'gap':>8}{'1st s':>8}{'paper ÷ ours':>14}"
    )
    for name, size, seed in cases(arguments.quick):
        if arguments.only and name != arguments.only:
            continue
        problem, looking = question(DATA[name](), size, seed)
        for weight in WEIGHTS:
            row: dict[str, Any] = {"data": name, "n": problem.people.n_people, "seed": seed, "weight": weight}
            row |= {"neighbours": looking, **measure(problem.with_weight(weight), arguments.limit)}
            paper = PAPER_SECONDS.get(name)
            ratio = f"{paper / row['seconds']:,.0f}" if paper and row["status"] == "proven" else ""
            first = "" if row["first_second"] is None else f"{row['first_second']:.2%}"
            print(
                f"{name:20}{row['n']:8,}{seed:5}{weight:6g}  {row['status']:10}{row['seconds']:9.2f}"
                f"{row['gap']:8.2%}{first:>8}{ratio:>14}",
                flush=True,
            )
            rows.append(row)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:,.0f} MiB")
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"peak_mib": peak, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
