"""Examines one box at a time: raises its bound, splits it, or proves a root by splitting what is possible below it.

What comes out depends on the box, the incumbent and the patterns at the start of the round alone, not on who examined
it or on what else is going on (`engine.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.values.ascent import (
    CLIMB,
    DEEP_CLIMB,
    DEEP_GLANCE,
    DEEP_LIGHT,
    FIRST,
    GLANCE,
    LOOK,
    SEARCH,
    SHORT,
    STEADY,
    Ascended,
    Ascent,
)
from evenleaf.solve.values.boxes import LEFT, Box, split_root
from evenleaf.solve.values.branching import (
    PlaceSplit,
    Proof,
    split_below_root,
    split_tests,
    tests_below_root,
    with_multipliers,
)
from evenleaf.solve.values.caps import ValueSplit
from evenleaf.solve.values.compiled import Compiled
from evenleaf.solve.values.kernels import EPSILON
from evenleaf.solve.values.limits import Coupling, pairs_below
from evenleaf.solve.values.oracle import Oracle
from evenleaf.solve.values.patterns import Patterns
from evenleaf.solve.values.plans import Polish
from evenleaf.solve.values.pool import Pool
from evenleaf.solve.values.recorder import Note, Recorder
from evenleaf.tree import Tree

_LISTED = 2  # so few trees are solved one by one
_PROMISING = 0.15  # within this part of the incumbent, a box with free people is worth more than a look
_WORTH_POLISHING = 1.003  # a tree this close to the incumbent may be better with its best values
_MOST_CAPS = 20  # then tests are split, which ends every case
_MOST_NODES, _MOST_DEEP_NODES = 1000, 5000  # of one proof before other boxes have their turn
_PIECE = 3  # `seen` of a box that is left of a root whose proof took too long


@dataclass(frozen=True, eq=False)
class Open:
    """A node still to be proven: how another root was, what is noted for the next root, and the box itself."""

    old: Proof | None
    proof: Proof
    box: Box


@dataclass(eq=False)
class Examined:
    """What came of a box: the boxes that replace it, and what is noted for the certificate and for the next roots."""

    boxes: list[Box] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    climbed: list[tuple[Box, Proof]] = field(default_factory=list)
    proofs: list[tuple[Box, Proof]] = field(default_factory=list)


class Worker:
    """One thread's arrays, and the incumbent as it knows it (in units of the outcome's spread)."""

    def __init__(self, problem: Problem, compiled: Compiled, budget: Budget, recorder: Recorder) -> None:
        self.problem, self.compiled, self.budget, self.recorder = problem, compiled, budget, recorder
        shape, schema = problem.shape, problem.people.features.schema
        self.unit = compiled.spread or 1.0
        self.coupling = Coupling(shape, schema, compiled)
        self.ascent = Ascent(compiled, shape, problem.max_discrimination, lambda: budget.exhausted, self.coupling)
        self.polish = Polish(problem, compiled)
        self.pairs = [pairs_below(shape, schema, compiled, root) for root in range(compiled.n_features)]
        self.climbed, self.proofs = Patterns(), Patterns()
        self.begin(None, np.inf, self.climbed, self.proofs)

    def begin(self, tree: Tree | None, objective: float, climbed: Patterns, proofs: Patterns) -> None:
        """Start from the incumbent and the patterns that all workers of a round start from."""
        self.tree, self.objective = tree, objective
        self.climbed, self.proofs = climbed, proofs
        self.out = Examined()

    def examine(self, box: Box) -> Examined:
        """Close a box, or replace it by smaller ones; each time it comes up, more is done about it."""
        if box.seen < 2:
            reached = replace(self._raised(box).box, seen=2 if self.ascent.deep else box.seen + 1)
            far = self.ascent.deep or reached.bound < (1 - _PROMISING) * self.objective
            if not (box.has_free and far):
                self.out.boxes.append(reached)  # its turn comes once the others are known too
                return self.out
            box = reached
        if not box.has_free:
            self._prove(box)
        elif box.bound < self.objective - EPSILON:
            self.out.boxes += [replace(part, seen=0) for part in split_root(box, self.compiled)]
        return self.out

    def climb(self, box: Box, effort: Effort) -> Ascended:
        """Raise the bound of a box, and take the best tree met on the way if it is better than the incumbent."""
        inside = self.coupling.narrowed(box)
        reached = self.ascent.climb(inside, self.pairs[box.feature], self.objective, effort)
        after = self.coupling.narrowed(reached.box)
        if reached.bounds:
            after = self._noted(box, after)
        else:  # nothing was priced: the box is only parted further
            after = replace(self._noted(box, replace(after, mu=box.mu)), mu=after.mu)
        reached = replace(reached, box=after)
        found = reached.found
        worth = np.inf if effort in (FIRST, SHORT, SEARCH) else _WORTH_POLISHING
        if found is not None and found.objective < worth * self.objective:
            self._solve(box, found.tests, found.leaf)
        return reached

    def offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective / self.unit < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective / self.unit

    def _noted(self, before: Box, after: Box) -> Box:
        after, note = self.recorder.noted(before, after)
        if note is not None:
            self.out.notes.append(note)
        return after

    def _solve(self, box: Box, tests: np.ndarray, leaf: np.ndarray) -> None:
        """Give a tree its best values, and take it if it is better."""
        if self.coupling.keeps(box.feature, tests):
            better_than, seconds = self.objective * self.unit, self.budget.remaining
            tree = self.polish.tree(box.feature, box.state == LEFT, tests, leaf, better_than, seconds)
            if tree is not None:
                self.offer(tree)

    def _raised(self, box: Box) -> Ascended:
        """Look at a box that is new; climb in one that is not, and from where the nearest root has got to."""
        if not self.ascent.deep and (box.seen == 0 or box.has_free):
            return self.climb(box, GLANCE if box.seen else LOOK)
        if box.has_free and box.mixture is None:
            # Boxes that still have the first multipliers share their sides, so that a look costs little.
            reached = self.climb(box, LOOK)
            box = reached.box
            if not (1 - DEEP_GLANCE.near) * self.objective < box.bound < self.objective - EPSILON:
                return reached
        near = self.climbed.nearest(box)
        box = box if near is None else with_multipliers(box, near)
        if self.ascent.deep:
            reached = self.climb(box, DEEP_GLANCE if box.has_free else self._effort(box))
        else:
            reached = self.climb(box, STEADY)
        self.out.climbed.append((box, Proof(reached.box.mu, reached.box.scale, mixture=reached.box.mixture)))
        return reached

    def _prove(self, box: Box) -> None:
        """Close a box of one root by splitting what is possible below it; what is left open goes back in pieces."""
        proof = Proof(box.mu, box.scale)
        # A piece is no whole root: others' proofs do not fit it, nor does its own fit others.
        whole = box.seen < _PIECE
        old = self.proofs.nearest(box) if whole or not self.ascent.deep else None
        stack: list[Open] = [Open(old, proof, box)]
        if self.ascent.deep:
            self.ascent.pools = self._pools(box, old)
        for _ in range(_MOST_DEEP_NODES if self.ascent.deep else _MOST_NODES):
            if not stack or self.budget.exhausted:
                break
            stack += self._branch(stack.pop())
        if self.ascent.pools is not None:
            proof.pools = tuple(pool.tests[: pool.size].astype(np.int32) for pool in self.ascent.pools)
        self.ascent.pools = None
        self.out.boxes += [replace(node.box, seen=_PIECE) if self.ascent.deep else node.box for node in stack]
        if whole if self.ascent.deep else not stack:
            self.out.proofs.append((box, proof))

    def _pools(self, box: Box, old: Proof | None) -> tuple[Pool, Pool]:
        """Where the subtrees met at a root are kept; those of the root that its proof is like come first."""
        n_people, n_rows = self.compiled.n_people, len(self.compiled.weight)
        pools = Pool(n_people, n_rows), Pool(n_people, n_rows)
        if old is not None and self.problem.shape.min_samples_leaf == 1:
            oracle, tests = Oracle(box, self.ascent.scratch), np.full(6, -1, dtype=np.int64)
            for side, (pool, subtrees) in enumerate(zip(pools, old.pools, strict=False)):
                for subtree in subtrees.tolist():
                    tests[[side, 2 + 2 * side, 3 + 2 * side]] = subtree
                    leaf = oracle.leaves(tests)
                    pool.add(tuple(subtree), leaf, oracle.paid(side, leaf))
        return pools

    def _branch(self, node: Open) -> Iterable[Open]:
        """Close one node of the proof, or go on with its parts."""
        old, proof = node.old, node.proof
        box = node.box if old is None else with_multipliers(node.box, old)
        replayed = None if old is None else old.split
        if old is not None and replayed is not None and self.ascent.deep:
            # Where the other root had to be split, so has this one mostly: looking costs more than it saves.
            proof.mu, proof.scale, proof.mixture = old.mu, old.scale, old.mixture
            return self._parts(replace(node, box=self._noted(box, self.coupling.narrowed(box))), replayed)
        reached = self.climb(box, self._effort(box) if replayed is None else LOOK)
        box = reached.box
        proof.mu, proof.scale, proof.mixture = box.mu.astype(np.float32), box.scale, box.mixture
        if box.bound >= self.objective - EPSILON or not box.alive.any(axis=1).all():
            return ()
        if np.prod(box.alive.sum(axis=1, dtype=float)) <= _LISTED:
            self._list(box)
            return ()
        return self._parts(replace(node, box=box), replayed or self._split(reached))

    def _split(self, reached: Ascended) -> PlaceSplit | ValueSplit:
        """What parts the trees of the mixture: tests that break a limit, tests right below the root, then values."""
        box, owner = reached.box, self.compiled.owner
        if self.coupling.broken(box.feature, _mixed(reached)):
            return split_tests(box, reached.chosen, owner)
        below = split_below_root(box, reached.chosen, owner) if self.ascent.deep else None
        values = reached.split if len(box.caps) < _MOST_CAPS else None
        return below or values or split_tests(box, reached.chosen, owner)

    def _parts(self, node: Open, split: PlaceSplit | ValueSplit) -> list[Open]:
        node.proof.split = split
        parts = []
        for number, part in split.parts(node.box, self.compiled.owner):
            child = node.proof.children[number] = Proof(node.proof.mu, node.proof.scale)
            parts.append(Open(node.old.children.get(number) if node.old is not None else None, child, part))
        return parts

    def _effort(self, box: Box) -> Effort:
        """How long to climb in a box of one root."""
        if not self.ascent.deep:
            return CLIMB
        return DEEP_LIGHT if tests_below_root(box, self.compiled.owner) else DEEP_CLIMB

    def _list(self, box: Box) -> None:
        """Solve all trees that are left, one by one."""
        oracle = Oracle(box, self.ascent.scratch)
        none = self.compiled.n_tests
        for options in itertools.product(*(np.flatnonzero(row) for row in box.alive)):
            tests = np.full(6, -1, dtype=np.int64)
            tests[: len(options)] = [-1 if test == none else test for test in options]
            self._solve(box, tests, oracle.leaves(tests).copy())
        if self.budget.exhausted:
            self.out.boxes.append(box)  # its linear programs may have been cut short


def _mixed(reached: Ascended) -> np.ndarray:
    """The trees that keep the bound down, as far as they are known."""
    return reached.chosen[-1:] if reached.mixed is None else reached.mixed
