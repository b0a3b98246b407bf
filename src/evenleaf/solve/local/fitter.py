"""The leaves of a sketch, fitted: labels, numbers or linear rules, quickly for a look and exactly for keeps."""

from __future__ import annotations

from functools import cached_property

from evenleaf.solve.leaves import best_leaves
from evenleaf.solve.local.leaf_models import LeafModels
from evenleaf.solve.local.sketch import Sketch, leaves_of, reached, with_leaves
from evenleaf.solve.local.workspace import Workspace, Worth
from evenleaf.tree import Leaf


class Fitter:
    """Knows which kind of leaf the problem asks for."""

    def __init__(self, space: Workspace) -> None:
        self.space = space

    @property
    def linear(self) -> bool:
        """Whether leaves are linear rules."""
        return self.space.problem.shape.leaves == "linear" and self.space.design.n_columns > 0

    @property
    def trials(self) -> int:
        """How many neighbours are worth fitting: the costlier a fit, the fewer."""
        if self.space.problem.target.classes is not None:
            return 6
        return 2 if self.linear else 3

    @cached_property
    def _models(self) -> LeafModels:
        return LeafModels(self.space)

    def quick(self, sketch: Sketch) -> Sketch:
        """Good leaves; those it has where none keep the limits."""
        return self._models.quick(sketch) if self.linear else self._constant(sketch)

    def mended(self, sketch: Sketch) -> Sketch:
        """The sketch, its linear leaves softened where they are above ε."""
        return self._models.softened(sketch) if self.linear else sketch

    def value(self, worth: Worth) -> float:
        """What the search lowers: the merit; but D ≤ ε must be kept, unless linear leaves are mended in the end."""
        strict = self.space.limit is not None and not self.linear
        return worth.objective if strict else worth.merit

    def exact(self, sketch: Sketch) -> Sketch:
        """The best leaves there is time for."""
        if not self.linear:
            return self._constant(sketch)
        return self._models.exact(sketch, self.space.budget.remaining) or sketch

    def _constant(self, sketch: Sketch) -> Sketch:
        space = self.space
        leaf = reached(sketch, space.table, space.everybody)
        found = best_leaves(space.asked(), leaf, len(leaves_of(sketch)), self.space.budget.remaining)
        if found is None:
            return sketch
        return with_leaves(sketch, iter([Leaf(float(value)) for value in found[0]]))
