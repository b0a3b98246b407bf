"""The lane for few disparity rows as a solver: what it takes on, and how its result becomes a claim."""

from __future__ import annotations

from evenleaf.errors import DisagreementError
from evenleaf.problem import Problem, Score
from evenleaf.solve.budget import Budget
from evenleaf.solve.certificate import Certificate, make_certificate
from evenleaf.solve.conclude import Reached, conclude, run
from evenleaf.solve.fronts.announce import announce_compilation
from evenleaf.solve.fronts.engine import EPSILON, Engine
from evenleaf.solve.fronts.shallow import find_shallow
from evenleaf.solve.fronts.shares import ShareSearch, find_search
from evenleaf.solve.result import Solution, Status, Stop
from evenleaf.tree import Tree

TOLERANCE = 1e-7  # a certificate rules out trees that are better by more than this


class FrontSolver:
    """Proves the best classification tree to depth 4 for notions with few rows: parity and the error rates.

    `certificate=False` does without the record of the proof.
    """

    name = "fronts"

    def __init__(self, certificate: bool = True) -> None:
        self.certificate = certificate

    def accepts(self, problem: Problem) -> bool:
        """Classes, single-feature tests, constant leaves, depth at most 4, and rows that compare averages."""
        return (
            problem.people.outcome.classes is not None
            and problem.shape.branching == "single"
            and problem.shape.max_depth <= 4
            and problem.simplified.balanced
        )

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The optimum with its proof, or at the end of the budget the best tree with a true gap."""
        shallow = None if budget.exhausted else find_shallow(problem)
        if shallow is None:
            return self._searched(problem, budget, start)
        worth, tree = shallow.best()
        score = problem.evaluate(tree)
        if not score.feasible or abs(score.objective - worth) > EPSILON:
            return self._searched(problem, budget, start)  # on the very edge of ε rounding decides
        return self._from_pairs(problem, budget, tree, score)

    def _from_pairs(self, problem: Problem, budget: Budget, tree: Tree, score: Score) -> Solution:
        """A question that sums over pairs of columns decided; the proof is written when somebody asks for it."""
        budget.report(score.objective, score.objective)
        deferred = Certificate.deferred(lambda: self._written(problem, tree, score.objective))
        return Solution(
            tree,
            score,
            score.objective,
            Status.PROVEN,
            Stop.FINISHED,
            self.name,
            budget.seconds,
            tuple(budget.trace),
            message="every tree was looked at",
            certificate=deferred if self.certificate else None,
        )

    def _written(self, problem: Problem, tree: Tree, objective: float) -> Certificate:
        """The certificate of a tree that is known to be optimal, from the search by bounds."""
        engine = find_search(problem, Budget(), tree, True)
        engine.run()
        if abs(engine.objective - objective) > EPSILON:
            raise DisagreementError(f"the search by bounds finds the objective {engine.objective:.9g} instead")
        engine.tree = tree  # of several that are as good, the one that was handed out
        certificate = self._certificate(problem, engine)
        if certificate is None:
            raise DisagreementError("the search by bounds does not come to an end")
        return certificate

    def _searched(self, problem: Problem, budget: Budget, start: Tree | None) -> Solution:
        engine = find_search(problem, budget, start, self.certificate)
        announce_compilation(engine.whole.oracle if isinstance(engine, ShareSearch) else engine.oracle)
        run(engine.run, budget)
        reached = Reached(engine.tree, engine.objective, engine.bound, engine.unfinished, self._words(engine))
        return conclude(problem, budget, self.name, reached, lambda _: self._certificate(problem, engine))

    def _words(self, engine: Engine | ShareSearch) -> str:
        too_long = "; the proof is too long to be written down" if self.certificate and engine.given_up else ""
        return f"{engine.examined} nodes{too_long}"

    def _certificate(self, problem: Problem, engine: Engine | ShareSearch) -> Certificate | None:
        if engine.tree is None or engine.unfinished:
            return None  # stopped at a gap of nothing
        proof = engine.proof()
        return None if proof is None else make_certificate(problem, engine.tree, engine.objective, TOLERANCE, proof)
