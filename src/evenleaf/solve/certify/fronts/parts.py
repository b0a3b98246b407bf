"""What the trees of a part cost at least, and which of them are better than the claim."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.certify.fronts.asked import Asked, At
from evenleaf.solve.certify.fronts.forks import Fork
from evenleaf.solve.certify.fronts.line import Line
from evenleaf.solve.certify.fronts.lists import Lister, Points, TooMany
from evenleaf.solve.certify.fronts.outlines import Outline, Reached, Slot, Split
from evenleaf.solve.certify.fronts.slots import Slots
from evenleaf.solve.proofs.fronts import LEFT, RIGHT


class Parts:
    """Judges parts, each told by all that is reached in its outline."""

    def __init__(self, asked: Asked) -> None:
        self.asked, self.slots = asked, Slots(asked)

    def too_thin(self, found: list[Reached]) -> bool:
        """Whether a test that is settled, as all above it are, leaves too few people on one side."""
        count, ranks = self.asked.compiled.count, self.asked.compiled.ranks
        for one in found:
            if isinstance(one.part, Split):
                side = one.part.sides[ranks[one.part.feature, one.members]]
                fewest = min(count[one.members[side == which]].sum() for which in (LEFT, RIGHT))
                if fewest + count[one.free].sum() < self.asked.least:
                    return True
                if len(one.free):
                    return False
        return False

    def reaches(self, at: At, found: list[Reached]) -> bool:
        """Whether at some multipliers every tree costs enough."""
        loose = any(len(one.free) for one in found)
        least = 1 if loose else self.asked.least  # whoever is not placed may fill any leaf
        for price, reach in zip(at.prices, at.reach - at.start, strict=True):
            if self.slots.free(np.arange(price.shape[1]), price) >= reach:
                return True  # whatever is decided about anybody
            total = 0.0
            for one in found:
                if isinstance(one.part, Slot):
                    total += self.slots.least(one.members, one.part.depth, price, least)
                else:
                    total += self.slots.free(one.free, price)
            if total >= reach or (loose and self._with_levels(found, total, price, reach) >= reach):
                return True
        return False

    def _with_levels(self, found: list[Reached], total: float, price: np.ndarray, reach: float) -> float:
        """The same with levels that stay together: each has a tree of its own, or a pair of stumps to choose from."""
        for one in found:
            depth = _depth_below(one.part)
            if depth is None or not len(one.free) or not isinstance(one.part, Split):
                continue
            if self.asked.compiled.unordered[one.part.feature]:
                total -= self.slots.free(one.free, price)
                total += self.slots.apart(one.free, one.part.feature, depth, price)
        for one in found:
            if total < reach and len(one.free) and self._is_fork(one):
                instead = self._fork_alone(one, price)
                total += self._fork(one).least(price, reach - total + instead) - instead
        return total

    def _fork_alone(self, one: Reached, price: np.ndarray) -> float:
        """What was counted for a fork so far: its levels apart, and the stumps on either side."""
        assert isinstance(one.part, Split)  # noqa: S101 (a fork is one)
        side = one.part.sides[self.asked.compiled.ranks[one.part.feature, one.members]]
        stumps = sum(self.slots.least(one.members[side == which], 1, price, 1) for which in (LEFT, RIGHT))
        return stumps + self.slots.apart(one.free, one.part.feature, 1, price)

    def _is_fork(self, one: Reached) -> bool:
        """Whether this is a test of levels above two stumps."""
        unordered = isinstance(one.part, Split) and bool(self.asked.compiled.unordered[one.part.feature])
        return unordered and _depth_below(one.part) == 1

    def _fork(self, one: Reached) -> Fork:
        assert isinstance(one.part, Split)  # noqa: S101 (a fork is one)
        line = Line(self.asked, one.members)
        owner = int(np.searchsorted(line.features, one.part.feature))
        return Fork(line, owner, one.part.sides[line.rank[line.starts[owner] : line.starts[owner + 1]]])

    def better(self, at: At, found: list[Reached]) -> float | None:
        """The best worth of a tree below the claim, infinite where there is none; None: they are too many to list.

        With one disparity and a limit, first only one side of |d| ≤ ε is asked, at the multipliers that pull at it.
        """
        loose = [one for one in found if len(one.free)]
        if not all(self._is_fork(one) for one in loose) or (loose and self.asked.least > 1):
            return None
        if self.asked.limit is not None and self.asked.width == 2 and not self.asked.coupled:
            for side in (1, -1):
                pull = side * at.to_price[1]
                if (pull > 0).any() and self._best(at.only(pull >= 0), found, side) == np.inf:
                    return np.inf
        return self._best(at, found, 0)

    def _best(self, at: At, found: list[Reached], side: int) -> float | None:
        try:
            points = self._points(at, found, side)
        except TooMany:
            return None
        return float(self.asked.worth(points.vectors, side).min(initial=np.inf))

    def _points(self, at: At, found: list[Reached], side: int) -> Points:
        """The trees of a part that are worth less than the claim, but for those that are needless."""
        only_labels = all(isinstance(one.part, Slot) and not one.part.depth for one in found if self._ends(one, found))
        lister = Lister(self.slots, at, side, only_labels)
        ends = [one for one in found if self._ends(one, found)]
        start = np.zeros((1, lister.n_columns), dtype=np.int16)
        for one in found if lister.n_columns else ():
            if isinstance(one.part, Split) and not len(one.free):  # the test of a fork is counted with its trees
                start[0, self.asked.columns[one.part.feature]] += 1
        values = np.array([[self._least(one, price) for price in at.prices] for one in ends])
        total = Points(self.asked.start[None], start)
        lists: list[Points] = []
        for number, one in enumerate(ends):
            rest = at.start + values.sum(axis=0) - values[number]
            lists.append(self._list(lister, one, rest))
            if not len(lists[-1]):
                return lists[-1]
            values[number] = (lists[-1].vectors @ at.to_price).min(axis=0)
        for number, points in enumerate(lists):
            last = number == len(lists) - 1
            total = lister.merged(total, points, values[number + 1 :].sum(axis=0), at.target if last else None)
        return total

    def _ends(self, one: Reached, found: list[Reached]) -> bool:
        """Forks, and the slots that are not in one."""
        above = {other.path for other in found if len(other.free)}
        return bool(len(one.free)) or (isinstance(one.part, Slot) and (not one.path or one.path[:-1] not in above))

    def _least(self, one: Reached, price: np.ndarray) -> float:
        if isinstance(one.part, Slot):
            return self.slots.least(one.members, one.part.depth, price, self.asked.least)
        return self._fork(one).least(price, np.inf)

    def _list(self, lister: Lister, one: Reached, rest: np.ndarray) -> Points:
        if isinstance(one.part, Slot):
            return lister.slot(one.members, one.part.depth, rest)
        fork = self._fork(one)
        owner = int(np.searchsorted(self.asked.features, one.part.feature))
        return lister.fork(fork, owner, rest)


def _depth_below(part: Outline) -> int | None:
    """How deep a tree may be on either side of a test, None where more is known or the sides differ."""
    if isinstance(part, Slot) or not isinstance(part.left, Slot) or not isinstance(part.right, Slot):
        return None
    return part.left.depth if part.left.depth == part.right.depth else None
