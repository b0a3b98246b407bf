"""How the time to proof of the mixed-integer programs grows with the people, on one thread.

    python benchmarks/mip_growth.py --quick       a slice in about three minutes
    python benchmarks/mip_growth.py               all of it, up to 60 s a case

Each series doubles N until a case is not proven within the limit. Printed are the seconds to proof (or the gap that
was left), how much dearer twice the people are, and the two ratios that matter: the strong formulation against the
literal one at the largest N that the literal one closes, and SCIP against HiGHS on regression and on linear leaves.
The tables are made up: quantitative columns with 5, 10 and 20 values, categorical ones with 2, 3 and 5 levels.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.fairness import DisparateImpact, DisparateTreatment, Notion
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve.budget import Budget
from evenleaf.solve.mip.backends import available
from evenleaf.solve.mip.solve import FormulationName, MipSolver
from evenleaf.table import People, Table, Task, make_groups, make_outcome, make_weight

RESULTS = Path(__file__).parent / "results" / "mip_growth.json"
NOTIONS: dict[str, Notion] = {"didi": DisparateImpact(), "dtdi": DisparateTreatment(n_neighbors=10)}
WEIGHT = 0.1
WANTED_RATIO = 5.0
# Below this a clock measures Python, not a solver.
SHORTEST = 0.05


@dataclass(frozen=True)
class Series:
    """One line of the table: what is solved, and by what."""

    task: Task
    depth: int
    notion: str
    formulation: FormulationName
    backend: str = "highs"
    linear: str = ""

    def __str__(self) -> str:
        what = f"{self.task}, linear {self.linear}" if self.linear else self.task
        return f"{what}, {self.notion}, depth {self.depth}, {self.formulation}, {self.backend}"


def made_up_people(n: int, task: Task, seed: int = 0) -> People:
    rng = np.random.default_rng(seed)
    numbers = {f"number {k}": rng.integers(0, k, n).astype(float) for k in (5, 10, 20)}
    letters = np.array(list("abcde"), dtype=object)
    levels = {f"letter {k}": letters[rng.integers(0, k, n)] for k in (2, 3, 5)}
    group = rng.random(n) < 0.3 + 0.1 * numbers["number 5"]
    score = numbers["number 5"] / 5 + numbers["number 10"] / 10 + 0.5 * (levels["letter 3"] == "a") + 0.4 * group
    score += rng.normal(0.0, 0.5, n)
    y = (score > np.median(score)).astype(int) if task == "classification" else np.round(score, 2)
    protected = Table.of({"group": np.where(group, "one", "other")})
    outcome = make_outcome(y, task=task)
    return People(Table.of(numbers | levels), outcome, make_groups(protected), make_weight(None, n))


def problem_of(series: Series, n: int) -> Problem:
    shape = Shape(
        max_depth=series.depth,
        branching="linear" if series.linear == "tests" else "single",
        leaves="linear" if series.linear == "leaves" else "constant",
    )
    people = made_up_people(n, series.task)
    return pose(people, shape=shape, fairness=NOTIONS[series.notion], fairness_weight=WEIGHT)


def measure(series: Series, n: int, limit: float) -> dict[str, Any]:
    solver = MipSolver(series.formulation, series.backend)
    answer = solver.solve(problem_of(series, n), Budget(time_limit=limit))
    return {
        **asdict(series),
        "n": n,
        "status": str(answer.status),
        "seconds": round(answer.seconds, 3),
        "gap": answer.gap,
        "objective": answer.objective,
    }


def run(series: Series, sizes: list[int], limit: float) -> list[dict[str, Any]]:
    """Double N until a case is not proven in time."""
    rows: list[dict[str, Any]] = []
    print(f"\n{series}")
    for n in sizes:
        rows.append(measure(series, n, limit))
        row = rows[-1]
        dearer = "" if len(rows) < 2 else f"   {row['seconds'] / max(rows[-2]['seconds'], SHORTEST):6.1f} × the last"
        state = "proven" if row["status"] == "proven" else f"gap {row['gap']:.0%}"
        print(f"  N = {n:5d}   {row['seconds']:8.2f} s   {state}{dearer}", flush=True)
        if row["status"] != "proven":
            break
    return rows


def all_series(notions: list[str]) -> list[Series]:
    plain: list[FormulationName] = ["paper", "strong"]
    series = [
        Series("classification", depth, notion, formulation)
        for notion in notions
        for depth in (1, 2)
        for formulation in plain
    ]
    backends = [name for name in ("highs", "scip") if name in available()]
    series += [Series("regression", 1, "didi", "paper")]
    for linear in ("", "leaves"):
        series += [Series("regression", 1, "didi", "strong", backend, linear) for backend in backends]
    return [*series, *(Series("classification", 1, "didi", name, linear="tests") for name in plain)]


def largest_closed(rows: list[dict[str, Any]], **wanted: Any) -> dict[int, float]:
    """Seconds by N of the proven cases of one series."""
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    return {row["n"]: max(row["seconds"], SHORTEST) for row in found if row["status"] == "proven"}


def compare_formulations(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Strong against literal, at the largest N that the literal formulation closes."""
    ratios = []
    for task, depth, notion, linear in dict.fromkeys(
        (row["task"], row["depth"], row["notion"], row["linear"]) for row in rows
    ):
        same = {"task": task, "depth": depth, "notion": notion, "linear": linear, "backend": "highs"}
        literal = largest_closed(rows, formulation="paper", **same)
        strong = largest_closed(rows, formulation="strong", **same)
        n = max(set(literal) & set(strong), default=None)
        if n is not None:
            ratios.append({**same, "n": n, "ratio": literal[n] / strong[n]})
    return ratios


