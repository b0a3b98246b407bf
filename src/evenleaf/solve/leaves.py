"""The best leaves for given tests: labels by enumeration or descent, numbers by a small linear program.

With the tests fixed, a person's decision is the decision of their leaf, so the disparity depends only on the
*leaf disparity vectors* matrix·z_l (ALGORITHM §4).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from evenleaf.problem import FEASIBILITY_TOLERANCE, Misclassification, Problem

# Up to this many ways to label the leaves are all tried; beyond it, one leaf at a time is improved.
_MOST_LABELLINGS = 1024


def best_leaves(problem: Problem, leaf: np.ndarray, n_leaves: int) -> tuple[np.ndarray, float] | None:
    """The best value of each leaf and the objective they give, or None where no values keep D ≤ ε.

    `leaf` numbers each person's leaf from 0. Numbers are optimal; labels are optimal up to 1,024 labellings.
    """
    if problem.people.outcome.classes is None:
        return _best_numbers(problem, leaf, n_leaves)
    return _best_labels(problem, leaf, n_leaves)


def leaf_vectors(problem: Problem, leaf: np.ndarray, n_leaves: int) -> np.ndarray:
    """matrix·z_l for each leaf (rows × leaves)."""
    members = sp.csr_array((np.ones(len(leaf)), (np.arange(len(leaf)), leaf)), shape=(len(leaf), n_leaves))
    return (problem.simplified.matrix @ members).toarray()


def _best_labels(problem: Problem, leaf: np.ndarray, n_leaves: int) -> tuple[np.ndarray, float] | None:
    people = problem.people
    n_classes = people.outcome.n_classes
    if not isinstance(problem.loss, Misclassification):
        raise TypeError("classes are decided by misclassification")
    costs = np.zeros((n_leaves, n_classes))
    np.add.at(costs, leaf, people.share[:, None] * problem.loss.table(people.outcome))
    price = _Pricing(problem, costs, leaf_vectors(problem, leaf, n_leaves))
    if n_classes**n_leaves <= _MOST_LABELLINGS:
        candidates = [np.array(labels) for labels in product(range(n_classes), repeat=n_leaves)]
        best = min(candidates, key=price)
    else:
        starts = [costs.argmin(axis=1), *(np.full(n_leaves, y) for y in range(n_classes))]
        best = min((price.descend(start) for start in starts), key=price)
    objective = price(best)
    return None if np.isinf(objective) else (best.astype(float), objective)


class _Pricing:
    """The objective of a labelling of the leaves."""

    def __init__(self, problem: Problem, costs: np.ndarray, vectors: np.ndarray) -> None:
        self.problem, self.costs, self.vectors = problem, costs, vectors

    def __call__(self, labels: np.ndarray) -> float:
        n_leaves, n_classes = self.costs.shape
        psi = np.zeros((n_leaves, n_classes))
        psi[np.arange(n_leaves), labels] = 1.0
        loss = float((self.costs * psi).sum())
        discrimination = float((self.problem.simplified.weight * np.abs(self.vectors @ psi)).sum())
        limit = self.problem.max_discrimination
        if limit is None:
            return loss + self.problem.fairness_weight * discrimination
        return loss if discrimination <= limit + FEASIBILITY_TOLERANCE else np.inf

    def descend(self, labels: np.ndarray) -> np.ndarray:
        """Improve one leaf at a time until none improves."""
        best, value = labels.copy(), self(labels)
        improved = True
        while improved:
            improved = False
            for leaf, label in product(range(len(best)), range(self.costs.shape[1])):
                trial = best.copy()
                trial[leaf] = label
                if (other := self(trial)) < value:
                    best, value, improved = trial, other, True
        return best


def _best_numbers(problem: Problem, leaf: np.ndarray, n_leaves: int) -> tuple[np.ndarray, float] | None:
    """min Σ share·|y − u_l| + λ Σ_r w_r |Σ_l (matrix·z_l)_r u_l| over u within the label range."""
    people, target = problem.people, problem.target
    pairs, where = np.unique(np.column_stack([leaf, people.outcome.values]), axis=0, return_inverse=True)
    share = np.bincount(where.ravel(), weights=people.share, minlength=len(pairs))
    vectors, weight = leaf_vectors(problem, leaf, n_leaves), problem.simplified.weight[:, 0]
    n_pairs, n_rows = len(pairs), len(weight)
    errors = sp.csr_array((np.ones(n_pairs), (np.arange(n_pairs), pairs[:, 0].astype(int))), shape=(n_pairs, n_leaves))
    absolute = sp.vstack([errors, sp.csr_array(vectors)])
    centre = np.concatenate([pairs[:, 1], np.zeros(n_rows)])
    slack = sp.eye_array(n_pairs + n_rows)
    rows = sp.vstack([sp.hstack([absolute, -slack]), sp.hstack([-absolute, -slack])]).tocsr()
    right = np.concatenate([centre, -centre])
    limit = problem.max_discrimination
    penalty = np.zeros(n_rows) if limit is not None else problem.fairness_weight * weight
    if limit is not None:
        budget = np.concatenate([np.zeros(n_leaves + n_pairs), weight])
        rows, right = sp.vstack([rows, budget[None, :]]).tocsr(), np.append(right, limit)
    solved = linprog(
        np.concatenate([np.zeros(n_leaves), share, penalty]),
        A_ub=rows,
        b_ub=right,
        bounds=[(target.low, target.high)] * n_leaves + [(0, None)] * (n_pairs + n_rows),
        method="highs",
    )
    return (np.asarray(solved.x[:n_leaves]), float(solved.fun)) if solved.status == 0 else None
