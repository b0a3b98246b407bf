"""Is a proof over labels one? What it must show, in the order in which it is checked (ALGORITHM §6).

1. Every root test lies in one of its regions, so every tree with a test does.
2. In each region every tree costs at least the claim: at the multipliers of the region and of those it is part
   of, or else at the multipliers of the tree of labels, whichever labels the tree gives to the people named there.

Trees are not listed. What is kept is the set of roots, and for each root the tests in each place, that some tree
below the claim may have, judged by the multipliers so far; once no root is left, no tree is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.certify.claim import Claim, Progress, ProofError
from evenleaf.solve.certify.labels.bounds import Bounds
from evenleaf.solve.certify.labels.limited import LimitedBounds
from evenleaf.solve.certify.labels.meaning import check_objective, check_tests
from evenleaf.solve.certify.labels.prices import Decided, Prices
from evenleaf.solve.certify.labels.roots import (
    MOST_LISTED_LEVELS,
    Roots,
    cuts,
    cuts_left_over,
    interval,
    levels,
    levels_left_over,
    subsets,
)
from evenleaf.solve.proofs.labels import DEEPEST_LIMITED, LEFT, OPEN, RIGHT, Labels, LabelsProof, Region
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.tree.text import question_text

_CELLS, _MOST_ROOTS = 1 << 20, 64  # how much is worked on at a time


class LabelsCheck:
    """The regions of a proof, and what their multipliers leave."""

    def __init__(self, claim: Claim, proof: LabelsProof, problem: Problem, on_progress: Progress) -> None:
        self.claim, self.proof, self.problem, self.on_progress = claim, proof, problem, on_progress
        if problem.people.outcome.classes is None:
            raise ProofError("a proof over labels speaks about trees that decide classes, and this outcome is a number")
        self.compiled = compile_problem(problem)
        self.schema = problem.people.features.schema
        features, shape = range(self.compiled.n_features), problem.shape
        self.allowed = [allowed_pairs(shape, self.schema, self.compiled, feature) for feature in features]
        if shape.max_depth == DEEPEST_LIMITED and shape.joins_tests:
            self.bounds: Bounds = LimitedBounds(self.compiled, self.allowed, shape, self.schema)
        else:
            self.bounds = Bounds(self.compiled, shape.max_depth, shape.min_samples_leaf, self.allowed)
        self.prices = Prices(claim, self.compiled, proof.facets, problem.max_discrimination)
        self.done, self.total = 0, sum(_count(region) for region in proof.regions)

    def check(self, checked: list[str]) -> None:
        """Every root is in a region, and every region is ruled out."""
        check_tests(self.problem, self.compiled)
        check_objective(self.problem, self.compiled)
        checked.append("The proof speaks about all tests of all columns, and prices people as the question does.")
        for region in self.proof.regions:
            self._check_form(region)
        roots = [f for f in range(self.compiled.n_features) if self.allowed[f].any()]
        for feature in roots:
            self._check_cover(feature)
        checked.append(f"Its {len(self.proof.regions)} regions hold every test that a tree can begin with.")
        for region in self.proof.regions:
            self._rule_out(region, self.bounds.every_cut(), (), ())
        checked.append(f"In all {self.total} regions and smaller regions every tree costs at least as much.")

    def _name(self, feature: int) -> str:
        return repr(self.schema.names[self.compiled.features[feature].column])

    def _check_form(self, region: Region, parent: Region | None = None) -> None:
        """A region names a feature and roots that there are, and lies within the region that it is part of."""
        if not 0 <= region.feature < self.compiled.n_features:
            raise ProofError("a region of the certificate is about a feature that there is not")
        size, name = int(self.compiled.sizes[region.feature]), self._name(region.feature)
        if self.compiled.unordered[region.feature]:
            sides = region.sides
            if sides is None or sides.shape != (size,) or not np.isin(sides, (LEFT, RIGHT, OPEN)).all():
                raise ProofError(f"a region on {name} does not say where each level goes")
        elif region.sides is not None or not 0 <= region.first <= region.last <= size - 2:
            raise ProofError(f"a region on {name} is not an interval of its thresholds")
        if parent is not None and not _within(region, parent):
            raise ProofError(f"a region on {name} reaches outside the one that it is part of")
        for part in _inside(region):
            self._check_form(part, region)

    def _check_cover(self, feature: int) -> None:
        """The regions of a feature hold all its roots."""
        size = int(self.compiled.sizes[feature])
        sides = np.full(size, OPEN, dtype=np.int8)
        sides[0] = LEFT  # of a subset and its complement one is enough: the same trees, mirrored
        unordered = bool(self.compiled.unordered[feature])
        whole = Region(feature, 0, size - 2, sides if unordered else None, np.zeros(0), 1.0)
        whole.parts = [region for region in self.proof.regions if region.feature == feature]
        for left in self._left_over(whole, 1):
            raise ProofError(f"no region of the proof holds {self._example(left)}")

    def _left_over(self, region: Region, at_a_time: int) -> list[Roots]:
        """The roots of a region that none of its parts holds, some at a time."""
        if region.sides is None:
            size = int(self.compiled.sizes[region.feature])
            after = cuts_left_over(region, region.parts)
            return [cuts(region.feature, size, after[k : k + at_a_time]) for k in range(0, len(after), at_a_time)]
        inside = [part.sides for part in region.parts if part.sides is not None]
        found = []
        for sides in levels_left_over(region.sides, inside):
            if (sides == OPEN).sum() > MOST_LISTED_LEVELS:
                found.append(levels(region.feature, sides))
                continue
            listed = subsets(region.feature, sides)
            found += [listed.keep(slice(k, k + at_a_time)) for k in range(0, len(listed), at_a_time)]
        return found

    def _example(self, roots: Roots) -> str:
        """The first of some roots, in words."""
        test = self.compiled.features[roots.feature].test(roots.left_ranks())
        return f"trees that begin with the test {question_text(test, self.schema)!r}"

    def _rule_out(self, region: Region, alive: np.ndarray, path: tuple[Region, ...], decided: Decided) -> None:
        """Every tree with a root in the region and the labels decided so far costs at least the claim.

        `alive` are the tests left by the path.
        """
        together = self._together(region)
        path = (*path, region)
        if together is not None:
            # All roots at once first: it is quick, and mostly enough.
            left, alive = self._survivors(together, alive, region, decided)
            if not len(left):
                self._tell(_count(region))
                return
        if together is not None and self.bounds.depth > 2 and region.labels is not None and not region.parts:
            # The labels of deeper trees were decided for all roots of the region together.
            for node, left_alive, so_far in self._walk(together, alive, (), region.labels, decided):
                self._rule_out_parts(region, node, left_alive, so_far)
            self._tell(1)
            return
        for part in region.parts:
            self._rule_out(part, alive, path, decided)
        again = path if self.bounds.depth <= 2 else path[-1:]
        at_a_time = 1 if self.bounds.depth > 2 else int(np.clip(_CELLS // max(1, alive.sum()), 1, _MOST_ROOTS))
        for roots in self._left_over(region, at_a_time):
            for _ in self._walk(roots, alive, again, region.labels, decided):
                raise ProofError(f"the proof does not rule out {self._example(roots)}")
        self._tell(1)

    def _rule_out_parts(self, region: Region, node: Labels, alive: np.ndarray, decided: Decided) -> None:
        """Below some labels the roots of a region are parted: every root is in a part, and each is ruled out."""
        for left in self._left_over(replace(region, parts=node.parts), 1):
            raise ProofError(f"the proof does not rule out {self._example(left)}")
        for part in node.parts:
            self._rule_out(part, alive, (), decided)

    def _tell(self, more: int) -> None:
        self.done += more
        self.on_progress(self.done, self.total)

    def _together(self, region: Region) -> Roots | None:
        """The roots of a region as one, with the ranks that differ left open; None where listing them is quicker."""
        if region.sides is None:
            size = int(self.compiled.sizes[region.feature])
            return interval(region.feature, size, region.first, region.last)
        few = (region.sides == OPEN).sum() <= MOST_LISTED_LEVELS
        return None if few and self.bounds.depth <= 2 else levels(region.feature, region.sides)

    def _walk(
        self, roots: Roots, alive: np.ndarray, path: tuple[Region, ...], labels: Labels | None, decided: Decided
    ) -> Iterator[tuple[Labels, np.ndarray, Decided]]:
        """Apply the multipliers of the regions, then those of the tree of labels, until no root is left.

        Where that tree ends in smaller regions, these are for the caller to look at.
        """
        alive = np.repeat(alive, len(roots), axis=1)
        for region in path:
            roots, alive = self._survivors(roots, alive, region, decided)
            if not len(roots):
                return
        stack: list[tuple[Labels | None, Roots, np.ndarray, Decided]] = [(labels, roots, alive, decided)]
        while stack:
            node, roots, alive, decided = stack.pop()
            if node is not None:
                roots, alive = self._survivors(roots, alive, node, decided)
            if not len(roots):
                continue
            if node is not None and node.children is None and node.parts:
                yield node, alive, decided
                continue
            if (
                node is not None
                and node.children is None
                and self.bounds.is_ruled_out(roots, alive, *self.prices.at(node, decided))
            ):
                continue
            if node is None or node.children is None:
                raise ProofError(f"the proof does not rule out {self._example(roots)}")
            n_people, n_classes = self.prices.losses.shape
            if not (0 <= node.person < n_people and 0 <= node.label < n_classes):
                raise ProofError(f"the proof on {self._name(roots.feature)} decides about nobody, or no label")
            for has, child in enumerate(node.children):
                stack.append((child, roots, alive, (*decided, (node.person, node.label, bool(has)))))

    def _survivors(
        self, roots: Roots, alive: np.ndarray, node: Region | Labels, decided: Decided
    ) -> tuple[Roots, np.ndarray]:
        """What the multipliers of a node leave of some roots, and of the tests below each."""
        prices, budget = self.prices.at(node, decided)
        return self.bounds.survivors(roots, alive, prices, budget)


def _within(part: Region, whole: Region) -> bool:
    if part.feature != whole.feature or (part.sides is None) != (whole.sides is None):
        return False
    if part.sides is None or whole.sides is None:
        return whole.first <= part.first and part.last <= whole.last
    return bool(((whole.sides == OPEN) | (part.sides == whole.sides)).all())


def _inside(region: Region) -> Iterator[Region]:
    """The smaller regions that a region was split into, also those below its labels."""
    yield from region.parts
    for node in () if region.labels is None else region.labels.nodes():
        yield from node.parts


def _count(region: Region) -> int:
    return 1 + sum(_count(part) for part in _inside(region))
