"""Trees of labels in the making: their nodes, how far they have come, and whose label to decide next (§9.11)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.proofs.labels import GRID, Labels
from evenleaf.solve.search.ascent import Ascended, Piece
from evenleaf.solve.search.boxes import Box, Fixing
from evenleaf.solve.search.compiled import Compiled

_JUDGED, _MOST_FORESEEN = 3, 12  # in a box with free people: nodes before the rest is foreseen; nodes in all
_SURE = 1e-9  # a mixture with less doubt than that agrees


@dataclass(frozen=True, eq=False)
class Node:
    """A node of the proof that is yet to be closed: what an older proof says about it, and the trees known there."""

    old: Labels | None
    proof: Labels
    box: Box
    fixings: tuple[Fixing, ...]
    known: tuple[Piece, ...] = ()
    first: float = -np.inf  # the bound of the box before any label was decided

    @property
    def n_decided(self) -> int:
        """How many labels were decided since the box was opened."""
        return len(self.fixings) - len(self.box.fixings)

    @property
    def is_top(self) -> bool:
        """Whether no label was decided for this box yet."""
        return self.n_decided == 0

    @property
    def is_fresh(self) -> bool:
        """Whether the multipliers to start from are those of an older proof."""
        return self.old is not None and self.old.mu.size > 0

    @property
    def start(self) -> Box:
        """The box with the multipliers to start from."""
        if self.old is None or not self.is_fresh:
            return self.box
        return replace(self.box, mu=self.old.mu / GRID, scale=self.old.scale)

    def below(self, old: Labels | None, proof: Labels, reached: Ascended, fixing: Fixing) -> Node:
        """The node where one more label is decided."""
        known = tuple(p for p in reached.pieces if p.keeps(fixing.person, fixing.label, fixing.equal))
        first = reached.box.bound if self.is_top else self.first
        return Node(old, proof, reached.box, (*self.fixings, fixing), known, first)

    @property
    def is_replayed(self) -> bool:
        """Whether it was parted in the proof that is replayed."""
        return self.old is not None and self.old.children is not None


@dataclass
class Progress:
    """How far a tree of labels has come."""

    visited: int = 0
    new: int = 0  # nodes that no older proof had
    closed: float = 0.0  # how much of the tree, if both answers about a person are half of what is below
    n_closed: int = 0
    first: Box | None = None  # with what was reached before any label was decided

    def visit(self, node: Node) -> None:
        """Count a node."""
        self.visited += 1
        self.new += not node.is_replayed

    def go_on(self, node: Node, children: list[Node]) -> None:
        """A node is closed, or goes on with both answers about a person."""
        if not children:
            self.closed += 0.5**node.n_decided
            self.n_closed += not node.is_top
        elif node.is_top:
            self.first = children[0].box

    @property
    def risen(self) -> float:
        """The bound before any label was decided; infinite where that closed the box."""
        return np.inf if self.first is None else self.first.bound

    @property
    def looks_long(self) -> bool:
        """Whether more nodes are to be foreseen than a box with free people is worth."""
        return self.visited >= _JUDGED and self.visited > _MOST_FORESEEN * self.closed


class Doubt:
    """How much the trees of a mixture disagree on people's labels, weighed by what their labels may change."""

    def __init__(self, compiled: Compiled) -> None:
        self.influence, self.n_labels = compiled.influence(), compiled.n_labels

    def is_none(self, reached: Ascended, fixings: tuple[Fixing, ...]) -> bool:
        """Whether all trees of the mixture agree on everybody who is not decided."""
        return bool(self._table(reached, fixings).max() <= _SURE)

    def contested(self, reached: Ascended, fixings: tuple[Fixing, ...]) -> tuple[int, int]:
        """The person and label on which the trees of the mixture disagree most.

        (−1, 0) where everybody is decided: then only the relaxation of a subset is left to disagree with.
        """
        table = self._table(reached, fixings)
        if table.max() <= _SURE:
            table = -np.abs(reached.costs)
            for fixing in fixings:
                table[fixing.person, self._decided(fixing)] = -np.inf
        person, label = np.unravel_index(int(table.argmax()), table.shape)
        return (int(person), int(label) + 1) if table[person, label] > -np.inf else (-1, 0)

    def _table(self, reached: Ascended, fixings: tuple[Fixing, ...]) -> np.ndarray:
        """Doubt by person and label; −1: it is decided."""
        doubt = np.minimum(reached.average, 1 - reached.average) * self.influence[:, None]
        for fixing in fixings:
            doubt[fixing.person, self._decided(fixing)] = -1.0
        return np.asarray(doubt)

    def _decided(self, fixing: Fixing) -> slice | int:
        """Which labels of a person are not worth deciding any more."""
        return slice(None) if fixing.equal or self.n_labels == 1 else max(fixing.label - 1, 0)
