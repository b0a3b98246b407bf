"""A fairness notion: a small description that becomes a disparity operator once it meets people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

from evenleaf.errors import InputError
from evenleaf.fairness.operator import Disparity, check_factor
from evenleaf.table import Groups, People, require_two

Progress = Callable[[float], None]


class Notion(ABC):
    """Notions are values: compare, add and scale them; `operator(people)` makes the numbers."""

    def operator(self, people: People, progress: Progress | None = None) -> Disparity:
        """The disparity operator for these people, summed over the partitions of `groups="each"`."""
        if not people.groups:
            raise InputError(f"{self} needs protected columns: say which ones are protected")
        require_two(people.groups)
        self.check(people)
        return self.rows(people, progress)

    def rows(self, people: People, progress: Progress | None = None) -> Disparity:
        """The rows for every partition, one below the other."""
        count = len(people.groups)
        parts = (
            self.compare(people, groups, stage(progress, number, count)) for number, groups in enumerate(people.groups)
        )
        return reduce(add, parts)

    def check(self, people: People) -> None:  # noqa: B027 (most notions suit everybody)
        """Raise an `InputError` where the notion makes no sense for these people."""

    @abstractmethod
    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:
        """The rows for one partition into groups."""

    def __add__(self, other: Notion) -> Combination:
        return Combination((*_parts(self), *_parts(other)))

    def __radd__(self, other: object) -> Notion:
        if other == 0:  # so that the built-in sum() works
            return self
        return NotImplemented

    def __rmul__(self, factor: float) -> Combination:
        check_factor(factor)
        return Combination(tuple((factor * weight, notion) for weight, notion in _parts(self)))


@dataclass(frozen=True)
class Combination(Notion):
    """A weighted sum of notions, itself a notion."""

    parts: tuple[tuple[float, Notion], ...]

    def check(self, people: People) -> None:
        """Every part must make sense."""
        for _, notion in self.parts:
            notion.check(people)

    def rows(self, people: People, progress: Progress | None = None) -> Disparity:
        """The rows of every part, each with its weight."""
        count = len(self.parts)
        return reduce(
            add,
            (
                weight * notion.rows(people, stage(progress, number, count))
                for number, (weight, notion) in enumerate(self.parts)
            ),
        )

    def compare(self, people: People, groups: Groups, progress: Progress | None = None) -> Disparity:
        """The rows of every part for one partition."""
        return self.rows(replace(people, groups=(groups,)), progress)

    def __str__(self) -> str:
        return " + ".join(f"{notion}" if weight == 1 else f"{weight:g}·{notion}" for weight, notion in self.parts)


def stage(progress: Progress | None, number: int, count: int) -> Progress | None:
    """The progress of one of several equal stages, told as progress of the whole."""
    if progress is None:
        return None
    return lambda fraction: progress((number + fraction) / count)


def _parts(notion: Notion) -> tuple[tuple[float, Notion], ...]:
    return notion.parts if isinstance(notion, Combination) else ((1.0, notion),)
