"""The exact search as a solver: what it takes on, and how its result becomes a claim."""

from __future__ import annotations

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.certificate import Certificate, make_certificate
from evenleaf.solve.conclude import Reached, conclude, run
from evenleaf.solve.proofs.labels import DEEPEST_LIMITED, MOST_COUNTED_LEVELS, LabelsProof
from evenleaf.solve.result import Solution
from evenleaf.solve.search import kernels
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH
from evenleaf.solve.search.engine import Engine
from evenleaf.tree import Tree

TOLERANCE = 1e-7  # a certificate rules out trees that are better by more than this


class SearchSolver:
    """Proves the best classification tree over every threshold and every subset of levels.

    `certificate=False` does without the record of the proof. `memory` (MiB; half of the machine's unless said)
    bounds what the search keeps: beyond it the record of the proof is given up first, then the search goes deep
    before it goes wide, which takes longer.
    """

    name = "search"

    def __init__(self, certificate: bool = True, memory: float | None = None) -> None:
        if memory is not None and not memory > 0:
            raise InputError(f"memory must be a positive number of MiB, not {memory}")
        self.certificate, self.memory = certificate, memory

    def accepts(self, problem: Problem) -> bool:
        """Classes, single-feature tests, constant leaves, and rows that compare averages.

        A row that sums to zero is what every notion makes; then a constant tree is always fair enough.
        """
        return (
            problem.people.outcome.classes is not None
            and problem.shape.branching == "single"
            and problem.simplified.balanced
        )

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The optimum with its proof, or at the end of the budget the best tree with a true gap."""
        kernels.announce_compilation(kernels.sweep_side)
        missing = why_no_certificate(problem) if self.certificate else ""
        engine = Engine(problem, budget, start, self.certificate and not missing, self.memory)
        run(engine.run, budget)
        reached = Reached(engine.tree, engine.objective, engine.bound, engine.is_unfinished, engine.words + missing)
        return conclude(problem, budget, self.name, reached, lambda _: self._certificate(problem, engine))

    def _certificate(self, problem: Problem, engine: Engine) -> Certificate | None:
        if not self.certificate or engine.tree is None or engine.is_unfinished or not engine.keep_proof:
            return None  # stopped at a gap of nothing, or the record was given up
        facets = engine.facets
        proof = LabelsProof(tuple(engine.regions), facets, len(engine.compiled.weight) + len(facets))
        return make_certificate(problem, engine.tree, engine.objective, TOLERANCE, proof)


def why_no_certificate(problem: Problem) -> str:
    """In words for the message; empty where a certificate is written.

    With limits that join tests, the checker's bounds do not reach what this search proves with them everywhere.
    """
    shape, schema = problem.shape, problem.people.features.schema
    if shape.max_depth <= MOST_SWEPT_DEPTH or not shape.joins_tests:
        return ""
    if shape.max_depth > DEEPEST_LIMITED:
        return f"; no certificate: with these limits there is none beyond depth {DEEPEST_LIMITED}"
    longest = max(
        (len(schema[column].levels) + schema[column].has_missing for column in shape.allowed(schema)), default=0
    )
    if shape.min_samples_leaf > 1 and longest > MOST_COUNTED_LEVELS:
        return (
            f"; no certificate: with min_samples_leaf and more than {MOST_COUNTED_LEVELS} levels in a column there is "
            f"none beyond depth {MOST_SWEPT_DEPTH}"
        )
    return ""
