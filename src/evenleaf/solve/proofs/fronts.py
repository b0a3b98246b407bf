"""The proof of the search for few disparity rows: how the trees were parted, and the multipliers of each part (§10).

A part is a tree in outline: its upper tests are settled up to sets of tests, below them are open slots. A step of the
proof names one place of its part and what may stand there, so that each of its own parts is a smaller outline. The
few multipliers of a part (one a disparity, one in each row) rule its trees out, or leave few enough to be listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from evenleaf.solve.proofs.stream import Source

LEFT, RIGHT, OPEN = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Box:
    """Tests on one feature.

    Of an ordered feature: the cuts after ranks `first` to `last`. Of an unordered one: `sides` tells of each rank
    whether it goes left, right, or is open.
    """

    feature: int
    first: int
    last: int
    sides: np.ndarray | None = None


@dataclass(eq=False)
class Step:
    """A part: `tests` stand in the place that the part above names, or None: there is no test but a leaf.

    `mus` without rows are those of the part above. `place` is a path, 0 left and 1 right, to what is parted next.
    """

    tests: Box | None
    mus: np.ndarray
    place: tuple[int, ...] = ()
    parts: list[Step] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class FrontsProof:
    """All trees, parted; `others` where they were parted before by the share of people with the second label.

    Then the first step is about the lowest share but 0, and each of the others about the next; the share is the last of
    the disparities.
    """

    top: Step
    others: tuple[Step, ...] = ()
    kind: ClassVar[str] = "fronts"

    @property
    def tops(self) -> tuple[Step, ...]:
        """The first step of each share, or of all trees."""
        return (self.top, *self.others)

    @property
    def n_nodes(self) -> int:
        """How many sets of trees the proof speaks about."""
        return sum(1 for top in self.tops for _ in walk(top))

    def write(self, emit: Callable[[np.ndarray], None]) -> dict[str, Any]:
        """The words of the proof; its multipliers are passed on in the order in which they are read again."""
        rows = []
        for step in (step for top in self.tops for step in walk(top)):
            emit(step.mus)
            rows.append([_tests_out(step.tests), len(step.mus), [int(side) for side in step.place], len(step.parts)])
        return {"disparities": int(self.top.mus.shape[1]), "tops": len(self.tops), "steps": rows}

    @classmethod
    def read(cls, words: dict[str, Any], source: Source) -> FrontsProof:
        """The proof from its words and its multipliers."""
        width = int(words["disparities"])
        above = Step(None, np.zeros((0, width)))
        waiting = [above] * int(words.get("tops", 1))  # each as often as parts of it are still to come
        for tests, n_mus, place, n_parts in words["steps"]:
            mus = source.take((int(n_mus), width), np.float64)
            step = Step(_tests_in(tests), mus, tuple(int(bool(side)) for side in place))
            waiting.pop().parts.append(step)
            waiting += [step] * int(n_parts)
        if waiting:
            raise ValueError("parts of the proof are missing")
        return cls(above.parts[0], tuple(above.parts[1:]))


def walk(top: Step) -> Iterator[Step]:
    """Every step, each before its parts and these from first to last; without recursion, for deep proofs."""
    stack = [top]
    while stack:
        step = stack.pop()
        yield step
        stack.extend(reversed(step.parts))


def _tests_out(tests: Box | None) -> list[Any] | None:
    if tests is None:
        return None
    if tests.sides is None:
        return [tests.feature, tests.first, tests.last]
    return [tests.feature, "".join(str(int(side)) for side in tests.sides)]


def _tests_in(entry: Any) -> Box | None:
    if entry is None:
        return None
    if len(entry) == 3:
        feature, first, last = (int(number) for number in entry)
        return Box(feature, first, last)
    feature, sides = entry
    return Box(int(feature), 0, 0, np.array([int(side) for side in sides], dtype=np.int8))
