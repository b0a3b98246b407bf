"""How large pieces of a box of first cuts may be, that their bounds rule them out.

The people between the cuts of a box get the label that each likes best, and a piece is ruled out once few enough people
are between its cuts. How many that are can be told ahead: outside of a piece they cost about as much as with the
labels of the best stump. Pieces just small enough are fewer than what halving ends with.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.oracle import Oracle

_REMEMBERED = 16  # multipliers; two numbers for everybody at each
_ALMOST = 0.9  # of what a piece may lose, because trees are better than stumps


class Pieces:
    """Tells into how many pieces a box is to be parted, and what people between cuts make a bound lose."""

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.known: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def number(self, free: np.ndarray, mu: np.ndarray, above: float) -> tuple[float, np.ndarray]:
        """So many pieces, and what each free person makes a bound lose; `above` is how far the bound is too low."""
        usual, liked = self._costs(mu)
        loss = usual[free] - liked[free]
        spare = float(loss.sum()) - above  # the bound with everybody's label as usual, above the target
        return (float(np.ceil(loss.sum() / (_ALMOST * spare))) if spare > 0 else np.inf), loss

    def saved(self, free: np.ndarray, mu: np.ndarray) -> float:
        """What all of the free people make a bound lose."""
        usual, liked = self._costs(mu)
        return float((usual[free] - liked[free]).sum())

    def _costs(self, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What everybody costs with the label of the best stump, and with the label that each likes best."""
        key = mu.tobytes()
        if key not in self.known:
            if len(self.known) >= _REMEMBERED:
                self.known.pop(next(iter(self.known)))
            prices = self.oracle.lane.prices(mu[None, :])
            labels = self.oracle.cheapest(np.arange(len(prices)), 1, prices).labels
            every = np.concatenate([np.zeros((len(prices), 1)), prices[:, :, 0]], axis=1)
            self.known[key] = every[np.arange(len(every)), labels], every.min(axis=1)
        return self.known[key]
