"""The work of a study as chains: runs that follow from each other are one chain, and chains are independent."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenleaf.datasets import find
from evenleaf.problem import Problem, Shape
from evenleaf.solve import Budget, Solution, Stop, solve
from evenleaf.study.config import DataPlan, StudyConfig
from evenleaf.study.fold import Fold, make_fold
from evenleaf.study.journal import Key
from evenleaf.study.methods import Attempt, attempt, dial_name, exact_or_local, near_at, solved, trace_points, tree_of
from evenleaf.study.protocol import next_step, settings_of
from evenleaf.tree import Tree

Row = tuple[Key, dict[str, Any], dict[str, Any]]
_DIGITS = 12  # what is left after them is rounding of sums in another order


@dataclass(frozen=True)
class Chain:
    """What its runs have in common: the key of a run starts with it, and ends with the number of the run."""

    kind: str
    data: str
    index: str
    fold: int
    method: str

    @property
    def prefix(self) -> Key:
        """How the keys of its runs begin."""
        return self.kind, self.data, self.index, self.fold, self.method


def chains_of(config: StudyConfig) -> list[Chain]:
    """All chains of a study, those of one fold together so that its people are prepared once."""
    chains = []
    for plan in config.data:
        task = find(plan.loader).task
        methods = config.classification if task == "classification" else config.regression
        for fold in range(plan.folds):
            for index in config.protocol.indices:
                # MIP-DT-A is a variant of DTDI; with DIDI there is no distance to approximate.
                chains += [
                    Chain("trade-off", plan.name, index, fold, method)
                    for method in methods
                    if not (method == "MIP-DT-A" and index == "didi")
                ]
    if config.depths is not None:
        chains += [Chain("depth", config.depths.data, "dtdi", 0, f"λ = {weight:g}") for weight in config.depths.weights]
    if config.bounds is not None:
        chains += [Chain("bounds", config.bounds.data, "dtdi", 0, solver) for solver in ("search", "mip")]
    return chains


def run_chain(config: StudyConfig, chain: Chain, done: Mapping[Key, Mapping[str, Any]]) -> Iterator[Row]:
    """The runs of a chain that are still to do, one at a time; `done` holds those that are not."""
    work: Callable[..., Iterator[Row]] = {"trade-off": _trade_off, "depth": _depths, "bounds": _bounds}[chain.kind]
    # One thread: runs are parallel already, and sums in one order are the same on every run.
    with threadpool_limits(1):
        for key, result, timing in work(config, chain, done):
            yield key, _rounded(result), timing


def _trade_off(config: StudyConfig, chain: Chain, done: Mapping[Key, Mapping[str, Any]]) -> Iterator[Row]:
    protocol = config.protocol
    rows = {key[-1]: row for key, row in done.items() if key[:-1] == chain.prefix}
    settings = settings_of(chain.method, protocol)
    while (step := next_step(chain.method, protocol, _tried(rows, chain.index))) is not None:
        fold = _fold(config, chain.data, chain.fold, None)
        started = time.perf_counter()
        found = attempt(chain.method, fold, settings[step], protocol, chain.index, _trees(rows, fold))
        seconds = time.perf_counter() - started
        result = {
            "step": step,
            "dial": dial_name(chain.method),
            "setting": settings[step],
            **_measured(fold, found),
            **found.evidence,
        }
        if chain.fold == 0 and found.tree is not None and fold.positive is not None:
            result["gamma"] = fold.test.gamma_counts(found.test, fold.positive)
        rows[step] = _rounded(result)
        yield (*chain.prefix, step), result, {"seconds": seconds, **found.timing}


def _tried(rows: Mapping[int, Mapping[str, Any]], index: str) -> dict[int, float]:
    return {step: row["train"][index] for step, row in rows.items()}


def _trees(rows: Mapping[int, Mapping[str, Any]], fold: Fold) -> list[Tree]:
    """The trees found so far, read from the rows, so that a resumed chain starts its searches where the first did."""
    return [tree_of(row["tree"], fold.train.people) for _, row in sorted(rows.items()) if "tree" in row]


def _depths(config: StudyConfig, chain: Chain, done: Mapping[Key, Mapping[str, Any]]) -> Iterator[Row]:
    plan = config.depths
    assert plan is not None  # noqa: S101 (there would be no such chain)
    weight = float(chain.method.removeprefix("λ = "))
    rows = {key[-1]: row for key, row in done.items() if key[:-1] == chain.prefix}
    for depth in sorted(set(plan.depths) - set(rows)):
        fold = _fold(config, chain.data, chain.fold, plan.train)
        question = fold.by_features[0].with_shape(Shape(max_depth=depth)).with_weight(weight)
        # A shallower tree is a deeper one too, so that more depth is never worse, proven or not.
        shallower = _trees({known: row for known, row in rows.items() if known < depth}, fold)
        start = min(shallower, key=lambda tree: question.evaluate(tree).objective, default=None)
        found = solved(question, fold, plan.time_limit, config.protocol.mip_people, start)
        result = {"depth limit": depth, "setting": weight, **_measured(fold, found), **found.evidence}
        rows[depth] = _rounded(result)
        yield (*chain.prefix, depth), result, found.timing


def _bounds(config: StudyConfig, chain: Chain, done: Mapping[Key, Mapping[str, Any]]) -> Iterator[Row]:
    plan = config.bounds
    assert plan is not None  # noqa: S101 (there would be no such chain)
    if (*chain.prefix, 0) in done:
        return
    fold = _fold(config, chain.data, chain.fold, plan.train)
    shape = Shape(max_depth=config.protocol.depth)
    question = fold.by_features[0].with_shape(shape).with_weight(plan.weight)
    solution = _raced(question, chain.method, plan.time_limit)
    # How far a method gets in its time differs from run to run, so the figures are timings, not results.
    result = {"people": question.people.n_people, "setting": plan.weight}
    timing = {
        "status": str(solution.status),
        "seconds": solution.seconds,
        "near": near_at(solution.trace),
        "trace": trace_points(solution.trace),
        "objective": solution.objective if solution.tree is not None else None,
        "bound": solution.bound,
    }
    yield (*chain.prefix, 0), result, timing


def _raced(question: Problem, method: str, time_limit: float) -> Solution:
    """The exact method that `auto` takes here, or the mixed-integer program by name."""
    name = exact_or_local(question, 0) if method == "search" else "mip"
    solution = solve(question, Budget(time_limit=time_limit), solver=name)
    if solution.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


def _measured(fold: Fold, found: Attempt) -> dict[str, Any]:
    """Both parts, and whether everybody is decided alike: the fairness that costs no thought."""
    alike = bool(np.ptp(np.concatenate([found.train, found.test])) < 1e-9)
    return {"train": fold.train.measures(found.train), "test": fold.test.measures(found.test), "constant": alike}


def _fold(config: StudyConfig, data: str, number: int, train: int | None) -> Fold:
    return _cached_fold(config.plan(data).text, number, config.seed, config.protocol.neighbors, train)


@lru_cache(maxsize=2)
def _cached_fold(plan: str, number: int, seed: int, neighbors: int, train: int | None) -> Fold:
    return make_fold(DataPlan.of_text(plan), number, seed=seed, neighbors=neighbors, train=train)


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):  # but a tree must stay what it is, to the last digit of its thresholds
        return {name: entry if name == "tree" else _rounded(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return float(f"{value:.{_DIGITS}g}") + 0.0 if isinstance(value, float) else value
