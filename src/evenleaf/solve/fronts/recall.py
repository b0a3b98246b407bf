"""What was seen before and helps later: good first tests of slots, and what whole levels cost."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenleaf.solve.fronts.deep import FirstTests
from evenleaf.solve.fronts.tests import Box, Cuts

Hints = MutableMapping[tuple[int, int, int, int], Box]
Key = tuple[int, int, int, int, bytes]
Known = MutableMapping[Key, np.ndarray]
Climbed = MutableMapping[Cuts, np.ndarray]
Deep = MutableMapping[tuple[Box, int, int, bytes], FirstTests]


@dataclass(frozen=True, eq=False)
class Recall:
    """First tests by the slot's people (least leaf, how many, first, last), and what is known at multipliers.

    That is the value of a level, or of a side of a cut. Small boxes of first cuts climbed to multipliers of their own.
    What hangs below the first tests of a box that is still open is looked into little by little: no other open box asks
    for the same side, so that nobody else works on it at the same time.
    """

    hints: Hints = field(default_factory=dict)
    known: Known = field(default_factory=dict)
    climbed: Climbed = field(default_factory=dict)
    deep: Deep = field(default_factory=dict)

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
        return Recall(*(ChainMap[Any, Any]({}, known) for known in self._all))

    def learn(self, other: Recall) -> None:
        """Take over what was new there."""
        for mine, theirs in zip(self._all, other._all, strict=True):
            assert isinstance(theirs, ChainMap)  # noqa: S101 (it was set apart)
            mine.update(theirs.maps[0])

    @property
    def _all(self) -> tuple[MutableMapping[Any, Any], ...]:
        return self.hints, self.known, self.climbed, self.deep
