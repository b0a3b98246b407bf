"""The best decisions in the leaves of a skeleton: all combinations of classes, or a linear program for numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import linprog

from evenleaf.problem import FEASIBILITY_TOLERANCE, Misclassification, Problem
from evenleaf.testing.skeletons import Skeleton, members

# Two objectives this close are a tie; what lies between is rounding.
TIE = 1e-9
_AT_ONCE = 1000


@dataclass(frozen=True)
class Decided:
    """A skeleton with its best decisions, from left to right, and what they are worth."""

    skeleton: Skeleton
    values: tuple[float, ...]
    objective: float


def decide_classes(problem: Problem, skeletons: list[Skeleton]) -> list[Decided]:
    """Each skeleton with its best classes; those that cannot keep D ≤ ε are left out."""
    if not isinstance(problem.loss, Misclassification):
        raise TypeError("classes are decided under misclassification")
    people = problem.people
    place = {leaf: number for number, leaf in enumerate({leaf for s in skeletons for leaf in s.leaves})}
    inside = np.array([members(leaf, people.n_people) for leaf in place], dtype=float)
    # What each class costs each leaf, and how much each leaf adds to each row of the disparity operator.
    cost = inside @ (problem.loss.table(people.outcome) * people.share[:, None])
    rows = inside @ problem.disparity.matrix.toarray().T
    decided: list[Decided] = []
    for n_leaves in sorted({len(s.leaves) for s in skeletons}):
        same = [s for s in skeletons if len(s.leaves) == n_leaves]
        for start in range(0, len(same), _AT_ONCE):
            batch = same[start : start + _AT_ONCE]
            found = np.array([[place[leaf] for leaf in s.leaves] for s in batch])
            decided += _label_batch(problem, batch, cost[found], rows[found])
    return decided


def _label_batch(problem: Problem, batch: list[Skeleton], cost: np.ndarray, rows: np.ndarray) -> list[Decided]:
    """All classes for all leaves: `cost` is skeleton × leaf × class, `rows` is skeleton × leaf × row."""
    n_leaves, n_classes = cost.shape[1:]
    labellings = list(product(range(n_classes), repeat=n_leaves))
    worth = np.column_stack([_worth(problem, np.array(labels), cost, rows) for labels in labellings])
    least = worth.min(axis=1)
    first = (worth <= least[:, None] + TIE).argmax(axis=1)
    return [
        Decided(skeleton, tuple(map(float, labellings[choice])), float(worth[row, choice]))
        for row, (skeleton, choice) in enumerate(zip(batch, first, strict=True))
        if np.isfinite(least[row])
    ]


def _worth(problem: Problem, labels: np.ndarray, cost: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The objective of every skeleton of a batch under one labelling, infinite where D ≤ ε is broken."""
    loss = sum(cost[:, leaf, label] for leaf, label in enumerate(labels))
    disparity = np.zeros(len(cost))
    for label in range(cost.shape[2]):
        differences = rows[:, labels == label, :].sum(axis=1)
        disparity += np.abs(differences) @ problem.disparity.weight[:, label]
    if problem.max_discrimination is None:
        return np.asarray(loss + problem.fairness_weight * disparity)
    return np.where(disparity <= problem.max_discrimination + FEASIBILITY_TOLERANCE, loss, np.inf)


def decide_numbers(problem: Problem, skeletons: list[Skeleton]) -> list[Decided]:
    """The skeletons that can be best, each with its best numbers.

    Fairness only adds to the loss, or forbids. So a skeleton whose least loss is above the best objective known
    is out without solving its linear program, and so are all after it in the order of the least loss.
    """
    lowest: dict[int, float] = {}
    bounds = [sum(_least_loss(problem, leaf, lowest) for leaf in s.leaves) for s in skeletons]
    solved: dict[frozenset[int], tuple[float, dict[int, float]] | None] = {}
    decided: list[Decided] = []
    best = np.inf
    for number in np.argsort(bounds, kind="stable"):
        skeleton = skeletons[number]
        if bounds[number] > best + TIE:
            break
        partition = frozenset(skeleton.leaves)
        if partition not in solved:
            solved[partition] = best_numbers(problem, skeleton.leaves)
        answer = solved[partition]
        if answer is not None:
            decided.append(Decided(skeleton, tuple(answer[1][leaf] for leaf in skeleton.leaves), answer[0]))
            best = min(best, answer[0])
    return decided


def _least_loss(problem: Problem, leaf: int, known: dict[int, float]) -> float:
    """The least absolute error in a leaf: some person's own outcome attains it."""
    if leaf not in known:
        inside = members(leaf, problem.people.n_people)
        y, share = problem.people.outcome.values[inside], problem.people.share[inside]
        known[leaf] = float(min(share @ np.abs(y - value) for value in y))
    return known[leaf]


def best_numbers(problem: Problem, leaves: tuple[int, ...]) -> tuple[float, dict[int, float]] | None:
    """The least objective over the numbers in the leaves, by an exact linear program, and the numbers.

    Variables: the number u of each leaf, the error e of each person, the size d of each disparity row.
    Minimise Σ share·e + λ·Σ weight·d (or only the first, with Σ weight·d ≤ ε) subject to
    e ≥ ±(y − u) and d ≥ ±(row · u).
    """
    people, y = problem.people, problem.people.outcome.values
    inside = np.column_stack([members(leaf, people.n_people) for leaf in leaves]).astype(float)
    rows, weight = problem.disparity.matrix @ inside, problem.disparity.weight[:, 0]
    n, r, limit = people.n_people, len(rows), problem.max_discrimination
    no_error, no_size, error, size = np.zeros((r, n)), np.zeros((n, r)), np.eye(n), np.eye(r)
    at_most = np.block(
        [[-inside, -error, no_size], [inside, -error, no_size], [rows, no_error, -size], [-rows, no_error, -size]]
    )
    right = np.concatenate([-y, y, np.zeros(2 * r)])
    if limit is not None:
        at_most = np.vstack([at_most, np.concatenate([np.zeros(len(leaves) + n), weight])])
        right = np.append(right, limit)
    price = np.concatenate([np.zeros(len(leaves)), people.share, problem.fairness_weight * weight])
    target = problem.target
    answer = linprog(
        price,
        A_ub=at_most,
        b_ub=right,
        bounds=[(target.low, target.high)] * len(leaves) + [(0.0, None)] * (n + r),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if answer.status == 2:
        return None
    if answer.status != 0:
        raise RuntimeError(f"the linear program of the leaf numbers failed: {answer.message}")
    numbers = np.clip(answer.x[: len(leaves)], target.low, target.high)
    loss = people.share @ np.abs(y - inside @ numbers)
    disparity = weight @ np.abs(rows @ numbers)
    value = loss if limit is not None else loss + problem.fairness_weight * disparity
    return float(value), dict(zip(leaves, numbers.tolist(), strict=True))
