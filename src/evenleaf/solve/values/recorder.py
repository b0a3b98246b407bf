"""Writes the proof down while the search makes it: each climb is a node, under the climb that its box came from.

A box carries a trail: the node of its last climb, and what the box was then. However the engine parts a box, what has
changed since tells which part it is, so that neither boxes nor branching need to know about certificates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenleaf.solve.proofs.values import GRID, Capped, Kept, Node, Roots, ValuesProof, Within
from evenleaf.solve.search.memory import Memory
from evenleaf.solve.values.boxes import FREE, LEFT, Box, Cap
from evenleaf.solve.values.compiled import Compiled
from evenleaf.solve.values.kernels import EPSILON


@dataclass(eq=False)
class _Climbed(Node):
    bound: float = -np.inf


@dataclass(frozen=True, eq=False)
class Trail:
    """The node of a box's last climb, and the roots, tests and caps that the box had after it."""

    node: Node
    state: np.ndarray
    alive: np.ndarray
    caps: tuple[Cap, ...]


@dataclass(frozen=True, eq=False)
class Note:
    """A climb that is to be written down, and the one that its box came from."""

    above: Node | None
    node: Node


class Recorder:
    """The proof so far; nothing is kept before `begin`, nor once `memory` (MiB) is used up."""

    def __init__(self, compiled: Compiled, wanted: bool, memory: float | None) -> None:
        self.compiled, self.wanted, self.keeps, self.gave_up = compiled, wanted, False, False
        self.memory: Any = Memory(compiled, memory)  # type: ignore[arg-type]
        self.nodes: list[Node] = []
        self.kept = 0

    def begin(self) -> None:
        """The next climbs are the proof; what came before was only to find multipliers and trees."""
        self.keeps = self.wanted

    @property
    def words(self) -> str:
        """Why there is no certificate, for the solution's message; empty where that is not for lack of memory."""
        return "; no certificate: it did not fit into the memory allowed" if self.gave_up else ""

    def noted(self, before: Box, after: Box) -> tuple[Box, Note | None]:
        """A climb from one box to the next, which carries the trail on: the box, and what is to be kept of it."""
        if not self.keeps:
            return after, None
        trail = before.trail
        mu = np.rint(after.mu[:, 0] * GRID).astype(np.int32)
        if trail is not None and np.array_equal(mu, trail.node.mu):
            mu = trail.node.mu
        # Where nothing was climbed, the box is only parted further.
        priced = trail is None or after.mu is not before.mu
        if not priced and trail is not None:
            mu = trail.node.mu
        node = _Climbed(self._within(before, trail), mu, after.scale, priced=priced, bound=after.bound)
        box = replace(after, trail=Trail(node, after.state, after.alive, after.caps))
        return box, Note(None if trail is None else trail.node, node)

    def keep(self, notes: list[Note], n_open: int) -> None:
        """Write climbs down, in their order."""
        for note in notes:
            if self.keeps:
                (self.nodes if note.above is None else note.above.parts).append(note.node)
                self.kept += note.above is None or note.node.mu is not note.above.mu
        if self.memory.too_much(self.kept, n_open):
            self.keeps, self.gave_up, self.nodes = False, True, []

    def proof(self, objective: float) -> ValuesProof | None:
        """The proof for a tree with this objective; what a late, better tree made needless is left out."""
        if not self.keeps:
            return None
        stack = list(self.nodes)
        while stack:
            node = stack.pop()
            if isinstance(node, _Climbed) and node.bound >= objective - EPSILON:
                node.parts = []
            stack += node.parts
        return ValuesProof(tuple(self.nodes))

    def _within(self, box: Box, trail: Trail | None) -> Within:
        if trail is None or box.state is not trail.state:
            return self._roots(box)
        if len(box.caps) > len(trail.caps):
            cap = box.caps[-1]
            return Capped(cap.person, cap.value, cap.above)
        if box.alive is trail.alive or np.array_equal(box.alive, trail.alive):
            return None
        place = int((box.alive != trail.alive).any(axis=1).argmax())
        return Kept(place, _runs(box.alive[place] > 0, trail.alive[place] > 0))

    def _roots(self, box: Box) -> Roots:
        tested = _tested(box.alive) if box.trail is None else Roots.tested
        if self.compiled.unordered[box.feature]:
            return Roots(box.feature, sides=tuple(int(side) for side in box.state), tested=tested)
        first = int(np.flatnonzero(box.state == LEFT)[-1])
        return Roots(box.feature, first, first + int((box.state == FREE).sum()), tested=tested)


def _tested(alive: np.ndarray) -> int:
    """The places of a first box where there may be a test; with depth 1 and 2 that is not asked."""
    if len(alive) < 6:
        return Roots.tested
    return sum(1 << place for place, row in enumerate(alive) if row[:-1].any())


def _runs(kept: np.ndarray, possible: np.ndarray) -> tuple[int, ...]:
    """Runs of numbers with all that is kept and nothing else that was possible; the impossible may be in or out."""
    numbers = np.flatnonzero(possible)
    inside = np.concatenate([[False], kept[numbers], [False]])
    changes = np.flatnonzero(inside[1:] != inside[:-1])
    ends = np.concatenate([numbers, [len(possible)]])
    runs = [int(end) for end in ends[changes]]
    if runs and kept[numbers[0]]:
        runs[0] = 0
    return tuple(runs)
