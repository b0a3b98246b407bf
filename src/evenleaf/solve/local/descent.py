"""The search itself: descend by the best neighbour of each node, kick the best tree, descend again."""

from __future__ import annotations

import numpy as np

from evenleaf.errors import InputError
from evenleaf.problem import Problem, Score
from evenleaf.solve.budget import Budget
from evenleaf.solve.greedy import greedy_tree
from evenleaf.solve.local.fitter import Fitter
from evenleaf.solve.local.kicks import kicked
from evenleaf.solve.local.moves import neighbours, polished
from evenleaf.solve.local.simplify import without_needless_features
from evenleaf.solve.local.sketch import Path, Sketch, fold, paths, unfold
from evenleaf.solve.local.workspace import Workspace, Worth
from evenleaf.solve.result import PROOF_TOLERANCE, relative_gap
from evenleaf.tree import Leaf, Tree, tidy

_BETTER = 1e-10
# What disparity may cost for a while, as a multiple of its usual price.
_PRICES = (1.0, 1.0, 0.5, 0.2, 0.05, 2.0, 5.0)


class Descent:
    """The best tree so far, and the way to better ones."""

    def __init__(self, problem: Problem, budget: Budget, bound: float) -> None:
        self.problem, self.budget, self.bound = problem, budget, bound
        self.best: tuple[Score, Tree] | None = None
        self.space = Workspace(problem, budget)
        self.fitter = Fitter(self.space)
        self.rng = np.random.default_rng(budget.seed)

    @property
    def gap_reached(self) -> bool:
        """Whether the best tree is as near to the bound as was asked."""
        if self.best is None:
            return False
        objective = self.best[0].objective
        return objective <= self.bound + PROOF_TOLERANCE or relative_gap(objective, self.bound) <= self.budget.gap

    def over(self) -> bool:
        """Whether to stop."""
        return self.budget.exhausted or self.gap_reached

    def run(self, start: Tree | None, patience: int) -> None:
        """Descend from the start, the greedy tree and a lone leaf, then from kicked copies of the best tree."""
        starts: list[Sketch] = []
        if start is not None and self.problem.evaluate(start).feasible:
            starts.append(unfold(start))
            self.keep(starts[0])
        greedy = greedy_tree(self.problem, self.budget)
        starts += [] if greedy is None else [unfold(greedy)]
        lone = Leaf(0.0 if self.problem.target.classes is not None else self.problem.target.low)
        for sketch in (*starts, lone):
            self.keep(sketch)
        if self.fitter.linear and not self.over():
            self.keep(self.fitter.exact(self.fitter.quick((*starts, lone)[0])))
        for sketch in (*starts, lone):
            if self.problem.shape.branching == "linear" and sketch is not lone:
                sketch = self.descend(sketch, single=True)  # soon done, and a good place to go on from
            self.descend(sketch)
        self._wander(patience)
        if self.best is not None and not self.budget.exhausted:
            self.keep(without_needless_features(self.space, unfold(self.best[1])))

    def _wander(self, patience: int) -> None:
        """Kick and descend. Every other time the way goes on from where it led, so that it can cross a ridge."""
        failures, here = 0, None
        while self.best is not None and failures < patience and not self.over():
            before = self.best[0].objective
            base = unfold(self.best[1]) if here is None or failures % 2 == 0 else here
            here = self.descend(self._detour(kicked(self.space, base, self.rng)))
            failures = 0 if self.best[0].objective < before - _BETTER else failures + 1
            if failures == 0 and self.fitter.linear and not self.over():
                self.keep(self.fitter.exact(unfold(self.best[1])))  # it may have been met on the detour

    def _detour(self, sketch: Sketch) -> Sketch:
        """Descend for a while with disparity dearer or cheaper than it is, and without ε."""
        space = self.space
        factor = float(self.rng.choice(_PRICES))
        if not space.usual_price or (factor == 1 and self.problem.max_discrimination is None):
            return sketch
        space.price, space.relaxed = factor * space.usual_price, True
        sketch = self.descend(sketch)
        space.price, space.relaxed = space.usual_price, False
        return sketch

    def keep(self, sketch: Sketch) -> bool:
        """Remember the tidy tree if it is valid and better than the best, or as good with fewer features."""
        people = self.problem.people
        tree = tidy(fold(self.problem, sketch), people.features, people.weight)
        score = self.problem.evaluate(tree)
        if not score.feasible or (self.best is not None and not self._beats(score, tree, *self.best)):
            return False
        self.best = score, tree
        if score.objective < self.bound - PROOF_TOLERANCE:
            raise InputError(
                f"the lower bound {self.bound:g} is no bound for this problem: a tree of {score.objective:g} was found"
            )
        self.budget.report(self.bound, score.objective)
        return True

    def _beats(self, score: Score, tree: Tree, best: Score, best_tree: Tree) -> bool:
        if score.objective < best.objective - _BETTER:
            return True
        size = sum(tree.feature_uses.values()), tree.n_leaves
        best_size = sum(best_tree.feature_uses.values()), best_tree.n_leaves
        return score.objective <= best.objective and size < best_size

    def descend(self, sketch: Sketch, *, single: bool = False) -> Sketch:
        """Improve one node at a time until no node can be, by single-feature tests alone if `single`.

        The best tree is kept on the way.
        """
        if self.over():
            return sketch
        sketch = self.fitter.quick(sketch)
        worth = self.space.worth(sketch)
        self.keep(self.fitter.mended(sketch))
        improved = True
        while improved and not self.over():
            improved = False
            places = list(paths(sketch))
            for place in self.rng.permutation(len(places)):
                better = None if self.over() else self._step(sketch, places[place], worth, single=single)
                if better is not None:
                    (sketch, worth), improved = better, True
                    self.keep(self.fitter.mended(sketch))
        if self.fitter.linear and not self.space.relaxed and not self.over():
            self.keep(self.fitter.exact(sketch))
        return sketch

    def _step(self, sketch: Sketch, path: Path, worth: Worth, *, single: bool) -> tuple[Sketch, Worth] | None:
        """The best neighbour at one node, where that is better than the sketch and keeps the limits."""
        if path not in paths(sketch):
            return None  # an earlier step has cut it off
        best: tuple[Sketch, Worth] | None = None
        for trial in neighbours(self.space, sketch, path, self.fitter.trials, self.rng, single=single):
            if self.budget.exhausted:
                break
            fitted = self.fitter.quick(trial)
            value = self.space.worth(fitted)
            lowest = self.fitter.value(worth) - _BETTER if best is None else self.fitter.value(best[1])
            if self.fitter.value(value) < lowest and not self._broken(fitted):
                best = fitted, value
        return None if best is None else self._polish(best, path)

    def _polish(self, found: tuple[Sketch, Worth], path: Path) -> tuple[Sketch, Worth]:
        """The linear test that has just been found, improved for as long as that is easy."""
        sketch = self.fitter.quick(polished(self.space, found[0], path))
        worth = self.space.worth(sketch)
        better = self.fitter.value(worth) < self.fitter.value(found[1])
        return (sketch, worth) if better and not self._broken(sketch) else found

    def _broken(self, sketch: Sketch) -> bool:
        people = self.problem.people
        tree = tidy(fold(self.problem, sketch), people.features, people.weight)
        return bool(self.problem.shape.violations(tree, people.features))
