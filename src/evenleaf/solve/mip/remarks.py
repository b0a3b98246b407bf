"""What a proof over linear rules is about: the margins and slopes that the model allows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenleaf.solve.mip.blocks_leaves import STEEPEST
from evenleaf.solve.mip.blocks_linear import margin_for
from evenleaf.solve.mip.formulation import Formulation
from evenleaf.solve.mip.terms import Terms, terms_of
from evenleaf.tree import Leaf, Tree


def remarks(formulation: Formulation, tree: Tree) -> Iterator[str]:
    """The limits of the linear rules that were compared; nothing for single tests and constant leaves."""
    instance = formulation.instance
    shape = instance.problem.shape
    if shape.branching == "single" and shape.leaves == "constant":
        return
    terms = terms_of(instance)
    if shape.branching == "linear":
        yield f"among linear tests with a margin of {margin_for(terms):.3g} on features scaled to [0, 1]"
    if shape.leaves == "linear":
        yield f"among linear leaves that move by at most {STEEPEST:g} label ranges over the range of a feature"
        if _steepest(tree, terms, instance.scale) >= STEEPEST * (1 - 1e-6):
            yield "a leaf is as steep as that: steeper ones might be better"


def _steepest(tree: Tree, terms: Terms, scale: float) -> float:
    slopes = [0.0]
    for node in tree.nodes:
        found = terms.read(node.terms) if isinstance(node, Leaf) and node.terms else None
        if found is not None:
            slopes.append(float(np.abs(found[0]).max()) / scale)
    return max(slopes)
