"""What was seen before and helps later: good first tests of slots, and what whole levels cost."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field

import numpy as np

from evenleaf.solve.fronts.tests import Box, Cuts

Hints = MutableMapping[tuple[int, int, int, int], Box]
Key = tuple[int, int, int, int, bytes]
Known = MutableMapping[Key, np.ndarray]
Climbed = MutableMapping[Cuts, np.ndarray]


@dataclass(frozen=True, eq=False)
class Recall:
    """First tests by the slot's people (least leaf, how many, first, last), and what is known at multipliers.

    That is the value of a level, or of a side of a cut. Small boxes of first cuts climbed to multipliers of their own.
    """

    hints: Hints = field(default_factory=dict)
    known: Known = field(default_factory=dict)
    climbed: Climbed = field(default_factory=dict)

    def nearest(self, box: Cuts) -> np.ndarray | None:
        """What the nearest box of the same feature climbed to."""
        others = [other for other in self.climbed if other.feature == box.feature]
        middle = box.low + box.high
        near = min(
            others, key=lambda other: (abs(other.low + other.high - middle), other.low, other.high), default=None
        )
        return None if near is None else self.climbed[near]

    def apart(self) -> Recall:
        """The same for somebody who works at the same time as others: what is new there is not seen here yet."""
        return Recall(ChainMap({}, self.hints), ChainMap({}, self.known), ChainMap({}, self.climbed))

    def learn(self, other: Recall) -> None:
        """Take over what was new there."""
        assert isinstance(other.hints, ChainMap)  # noqa: S101 (it was set apart)
        assert isinstance(other.known, ChainMap)  # noqa: S101
        self.hints.update(other.hints.maps[0])
        self.known.update(other.known.maps[0])
        assert isinstance(other.climbed, ChainMap)  # noqa: S101
        self.climbed.update(other.climbed.maps[0])
