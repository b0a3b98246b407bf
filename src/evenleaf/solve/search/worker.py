"""What is done with one box: raise its bound, close it, split it, or branch on people's labels.

A box whose bound is stuck below the incumbent holds trees that disagree about a few people. Deciding one such
person's label breaks the mixture, and all near-copies of a tree stay together (ALGORITHM §9.11). The tree of
such decisions does not depend on the root, so the proof of one box is replayed in the next one on its feature.

What comes out depends only on what goes in, never on what other workers do at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.budget import Budget
from evenleaf.solve.proofs.facets import NO_FACETS, Facets
from evenleaf.solve.proofs.labels import Labels, Region
from evenleaf.solve.search.ascent import AT_FREE, CLIMB, DEEP_GLANCE, GLANCE, LOOK, Ascended, Ascent, Piece
from evenleaf.solve.search.boxes import FREE, MOST_SWEPT_DEPTH, Box, Fixing, Origin, split
from evenleaf.solve.search.compiled import Compiled, compile_problem
from evenleaf.solve.search.decode import decode
from evenleaf.solve.search.descent import Descent
from evenleaf.solve.search.examined import Examined
from evenleaf.solve.search.facets import with_facets
from evenleaf.solve.search.kernels import EPSILON
from evenleaf.solve.search.limited_descent import LimitedDescent
from evenleaf.solve.search.limits import allowed_pairs
from evenleaf.solve.search.nodes import Doubt, Node, Progress
from evenleaf.solve.search.plan import Found
from evenleaf.solve.search.regions import on_grid, region_of
from evenleaf.solve.search.steps import Effort
from evenleaf.solve.search.usage import deep_supply
from evenleaf.solve.search.wander import Wanderer
from evenleaf.tree import Tree

_WORTH_DECIDING = 0.85  # of the aim: a box with free people whose bound is lower is better split
_EAGER_DEPTH = 3  # deeper down a bound is too dear for that
_WORK = 20000
_MOST_MOVES = 64
_UNSEEN = np.zeros((0, 0), dtype=np.int32)  # multipliers of a node that is not visited yet
_MOST_LABEL_NODES = 60  # a box with several roots that needs more than this is split instead
_MOST_NEW_AT_FIRST = 30  # at one root: where it takes more, the bound is raised step by step
_MOST_LABEL_NODES_AT_A_ROOT = 20_000  # then the relaxation of long lists of levels is to blame: the bound stands
_MOST_DECIDED = 12  # labels in a row, in a box with free people: where it takes more, it takes very many
_MOST_BELOW = 12  # boxes below decided labels: where there are more, the labels were not worth it
_MAY_CLOSE = 1e-4  # of the aim: a node that another root's proof left further below it is not worth a look
_NEAR, _MANY_POLISHED = 0.03, 8  # a tree within this part of the incumbent is worth a descent, while there were few


class Worker:
    """Examines boxes one after another; `tree` and `objective` are the incumbent as this worker knows it."""

    def __init__(self, problem: Problem, compiled: Compiled, budget: Budget) -> None:
        shape = problem.shape
        self.problem, self.compiled, self.budget, self.depth = problem, compiled, budget, shape.max_depth
        schema = problem.people.features.schema
        supply = deep_supply(shape, schema, compiled)
        self.ascent = Ascent(
            compiled,
            shape.max_depth,
            shape.min_samples_leaf,
            problem.max_discrimination,
            lambda: budget.exhausted,
            supply,
        )
        self.facets = NO_FACETS
        self.has_facets = self.ascent.by_planes and compiled.n_labels == 1
        self.descent: Descent
        self.wanderer: Wanderer | LimitedDescent
        if supply is None:
            self.descent = Descent(compiled, shape.max_depth, self.ascent.limit)
            self.wanderer = Wanderer(self.descent)
        else:
            self.descent = self.wanderer = LimitedDescent(compiled, shape, schema, self.ascent.limit)
        self.pairs = [allowed_pairs(shape, schema, compiled, feature) for feature in range(compiled.n_features)]
        limited = not all(pairs.all() for pairs in self.pairs) or shape.min_samples_leaf > 1
        self.coupled = limited and supply is None  # deeper down, descents know the limits
        # Counting people leaf by leaf needs one root at a time, and so do deep trees.
        self.walks = shape.max_depth <= MOST_SWEPT_DEPTH and shape.min_samples_leaf == 1
        # The deeper the tree, the dearer a bound, and the less a box with people free is worth it.
        self.glance = {0: GLANCE, 1: GLANCE, 2: GLANCE, 3: DEEP_GLANCE}.get(shape.max_depth, LOOK)
        self.doubt = Doubt(compiled)
        # With planes it shows when labels are not worth deciding before people who are free are placed.
        self.is_eager = self.ascent.by_planes and shape.max_depth == _EAGER_DEPTH
        self.tree: Tree | None = None
        self.objective = self.aim = np.inf  # boxes are closed once their bound reaches the aim
        self.lowest: Ascended | None = None  # of the long ascents that did not close, the one that ended lowest
        self.found: Found | None = None  # the best tree met, with the descents from it
        self.polishes = True
        self.on_better: Callable[[Tree], None] | None = None  # told of every new incumbent
        self.polished: set[float] = set()
        self.polished_before: Set[float] = frozenset()

    def begin(self, tree: Tree | None, objective: float, polished: Set[float]) -> None:
        """Start from an incumbent, and from the trees that descents have started from."""
        self.tree, self.objective, self.polished_before, self.polished = tree, objective, polished, set()
        self.aim, self.found = objective, None
        self.lowest = None
        self.ascent.scratch.forget()

    def adopt(self, facets: Facets) -> None:
        """Price rows of the disparity by facets, too."""
        if len(facets) != len(self.facets):
            self.facets = facets
            self.ascent.stand_on(with_facets(self.compiled, facets))

    def offer(self, tree: Tree) -> None:
        """Take a tree as the incumbent if it keeps every limit and is better: judged by `Problem.evaluate` alone."""
        score = self.problem.evaluate(tree)
        if score.feasible and score.objective < self.objective - 1e-12:
            self.tree, self.objective = tree, score.objective
            self.aim = min(self.aim, self.objective)
            if self.on_better is not None:
                self.on_better(tree)

    def climb(
        self,
        box: Box,
        effort: Effort,
        fixings: tuple[Fixing, ...] = (),
        resolves: bool = False,
        known: tuple[Piece, ...] = (),
        fresh: bool = True,
    ) -> Ascended:
        """Raise the bound of a box; keep the best tree met."""
        reached = self.ascent.climb(box, self.pairs[box.feature], self.aim, effort, fixings, resolves, known, fresh)
        if effort.steps >= AT_FREE.steps and not self._is_closed(reached.box):
            self.lowest = min(reached, self.lowest or reached, key=lambda ascended: ascended.box.bound)
        if reached.found is not None:
            self._take(reached.found)
            self._polish(reached.found)
        if reached.draft is not None and not self.coupled:
            self._complete(reached.draft, box)
        return reached

    def _complete(self, draft: Found, box: Box) -> None:
        """Make a tree of two subtrees by placing those who are free: no other tree is met before they are placed."""
        placed = (box.state != FREE)[self.compiled.ranks[box.feature]]
        found = self.descent.completed(draft, placed)
        self._take(found)
        self._polish(found)

    def _take(self, found: Found) -> None:
        self.found = found if self.found is None or found.objective < self.found.objective else self.found
        if found.objective < self.objective - EPSILON:
            self.offer(decode(found.plan, self.problem, self.compiled))

    def _polish(self, found: Found) -> None:
        """Descend from a tree that is nearly as good as the incumbent, unless one much like it was tried before."""
        key = round(found.objective, 7)
        tried = not self.polishes or key in self.polished or key in self.polished_before
        # The more descents there were, the less one more is likely to find.
        near = _NEAR / (1 + len(self.polished_before) / _MANY_POLISHED)
        if tried or self.coupled or self.budget.exhausted or found.objective > (1 + near) * self.objective:
            return
        self.polished.add(key)
        self.descend(found)

    def descend(self, found: Found) -> None:
        """Change single tests of a tree for the better, and offer what comes out."""
        for better in self.descent.improvements(found):
            self._take(better)
            if self.budget.exhausted:
                return

    def wander(self, work: int, seed: int) -> None:
        """Look for better trees about the best one met; `work` is how many people to look at."""
        if self.found is None or self.coupled:
            return
        for better in self.wanderer.wander(self.found, work, seed, lambda: self.budget.exhausted):
            self._take(better)
            self.descend(better)

    def examine(self, box: Box, proof: Labels | None, decides: bool, aim: float | None = None) -> Examined:
        """Close a box, or replace it by smaller ones; `decides`: people's labels are tried before it is split.

        With an aim below the incumbent, a box that reaches it is not closed, but has a better bound.
        """
        if aim is not None:
            self.aim = min(aim, self.aim)
        if decides:
            done = self._prove(box, proof, everything=aim is not None)
            if done is not None:
                return done
        at_free = AT_FREE if self.is_eager and not decides else self.glance
        reached = self.climb(box, at_free if box.has_free else LOOK, box.fixings).box
        is_open = not self._is_closed(reached)
        boxes = self._split(reached) if is_open else []
        return Examined(region_of(reached, self.compiled), boxes, risen=reached.bound if is_open else np.inf)

    def _split(self, box: Box) -> list[Box]:
        size = int(self.compiled.sizes[box.feature])
        people = np.bincount(self.compiled.ranks[box.feature], weights=self.compiled.count, minlength=size)
        cuts = max(1, int(box.alive.sum()))
        most = min(_MOST_MOVES, max(8, _WORK // cuts)) if self.walks else 0
        parts = [part for part in split(box, self.compiled, people, most) if part.live.any()]
        return [replace(part, origin=Origin(False, box.bound)) for part in parts]

    def _prove(self, box: Box, old: Labels | None, everything: bool) -> Examined | None:
        """Branch on people's labels until all is closed; None where it is better to split the box.

        Unless `everything` is asked for, a single root where that takes long is left for later.
        """
        several = len(box.moving) > 0 or box.has_free
        top = Labels(_UNSEEN, 1.0)
        stack = [Node(old, top, box, box.fixings)]
        progress = Progress()
        below: list[tuple[Box, list[Region]]] = []
        while stack:
            progress.visit(stack[-1])
            if self.budget.exhausted:
                return Examined(region_of(box, self.compiled), [box], cut_short=True)
            decided = stack[-1].n_decided
            if box.has_free and decided > 0 and (progress.visited > _MOST_LABEL_NODES or decided > _MOST_DECIDED):
                below += self._place(stack.pop())
                if len(below) > _MOST_BELOW:
                    return None
                continue
            if progress.visited > (_MOST_LABEL_NODES if several else _MOST_LABEL_NODES_AT_A_ROOT):
                return None if several else Examined(region_of(box, self.compiled), [box], stuck=True)
            if not several and not everything and progress.new > _MOST_NEW_AT_FIRST:
                return Examined(region_of(box, self.compiled), [progress.first or box], top, unfinished=True)
            node = stack.pop()
            waiting = len(stack)
            reached = self._branch(node, stack)
            if reached is not None and (node.is_top or not reached.pretended):
                return self._instead(box, reached)
            if reached is not None:
                parts = self._split(replace(reached.box, fixings=node.fixings))
                below += [(part, node.proof.parts) for part in parts]
            else:
                progress.go_on(node, stack[waiting:])
            if self.is_eager and box.has_free and progress.looks_long:
                while stack:
                    later = self._postpone(stack.pop())
                    progress.n_closed += not later
                    below += later
        if self.aim < self.objective:
            return Examined(region_of(box, self.compiled), [replace(box, bound=self.aim)], top, unfinished=True)
        region = region_of(box, self.compiled, top)
        return Examined(region, [], top, below=below, risen=progress.risen, n_closed=progress.n_closed)

    def _instead(self, box: Box, reached: Ascended) -> Examined | None:
        """What becomes of a box where no label can be decided, or none is worth it."""
        if reached.pretended:
            return Examined(region_of(reached.box, self.compiled), self._split(reached.box), risen=reached.box.bound)
        several = len(box.moving) > 0 or box.has_free
        return None if several else Examined(region_of(box, self.compiled), [box], stuck=True)

    def _postpone(self, node: Node) -> list[tuple[Box, list[Region]]]:
        """Let a box wait with the labels decided so far, unless a glance closes it: others may be lower."""
        reached = self.climb(node.start, self.glance, node.fixings, known=node.known, fresh=node.is_fresh).box
        node.proof.mu, node.proof.scale = on_grid(reached.mu), reached.scale
        if self._is_closed(reached):
            return []
        return [(replace(reached, fixings=node.fixings, origin=Origin(True, node.first)), node.proof.parts)]

    def _place(self, node: Node) -> list[tuple[Box, list[Region]]]:
        """Split a box below the labels decided so far: what is closed beside them needs no second look."""
        return [(part, regions) for box, regions in self._postpone(node) for part in self._split(box)]

    def _pass_over(self, node: Node, stack: list[Node]) -> bool:
        """Go on with both answers right away where the proof of another root was far from closing a node.

        With planes, a look is never in vain: the trees met there are known below.
        """
        old, proof = node.old, node.proof
        if old is None or old.children is None or node.is_top or node.box.has_free or self.ascent.by_planes:
            return False
        if node.first + old.gain >= (1 - _MAY_CLOSE) * self.aim:
            return False
        proof.mu, proof.scale, proof.gain = old.mu, old.scale, old.gain
        proof.person, proof.label = old.person, old.label
        proof.children = (Labels(_UNSEEN, 1.0), Labels(_UNSEEN, 1.0))
        for equal, before, child in zip((False, True), old.children, proof.children, strict=True):
            fixings = (*node.fixings, Fixing(proof.person, proof.label, equal))
            stack.append(replace(node, old=before, proof=child, fixings=fixings))
        return True

    def _branch(self, node: Node, stack: list[Node]) -> Ascended | None:
        """Close one node of the proof, or decide a person's label and go on with both answers.

        Where that cannot be done, or not before people who are free are placed: what was reached.
        """
        if self._pass_over(node, stack):
            return None
        proof, old, fixings = node.proof, node.old, node.fixings
        first = self.is_eager and node.box.has_free and node.is_top
        replayed = node.is_replayed and not first
        effort = LOOK if replayed else AT_FREE if first else CLIMB
        # A box with free people goes on from the one that it is part of: no other is as much like it.
        start, fresh = (node.box, True) if first else (node.start, node.is_fresh)
        reached = self.climb(start, effort, fixings, known=node.known, fresh=fresh)
        stands = replayed or node.box.has_free or self._is_closed(reached.box)
        if not stands and self.doubt.is_none(reached, fixings):
            # All trees of the mixture agree, and yet are no trees: whoever is decided next, the relaxation stays.
            # What the first multipliers rule out is not dropped, as only the second ones are written down.
            again = replace(node.box, mu=reached.box.mu, scale=reached.box.scale)
            reached = replace(self.climb(again, CLIMB, fixings, resolves=True), pieces=())
        proof.mu, proof.scale = on_grid(reached.box.mu), reached.box.scale
        proof.gain = 0.0 if node.is_top else reached.box.bound - node.first
        if self._is_closed(reached.box):
            return None
        if not replayed and (reached.pretended or (first and reached.box.bound < _WORTH_DECIDING * self.aim)):
            return replace(reached, pretended=True)
        previous: tuple[Labels | None, Labels | None] = (None, None)
        if old is not None and old.children is not None:
            proof.person, proof.label, previous = old.person, old.label, old.children
        else:
            proof.person, proof.label = self.doubt.contested(reached, fixings)
            if proof.person < 0:
                return reached
        proof.children = (Labels(_UNSEEN, 1.0), Labels(_UNSEEN, 1.0))
        for equal, before, child in zip((False, True), previous, proof.children, strict=True):
            stack.append(node.below(before, child, reached, Fixing(proof.person, proof.label, equal)))
        return None

    def _is_closed(self, box: Box) -> bool:
        return box.bound >= self.aim - EPSILON or not box.live.any()


def make_worker(problem: Problem, budget: Budget) -> Worker:
    """A worker with everything of its own."""
    return Worker(problem, compile_problem(problem), budget)
