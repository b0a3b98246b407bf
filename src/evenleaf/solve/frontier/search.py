"""The search for the trade-off: a solve at λ = 0, and one at each λ where two neighbours tie (ALGORITHM §7).

The best objective as a function of λ is concave and made of straight pieces, one a tree. Those solves prove all of
it: between two proven points a concave function lies on or above their chord, and the trees' lines are that chord.
Beyond the last tie the fairest tree stays optimal, because its discrimination is zero: deciding everybody alike is
no disparity. A solve that meets a tree below the tie need not go on to its proof: the tie is no tie any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.choose import get_solver, solve
from evenleaf.solve.frontier.envelope import Candidate, envelope, tie
from evenleaf.solve.frontier.result import Frontier, FrontierPoint
from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.result import PROOF_TOLERANCE, Solution, Status, Stop, TracePoint
from evenleaf.tree import Leaf, Tree

OnSolved = Callable[[int, int], None]
# The losses of classes are exact sums, so a gain above rounding is a gain; numbers come out of linear programs.
_LEAST_GAIN_OF_CLASSES = 1e-9


class FrontierSearch:
    """The trees found so far and the λ solved so far, until every tie of the envelope is solved."""

    def __init__(
        self,
        problem: Problem,
        budget: Budget,
        solver: str,
        options: Mapping[str, Any] | None,
        n_jobs: int | None,
        on_solved: OnSolved | None,
    ) -> None:
        if not problem.disparity.balanced:
            raise InputError("the trade-off needs a notion by which deciding everybody alike is no disparity")
        get_solver(solver, problem, options)  # what cannot be solved is said before anything starts
        self.problem, self.budget, self.solver, self.options = problem, budget, solver, options
        self.n_jobs, self.on_solved = n_jobs, on_solved or (lambda *_: None)
        of_classes = problem.people.outcome.classes is not None
        self.least_gain = _LEAST_GAIN_OF_CLASSES if of_classes else PROOF_TOLERANCE
        self.candidates: list[Candidate] = []
        self.solved: dict[float, Solution] = {}
        self.tried_again: set[float] = set()
        self.cut_short: set[float] = set()
        self.n_solves = 0
        self.found_by: dict[int, tuple[float, Solution]] = {}  # by the identity of the candidate

    def run(self, known: Iterable[Tree]) -> Frontier:
        """Solve λ = 0 and every tie, in rounds of solves that do not depend on each other."""
        started = time.perf_counter()
        constant = self._candidate(_best_constant(self.problem))
        self.candidates = [constant, *(self._candidate(tree) for tree in known if self._allows(tree))]
        self._solve({0.0: constant.tree})
        while not self.budget.exhausted:
            waiting = self._waiting()
            if not waiting:
                break
            self._solve(waiting)
        points = tuple(self._points())
        return Frontier(points, all(point.proven for point in points), time.perf_counter() - started)

    def _waiting(self) -> dict[float, Tree]:
        """The ties that are not solved yet; once there is none, those that ran out of their share of the time."""
        ties = dict(self._ties())
        fresh = {weight: fair.tree for weight, fair in ties.items() if weight not in self.solved}
        if fresh:
            return fresh
        short = [weight for weight in (0.0, *ties) if self.solved[weight].stop is Stop.TIME_LIMIT]
        again = next((weight for weight in short if weight not in self.tried_again), None)
        if again is None:
            return {}
        self.tried_again.add(again)
        start = self.solved[again].tree
        return {again: start} if start is not None else {}

    def _allows(self, tree: Tree) -> bool:
        return self.problem.evaluate(tree).feasible

    def _candidate(self, tree: Tree) -> Candidate:
        score = self.problem.evaluate(tree)
        return Candidate(tree, score.loss, score.discrimination)

    def _ties(self) -> list[tuple[float, Candidate]]:
        """The weights at which the neighbours of the envelope tie, each with the fairer of the two."""
        trees = envelope(self.candidates, self.least_gain)
        return [(tie(plain, fair), fair) for plain, fair in pairwise(trees)]

    def _solve(self, waiting: Mapping[float, Tree]) -> None:
        """Solve a round; the fairer tree is the start, so that of equals the fairer stays."""
        import joblib

        jobs = joblib.effective_n_jobs(self.n_jobs)
        if jobs > 1 and len(waiting) > 1:
            share = self._share(-(-len(waiting) // jobs))  # so many one after another on each core
            answers = joblib.Parallel(n_jobs=self.n_jobs)(
                joblib.delayed(_answer)(
                    self.problem, weight, start, share, self.solver, self.options, self._gain(weight)
                )
                for weight, start in waiting.items()
            )
            for weight, (solution, cut_short) in zip(waiting, answers, strict=True):
                self._keep(weight, solution, cut_short, 0)
            return
        for left, (weight, start) in zip(reversed(range(len(waiting))), waiting.items(), strict=True):
            if self.budget.exhausted:
                return
            share = self._share(min(left + 1, 2))
            solution, cut_short = _answer(
                self.problem, weight, start, share, self.solver, self.options, self._gain(weight)
            )
            self._keep(weight, solution, cut_short, left)

    def _gain(self, weight: float) -> float | None:
        """By how much a tree must be below the tie to end a solve; None where only a proof will do."""
        return None if weight == 0 or weight in self.cut_short else self.least_gain

    def _share(self, parts: int) -> Budget:
        """A part of the time that is left. One by one, each solve takes half at most until the last one waiting."""
        left = None if self.budget.time_limit is None else max(1e-3, self.budget.remaining / parts)
        return Budget(left, self.budget.gap, self.budget.n_jobs, self.budget.seed)

    def _keep(self, weight: float, solution: Solution, cut_short: bool, waiting: int) -> None:
        """Take an answer in; one that was cut short brings a tree, and proves nothing."""
        self.n_solves += 1
        candidate = None if solution.tree is None else self._candidate(solution.tree)
        if candidate is not None:
            self.candidates.append(candidate)
        if cut_short:
            self.cut_short.add(weight)
        else:
            self.solved[weight] = solution
            if candidate is not None:
                self.found_by[id(candidate)] = (weight, solution)
            if solution.stop is Stop.INTERRUPTED:
                self.budget.cancel()
        self.on_solved(self.n_solves, waiting)

    def _points(self) -> Iterator[FrontierPoint]:
        trees = envelope(self.candidates, self.least_gain)
        ties = [tie(plain, fair) for plain, fair in pairwise(trees)]
        for candidate, low, high in zip(trees, [0.0, *ties], [*ties, np.inf], strict=True):
            # Beyond the last tie nothing is left to prove, and at λ = 0 the first solve has proven it.
            ends = [low] if np.isinf(high) else [low, high]
            weight, solution = self._claim(candidate, ends)
            yield FrontierPoint(
                solution,
                candidate.loss,
                candidate.discrimination,
                float(low),
                float(high),
                all(self._proven(candidate, weight) for weight in ends),
                candidate.tree.depth,
                candidate.tree.n_leaves,
                float(weight),
            )

    def _proven(self, candidate: Candidate, weight: float) -> bool:
        """Whether no tree is better than this one at that weight, by the bound of a solve made there."""
        solution = self.solved.get(weight)
        return solution is not None and candidate.value(weight) - solution.bound <= PROOF_TOLERANCE

    def _claim(self, candidate: Candidate, ends: Sequence[float]) -> tuple[float, Solution]:
        """The solve that found a tree, or one at an end of its interval with this tree as its answer."""
        own = [entry for entry in self._finders(candidate) if entry[1].proven or entry[0] in ends]
        if own:
            return max(own, key=lambda entry: entry[1].proven)
        weight = next((weight for weight in ends if weight in self.solved), None)
        if weight is None:
            return ends[0], self._unsolved(candidate, ends[0])
        proven, solution = self._proven(candidate, weight), self.solved[weight]
        score = self.problem.with_weight(weight).evaluate(candidate.tree)
        return weight, replace(
            solution,
            tree=candidate.tree,
            score=score,
            bound=score.objective if proven else solution.bound,
            status=Status.PROVEN if proven else Status.FEASIBLE,
            certificate=None,
        )

    def _finders(self, candidate: Candidate) -> list[tuple[float, Solution]]:
        """The solves that answered with this very tree."""
        same = (other for other in self.candidates if other is candidate or other.tree == candidate.tree)
        return [self.found_by[id(other)] for other in same if id(other) in self.found_by]

    def _unsolved(self, candidate: Candidate, weight: float) -> Solution:
        """A tree for which the time did not reach: a valid tree about which nothing is known."""
        score = self.problem.with_weight(weight).evaluate(candidate.tree)
        stop = Stop.INTERRUPTED if self.budget.cancelled else Stop.TIME_LIMIT
        return Solution(candidate.tree, score, 0.0, Status.FEASIBLE, stop, self.solver, 0.0)


class _Watch:
    """Ends a solve once its tree is below the tie and its first look round is over, which is when it has a bound.

    The first tree below the tie is seldom the best one, and a poor one would cost a round more.
    """

    def __init__(self, below: float) -> None:
        self.below, self.fired = below, False
        self.budget: Budget | None = None

    def __call__(self, point: TracePoint) -> None:
        """Look at what the solver knows now."""
        if self.budget is not None and point.objective < self.below and point.bound > 0:
            self.fired = True
            self.budget.cancel()


def _answer(
    problem: Problem,
    weight: float,
    start: Tree,
    share: Budget,
    solver: str,
    options: Mapping[str, Any] | None,
    gain: float | None,
) -> tuple[Solution, bool]:
    """One solve, and whether it was cut short; it may run in another process, so its clock starts here."""
    asked = problem.with_weight(weight)
    watch = None if gain is None else _Watch(asked.evaluate(start).objective - gain)
    own = Budget(share.time_limit, share.gap, share.n_jobs, share.seed, watch)
    if watch is not None:
        watch.budget = own
    solution = solve(asked, own, solver=solver, start=start, options=options)
    if watch is None or not watch.fired:
        return solution, False
    # The proof may have been complete in the very moment in which it was cut short.
    return (replace(solution, stop=Stop.FINISHED), False) if solution.proven else (solution, True)


def _best_constant(problem: Problem) -> Tree:
    """The tree without a test that has the least loss: it treats everybody alike, so its discrimination is zero."""
    everybody = np.zeros(problem.people.n_people, dtype=np.intp)
    best = best_leaves(problem, everybody, 1)
    if best is None:
        raise ValueError("without a limit on the discrimination, a constant tree is always allowed")
    return Tree(problem.people.features.schema, problem.target, (Leaf(float(best[0][0])),))
