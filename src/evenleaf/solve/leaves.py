"""The best leaves for given tests: labels by enumeration or descent, numbers by a small linear program.

With the tests fixed, a person's decision is the decision of their leaf, so the disparity depends only on the
*leaf disparity vectors* matrix·z_l (ALGORITHM §4).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.sparse as sp

from evenleaf.problem import FEASIBILITY_TOLERANCE, Misclassification, Problem
from evenleaf.solve.absolute import AbsoluteFit, limited_fit, weighted_fit

# Up to this many ways to label the leaves are all tried; beyond it, one leaf at a time is improved.
_MOST_LABELLINGS = 1024
# Labellings are priced together, so many that a table of disparity rows by labellings stays this small.
_TABLE = 2_000_000
_DIGITS = 12


def best_leaves(
    problem: Problem, leaf: np.ndarray, n_leaves: int, time_limit: float = np.inf
) -> tuple[np.ndarray, float] | None:
    """The best value of each leaf and the objective they give, or None where no values keep D ≤ ε.

    `leaf` numbers each person's leaf from 0. Numbers are optimal; labels are optimal up to 1,024 labellings.
    Out of time, numbers may be less than optimal and None may only mean that none were found.
    """
    if problem.people.outcome.classes is None:
        return _best_numbers(problem, leaf, n_leaves, time_limit)
    return _best_labels(problem, leaf, n_leaves)


def leaf_vectors(problem: Problem, leaf: np.ndarray, n_leaves: int) -> np.ndarray:
    """matrix·z_l for each leaf (rows × leaves)."""
    members = sp.csr_array((np.ones(len(leaf)), (np.arange(len(leaf)), leaf)), shape=(len(leaf), n_leaves))
    return (problem.simplified.matrix @ members).toarray()


def as_good_labels(problem: Problem, leaf: np.ndarray, labellings: np.ndarray, most: float) -> np.ndarray:
    """Which rows of labels for the leaves have an objective of at most `most`, and keep D ≤ ε."""
    n_leaves = labellings.shape[1]
    costs = _leaf_costs(problem, leaf, n_leaves)
    # The loss alone says it of most, and takes a fraction of the time.
    good = costs[np.arange(n_leaves), labellings].sum(axis=1) <= most
    if good.any():
        excess, price = _Pricing(problem, costs, leaf_vectors(problem, leaf, n_leaves)).of(labellings[good])
        good[good] = (excess <= 0) & (price <= most)
    return good


def _leaf_costs(problem: Problem, leaf: np.ndarray, n_leaves: int) -> np.ndarray:
    """What each class costs each leaf."""
    people = problem.people
    if not isinstance(problem.loss, Misclassification):
        raise TypeError("classes are decided by misclassification")
    table = people.share[:, None] * problem.loss.table(people.outcome)
    return np.column_stack([np.bincount(leaf, weights=column, minlength=n_leaves) for column in table.T])


def _best_labels(problem: Problem, leaf: np.ndarray, n_leaves: int) -> tuple[np.ndarray, float] | None:
    n_classes = problem.people.outcome.n_classes
    costs = _leaf_costs(problem, leaf, n_leaves)
    pricing = _Pricing(problem, costs, leaf_vectors(problem, leaf, n_leaves))
    if n_classes**n_leaves <= _MOST_LABELLINGS:
        candidates = np.array(list(product(range(n_classes), repeat=n_leaves)), dtype=np.intp)
        excess, price = pricing.of(candidates)
        best = int(np.lexsort((price, excess))[0])
        labels, broken, objective = candidates[best], excess[best], price[best]
    else:
        starts = [costs.argmin(axis=1), *(np.full(n_leaves, label) for label in range(n_classes))]
        broken, objective, labels = min((pricing.descend(start) for start in starts), key=lambda found: found[:2])
    return None if broken > 0 else (labels.astype(float), float(objective))


class _Pricing:
    """What labellings of the leaves are worth: by how much D is above ε, and then the objective."""

    def __init__(self, problem: Problem, costs: np.ndarray, vectors: np.ndarray) -> None:
        self.problem, self.costs = problem, costs
        # A row whose people share a leaf compares equals with equals and never counts.
        counts = (np.abs(vectors) > 1e-15).any(axis=1)
        self.vectors, self.weight = vectors[counts], problem.simplified.weight[counts]

    def of(self, labellings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(excess of D over ε, objective) of each row of labels."""
        n_leaves = self.costs.shape[0]
        loss = self.costs[np.arange(n_leaves), labellings].sum(axis=1)
        chunk = max(1, _TABLE // max(1, len(self.vectors)))
        parts = [self._discrimination(labellings[i : i + chunk]) for i in range(0, len(labellings), chunk)]
        return self._judge(loss, np.concatenate(parts))

    def _discrimination(self, labellings: np.ndarray) -> np.ndarray:
        total = np.zeros(len(labellings))
        for label in np.flatnonzero(self.weight.any(axis=0)):
            total += self.weight[:, label] @ np.abs(self.vectors @ (labellings == label).T.astype(float))
        return total

    def _judge(self, loss: np.ndarray, discrimination: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        limit = self.problem.max_discrimination
        if limit is None:
            return np.zeros_like(loss), loss + self.problem.fairness_weight * discrimination
        excess = discrimination - limit
        return np.where(excess <= FEASIBILITY_TOLERANCE, 0.0, excess), loss

    def descend(self, labels: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Change one leaf at a time, always the best change, until none helps: (excess, objective, labels)."""
        n_leaves, n_classes = self.costs.shape
        excess, price = (float(part[0]) for part in self.of(labels[None, :]))
        while True:
            trials = np.repeat(labels[None, :], n_leaves * n_classes, axis=0)
            every = np.arange(n_leaves * n_classes)
            trials[every, every // n_classes] = every % n_classes
            excesses, prices = self.of(trials)
            best = int(np.lexsort((prices, excesses))[0])
            if (excesses[best], prices[best]) >= (excess, price - 1e-15):
                return excess, price, labels
            excess, price, labels = float(excesses[best]), float(prices[best]), trials[best]


def _best_numbers(
    problem: Problem, leaf: np.ndarray, n_leaves: int, time_limit: float
) -> tuple[np.ndarray, float] | None:
    """min Σ share·|y − u_l| + λ Σ_r w_r |Σ_l (matrix·z_l)_r u_l| over u within the label range."""
    fit = _constant_fit(problem, leaf, n_leaves)
    limit = problem.max_discrimination
    if limit is None:
        values = weighted_fit(fit, problem.fairness_weight, time_limit)
        if values is None:
            values = _medians(fit)
    else:
        values = limited_fit(fit, limit, time_limit)
        if values is None:
            return None
    values = np.clip(values, fit.low, fit.high)
    price = problem.fairness_weight if limit is None else 0.0
    return values, fit.loss(values) + price * fit.discrimination(values)


def _constant_fit(problem: Problem, leaf: np.ndarray, n_leaves: int) -> AbsoluteFit:
    """People who share leaf and outcome are one term, and so are equal rows of the disparity."""
    people, target = problem.people, problem.target
    pairs, where = np.unique(np.column_stack([leaf, people.outcome.values]), axis=0, return_inverse=True)
    cells = np.arange(len(pairs)), pairs[:, 0].astype(np.intp)
    rows, weight = _merged(leaf_vectors(problem, leaf, n_leaves), problem.simplified.weight[:, 0])
    return AbsoluteFit(
        design=sp.csr_array((np.ones(len(pairs)), cells), shape=(len(pairs), n_leaves)),
        outcome=pairs[:, 1],
        share=np.bincount(where.ravel(), weights=people.share, minlength=len(pairs)),
        rows=sp.csr_array(rows),
        offset=np.zeros(len(rows)),
        weight=weight,
        constant=np.ones(n_leaves),
        low=target.low,
        high=target.high,
    )


def _merged(vectors: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are equal (to rounding, up to sign) as one, those that are zero dropped."""
    rounded = np.round(vectors, _DIGITS) + 0.0
    kept = rounded.any(axis=1)
    rounded, vectors, weight = rounded[kept], vectors[kept], weight[kept]
    if not len(rounded):
        return vectors, weight
    lead = rounded[np.arange(len(rounded)), (rounded != 0).argmax(axis=1)]
    _, first, where = np.unique(rounded * np.sign(lead)[:, None], axis=0, return_index=True, return_inverse=True)
    return vectors[first], np.bincount(where.ravel(), weights=weight, minlength=len(first))


def _medians(fit: AbsoluteFit) -> np.ndarray:
    """The weighted median of each leaf: what the values are without fairness."""
    values = np.full(fit.design.shape[1], (fit.low + fit.high) / 2)
    leaf = fit.design.indices
    for number in np.unique(leaf):
        inside = leaf == number  # outcomes are sorted within a leaf
        total = np.cumsum(fit.share[inside])
        values[number] = fit.outcome[inside][np.searchsorted(total, total[-1] / 2)]
    return values
