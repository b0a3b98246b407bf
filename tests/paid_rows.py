"""What a stump costs by definition, where rows of the disparity that compare nobody else are paid for as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenleaf.solve.certify.values.numbers import Numbers, Prices


@dataclass(frozen=True)
class Priced:
    """People at some prices, which hold `lean` for each row (a column of `entries`); truly it costs `steep`."""

    outcome: np.ndarray
    share: np.ndarray
    person: np.ndarray
    entries: np.ndarray  # people × rows
    steep: np.ndarray
    lean: np.ndarray

    @classmethod
    def at(cls, arrays: Any, entries: Any, person: np.ndarray, steep: np.ndarray, lean: np.ndarray) -> Priced:
        """From the arrays of the search or of the checker, which name them alike; `entries` is sparse."""
        return cls(arrays.levels[arrays.level], arrays.share, person, entries.toarray(), steep, lean)

    def leaf(self, who: np.ndarray, values: np.ndarray) -> np.ndarray:
        """What some people cost at each of some values, rows aside."""
        error = np.abs(self.outcome[who][:, None] - values)
        return np.asarray((self.share[who][:, None] * error + self.person[who][:, None] * values).sum(axis=0))

    def stump(self, lower: np.ndarray, upper: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
        """The best values of two leaves, from those that each may take; nothing else is in their part."""
        if not (len(low) and len(high)):
            return np.inf
        everybody = np.arange(len(self.outcome))
        others = np.setdiff1d(everybody, np.concatenate([lower, upper]))
        inside = ~(self.entries[others] != 0).any(axis=0)
        below, above = (self.entries[who][:, inside].sum(axis=0)[:, None, None] for who in (lower, upper))
        difference = below * low[:, None] + above * high
        paid = self.steep[inside][:, None, None] * np.abs(difference) - self.lean[inside][:, None, None] * difference
        cost = self.leaf(lower, low)[:, None] + self.leaf(upper, high) + paid.sum(axis=0)
        return float(cost.min())


def some_prices(numbers: Numbers, random: np.random.Generator) -> Prices:
    """Multipliers of any kind, and prices that owe something to something else, as those of capped people do."""
    prices = numbers.prices(random.uniform(-1, 1, len(numbers.weight)), float(random.choice([0.3, 3.0])))
    return replace(prices, person=prices.person + random.normal(size=len(numbers.count)) * 0.3)
