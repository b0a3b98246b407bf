"""Is a proof about numbers one? What it must show, in the order in which it is checked (ALGORITHM §6).

1. One value for everybody is no better.
2. Every root test lies in one of its nodes, so every tree with a test does.
3. In each node, the trees that cost less than the claim at its multipliers lie in its parts, and so on down; where
   there are no parts, nothing is left, or one root with a few trees, each of which costs at least the claim.

Trees are not listed on the way. What is kept of a set of trees is its roots, and the tests in each place that some
tree below the claim may have, judged by the multipliers so far. Once a place has no test left, not even none, there
is no tree left.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np

from evenleaf.problem import FEASIBILITY_TOLERANCE, Problem
from evenleaf.solve.certify.claim import Claim, Progress, ProofError
from evenleaf.solve.certify.values.below import FREE, StumpsBelow, Trees
from evenleaf.solve.certify.values.leaves import best_multipliers, leaf_costs
from evenleaf.solve.certify.values.numbers import Numbers, Prices
from evenleaf.solve.certify.values.subtrees import SubtreesBelow
from evenleaf.solve.proofs.values import GRID, Capped, Kept, Node, Roots, ValuesProof
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.tree.text import question_text

_MOST_LISTED, _MOST_TRIED = 16, 4096
MOST_DEPTH = 3


class ValuesCheck:
    """The nodes of a proof, and what their multipliers leave."""

    def __init__(self, claim: Claim, proof: ValuesProof, problem: Problem, on_progress: Progress) -> None:
        self.proof, self.problem, self.on_progress = proof, problem, on_progress
        shape, self.schema = problem.shape, problem.people.features.schema
        if problem.people.outcome.classes is not None:
            raise ProofError("a proof about numbers cannot speak about an outcome with classes")
        if shape.max_depth > MOST_DEPTH:
            raise ProofError(f"proofs about numbers can be checked down to depth {MOST_DEPTH}")
        self.numbers = Numbers.of(problem)
        self.objective = (claim.objective - claim.tolerance) / self.numbers.unit
        limit = problem.max_discrimination
        self.limit = None if limit is None else (limit + FEASIBILITY_TOLERANCE) / self.numbers.unit
        features = range(self.numbers.n_features)
        self.allowed = [allowed_pairs(shape, self.schema, self.numbers.compiled, f) for f in features]  # type: ignore[arg-type]
        self.below: StumpsBelow | SubtreesBelow = SubtreesBelow(self.numbers, shape, self.schema)
        if shape.max_depth < MOST_DEPTH:
            self.below = StumpsBelow(self.numbers, self.allowed, shape.min_samples_leaf, shape.max_depth)
        self.done, self.total = 0, proof.n_nodes

    def check(self, checked: list[str]) -> None:
        """One value for everybody is no better, every root is in a node, and every node is ruled out."""
        checked.append("The proof speaks about all tests of all columns, and prices people as the question does.")
        if self.objective <= 0:
            checked.append("No tree can be better: an error and a disparity are never below zero.")
            return
        self._check_tree(np.zeros(len(self.numbers.count), dtype=np.intp), "one value for everybody is better")
        checked.append("No tree without a test is better.")
        tops: list[tuple[Node, Trees]] = []
        for feature in range(self.numbers.n_features):
            if self.allowed[feature].any():
                for tested in self.below.tested:
                    tops += self._tops(feature, tested)
        checked.append(f"Its {len(self.proof.nodes)} first sets hold every test that a tree can begin with.")
        for node, trees in tops:
            self._rule_out(node, trees)
        self.on_progress(self.total, self.total)
        checked.append(f"In all {self.total} sets and smaller sets every tree costs at least as much.")

    def _tops(self, feature: int, tested: int) -> list[tuple[Node, Trees]]:
        """The first nodes about a feature and some places with their trees; together they must hold all its tests."""
        every = np.arange(self.numbers.offsets[feature + 1] - self.numbers.offsets[feature])
        found = []
        for node in self.proof.nodes:
            if not isinstance(node.within, Roots) or not 0 <= node.within.feature < self.numbers.n_features:
                raise ProofError("a set of the certificate is about a feature that there is not")
            if node.within.feature == feature and node.within.tested & tested == tested:
                roots = self._roots(node.within, every)
                if len(roots):
                    found.append((node, self.below.start(feature, roots, tested)))
        self._check_cover(feature, every, [trees.roots for _, trees in found])
        return found

    def _roots(self, within: Roots, possible: np.ndarray) -> np.ndarray:
        """Those of the possible roots that a set names."""
        size = int(self.numbers.ranks[within.feature].max()) + 1
        if not self.numbers.unordered[within.feature]:
            if within.sides or not 0 <= within.first <= within.last <= size - 2:
                raise ProofError(f"a set of roots on {self._name(within.feature)} is not an interval of thresholds")
            return possible[(possible >= within.first) & (possible <= within.last)]
        sides = np.array(within.sides)
        if sides.shape != (size,) or not np.isin(sides, (0, 1, FREE)).all():
            raise ProofError(f"a set of roots on {self._name(within.feature)} does not say where each level goes")
        goes_right = ~self.numbers.sends_left(within.feature, possible)
        return possible[((sides == FREE) | (goes_right == sides)).all(axis=1)]

    def _check_cover(self, feature: int, wanted: np.ndarray, held: list[np.ndarray]) -> None:
        missing = np.setdiff1d(wanted, np.concatenate([*held, np.zeros(0, dtype=np.intp)]))
        if len(missing):
            raise ProofError(f"no part of the proof holds {self._example(feature, int(missing[0]))}")

    def _name(self, feature: int) -> str:
        return repr(self.schema.names[self.numbers.compiled.features[feature].column])

    def _example(self, feature: int, root: int) -> str:
        test = self.numbers.compiled.features[feature].test(self.numbers.sends_left(feature, np.array([root]))[0])
        return f"trees that begin with the test {question_text(test, self.schema)!r}"

    def _rule_out(self, top: Node, trees: Trees) -> None:
        """Every tree of a node costs at least the claim."""
        stack = [(top, trees, False)]
        while stack:
            node, trees, parted = stack.pop()
            self.done += 1
            self.on_progress(min(self.done, self.total), self.total)
            left = self._left(trees, node)
            if not left.alive.any(axis=1).all():
                continue
            if node.parts:
                inside = self._parts(node, left, parted)
                stack += [(part, *trees_of) for part, trees_of in zip(node.parts, inside, strict=True)]
            else:
                self._check_listed(left)

    def _left(self, trees: Trees, node: Node) -> Trees:
        """The trees that cost less than the claim at a node's multipliers, as far as limits allow them."""
        trees = self.below.within_limits(trees)
        if not node.priced:
            return trees
        prices, budget = self._prices(node)
        return self.below.within_limits(replace(trees, alive=self.below.survivors(trees, prices, budget)))

    def _prices(self, node: Node) -> tuple[Prices, float]:
        """What a unit of value costs each person at a node, and what a tree below the claim costs less than."""
        if node.mu.shape != self.numbers.weight.shape or (np.abs(node.mu.astype(np.int64)) > GRID).any():
            raise ProofError("the multipliers of the certificate are not between −1 and 1, one a row")
        if not (np.isfinite(node.scale) and node.scale >= 0) or (self.limit is None and node.scale != 1):
            raise ProofError(f"the multipliers of the certificate are scaled by {node.scale:g}")
        return self._priced(node.mu / GRID, node.scale)

    def _priced(self, mu: np.ndarray, scale: float) -> tuple[Prices, float]:
        """Every tree has loss + λD ≥ its cost; with a limit ε instead of λ, loss ≥ cost − scale·ε (ALGORITHM §2, §7).

        Sums are exact only to rounding, so that a tree must cost that much more: large scales prove nothing.
        """
        prices = self.numbers.prices(mu, scale)
        allowance = 0.0 if self.limit is None else scale * self.limit
        # Rows inside a stump are paid for whatever their multipliers, so that small prices do not make small sums.
        with np.errstate(over="ignore"):
            paid = float(prices.steep @ np.abs(self.numbers.operator).sum(axis=0))
        size = 1.0 + float(np.abs(prices.person).sum()) + paid + allowance
        if not np.isfinite(size):
            raise ProofError(f"the multipliers of the certificate are scaled by {scale:g}, beyond all numbers")
        return prices, self.objective + allowance + self.below.rounding * size

    def _parts(self, node: Node, trees: Trees, parted: bool) -> list[tuple[Trees, bool]]:
        """The trees of each part; together the parts must hold all of the node's.

        A part has fewer roots, or fewer tests at one place, or (with depth 3) a value above or below which somebody's
        must be, or (with the same trees) only other multipliers. Once tests were parted, roots stay as they are:
        which tests part people alike depends on the roots.
        """
        kinds = {type(part.within) for part in node.parts}
        if kinds == {type(None)}:
            return [(trees, parted)] * len(node.parts)
        if kinds == {Roots} and not parted:
            return [(inside, False) for inside in self._narrower(node, trees)]
        if kinds == {Kept}:
            return [(inside, True) for inside in self._with_tests(node, trees)]
        if kinds == {Capped} and isinstance(self.below, SubtreesBelow):
            return [(inside, parted) for inside in self._with_caps(node, trees)]
        raise ProofError(f"a set of trees with roots on {self._name(trees.feature)} is parted in no way that there is")

    def _narrower(self, node: Node, trees: Trees) -> list[Trees]:
        found = []
        for part in node.parts:
            if not isinstance(part.within, Roots) or part.within.feature != trees.feature:
                raise ProofError(f"a set of roots on {self._name(trees.feature)} has a part on another feature")
            found.append(self._roots(part.within, trees.roots))
        self._check_cover(trees.feature, trees.roots, found)
        if not all(len(roots) for roots in found):
            raise ProofError(f"a set of roots on {self._name(trees.feature)} has a part without any")
        return [self.below.narrowed(trees, roots) for roots in found]

    def _with_tests(self, node: Node, trees: Trees) -> list[Trees]:
        found, held = [], np.zeros(trees.alive.shape[1], dtype=np.bool_)
        places = {part.within.place for part in node.parts if isinstance(part.within, Kept)}
        place = places.pop()
        if places or not 0 <= place < len(trees.alive):
            raise ProofError("the tests of a set of trees are not parted at one place that there is")
        for part in node.parts:
            runs = part.within.runs if isinstance(part.within, Kept) else ()
            kept = np.zeros_like(held)
            if len(runs) % 2:
                raise ProofError(f"the tests below a root on {self._name(trees.feature)} are not kept in whole runs")
            for start, stop in zip(runs[::2], runs[1::2], strict=True):
                kept[max(0, start) : max(0, stop)] = True
            alive = trees.alive.copy()
            alive[place] &= kept
            held |= kept
            found.append(replace(trees, alive=alive))
        if (trees.alive[place] & ~held).any():
            raise ProofError(f"no part of the proof holds some tests below a root on {self._name(trees.feature)}")
        return found

    def _with_caps(self, node: Node, trees: Trees) -> list[Trees]:
        """Whatever a tree decides for somebody, it is at most a value, or at least that or a lower one."""
        caps = [part.within for part in node.parts if isinstance(part.within, Capped)]
        below, above = ([cap.value for cap in caps if cap.above == side] for side in (False, True))
        if len({cap.person for cap in caps}) > 1 or not 0 <= caps[0].person < len(self.numbers.count):
            raise ProofError("a set of trees is parted by the values of several people, or of nobody")
        if not (np.isfinite(below + above).all() and below and above and min(above) <= max(below)):
            raise ProofError("no part of the proof holds some values of a person")
        return [replace(trees, caps=(*trees.caps, cap)) for cap in caps]

    def _check_listed(self, trees: Trees) -> None:
        """The last trees of a set, one by one, with the best values there are for their tests."""
        words = f"the proof does not rule out {self._example(trees.feature, int(trees.roots[0]))}"
        if len(trees.roots) > 1 or trees.alive.sum(axis=1, dtype=np.float64).prod() > _MOST_TRIED:
            raise ProofError(words)
        listed = list(islice(self.below.listed(trees), _MOST_LISTED + 1))
        if len(listed) > _MOST_LISTED:
            raise ProofError(words)
        for leaf in listed:
            self._check_tree(leaf, words)

    def _check_tree(self, leaf: np.ndarray, words: str) -> None:
        """A tree with these leaves costs at least the claim, whatever their values."""
        _, number = np.unique(leaf, return_inverse=True)
        mu, scale = best_multipliers(self.numbers, number.ravel(), self.limit)
        prices, budget = self._priced(mu, scale)
        if not leaf_costs(self.numbers, number.ravel(), prices.person) >= budget:
            raise ProofError(words)
