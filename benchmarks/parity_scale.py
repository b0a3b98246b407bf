"""Time to proof for disparate impact on the raw tables: every threshold, every subset of levels, depth 2 to 4.

    python benchmarks/parity_scale.py --quick          N = 1,000, depth 2 and 3
    python benchmarks/parity_scale.py                  all of it

Both forms: a fairness weight λ, and a limit ε. The kernels are compiled before the first case. "cpu" is the time that
this process was running, which on a shared machine says more than the clock. Where a case is not proven in its time,
the gap is what the answer itself claims.
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
from evenleaf.fairness import DisparateImpact
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget
from evenleaf.solve.fronts import FrontSolver

DATA: dict[str, Callable[[], Dataset]] = {
    "adult": lambda: load_adult(race="white_or_not"),
    "compas violent": lambda: load_compas(kind="violent", race="african_american_or_not"),
    "default": load_default,
    "adult, five groups": load_adult,
}
WEIGHTS, LIMITS = (0.1, 0.3, 1.0, 3.0), (0.0, 0.01, 0.05)
SECONDS = {2: 10.0, 3: 60.0, 4: 300.0}
RESULTS = Path(__file__).parent / "results" / "parity_scale.json"


def forms(problem: Problem) -> Iterator[tuple[str, Problem]]:
    yield from ((f"λ = {weight:g}", problem.with_weight(weight)) for weight in WEIGHTS)
    yield from ((f"ε = {limit:g}", problem.with_limit(limit)) for limit in LIMITS)


def measure(problem: Problem, limit: float) -> dict[str, Any]:
    started = time.process_time()
    answer = FrontSolver().solve(problem, Budget(time_limit=limit))
    return {
        "status": str(answer.status),
        "seconds": round(answer.seconds, 3),
        "cpu": round(time.process_time() - started, 3),
        "objective": answer.objective,
        "bound": answer.bound,
        "gap": answer.gap,
        "work": answer.message,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="N = 1,000, depth 2 and 3")
    parser.add_argument("--limit", type=float, help="seconds a case, whatever its depth")
    parser.add_argument("--only", help="one data set")
    parser.add_argument("--depths", type=int, nargs="+", help="these depths only")
    parser.add_argument("--sizes", type=int, nargs="+", help="these numbers of people only (0: all)")
    arguments = parser.parse_args()
    depths = arguments.depths or ((2, 3) if arguments.quick else (2, 3, 4))
    sizes = arguments.sizes or ((1_000,) if arguments.quick else (1_000, 5_000, 0))
    warm = pose(load_adult(race="white_or_not").sample(60, seed=0).people(), fairness=DisparateImpact())
    for _, problem in forms(warm):
        FrontSolver().solve(problem, Budget(time_limit=10))
    rows: list[dict[str, Any]] = []
    print(f"{'data':20}{'N':>8}{'depth':>6}  {'form':10}{'status':10}{'seconds':>9}{'cpu':>9}{'gap':>9}")
    for name, load in DATA.items():
        if arguments.only and name != arguments.only:
            continue
        for size in sizes:
            data = load()
            people = (data if not size else data.sample(min(size, data.n_people), seed=1)).people()
            for depth in depths:
                for form, problem in forms(pose(people, fairness=DisparateImpact(), shape=Shape(max_depth=depth))):
                    found = measure(problem, arguments.limit or SECONDS[depth])
                    rows.append({"data": name, "n": people.n_people, "depth": depth, "form": form, **found})
                    print(
                        f"{name:20}{people.n_people:8,}{depth:6}  {form:10}{found['status']:10}"
                        f"{found['seconds']:9.2f}{found['cpu']:9.2f}{found['gap']:9.2%}",
                        flush=True,
                    )
                    keep(rows)
    print(f"peak memory {peak_mib():,.0f} MiB")


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def keep(rows: list[dict[str, Any]]) -> None:
    """Written after every case, so that a run that is stopped leaves what it measured."""
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"peak_mib": peak_mib(), "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
