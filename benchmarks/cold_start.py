"""What a newcomer waits for: the import, the first solve on a fresh install (compilation included), and a warm one.

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
from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Shape, pose
from evenleaf.solve import solve
people = load_adult().sample(200, seed=1).people()
answer = solve(pose(people, fairness=DisparateTreatment(), fairness_weight=0.3, shape=Shape(max_depth=2)))
assert answer.proven
print(answer.seconds)
"""


def run(code: str, cache: str) -> tuple[float, str]:
    started = time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", code]  # our own words, no stranger's
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return time.perf_counter() - started, done.stdout + done.stderr


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        imported = min(run("import evenleaf", cache)[0] for _ in range(3))
        cold, said = run(FIRST, cache)
        warm = min(run(FIRST, cache)[0] for _ in range(3))
    result = {"import": imported, "first": cold, "warm": warm, "announced": "compiling once" in said}
    print(f"import evenleaf {imported:.2f} s · first solve {cold:.1f} s · warm solve {warm:.2f} s, with Python's start")
    print(f"said that it compiles: {result['announced']}")
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
