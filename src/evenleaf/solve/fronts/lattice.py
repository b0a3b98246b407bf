"""Exactly equal rates and whole people: only shares that the sizes of all groups allow are fair.

People whose columns of the operator are alike are of one kind; only how many of each kind get the second label
counts. Where the operator tells all kinds apart but for a common rate (the kernel of kinds is one line), D = 0 means
that the same share of every kind gets it. Shares of a kind of m people are multiples of 1/m, so the share of all is a
multiple of 1/gcd(m₁, m₂, …): where the divisor is 1, nobody or everybody. Counts are whole numbers, so this is exact.
Where the divisor is larger, each share is a question of its own, with one more row: how many people get the label.
A checker needs the columns of the operator, the counts, and the least D that two different shares can give.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.steps import steps_of_share

_MOST_KINDS = 64


def only_one_label(problem: Problem) -> bool:
    """Whether D ≤ ε leaves nothing but trees that give everybody the same label."""
    return common_divisor(problem) == 1


def common_divisor(problem: Problem) -> int:
    """The g of the shares 0, 1/g, 2/g … 1 that everybody has in common where D ≤ ε; 0 where shares may differ."""
    limit, rows = problem.max_discrimination, problem.simplified
    if limit is None or problem.people.outcome.n_classes != 2 or not rows.matrix.shape[0]:
        return 0
    if limit * problem.people.n_people > 1:  # two shares may then differ by one person, or nearly so
        return 0
    # Two classes: both columns of a row's weight speak of the same share, because a row compares averages.
    weight = rows.weight.sum(axis=1)
    columns = np.asarray(rows.matrix.todense()) * weight[:, None] if rows.matrix.shape[0] <= _MOST_KINDS else None
    if columns is None or not rows.balanced:
        return 0
    kinds, sizes = _kinds(columns)
    if kinds.shape[1] < 2 or kinds.shape[1] > _MOST_KINDS:
        return 0
    apart = _least_step(kinds, sizes) > limit + 2 * FEASIBILITY_TOLERANCE
    return int(np.gcd.reduce(sizes)) if apart else 0


def _kinds(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The different columns, and how many are like each."""
    if len(columns) > 1:
        return np.unique(columns, axis=1, return_counts=True)
    kinds, sizes = np.unique(columns[0], return_counts=True)  # much sooner done
    return kinds[None, :], sizes


def with_share(lane: Lane, share: float) -> Lane:
    """The same people, and as one more disparity how far the share of those with the second label is from this."""
    people = lane.compiled.count / lane.compiled.count.sum()
    vectors = np.concatenate([lane.vectors, people[:, None, None]], axis=2)
    steps = steps_of_share(lane.steps, share, float(lane.offset[0]), lane.people.weight)
    return replace(lane, vectors=vectors, offset=np.append(lane.offset, -share), steps=steps)


def _least_step(kinds: np.ndarray, sizes: np.ndarray) -> float:
    """A lower bound on D where not all shares are the same; 0 where other directions than a common share are free."""
    by_share = kinds * sizes  # D = ‖by_share · shares‖₁, and a common share gives 0
    if np.abs(by_share.sum(axis=1)).max() > 1e-9:
        return 0.0
    largest = np.sort(sizes)[::-1]
    if len(sizes) == 2:
        # Two different shares are at least 1/(m₁·m₂) apart.
        return float(np.abs(by_share[:, 0]).sum() / (largest[0] * largest[1]))
    singular = np.linalg.svd(by_share, compute_uv=False)
    if len(singular) < len(sizes) - 1:
        return 0.0
    # ‖B·s‖₁ ≥ ‖B·s‖₂ ≥ σ·‖s − mean‖₂, and two shares that differ are each away from their mean.
    return float(singular[len(sizes) - 2] / (np.sqrt(2) * largest[0] * largest[1]))
