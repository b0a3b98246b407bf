"""What leaves cost at least: at given prices, or with the best values that their tests allow.

At prices c a leaf with the value u costs Σ share·|y − u| + C·u with C = Σ c: convex, with kinks at the outcomes that
there are, so that one of them is the best value (ALGORITHM §3).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from evenleaf.solve.certify.claim import ProofError
from evenleaf.solve.certify.values.numbers import Numbers

_DIGITS = 12
_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def level_costs(mass: np.ndarray, pull: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """What each leaf costs at each level: `mass[leaf, level]` sums shares, `pull[leaf]` prices.

    With W and S the sums of share and of share·y up to level k, Σ share·|y − u_k| is u_k(2W − W_all) + S_all − 2S.
    """
    below, moment = mass.cumsum(axis=-1), (mass * levels).cumsum(axis=-1)
    cost = levels * (2 * below - below[..., -1:] + np.asarray(pull)[..., None]) + moment[..., -1:] - 2 * moment
    return np.asarray(cost)


def least_cost(mass: np.ndarray, pull: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """The cheapest value's cost of each leaf."""
    return np.asarray(level_costs(mass, pull, levels).min(axis=-1))


def cost_alone(numbers: Numbers, prices: np.ndarray) -> np.ndarray:
    """What each person costs who may have a value for themselves: their own outcome, the lowest or the highest."""
    outcome = numbers.levels[numbers.level]
    return np.minimum(prices * outcome, np.minimum(numbers.share * outcome, numbers.share * (1 - outcome) + prices))


def leaf_costs(numbers: Numbers, leaf: np.ndarray, prices: np.ndarray) -> float:
    """What the leaves of a tree cost together; `leaf` numbers that of each person."""
    n_leaves, n_levels = int(leaf.max()) + 1, len(numbers.levels)
    cell = leaf * n_levels + numbers.level
    mass = np.bincount(cell, weights=numbers.share, minlength=n_leaves * n_levels).reshape(n_leaves, n_levels)
    return float(least_cost(mass, np.bincount(leaf, weights=prices), numbers.levels).sum())


def best_multipliers(numbers: Numbers, leaf: np.ndarray, limit: float | None) -> tuple[np.ndarray, float]:
    """Multipliers and scale at which the leaves of a tree cost what they do at their best values.

    With the tests fixed, the values are a linear program, and its dual solution is such a price. It is only a
    suggestion: whoever asks prices the leaves with it, so that an inexact one can prove less but nothing false.
    """
    if not len(numbers.weight):
        return numbers.weight, 1.0 if limit is None else 0.0
    vectors = _leaf_rows(numbers, leaf)
    rounded = np.round(vectors, _DIGITS) + 0.0
    _, first, where = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    weight = np.bincount(where.ravel(), weights=numbers.weight)
    duals, scale = _dual(numbers, leaf, vectors[first], weight, limit)
    mu = np.divide(-duals, scale * weight, out=np.zeros_like(weight), where=scale * weight > 0)
    return np.clip(mu, -1.0, 1.0)[where.ravel()], scale


def _leaf_rows(numbers: Numbers, leaf: np.ndarray) -> np.ndarray:
    """How the value of each leaf moves each row of the disparity (rows × leaves)."""
    people = np.arange(len(leaf))
    members = sp.csr_array((np.ones(len(leaf)), (people, leaf)), shape=(len(leaf), int(leaf.max()) + 1))
    return np.asarray((numbers.operator.T @ members).toarray())


def _dual(
    numbers: Numbers, leaf: np.ndarray, vectors: np.ndarray, weight: np.ndarray, limit: float | None
) -> tuple[np.ndarray, float]:
    """The dual of: min Σ share·|y − u_leaf| + Σ weight·|row·u|, or of the first sum alone with the second limited.

    Variables: the leaf values within [0, 1], then what each (leaf, outcome) is over and under, then each row.
    """
    n_levels = len(numbers.levels)
    cells, where = np.unique(leaf * n_levels + numbers.level, return_inverse=True)
    mass = np.bincount(where.ravel(), weights=numbers.share)
    n_cells, n_rows, n_leaves = len(cells), len(weight), int(leaf.max()) + 1
    value = sp.csr_array((np.ones(n_cells), (np.arange(n_cells), cells // n_levels)), shape=(n_cells, n_leaves))
    equal = sp.block_array(
        [
            [value, -sp.eye_array(n_cells), sp.eye_array(n_cells), None, None],
            [sp.csr_array(vectors), None, None, -sp.eye_array(n_rows), sp.eye_array(n_rows)],
        ],
        format="csr",
    )
    unit = 1.0 / numbers.share.max()  # so that the solver's tolerances are small against a person
    disparity = np.concatenate([np.zeros(n_leaves + 2 * n_cells), weight, weight])
    cost = unit * np.concatenate([np.zeros(n_leaves), mass, mass, np.zeros(2 * n_rows)])
    found = linprog(
        cost + (unit * disparity if limit is None else 0.0),
        A_eq=equal,
        b_eq=np.concatenate([numbers.levels[cells % n_levels], np.zeros(n_rows)]),
        A_ub=None if limit is None else disparity[None, :],
        b_ub=None if limit is None else [limit],
        bounds=[(0.0, 1.0)] * n_leaves + [(0.0, None)] * (2 * n_cells + 2 * n_rows),
        method="highs",
        options=_OPTIONS,
    )
    if found.status != 0:
        raise ProofError(f"the linear program for the values of a tree was not solved: {found.message}")
    scale = 1.0 if limit is None else max(0.0, -float(found.ineqlin.marginals[0]) / unit)
    return np.asarray(found.eqlin.marginals[n_cells:]) / unit, scale
