"""Linear leaves for given tests: least absolute deviations with the fairness terms, all leaves at once.

Exact (a linear program) where the size allows, one leaf after the other where it does not, and by reweighted least
squares where even that is too large or only a quick answer is wanted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from evenleaf.solve.absolute import AbsoluteFit, limited_fit, weighted_fit
from evenleaf.solve.local.sketch import Sketch, decided, leaves_of, reached, with_leaves
from evenleaf.solve.local.workspace import Workspace
from evenleaf.solve.smooth import smooth_fit
from evenleaf.tree import Leaf

# The program is solved whole up to this many cells (terms × coefficients): some seconds.
_MOST_CELLS = 2_500_000


class LeafModels:
    """Fits the linear leaves of sketches; the values of the columns of each leaf are [1, design]."""

    def __init__(self, space: Workspace) -> None:
        self.space = space
        ones = np.ones((len(space.everybody), 1))
        self.inputs = np.hstack([ones, space.design.matrix])
        self.width = self.inputs.shape[1]

    def quick(self, sketch: Sketch) -> Sketch:
        """Linear leaves of nearly the best merit, soon: a few steps of reweighted least squares for all leaves.

        In the form D ≤ ε the best price of disparity is not known; the guess and a lower one are tried.
        """
        space = self.space
        fit = self._fit(sketch, list(range(len(leaves_of(sketch)))))
        prices = (space.price,) if space.limit is None else (space.price, space.price / 4)
        found = [self._with(sketch, smooth_fit(fit, price, lambda: space.budget.exhausted)) for price in prices]
        return found[0] if len(found) == 1 else min(found, key=lambda trial: space.worth(trial).merit)

    def softened(self, sketch: Sketch) -> Sketch:
        """The sketch with all leaves drawn to one constant, which is fair, by as much as D is above ε."""
        space, limit = self.space, self.space.problem.max_discrimination
        worth = space.worth(sketch)
        if limit is None or np.isfinite(worth.objective):
            return sketch
        middle = float(space.share @ space.outcome)
        keep = max(0.0, limit / worth.discrimination)
        leaves = [_drawn(leaf, middle, keep) for leaf in leaves_of(sketch)]
        return with_leaves(sketch, iter(leaves))

    def exact(self, sketch: Sketch, time_limit: float) -> Sketch | None:
        """The best linear leaves: optimal where the program is small enough, else leaf by leaf; None without time."""
        n_leaves = len(leaves_of(sketch))
        if self._cells(n_leaves) <= _MOST_CELLS:
            return self._solved(sketch, list(range(n_leaves)), time_limit)
        if self._cells(1) > _MOST_CELLS:
            return None
        for number in range(n_leaves):
            sketch = self._solved(sketch, [number], time_limit / n_leaves) or sketch
        return sketch

    def _cells(self, n_leaves: int) -> int:
        """How large the program for so many leaves is: a person is in one leaf, a disparity row may meet several."""
        return (len(self.space.everybody) + len(self.space.weight) * n_leaves) * self.width

    def _solved(self, sketch: Sketch, numbers: list[int], time_limit: float) -> Sketch | None:
        problem, fit = self.space.problem, self._fit(sketch, numbers)
        if problem.max_discrimination is None:
            beta = weighted_fit(fit, problem.fairness_weight, time_limit)
        else:
            beta = limited_fit(fit, problem.max_discrimination, time_limit)
        return None if beta is None else self._with(sketch, beta, numbers)

    def _fit(self, sketch: Sketch, numbers: list[int]) -> AbsoluteFit:
        """The program over the coefficients of some leaves, the other leaves staying as they are."""
        space, target = self.space, self.space.problem.target
        leaf = reached(sketch, space.table, space.everybody)
        inside = np.flatnonzero(np.isin(leaf, numbers))
        blocks = self._blocks(leaf, numbers)
        rows = sp.csr_array(space.matrix @ blocks)
        touched = np.flatnonzero(np.diff(rows.indptr))
        others = np.where(np.isin(leaf, numbers), 0.0, decided(sketch, space.table, space.everybody, target))
        offset, weight = space.matrix @ others, space.weight[:, 0]
        constant = np.zeros(len(numbers) * self.width)
        constant[:: self.width] = 1.0
        return AbsoluteFit(
            design=sp.csr_array(blocks[inside]),
            outcome=space.outcome[inside],
            share=space.share[inside],
            rows=sp.csr_array(rows[touched]),
            offset=offset[touched],
            weight=weight[touched],
            constant=constant,
            low=target.low,
            high=target.high,
            fixed=float(np.delete(weight * np.abs(offset), touched).sum()),
        )

    def _blocks(self, leaf: np.ndarray, numbers: list[int]) -> sp.csr_array:
        """Everybody's inputs, in the columns of their leaf."""
        blocks = [sp.csr_array((leaf == number).astype(float)[:, None] * self.inputs) for number in numbers]
        return sp.csr_array(sp.hstack(blocks))

    def _with(self, sketch: Sketch, beta: np.ndarray, numbers: list[int] | None = None) -> Sketch:
        """The sketch with these coefficients in its leaves."""
        leaves = leaves_of(sketch)
        chosen = range(len(leaves)) if numbers is None else numbers
        for number, part in zip(chosen, beta.reshape(-1, self.width), strict=True):
            leaves[number] = self.space.design.leaf(float(part[0]), part[1:])
        return with_leaves(sketch, iter(leaves))


def _drawn(leaf: Leaf, middle: float, keep: float) -> Leaf:
    terms = tuple(replace(term, coefficient=keep * term.coefficient) for term in leaf.terms)
    return Leaf(keep * leaf.value + (1 - keep) * middle, terms)
