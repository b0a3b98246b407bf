"""The exact search for regression as a solver: what it takes on, and how its result becomes a claim."""

from __future__ import annotations

from evenleaf.problem import Problem, Shape
from evenleaf.solve.budget import Budget
from evenleaf.solve.result import PROOF_TOLERANCE, Solution, Status, Stop, confirm
from evenleaf.solve.values.compiled import MOST_LEVELS
from evenleaf.solve.values.engine import Engine
from evenleaf.tree import Tree


class ValueSolver:
    """Proves the best regression tree of depth 0 to 3 over every threshold and every subset of levels."""

    name = "search"

    def accepts(self, problem: Problem) -> bool:
        """Numbers, single-feature tests, constant leaves, depth at most 3, and rows that compare averages.

        A row that sums to zero is what every notion makes; then outcomes may be shifted. Categorical columns may
        have up to 13 levels. With depth 3, limits on how often or how many features are used are left to the
        mixed-integer program: they couple all tests of a tree, and the bounds would not know of them.
        """
        shape, table = problem.shape, problem.people.features
        return (
            problem.people.outcome.classes is None
            and shape.branching == "single"
            and shape.leaves == "constant"
            and (shape.max_depth <= 2 or (shape.max_depth == 3 and _uncoupled(shape)))
            and all(len(c.levels) + c.has_missing <= MOST_LEVELS for c in table.schema if c.is_categorical)
            and problem.simplified.balanced
        )

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The optimum with its proof, or at the end of the budget the best tree with a true gap."""
        engine = Engine(problem, budget, start)
        stop = Stop.FINISHED
        try:
            engine.run()
        except KeyboardInterrupt:
            budget.cancel()
        bound = engine.bound if engine.open else engine.objective
        if budget.cancelled:
            stop, bound = Stop.INTERRUPTED, engine.bound
        elif engine.open or engine.in_hand < engine.objective:
            stop = Stop.TIME_LIMIT if budget.remaining <= 0 else Stop.GAP
        bound *= engine.unit
        if engine.tree is None:
            return Solution(None, None, max(bound, 0.0), Status.UNKNOWN, stop, self.name, budget.seconds)
        score = confirm(problem, engine.tree, engine.objective * engine.unit)
        proven = score.objective - bound <= PROOF_TOLERANCE
        return Solution(
            engine.tree,
            score,
            score.objective if proven else max(bound, 0.0),
            Status.PROVEN if proven else Status.FEASIBLE,
            stop,
            self.name,
            budget.seconds,
            tuple(budget.trace),
            message=f"{engine.ascent.steps} bounds",
        )


def _uncoupled(shape: Shape) -> bool:
    return shape.max_feature_uses is None and shape.max_features_used is None
