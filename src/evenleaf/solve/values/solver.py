"""The exact search for regression as a solver: what it takes on, and how its result becomes a claim."""

from __future__ import annotations

import numpy as np

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.certificate import Certificate, make_certificate
from evenleaf.solve.conclude import Reached, conclude, run
from evenleaf.solve.result import PROOF_TOLERANCE, Solution
from evenleaf.solve.values.compiled import MOST_LEVELS
from evenleaf.solve.values.engine import Engine
from evenleaf.solve.values.kernels import EPSILON
from evenleaf.table import Table
from evenleaf.tree import Tree

TOLERANCE = 1e-7  # a certificate rules out trees that are better by more than this
WIDEST_RANGE = PROOF_TOLERANCE / (2 * EPSILON)


class ValueSolver:
    """Proves the best regression tree of depth 0 to 3 over every threshold and every subset of levels.

    `certificate=False` does without the record of the proof. `memory` (MiB; half of the machine's unless said)
    bounds what the record may take; beyond it, it is given up.
    """

    name = "search"

    def __init__(self, certificate: bool = True, memory: float | None = None) -> None:
        if memory is not None and not memory > 0:
            raise InputError(f"memory must be a positive number of MiB, not {memory}")
        self.certificate, self.memory = certificate, memory

    def accepts(self, problem: Problem) -> bool:
        """Numbers, single-feature tests, constant leaves, depth at most 3, and rows that compare averages.

        A row that sums to zero is what every notion makes; then outcomes may be shifted. In categorical columns that
        may be tested, people may have up to 16 levels.
        """
        shape, table = problem.shape, problem.people.features
        return (
            problem.people.outcome.classes is None
            and shape.branching == "single"
            and shape.leaves == "constant"
            and shape.max_depth <= 3
            and all(_n_levels(table, column) <= MOST_LEVELS for column in shape.allowed(table.schema))
            and problem.simplified.balanced
        )

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The optimum with its proof, or at the end of the budget the best tree with a true gap."""
        missing = _why_no_certificate(problem) if self.certificate else ""
        engine = Engine(problem, budget, start, self.certificate and not missing, self.memory)
        run(engine.run, budget)
        objective, bound = engine.objective * engine.unit, engine.bound * engine.unit
        reached = Reached(engine.tree, objective, bound, bool(engine.open), engine.words + missing)
        return conclude(
            problem, budget, self.name, reached, lambda score: _certificate(problem, engine, score.objective)
        )


def _n_levels(table: Table, column: int) -> int:
    """How many levels somebody has, the missing being one; none where the column holds numbers."""
    return len(np.unique(table.data[column])) if table.schema[column].is_categorical else 0


def _certificate(problem: Problem, engine: Engine, objective: float) -> Certificate | None:
    """The proof with its claim, unless something was left open or the record was given up."""
    proof = None if engine.open else engine.recorder.proof(engine.objective)
    if proof is None or engine.tree is None:
        return None
    return make_certificate(problem, engine.tree, objective, max(TOLERANCE, 2 * EPSILON * engine.unit), proof)


def _why_no_certificate(problem: Problem) -> str:
    """In words for the message; empty where a certificate is written.

    The search closes a box a little below the incumbent, in units of the outcome's range, and no certificate may
    forgive more than `PROOF_TOLERANCE`.
    """
    if problem.target.high - problem.target.low > WIDEST_RANGE:
        return f"; no certificate: the outcome's range is above {WIDEST_RANGE:,.0f}, so choose a larger unit for it"
    return ""
