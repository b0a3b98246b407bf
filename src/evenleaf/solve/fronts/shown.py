"""What was seen of parts in the searches of all shares: a tree costs the same whatever share is asked.

At given multipliers only the price of the share itself differs, so that what one search looked at bounds the same trees
in every other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evenleaf.solve.fronts.lane import Lane
from evenleaf.solve.fronts.tests import Part


@dataclass(frozen=True, eq=False)
class Look:
    """What the trees of a part cost at least at multipliers, in a lane whose last disparity is that of the share."""

    part: Part
    mu: np.ndarray
    bound: float


@dataclass(frozen=True, eq=False)
class Shown:
    """Looks by part, the price of the share taken out."""

    known: dict[Part, list[tuple[np.ndarray, float]]] = field(default_factory=dict)

    def add(self, look: Look, lane: Lane) -> None:
        """Take in what was seen of one share."""
        self.known.setdefault(look.part, []).append((look.mu, look.bound - _price_of_share(look.mu, lane)))

    def take(self, looks: list[Look], lane: Lane) -> None:
        """Take in several."""
        for look in looks:
            self.add(look, lane)

    def best(self, part: Part, lane: Lane) -> Look | None:
        """The highest bound for the share of a lane."""
        looks = self.known.get(part)
        if not looks:
            return None
        bounds = [value + _price_of_share(mu, lane) for mu, value in looks]
        highest = int(np.argmax(bounds))
        return Look(part, looks[highest][0], bounds[highest])

    def lowest(self, parts: list[Part], mu: np.ndarray) -> float | None:
        """What the trees of all these parts cost at least at multipliers; None where not all were looked at."""
        values = []
        for part in parts:
            here = [value for other, value in self.known.get(part, ()) if np.array_equal(other, mu)]
            if not here:
                return None
            values.append(max(here))
        return min(values, default=None)


def _price_of_share(mu: np.ndarray, lane: Lane) -> float:
    return float(mu[-1] * lane.offset[-1])
