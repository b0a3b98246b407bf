"""The proof of the search for numbers: how the trees were parted, and the multipliers that rule each part out (§6).

It speaks about a problem as `values/compiled.py` prepares it: people with equal features and outcome merged, features
as ranks. The tests of a feature are numbered from 0, those of all features on end: the cut after rank t, or the subset
whose number plus one has a bit for each rank but the first that goes right. One number more stands for no test.
Multipliers are whole numbers over `GRID`; the search rounds them so before it prices them, mostly to far fewer digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from evenleaf.solve.proofs.labels import GRID
from evenleaf.solve.proofs.stream import Source

__all__ = ["GRID", "Capped", "Kept", "Node", "Roots", "ValuesProof"]


@dataclass(frozen=True)
class Roots:
    """Root tests on one feature: the cuts after ranks `first` to `last`; or, where `sides` has an entry a rank, the

    subsets that send each rank left (0), right (1), or wherever they like (2). Bit p of `tested` says whether there
    may be a test at place p: with depth 3 and few leaves there are several sets for the same roots.
    """

    feature: int
    first: int = 0
    last: int = 0
    sides: tuple[int, ...] = ()
    tested: int = 0b111111


@dataclass(frozen=True)
class Kept:
    """The tests that are kept at a place: from number `runs[0]` up to but not including `runs[1]`, and so on.

    Places: left and right below the root; with depth 3 then left-left, left-right, right-left and right-right.
    """

    place: int
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Capped:
    """The trees that give a person (merged, outcomes scaled to [0, 1]) at least a value (`above`), or at most."""

    person: int
    value: float
    above: bool


Within = Roots | Kept | Capped | None


@dataclass(eq=False)
class Node:
    """A set of trees, and multipliers at which some of them cost too much; the parts hold all others.

    `within` says how it differs from the set that it is part of; None: not at all, only other multipliers follow.
    A node without parts has nothing left, or one root with so few trees that each can be looked at. Where it is not
    `priced`, nothing is said about its trees but how they are parted.
    """

    within: Within
    mu: np.ndarray
    scale: float
    parts: list[Node] = field(default_factory=list)
    priced: bool = True


@dataclass(frozen=True, eq=False)
class ValuesProof:
    """The nodes that hold every tree with a test."""

    nodes: tuple[Node, ...]
    kind: ClassVar[str] = "values"

    @property
    def n_nodes(self) -> int:
        """How many sets of trees the proof speaks about."""
        return sum(1 for _ in self.walk())

    def walk(self) -> Iterator[Node]:
        """Every node, parts after the set that they are part of."""
        stack = list(self.nodes[::-1])
        while stack:
            node = stack.pop()
            yield node
            stack += node.parts[::-1]

    def write(self, emit: Callable[[np.ndarray], None]) -> dict[str, Any]:
        """The words of the proof; multipliers are passed on unless they are those of the set that a node is part of."""
        rows = []
        stack: list[tuple[Node, np.ndarray | None]] = [(node, None) for node in self.nodes[::-1]]
        while stack:
            node, before = stack.pop()
            other = before is None or not np.array_equal(node.mu, before)
            if other:
                emit(node.mu)
            scale = node.scale if node.priced else None
            rows.append([_within_out(node.within), scale, int(other), len(node.parts)])
            stack += [(part, node.mu) for part in node.parts[::-1]]
        return {"rows": len(self.nodes[0].mu) if self.nodes else 0, "nodes": rows}

    @classmethod
    def read(cls, words: dict[str, Any], source: Source) -> ValuesProof:
        """The proof from its words and its multipliers."""
        n_rows, top = int(words["rows"]), []
        waiting: list[tuple[Node, int]] = []  # with how many parts are still to come
        for within, scale, other, n_parts in words["nodes"]:
            above = waiting[-1][0] if waiting else None
            mu = above.mu if above is not None and not other else source.take((n_rows,), np.int32)
            node = Node(_within_in(within), mu, 1.0 if scale is None else float(scale), priced=scale is not None)
            if above is None:
                top.append(node)
            else:
                above.parts.append(node)
                waiting[-1] = above, waiting[-1][1] - 1
            waiting.append((node, _count(n_parts)))
            while waiting and not waiting[-1][1]:
                waiting.pop()
        if waiting:
            raise ValueError("a set of trees is without its parts")
        return cls(tuple(top))


def _capped(person: Any, value: Any, above: Any) -> Capped:
    if not isinstance(person, int) or not isinstance(value, (int, float)) or above not in (0, 1):
        raise ValueError("a set of trees is not described by a person and a value")
    return Capped(person, float(value), bool(above))


def _count(number: Any) -> int:
    if not isinstance(number, int) or number < 0:
        raise ValueError(f"{number!r} is not a number of parts")
    return number


def _within_out(within: Within) -> list[Any] | None:
    if within is None:
        return None
    if isinstance(within, Capped):
        return ["values", within.person, within.value, int(within.above)]
    if isinstance(within, Kept):
        return ["tests", within.place, *within.runs]
    if within.tested != Roots.tested:
        return ["tested", within.tested, *(_within_out(replace(within, tested=Roots.tested)) or ())]
    if within.sides:
        return ["levels", within.feature, *within.sides]
    return ["cuts", within.feature, within.first, within.last]


def _within_in(entry: Any) -> Within:
    if entry is None:
        return None
    kind, *numbers = entry
    if kind == "values":
        return _capped(*numbers)
    if kind == "tested":
        tested, *rest = numbers
        roots = _within_in(rest)
        if not isinstance(roots, Roots) or not isinstance(tested, int):
            raise ValueError("a set of trees is not described by places and roots")
        return replace(roots, tested=tested)
    if not all(isinstance(number, int) for number in numbers):
        raise ValueError("a set of trees is not described by whole numbers")
    which, *rest = numbers
    if kind == "tests":
        return Kept(which, tuple(rest))
    if kind == "levels":
        return Roots(which, sides=tuple(rest))
    if kind == "cuts":
        first, last = rest
        return Roots(which, first, last)
    raise ValueError(f"a set of trees cannot be a set of {kind!r}")
