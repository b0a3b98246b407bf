"""What a newcomer waits for: the import, the first solve on a fresh install (compilation included), and a warm one.

The overhead of a warm one is all that is not reading the table and not the search itself (what the same question takes
once more): Python's start, the import, and loading the compiled kernels.

python benchmarks/cold_start.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "cold_start.json"
FIRST = """
import time
from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Shape, pose
from evenleaf.solve import solve
begun = time.perf_counter()
people = load_adult().sample(200, seed=1).people()
read = time.perf_counter() - begun
problem = pose(people, fairness=DisparateTreatment(), fairness_weight=0.3, shape=Shape(max_depth=2))
answer = solve(problem)
assert answer.proven
"""
AGAIN = """
print(read, solve(problem).seconds)
"""


def run(code: str, cache: str) -> tuple[float, str]:
    started = time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", code]  # our own words, no stranger's
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return time.perf_counter() - started, done.stdout + done.stderr


def warm_run(cache: str) -> tuple[float, float]:
    """Seconds from Python's start to the answer, and those of them that are neither reading nor searching."""
    whole, said = run(FIRST + AGAIN, cache)
    read, searched = map(float, said.split()[-2:])
    warm = whole - searched  # it was searched twice
    return warm, warm - read - searched


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        imported = min(run("import evenleaf", cache)[0] for _ in range(3))
        cold, said = run(FIRST, cache)
        warm, overhead = min(warm_run(cache) for _ in range(3))
    announced = "compiling once" in said
    result = {"import": imported, "first": cold, "warm": warm, "overhead": overhead, "announced": announced}
    print(f"import evenleaf {imported:.2f} s · first solve {cold:.1f} s · warm solve {warm:.2f} s, with Python's start")
    print(f"overhead of the warm one {overhead:.2f} s · said that it compiles: {announced}")
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
