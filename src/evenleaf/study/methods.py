"""Every method of the study behind one function: people and a dial in, decisions and evidence out.

The dial is what trades accuracy for fairness: λ where the method has a weight, the bound ε where it has a limit,
nothing where it has neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenleaf.baselines import (
    Baseline,
    DiscriminationAwareTree,
    ExponentiatedGradientTree,
    FairLinearRegression,
    FairLogisticRegression,
    GreedyTreeClassifier,
    GreedyTreeRegressor,
)
from evenleaf.problem import Problem, Shape
from evenleaf.solve import Budget, Solution, Status, Stop, TracePoint, solve
from evenleaf.solve.choose import get_solver
from evenleaf.study.config import Protocol
from evenleaf.study.fold import Fold
from evenleaf.table import People
from evenleaf.tree import Leaf, Target, Tree, tree_from_json, tree_to_json

# From loose to strict; the last is as strict as the method goes.
RELABEL_BOUNDS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.0)
REDUCTION_BOUNDS = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
_REGRESSIONS: dict[str, tuple[str, str | None]] = {
    "log": ("label", None),
    "log-ind": ("label", "individual"),
    "log-grp": ("label", "group"),
    "log-hyb": ("label", "hybrid"),
    "reg": ("number", None),
    "LR-ind": ("number", "individual"),
    "LR-grp": ("number", "group"),
}
# A tree is near-optimal when its objective is within this of the final one.
NEAR = 0.01
_OURS = ("MIP-DT", "MIP-DT-A", "CART")


@dataclass(frozen=True, eq=False)
class Attempt:
    """Decisions about both parts of a fold; `evidence` is the same on every machine, `timing` is not."""

    train: np.ndarray
    test: np.ndarray
    evidence: dict[str, Any] = field(default_factory=dict)
    timing: dict[str, Any] = field(default_factory=dict)
    tree: Tree | None = None


def dial_name(method: str) -> str | None:
    """λ, ε, or None where the method cannot be turned."""
    if method in ("MIP-DT", "MIP-DT-A") or _REGRESSIONS.get(method, ("", None))[1] is not None:
        return "λ"
    return "ε" if "Relab" in method or method == "reduction" else None


def dial_settings(method: str, protocol: Protocol) -> Iterator[float]:
    """The settings to try one after another, from no fairness to as much as there is."""
    kind = dial_name(method)
    if kind == "λ":
        yield from weights(protocol)
    elif kind == "ε":
        yield from REDUCTION_BOUNDS if method == "reduction" else RELABEL_BOUNDS
    else:
        yield 0.0


def weights(protocol: Protocol) -> Iterator[float]:
    """The paper's {0, 0.1, 0.2, …}; beyond `even_until` the steps grow, up to `most_weight`."""
    step, weight = 0, 0.0
    while weight <= protocol.most_weight:
        yield weight
        step += 1
        even = round(step * protocol.weight_step, 10)
        weight = even if even <= protocol.even_until else _grown(weight, protocol)


def _grown(weight: float, protocol: Protocol) -> float:
    """The next weight once steps grow, to six digits so that it can be read."""
    return float(f"{max(weight, protocol.weight_step) * protocol.growth:.6g}")


def attempt(
    method: str, fold: Fold, dial: float, protocol: Protocol, index: str, known: Sequence[Tree] = ()
) -> Attempt:
    """Learn with one method at one setting, and decide about everybody.

    `known` are the trees of other settings: the best of them is where a search starts, so that a solve that its time
    limit stops is never worse than its neighbours.
    """
    if method in _OURS:
        return _optimal(method, fold, dial, protocol, index, known)
    model = _baseline(method, fold, dial, protocol)
    train = fold.train.people
    groups = train.groups[0] if model._looks_at_groups() else None
    model.fit(train.features, train.outcome, sensitive_features=groups, sample_weight=train.weight)
    tree = model.tree_ if isinstance(model, DiscriminationAwareTree) else None
    evidence = {} if tree is None else {"leaves": tree.n_leaves, "depth": tree.depth}
    return Attempt(model.decide(train.features), model.decide(fold.test.people.features), evidence, tree=tree)


