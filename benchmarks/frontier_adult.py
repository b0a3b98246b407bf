"""The whole trade-off on Adult, proven: N = 5,000, disparate treatment, depth 2, every threshold and subset.

    python benchmarks/frontier_adult.py               a minute or two

Then the paper's grid λ = 0, 0.1, …, 1 is solved point by point: each optimum must lie on the frontier exactly. The
time of the frontier is compared with that of single solves: the solves of the grid, and the dearest of its own.
Processor time is counted, so that other work on the machine does not matter.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import pairwise
from pathlib import Path

from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Frontier, frontier, solve

RESULTS = Path(__file__).parent / "results" / "frontier_adult.json"
GRID = [tenth / 10 for tenth in range(11)]


def question(n_people: int) -> Problem:
    people = load_adult(race="white_or_not").sample(n_people, seed=1).people()
    problem = pose(people, fairness=DisparateTreatment(), shape=Shape(max_depth=2))
    _ = problem.simplified
    return problem


def timed_frontier(problem: Problem, limit: float) -> tuple[Frontier, float, list[float]]:
    """The frontier, its processor seconds, and those of each of its solves."""
    marks = [time.process_time()]
    found = frontier(problem, Budget(time_limit=limit), on_solved=lambda *_: marks.append(time.process_time()))
    return found, time.process_time() - marks[0], [b - a for a, b in pairwise(marks)]


def check_grid(problem: Problem, found: Frontier) -> list[float]:
    """The seconds of each solve of the paper's grid; an optimum that is off the frontier stops the benchmark."""
    seconds = []
    for weight in GRID:
        started = time.process_time()
        answer = solve(problem.with_weight(weight), Budget())
        seconds.append(time.process_time() - started)
        assert answer.proven
        assert abs(answer.objective - found.value(weight)) < 1e-9, (weight, answer.objective, found.value(weight))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=5_000)
    parser.add_argument("--limit", type=float, default=600.0)
    settings = parser.parse_args()
    solve(question(200), Budget(time_limit=60))  # the kernels are compiled before anything is timed
    problem = question(settings.people)
    found, total, own = timed_frontier(problem, settings.limit)
    print(f"proven {found.proven}: {len(found)} trees by {len(own)} solves in {total:.1f} s")
    print(f"{'λ from':>10} {'λ to':>10} {'loss':>9} {'DTDI':>9}  leaves")
    for point in found:
        print(
            f"{point.weight_from:10.4f} {point.weight_to:10.4f} {point.loss:9.4f} {point.discrimination:9.5f}"
            f"  {point.leaves}"
        )
    assert found.proven
    grid = check_grid(problem, found)
    mean = sum(grid) / len(grid)
    print(f"the paper's grid lies on it; one solve takes {min(grid):.2f} to {max(grid):.2f} s, {mean:.2f} s on average")
    print(
        f"frontier ÷ average solve of the grid {total / mean:.1f}, ÷ the dearest of its solves {total / max(own):.1f}"
    )
    RESULTS.write_text(
        json.dumps(
            {
                "people": settings.people,
                "proven": found.proven,
                "trees": len(found),
                "seconds": total,
                "solves": own,
                "grid": grid,
            },
            indent=2,
        )
        + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
