"""What was seen before and helps later: good first tests of slots, and what whole levels cost."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from dataclasses import dataclass, field

import numpy as np

from evenleaf.solve.fronts.tests import Box

Hints = MutableMapping[tuple[int, int, int, int], Box]
Key = tuple[int, int, int, int, bytes]
Known = MutableMapping[Key, np.ndarray]


@dataclass(frozen=True, eq=False)
class Recall:
    """First tests by the slot's people (least leaf, how many, first, last), and what is known at multipliers.

    That is the value of a level, or of a side of a cut.
    """

    hints: Hints = field(default_factory=dict)
    known: Known = field(default_factory=dict)

    def apart(self) -> Recall:
        """The same for somebody who works at the same time as others: what is new there is not seen here yet."""
        return Recall(ChainMap({}, self.hints), ChainMap({}, self.known))

    def learn(self, other: Recall) -> None:
        """Take over what was new there."""
        assert isinstance(other.hints, ChainMap)  # noqa: S101 (it was set apart)
        assert isinstance(other.known, ChainMap)  # noqa: S101
        self.hints.update(other.hints.maps[0])
        self.known.update(other.known.maps[0])