def _optimal(method: str, fold: Fold, dial: float, protocol: Protocol, index: str, known: Sequence[Tree]) -> Attempt:
    if method == "MIP-DT-A":
        problem, looking = fold.by_outcomes
    else:
        problem, looking = fold.by_features if index == "dtdi" else fold.by_impact
    question = problem.with_shape(Shape(max_depth=protocol.depth)).with_weight(dial)
    start = min(known, key=lambda tree: question.evaluate(tree).objective, default=None)
    return solved(question, fold, protocol.time_limit, protocol.mip_people, start, looking)


def solved(
    question: Problem, fold: Fold, time_limit: float, mip_people: int, start: Tree | None = None, looking: float = 0.0
) -> Attempt:
    """The best tree within the time limit, and what is known about it."""
    name = exact_or_local(question, mip_people)
    solution = solve(question, Budget(time_limit=time_limit), solver=name, start=start)
    if solution.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt  # half a solve is not a result
    if solution.tree is None or solution.score is None:
        raise RuntimeError(f"the solver found no tree: {solution.message or solution.stop}")
    tree = solution.tree
    # Where a good tree was given, finding one early is no merit, and is not counted.
    near = near_at(solution.trace) if start is None else None
    return Attempt(
        tree.decide(question.people.features),
        tree.decide(fold.test.people.features),
        solution_evidence(solution),
        {"neighbours": looking, "seconds": solution.seconds, "near": near},
        tree,
    )


def exact_or_local(question: Problem, mip_people: int) -> str:
    """The exact search where it applies; else the mixed-integer program for few people, local search for many."""
    if get_solver("auto", question).name == "mip" and question.people.n_people > mip_people:
        return "local"
    return "auto"


def solution_evidence(solution: Solution) -> dict[str, Any]:
    """Status, solver, objective, bound and the tree itself."""
    tree = solution.tree
    assert tree is not None  # noqa: S101 (checked by the caller)
    return {
        "status": str(solution.status),
        "solver": solution.solver,
        "objective": solution.objective,
        "bound": solution.bound if solution.status is Status.PROVEN else max(0.0, solution.bound),
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "tree": tree_to_json(tree)["nodes"],
    }


def tree_of(nodes: list[Any], people: People) -> Tree:
    """The tree that was learned from these people, from the nodes that a row holds."""
    target = Target.of(people.outcome)
    blank = Tree(people.features.schema, target, (Leaf(target.low),))
    return tree_from_json({**tree_to_json(blank), "nodes": nodes})


def near_at(trace: tuple[TracePoint, ...]) -> float | None:
    """The seconds after which the best tree was near-optimal, None where nothing is known about that."""
    known = [point for point in trace if np.isfinite(point.objective)]
    if not known:
        return None
    enough = known[-1].objective * (1 + NEAR) + 1e-12
    return next(point.seconds for point in known if point.objective <= enough)


def trace_points(trace: tuple[TracePoint, ...]) -> list[list[float | None]]:
    """(seconds, bound, objective), with None for what was not known yet."""
    return [[point.seconds, *(_finite(value) for value in (point.bound, point.objective))] for point in trace]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _baseline(method: str, fold: Fold, dial: float, protocol: Protocol) -> Baseline:
    if method in _REGRESSIONS:
        kind, penalty = _REGRESSIONS[method]
        model: Callable[..., Baseline] = FairLogisticRegression if kind == "label" else FairLinearRegression
        return model(penalty=penalty, fairness_weight=dial)
    if method == "greedy tree":
        greedy = GreedyTreeClassifier if fold.positive is not None else GreedyTreeRegressor
        return greedy(max_depth=protocol.depth)
    if method == "reduction":
        return ExponentiatedGradientTree(dial, max_depth=protocol.depth)
    outcome = fold.train.people.outcome
    return DiscriminationAwareTree(
        criterion=method.split(maxsplit=1)[0],  # type: ignore[arg-type]
        relabel="exact" if "Relab" in method else None,
        max_discrimination=dial,
        max_depth=protocol.deep if "deep" in method else protocol.depth,
        positive=None if outcome.classes is None or fold.positive is None else outcome.classes[fold.positive],
    )
