"""Is a proof about few disparity rows one? What it must show, in the order in which it is checked (ALGORITHM §6, §10).

1. Every tree lies in one of its parts: what stands in the place that a part names is a leaf, or one of the tests of
   a smaller part. Tests that no smaller part holds become parts that are looked at like the others.
2. In each part that is not made smaller every tree is worth at least the claim: its least price at the part's
   multipliers reaches the claim, or its trees are listed, as far as their prices are below the claim, and none of
   them is better.

Where a certificate says too little, the checker makes parts smaller by itself, though not without end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.certify.claim import Claim, Progress, ProofError
from evenleaf.solve.certify.fronts.asked import At, ask
from evenleaf.solve.certify.fronts.outlines import (
    Outline,
    Path,
    Reached,
    Slot,
    Split,
    at,
    cuts_left_over,
    halves,
    reached,
    replaced,
    sides_of,
    subsets_left_over,
    tests_of,
    with_tests,
)
from evenleaf.solve.certify.fronts.parts import Parts
from evenleaf.solve.certify.fronts.shares import fair_shares
from evenleaf.solve.certify.labels.meaning import check_objective, check_tests
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT, FrontsProof, Step
from evenleaf.solve.search.compiled import compile_problem
from evenleaf.tree.text import question_text

_MOST_OWN = 2_000  # parts that the checker makes of one part of the certificate


@dataclass(frozen=True, eq=False)
class Part:
    """An outline that is to be ruled out, what the certificate says of it, and how many more parts may be made."""

    outline: Outline
    step: Step | None
    at: At
    allowance: list[int]


class FrontsCheck:
    """The parts of a proof, and what their multipliers leave."""

    def __init__(self, claim: Claim, proof: FrontsProof, problem: Problem, on_progress: Progress) -> None:
        self.claim, self.proof, self.problem, self.on_progress = claim, proof, problem, on_progress
        if problem.people.outcome.classes is None:
            raise ProofError("a proof over fronts speaks about trees that decide classes, and this outcome is a number")
        self.asked = ask(problem, compile_problem(problem, pairs=False))
        self.parts = Parts(self.asked)
        self.done, self.total, self.own = 0, proof.n_nodes, 0

    def check(self, checked: list[str]) -> None:
        """All trees are in a part, and all parts are ruled out."""
        check_tests(self.problem, self.asked.compiled)
        check_objective(self.problem, self.asked.compiled)
        checked.append("The proof speaks about all tests of all columns, and prices people as the question does.")
        shares = fair_shares(self.problem)
        if shares is not None and len(shares) == 2:
            checked.append("Within the limit there are only trees that decide everybody alike.")
            return
        if shares is not None and self.proof.top.mus.shape[1] == self.asked.width:
            self._check_shares(shares)
        elif self.proof.others:
            raise ProofError("the proof parts trees by their share of the second class, and does not price it")
        else:
            self._check_parts(self.proof.top)
        checked.append(f"Its {self.total} parts, and {self.own} smaller ones, hold every tree that can be asked for.")
        checked.append("In all of them every tree is worth at least as much.")

    def _check_shares(self, shares: np.ndarray) -> None:
        """Every share between nobody and everybody has its own parts, in which it is one more disparity to be met.

        Trees that decide everybody alike were looked at with the claim.
        """
        if len(self.proof.tops) != len(shares) - 2:
            raise ProofError("the proof does not speak about every share of people that may get the second class")
        whole = self.asked
        for share, top in zip(shares[1:-1], self.proof.tops, strict=True):
            self.asked = whole.with_share(float(share))
            self.parts = Parts(self.asked)
            self._check_parts(top)

    def _check_parts(self, top: Step) -> None:
        depth = self.asked.depth if len(self.asked.features) else 0
        waiting = [Part(Slot(depth), top, self.asked.at(top.mus, self.claim), [_MOST_OWN])]
        while waiting:
            part = waiting.pop()
            waiting.extend(self._rule_out(part))
            self.done += part.step is not None
            self.on_progress(min(self.done, self.total), self.total)

    def _rule_out(self, part: Part) -> list[Part]:
        """What is left to be ruled out of a part: nothing, or smaller parts."""
        if part.step is not None and part.step.parts:
            return list(self._smaller(part, part.step.place, part.step.parts))
        if not self.asked.keeps(tests_of(self.asked, part.outline)):
            return []
        found = reached(self.asked, part.outline)
        if self.parts.too_thin(found) or self.parts.reaches(part.at, found) or self._listed(part, found):
            return []
        part.allowance[0] -= 1
        self.own += 1
        if part.allowance[0] < 0:
            raise ProofError(f"the proof does not rule out {self._example(part.outline)}")
        return list(self._smaller(part, self._place(found), []))

    def _listed(self, part: Part, found: list[Reached]) -> bool:
        """Whether all trees below the claim could be listed: then none is better, or the proof fails."""
        better = self.parts.better(part.at, found)
        if better is None or better == np.inf:
            return better is not None
        raise ProofError(f"the proof does not rule out {self._example(part.outline)}: one has {better:.9g}")

    def _place(self, found: list[Reached]) -> Path:
        """What the checker makes smaller by itself: where most people are not placed, else the deepest slot."""
        loose = [one for one in found if len(one.free)]
        if loose:
            return max(loose, key=lambda one: int(self.asked.compiled.count[one.free].sum())).path
        slots = [one for one in found if isinstance(one.part, Slot)]
        return max(
            slots, key=lambda one: (one.part.depth, len(one.members)) if isinstance(one.part, Slot) else (0, 0)
        ).path

    def _smaller(self, part: Part, path: Path, steps: list[Step]) -> Iterator[Part]:
        """Parts that cover a part: those of the certificate, and the tests that they do not hold."""
        there = at(part.outline, path)
        allowance = [_MOST_OWN] if steps else part.allowance
        held: dict[int, list[np.ndarray]] = {}
        leaves = 0
        for step in steps:
            if step.tests is None:
                new: Outline = Slot(0)
                leaves += 1
            else:
                sides = sides_of(self.asked, step.tests)
                if isinstance(there, Split) and there.feature != step.tests.feature:
                    raise ProofError("a part of the certificate tests another feature than the part that it is of")
                if isinstance(there, Slot) and there.depth < 1:
                    raise ProofError("a part of the certificate is deeper than a tree may be")
                held.setdefault(step.tests.feature, []).append(sides)
                new = with_tests(there, step.tests.feature, sides)
            here = self.asked.at(step.mus, self.claim) if len(step.mus) else part.at
            yield Part(replaced(part.outline, path, new), step, here, [_MOST_OWN])
        if isinstance(there, Slot) and not leaves:
            yield Part(replaced(part.outline, path, Slot(0)), None, part.at, allowance)
        for feature, sides in self._left_over(part, path, there, held, bool(steps)):
            yield Part(replaced(part.outline, path, with_tests(there, feature, sides)), None, part.at, allowance)

    def _left_over(
        self, part: Part, path: Path, there: Outline, held: dict[int, list[np.ndarray]], named: bool
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Tests that the certificate does not speak about."""
        compiled = self.asked.compiled
        found = reached(self.asked, part.outline)
        members = next(one.members for one in found if one.path == path)
        settled = not any(len(one.free) for one in found if one.path == path[: len(one.path)] and one.path != path)
        if isinstance(there, Split):
            features, begin = np.array([there.feature]), {there.feature: there.sides}
        else:
            features, begin = (self.asked.features if there.depth else self.asked.features[:0]), {}
        for f in features:
            feature, size = int(f), int(compiled.sizes[f])
            weight = np.bincount(compiled.ranks[feature, members], minlength=size)
            present = weight > 0 if settled else np.ones(size, dtype=np.bool_)
            parts = held.get(feature, [])
            if isinstance(there, Split) and not named:
                yield from ((feature, half) for half in halves(there.sides, weight, bool(compiled.unordered[feature])))
            elif compiled.unordered[feature]:
                whole = begin.get(feature, np.full(size, OPEN, dtype=np.int8))
                mirrored = isinstance(there, Slot)
                yield from ((feature, s) for s in subsets_left_over(whole, parts, present, mirrored=mirrored))
            else:
                whole = begin.get(feature, np.array([LEFT] + [OPEN] * (size - 2) + [RIGHT], dtype=np.int8))
                yield from ((feature, s) for s in cuts_left_over(whole, parts, present))

    def _example(self, outline: Outline) -> str:
        """Some of the trees of an outline, in words."""
        if isinstance(outline, Slot):
            return "all trees" if outline.depth else "trees without a test"
        feature = self.asked.compiled.features[outline.feature]
        left = outline.sides != RIGHT
        left[-1] &= not left.all()
        test = feature.test(left)
        return f"trees that begin with tests like {question_text(test, self.problem.people.features.schema)!r}"
