"""The search against the strong mixed-integer program (HiGHS) in one run: the same optimum, how many times faster.

python benchmarks/against_mip.py
"""

from __future__ import annotations

import json
from pathlib import Path

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Shape, pose
from evenleaf.solve import Budget, solve

RESULTS = Path(__file__).parent / "results" / "against_mip.json"


def main() -> None:
    rows: list[dict[str, object]] = []
    print(f"{'N':>5}{'depth':>6}{'λ':>6}{'search s':>10}{'program s':>11}{'ratio':>8}  same optimum")
    for size, depth in ((100, 1), (400, 1), (50, 2), (100, 2)):
        people = load_adult(race="white_or_not").sample(size, seed=1).people()
        problem = pose(
            people, fairness=DisparateTreatment(n_neighbors=10), fairness_weight=0.3, shape=Shape(max_depth=depth)
        )
        solve(problem, Budget(), solver="search")  # compiled and looked up
        ours = solve(problem, Budget(), solver="search")
        theirs = solve(problem, Budget(time_limit=180), solver="mip")
        same = abs(ours.objective - theirs.objective) < 1e-6 if theirs.proven else None
        ratio = theirs.seconds / ours.seconds
        row: dict[str, object] = {
            "n": size,
            "depth": depth,
            "weight": 0.3,
            "search": ours.seconds,
            "mip": theirs.seconds,
        }
        rows.append(row | {"ratio": ratio, "mip_status": str(theirs.status), "same": same})
        print(
            f"{size:5}{depth:6}{0.3:6g}{ours.seconds:10.3f}{theirs.seconds:11.2f}{ratio:8.0f}  "
            f"{'yes' if same else 'the program did not close' if same is None else 'NO'}",
            flush=True,
        )
    RESULTS.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
