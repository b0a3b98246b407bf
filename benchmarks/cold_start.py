"""What a newcomer waits for: the import, the first solve on a fresh install (compilation included), and a warm one.

The overhead of a warm one is all that is not reading the table and not the search itself (what the same question takes
once more): Python's start, the import, and loading the compiled kernels. Python's own byte code of the package is made
before, as installing it does. Processor time is printed beside the clock's; on a shared machine it says more.

python benchmarks/cold_start.py
"""

from __future__ import annotations

import compileall
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import evenleaf

RESULTS = Path(__file__).parent / "results" / "cold_start.json"
FIRST = """
import time
from evenleaf.datasets import load_adult
from evenleaf.fairness import DisparateTreatment
from evenleaf.problem import Shape, pose
from evenleaf.solve import solve
begun, used = time.perf_counter(), time.process_time()
people = load_adult().sample(200, seed=1).people()
read, cpu_read = time.perf_counter() - begun, time.process_time() - used
problem = pose(people, fairness=DisparateTreatment(), fairness_weight=0.3, shape=Shape(max_depth=2))
answer = solve(problem)
assert answer.proven
"""
AGAIN = """
used = time.process_time()
print(read, solve(problem).seconds, cpu_read, time.process_time() - used)
"""


def run(code: str, cache: str) -> tuple[float, float, str]:
    """Seconds by the clock and of the processor, and what was said."""
    started, before = time.perf_counter(), processor()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", code]  # our own words, no stranger's
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return time.perf_counter() - started, processor() - before, done.stdout + done.stderr


def processor() -> float:
    """What all processes started so far took of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def warm_run(cache: str) -> tuple[float, float, float]:
    """Seconds from Python's start to the answer, and those of them that are neither reading nor searching: by the
    clock, and of the processor.
    """
    whole, cpu, said = run(FIRST + AGAIN, cache)
    read, searched, cpu_read, cpu_searched = map(float, said.split()[-4:])
    warm = whole - searched  # it was searched twice
    return warm, warm - read - searched, cpu - cpu_read - 2 * cpu_searched


def main() -> None:
    compileall.compile_dir(Path(evenleaf.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as cache:
        imported = min(run("import evenleaf", cache)[0] for _ in range(3))
        cold, cold_cpu, said = run(FIRST, cache)
        runs = [warm_run(cache) for _ in range(3)]
    warm, overhead = min(runs)[:2]
    overhead_cpu = min(cpu for _, _, cpu in runs)
    announced = "compiling once" in said
    result = {"import": imported, "first": cold, "warm": warm, "overhead": overhead, "announced": announced}
    result |= {"first_cpu": cold_cpu, "overhead_cpu": overhead_cpu}
    print(f"import evenleaf {imported:.2f} s · first solve {cold:.1f} s · warm solve {warm:.2f} s, with Python's start")
    print(f"overhead of the warm one {overhead:.2f} s · said that it compiles: {announced}")
    print(f"processor time: first solve {cold_cpu:.1f} s · overhead of the warm one {overhead_cpu:.2f} s")
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
