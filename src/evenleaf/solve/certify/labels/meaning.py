"""Whether the arrays that a proof speaks about mean what the problem means."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from evenleaf.problem import Problem
from evenleaf.solve.certify.claim import ProofError
from evenleaf.solve.search.compiled import Compiled

_LABELLINGS = 20
_TOLERANCE = 1e-9


def person_rows(compiled: Compiled) -> sp.csr_array:
    """The disparity operator of the merged people: a row a person, a column a row of the operator."""
    shape = (compiled.n_people, len(compiled.weight))
    return sp.csr_array((compiled.entries, compiled.rows, compiled.pointers), shape=shape)


def check_tests(problem: Problem, compiled: Compiled) -> None:
    """Every test that a tree may ask must be a cut of a feature's ranks, or a subset of them."""
    table = problem.people.features
    for column in problem.shape.allowed(table.schema):
        ranks = [
            (compiled.ranks[f][compiled.kind], bool(compiled.unordered[f]))
            for f, feature in enumerate(compiled.features)
            if feature.column == column
        ]
        values = table.data[column]
        fits = _levels_fit(values, ranks) if table.schema[column].is_categorical else _numbers_fit(values, ranks)
        if not fits:
            raise ProofError(f"the proof does not speak about every test of {table.schema.names[column]!r}")


def _levels_fit(values: np.ndarray, ranks: list[tuple[np.ndarray, bool]]) -> bool:
    """A rank for each level; three or more levels can be parted in any way."""
    n_levels = len(np.unique(values))
    return n_levels < 2 or any(
        len(np.unique(rank)) == n_levels == len(np.unique(np.column_stack([values, rank]), axis=0))
        and (unordered or n_levels == 2)
        for rank, unordered in ranks
    )


def _numbers_fit(values: np.ndarray, ranks: list[tuple[np.ndarray, bool]]) -> bool:
    """The order of the numbers, with the missing on either side of a cut."""
    missing = np.isnan(values)
    if missing.all():
        return True
    for stand_in in (np.inf, values[~missing].min()):
        distinct, wanted = np.unique(np.where(missing, stand_in, values), return_inverse=True)
        if len(distinct) > 1 and not any(np.array_equal(wanted, rank) for rank, _ in ranks):
            return False
    return True


def check_objective(problem: Problem, compiled: Compiled) -> None:
    """For some labels, the arrays must give the loss and the disparity that the definitions give."""
    n_classes = problem.people.outcome.n_classes
    random = np.random.default_rng(0)
    labellings = [np.full(compiled.n_people, label) for label in range(n_classes)]
    labellings += [random.integers(0, n_classes, compiled.n_people) for _ in range(_LABELLINGS)]
    factor = problem.fairness_weight if problem.max_discrimination is None else 1.0
    operator = person_rows(compiled).T
    losses = np.column_stack([np.zeros(compiled.n_people), compiled.base])
    for labels in labellings:
        decided = labels[compiled.kind]
        true_loss = problem.loss.value(problem.people.outcome, decided, problem.people.share)
        true = (true_loss, factor * problem.disparity.value(problem.psi(decided)))
        loss = compiled.constant + losses[np.arange(compiled.n_people), labels].sum()
        disparity = (compiled.weight * np.abs(operator @ np.eye(n_classes)[labels])).sum()
        if not np.allclose(true, (loss, disparity), rtol=_TOLERANCE, atol=_TOLERANCE):
            raise ProofError("the arrays that the proof speaks about do not give the objective of the problem")