def compare_solvers(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """HiGHS against SCIP on regression, at the largest N that both close."""
    ratios = []
    for linear in ("", "leaves"):
        same = {"task": "regression", "formulation": "strong", "linear": linear}
        highs, scip = (largest_closed(rows, backend=name, **same) for name in ("highs", "scip"))
        n = max(set(highs) & set(scip), default=None)
        if n is not None:
            ratios.append({**same, "n": n, "ratio": highs[n] / scip[n]})
    return ratios


def report(formulations: list[dict[str, Any]], solvers: list[dict[str, Any]]) -> None:
    print("\nstrong against literal, at the largest N that the literal one closes:")
    for row in formulations:
        what = f"{row['task']}{' linear ' + row['linear'] if row['linear'] else ''}, {row['notion']}"
        met = "at least" if row["ratio"] >= WANTED_RATIO else "NOT"
        text = f"{row['ratio']:6.1f} times faster ({met} {WANTED_RATIO:g})"
        print(f"  {what}, depth {row['depth']}, N = {row['n']}: {text}")
    print("\nHiGHS's seconds over SCIP's, at the largest N that both close:")
    for row in solvers:
        what = f"{row['task']}{' with linear ' + row['linear'] if row['linear'] else ''}"
        print(f"  {what}, N = {row['n']}: {row['ratio']:.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to N = 100 and 20 s a case")
    parser.add_argument("--limit", type=float, help="seconds a case (60)")
    parser.add_argument("--notion", choices=["didi", "dtdi", "both"], default="both")
    arguments = parser.parse_args()
    limit = arguments.limit or (20.0 if arguments.quick else 60.0)
    sizes = [25, 50, 100] if arguments.quick else [25, 50, 100, 200, 400, 800, 1600]
    notions = ["didi", "dtdi"] if arguments.notion == "both" else [arguments.notion]
    rows = [row for series in all_series(notions) for row in run(series, sizes, limit)]
    formulations, solvers = compare_formulations(rows), compare_solvers(rows)
    report(formulations, solvers)
    RESULTS.parent.mkdir(exist_ok=True)
    kept = {"limit": limit, "weight": WEIGHT, "rows": rows, "formulations": formulations, "solvers": solvers}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
