"""The mixed-integer solver: build, start, solve, decode, confirm, and say truly what is proven."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from evenleaf.errors import DisagreementError, InputError
from evenleaf.problem import Problem, Score
from evenleaf.solve.budget import Budget
from evenleaf.solve.greedy import greedy_tree
from evenleaf.solve.mip.backend import MipResult
from evenleaf.solve.mip.backends import get_backend
from evenleaf.solve.mip.explain import explain_infeasible
from evenleaf.solve.mip.formulation import Formulation
from evenleaf.solve.mip.paper import build_paper
from evenleaf.solve.mip.placement import NotEncodableError
from evenleaf.solve.mip.polish import polished
from evenleaf.solve.mip.remarks import remarks
from evenleaf.solve.mip.strong import build_strong
from evenleaf.solve.result import PROOF_TOLERANCE, Solution, Status, Stop, confirm
from evenleaf.tree import Tree

FormulationName = Literal["strong", "paper"]
FORMULATIONS: dict[str, Callable[[Problem], Formulation]] = {"strong": build_strong, "paper": build_paper}
# A start that breaks the model by more than this is not given to the solver.
_START_TOLERANCE = 1e-7


class MipSolver:
    """Solves any problem as a mixed-integer program.

    `formulation` is "strong" or "paper" (the literal one), `backend` the name of a solver, `options` its own options.
    """

    name = "mip"

    def __init__(
        self,
        formulation: FormulationName = "strong",
        backend: str = "auto",
        options: dict[str, Any] | None = None,
    ) -> None:
        if formulation not in FORMULATIONS:
            raise InputError(f"the formulation must be 'strong' or 'paper', not {formulation!r}")
        self.formulation, self.backend, self.options = formulation, backend, options

    def accepts(self, problem: Problem) -> bool:  # noqa: ARG002
        """Every loss, notion, shape and limit has a formulation; how large a problem it can close is another matter."""
        return True

    def solve(self, problem: Problem, budget: Budget, start: Tree | None = None) -> Solution:
        """The best tree found in time, at least as good as the start, with the bound the solver proved."""
        backend = get_backend(self.backend)
        known = _best_known(problem, start)
        if known is not None:
            budget.report(0.0, known[1].objective)
        formulation = FORMULATIONS[self.formulation](problem)
        point = None if known is None else encoded(formulation, known[0])
        options = {**_own_options(formulation, backend.name), **(self.options or {})}
        result = backend.solve(formulation.model, budget, point, options, scale=formulation.scale)
        name = f"{self.name} ({formulation.name}, {backend.name})"
        if result.infeasible:
            return self._infeasible(problem, budget, known, result, name)
        found = None if result.x is None else decoded(formulation, result.x)
        outside = known is not None and point is None
        return _solution(formulation, budget, name, result, known, found, outside=outside)

    def _infeasible(
        self, problem: Problem, budget: Budget, known: tuple[Tree, Score] | None, result: MipResult, name: str
    ) -> Solution:
        if known is not None:
            raise DisagreementError(f"the solver finds no tree within the limits, but there is one:\n{known[0]}")
        message = explain_infeasible(problem, budget, self.backend)
        return Solution(
            None, None, np.inf, Status.INFEASIBLE, result.stop, name, budget.seconds, tuple(budget.trace), message
        )


def _own_options(formulation: Formulation, backend: str) -> dict[str, Any]:
    """What a solver does better with: HiGHS takes half the time on strong regression models without its presolve."""
    unaided = backend == "highs" and formulation.name == "strong" and formulation.instance.is_regression
    return {"presolve": "off"} if unaided else {}


def _best_known(problem: Problem, start: Tree | None) -> tuple[Tree, Score] | None:
    """The better of the given start and the greedy tree, if either keeps the limits."""
    trees = [tree for tree in (start, greedy_tree(problem)) if tree is not None]
    scored = [(tree, score) for tree in trees if (score := problem.evaluate(tree)).feasible]
    return min(scored, key=lambda pair: pair[1].objective, default=None)


def encoded(formulation: Formulation, tree: Tree) -> np.ndarray | None:
    """The point of a tree, or None where it lies outside the model (a linear test with too small a margin, say)."""
    try:
        point = formulation.encode(tree)
    except NotEncodableError:
        return None
    return point if formulation.model.violation(point) <= _START_TOLERANCE else None


def decoded(formulation: Formulation, x: np.ndarray) -> tuple[Tree, Score]:
    """The tree of a solution with its score, after the claim of the solver is confirmed."""
    problem = formulation.instance.problem
    tree, claimed = formulation.decode(x), formulation.model.objective(x) * formulation.scale
    if problem.people.outcome.classes is not None:
        return tree, confirm(problem, tree, claimed)
    # Numbers may exceed D ≤ ε by the solver's tolerance; that is mended, not disputed.
    tolerant = problem
    if problem.max_discrimination is not None:
        spare = PROOF_TOLERANCE * max(1.0, formulation.scale)
        tolerant = replace(problem, max_discrimination=problem.max_discrimination + spare)
    confirm(tolerant, tree, claimed, PROOF_TOLERANCE * max(1.0, formulation.scale))
    tree = polished(problem, tree)
    return tree, problem.evaluate(tree)


def _solution(
    formulation: Formulation,
    budget: Budget,
    name: str,
    result: MipResult,
    known: tuple[Tree, Score] | None,
    found: tuple[Tree, Score] | None,
    *,
    outside: bool,
) -> Solution:
    """The better of what was known and what was found; no objective is below zero, so no bound need be.

    `outside` says that what was known is a tree that the model has not: a linear rule beyond its margins, say.
    """
    bound, message = max(0.0, result.bound * formulation.scale), result.message
    usable = [pair for pair in (found, known) if pair is not None and pair[1].feasible]
    best = min(usable, key=lambda pair: pair[1].objective, default=None)
    if best is None:
        return Solution(
            None, None, bound, Status.UNKNOWN, result.stop, name, budget.seconds, tuple(budget.trace), message
        )
    tree, score = best
    spare = PROOF_TOLERANCE * max(1.0, abs(score.objective))
    if score.objective < bound - spare:
        if not outside:
            raise DisagreementError(f"the solver's bound is {bound:.9g}, but a tree has {score.objective:.9g}")
        bound, message = 0.0, f"the start lies outside the model and is better than all within it; {message}"
    bound = min(bound, score.objective)
    proven = score.objective - bound <= spare
    message = "; ".join([message, *remarks(formulation, tree)])
    budget.report(bound, score.objective)
    return Solution(
        tree,
        score,
        bound,
        Status.PROVEN if proven else Status.FEASIBLE,
        Stop.FINISHED if proven else result.stop,
        name,
        budget.seconds,
        tuple(budget.trace),
        message,
    )
