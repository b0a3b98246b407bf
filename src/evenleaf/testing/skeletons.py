"""Every tree of a shape without its decisions: which tests are asked, and who ends in which leaf.

People are held as the bits of a whole number: person i is the bit 1 << i. So a test is the number of those who
go left, and parting people is an `&`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.testing.candidates import candidate_tests
from evenleaf.tree import Branch, Leaf, Node, Tree

LEAF = -1


@dataclass(frozen=True)
class Skeleton:
    """A tree read from the root, left before right: test numbers and `LEAF`, the people of each leaf, the columns.

    `columns` is sorted and names a column as often as it is tested.
    """

    questions: tuple[int, ...]
    leaves: tuple[int, ...]
    columns: tuple[int, ...]

    @property
    def rank(self) -> tuple[int, int, tuple[int, ...]]:
        """The DESIGN's order among equally good trees: fewer leaves, fewer features, lowest tests."""
        return len(self.leaves), len(set(self.columns)), self.questions


class Forest:
    """All skeletons that a problem's shape allows."""

    def __init__(self, problem: Problem) -> None:
        if problem.shape.branching != "single" or problem.shape.leaves != "constant":
            raise InputError("only trees with single-feature tests and constant leaves can be listed")
        self.problem = problem
        self.tests = candidate_tests(problem)
        table = problem.people.features
        everybody = np.arange(problem.people.n_people)
        self._left = [_as_bits(test.goes_left(table, everybody)) for test in self.tests]
        self._everybody = (1 << problem.people.n_people) - 1

    def count(self, most: int) -> int:
        """How many skeletons there are before the limits on leaves and features; an error above `most`."""

        @cache
        def below(people: int, depth: int) -> int:
            total = 1
            for _, left, right in self._splits(people) if depth else ():
                total += below(left, depth - 1) * below(right, depth - 1)
                if total > most:
                    raise InputError(f"there are more than {most:,} trees to try; give fewer people or less depth")
            return total

        return below(self._everybody, self.problem.shape.max_depth)

    def skeletons(self) -> list[Skeleton]:
        """Those within all limits; of several with the same leaves and columns only the first in rank."""

        @cache
        def below(people: int, depth: int) -> tuple[Skeleton, ...]:
            found = [Skeleton((LEAF,), (people,), ())]
            for number, left, right in self._splits(people) if depth else ():
                for one in below(left, depth - 1):
                    found += [self._joined(number, one, other) for other in below(right, depth - 1)]
            # A limit broken by a part is broken by the whole, so such parts can go at once.
            return _first_of_each([skeleton for skeleton in found if self._keeps_limits(skeleton)])

        return list(below(self._everybody, self.problem.shape.max_depth))

    def tree(self, skeleton: Skeleton, values: tuple[float, ...]) -> Tree:
        """The tree with these decisions in its leaves, from left to right."""
        nodes: list[Node] = []
        questions, decisions = iter(skeleton.questions), iter(values)

        def write() -> None:
            number, place = next(questions), len(nodes)
            if number == LEAF:
                nodes.append(Leaf(float(next(decisions))))
                return
            nodes.append(Leaf(0.0))  # holds the place until both sides are written
            write()
            right = len(nodes)
            write()
            nodes[place] = Branch(self.tests[number], place + 1, right)

        write()
        return Tree(self.problem.people.features.schema, self.problem.target, tuple(nodes))

    def _splits(self, people: int) -> Iterator[tuple[int, int, int]]:
        """The first test of each column for each way in which the column can part these people."""
        seen: set[tuple[int, int, int]] = set()
        for number, test in enumerate(self.tests):
            left, right = people & self._left[number], people & ~self._left[number]
            key = test.column, min(left, right), max(left, right)
            crowded = min(left.bit_count(), right.bit_count()) >= self.problem.shape.min_samples_leaf
            if crowded and key not in seen:
                seen.add(key)
                yield number, left, right

    def _joined(self, number: int, left: Skeleton, right: Skeleton) -> Skeleton:
        return Skeleton(
            (number, *left.questions, *right.questions),
            (*left.leaves, *right.leaves),
            tuple(sorted((self.tests[number].column, *left.columns, *right.columns))),
        )

    def _keeps_limits(self, skeleton: Skeleton) -> bool:
        shape, uses = self.problem.shape, Counter(skeleton.columns)
        limits = shape.use_limits(self.problem.people.features.schema)
        return (
            (shape.max_leaves is None or len(skeleton.leaves) <= shape.max_leaves)
            and (shape.max_features_used is None or len(uses) <= shape.max_features_used)
            and all(uses[column] <= limit for column, limit in limits.items())
        )


def members(people: int, n_people: int) -> np.ndarray:
    """Who is in a set of people, as truth values."""
    return np.array([bool(people >> person & 1) for person in range(n_people)])


def _as_bits(chosen: np.ndarray) -> int:
    return sum(1 << int(person) for person in np.flatnonzero(chosen))


def _first_of_each(skeletons: list[Skeleton]) -> tuple[Skeleton, ...]:
    """Which leaves and which columns is all that the objective and the limits depend on (depth is kept already)."""
    best: dict[tuple[frozenset[int], tuple[int, ...]], Skeleton] = {}
    for skeleton in skeletons:
        key = frozenset(skeleton.leaves), skeleton.columns
        if key not in best or skeleton.rank < best[key].rank:
            best[key] = skeleton
    return tuple(best.values())
