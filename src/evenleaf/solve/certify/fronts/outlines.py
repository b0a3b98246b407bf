"""Trees in outline, and sets of outlines that cover another.

Tests on a feature are told by the side of each rank: left, right, or open. For an ordered feature the open ranks
are neighbours, and the tests are the cuts among them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.certify.claim import ProofError
from evenleaf.solve.certify.fronts.asked import Asked
from evenleaf.solve.certify.labels.roots import levels_left_over
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT, Box


@dataclass(frozen=True, eq=False)
class Slot:
    """Any tree of at most this depth."""

    depth: int


@dataclass(frozen=True, eq=False)
class Split:
    """One of some tests on a feature, and what is below it."""

    feature: int
    sides: np.ndarray
    left: Outline
    right: Outline


Outline = Slot | Split
Path = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reached:
    """Something of an outline: the path to it, and the people who are certain to come there."""

    path: Path
    part: Outline
    members: np.ndarray
    free: np.ndarray  # those who come there and are placed by none of its tests


def reached(asked: Asked, top: Outline) -> list[Reached]:
    """All tests and slots of an outline, from the root down, left before right."""
    nobody, found = np.zeros(0, dtype=np.int64), []
    waiting: list[tuple[Path, Outline, np.ndarray]] = [((), top, np.arange(asked.compiled.n_people))]
    while waiting:
        path, part, members = waiting.pop()
        if isinstance(part, Slot):
            found.append(Reached(path, part, members, nobody))
            continue
        side = part.sides[asked.compiled.ranks[part.feature, members]]
        found.append(Reached(path, part, members, members[side == OPEN]))
        waiting.append(((*path, 1), part.right, members[side == RIGHT]))
        waiting.append(((*path, 0), part.left, members[side == LEFT]))
    return found


def tests_of(asked: Asked, top: Outline) -> Counter[int]:
    """How many tests of an outline look at each column."""
    if isinstance(top, Slot):
        return Counter()
    return Counter([int(asked.columns[top.feature])]) + tests_of(asked, top.left) + tests_of(asked, top.right)


def at(top: Outline, path: Path) -> Outline:
    """What is at the end of a path."""
    for side in path:
        if isinstance(top, Slot):
            raise ProofError("a part of the certificate names a place that its outline does not have")
        top = top.right if side else top.left
    return top


def replaced(top: Outline, path: Path, new: Outline) -> Outline:
    """The outline with something else at the end of a path that it has."""
    if not path or isinstance(top, Slot):
        return new
    if path[0]:
        return Split(top.feature, top.sides, top.left, replaced(top.right, path[1:], new))
    return Split(top.feature, top.sides, replaced(top.left, path[1:], new), top.right)


def with_tests(there: Outline, feature: int, sides: np.ndarray) -> Outline:
    """A slot that begins with such a test, or a split with these tests instead of its own."""
    if isinstance(there, Split):
        return Split(feature, sides, there.left, there.right)
    return Split(feature, sides, Slot(there.depth - 1), Slot(there.depth - 1))


def sides_of(asked: Asked, box: Box) -> np.ndarray:
    """Where tests of a certificate send each rank; an error where there are no such box."""
    if box.feature not in asked.features:
        raise ProofError("a part of the certificate is about a feature that there is not, or that may not be tested")
    size = int(asked.compiled.sizes[box.feature])
    if not asked.compiled.unordered[box.feature]:
        if box.sides is not None or not 0 <= box.first <= box.last <= size - 2:
            raise ProofError("a part of the certificate is not an interval of its feature's thresholds")
        return interval(size, box.first, box.last)
    if box.sides is None or box.sides.shape != (size,) or not np.isin(box.sides, (LEFT, RIGHT, OPEN)).all():
        raise ProofError("a part of the certificate does not say where each level goes")
    return box.sides


def interval(size: int, first: int, last: int) -> np.ndarray:
    """The cuts after ranks first to last."""
    return np.repeat(np.array([LEFT, OPEN, RIGHT], dtype=np.int8), [first + 1, last - first, size - 1 - last])


def cuts_left_over(
    whole: np.ndarray, parts: Sequence[np.ndarray], present: np.ndarray, alive: np.ndarray | None = None
) -> Iterator[np.ndarray]:
    """Intervals that hold the cuts of `whole` which are in none of the parts.

    `present` are the ranks that somebody has: cuts with nobody in between part people alike, so one of them is
    enough, and none where it parts nobody. Of cuts with n present ranks on the left, `alive[n]` tells whether they
    are asked for.
    """
    first, last = _ends(whole)
    alike = np.cumsum(present)
    wanted = np.ones(len(whole) + 1, dtype=np.bool_) if alive is None else alive.copy()
    wanted[[0, alike[-1]]] = False
    for part in parts:
        begin, end = _ends(part)
        wanted[alike[begin] : alike[end] + 1] = False
    cuts = np.arange(first, last + 1)
    cuts = cuts[wanted[alike[cuts]]]
    for run in np.split(cuts, np.flatnonzero(np.diff(alike[cuts]) > 1) + 1):
        if len(run):
            yield interval(len(whole), int(run[0]), int(run[-1]))


def _ends(sides: np.ndarray) -> tuple[int, int]:
    return int((sides == LEFT).sum()) - 1, len(sides) - int((sides == RIGHT).sum()) - 1


def subsets_left_over(
    whole: np.ndarray, parts: Sequence[np.ndarray], present: np.ndarray, *, mirrored: bool
) -> Iterator[np.ndarray]:
    """Placements of levels that hold every subset of `whole` that is in no part.

    Of levels that nobody has any placement will do. `mirrored`: of a subset and its complement one is enough.
    """
    held = [part[present] for part in parts]
    if mirrored:
        held += [np.where(part == OPEN, OPEN, 1 - part).astype(np.int8) for part in held]
        whole = whole.copy()
        whole[np.flatnonzero(present)[:1]] = LEFT
    for left_over in levels_left_over(whole[present], held):
        sides = np.full(len(whole), LEFT, dtype=np.int8)
        sides[present] = left_over
        yield sides


def halves(sides: np.ndarray, weight: np.ndarray, unordered: bool) -> Iterator[np.ndarray]:
    """Two sets of tests that together are these; `weight` tells how many people have each rank."""
    inside = np.where(sides == OPEN, weight, 0)
    if unordered:
        for side in (LEFT, RIGHT):
            half = sides.copy()
            half[int(inside.argmax())] = side
            yield half
        return
    first, last = _ends(sides)
    middle = int(np.searchsorted(np.cumsum(inside), inside.sum() / 2))
    middle = min(max(middle - 1, first), last - 1)
    yield interval(len(sides), first, middle)
    yield interval(len(sides), middle + 1, last)
