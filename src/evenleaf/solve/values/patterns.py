"""What was noted of roots that are done: the next root on the same feature is much like the nearest of them."""

from __future__ import annotations

from evenleaf.solve.values.boxes import LEFT, Box
from evenleaf.solve.values.branching import Proof

_KEPT = 100  # a feature
_MOST_BYTES = 500_000_000  # in all


class Patterns:
    """Of each feature: where a root stands, and how it was done."""

    def __init__(self) -> None:
        self.kept: dict[int, list[tuple[int, Proof]]] = {}
        self.bytes = 0

    def __contains__(self, feature: int) -> bool:
        return feature in self.kept

    def nearest(self, box: Box) -> Proof | None:
        """What was noted of the most similar root on the same feature, of the last ones."""
        kept = self.kept.get(box.feature, [])
        return min(kept, key=lambda entry: abs(entry[0] - _size(box)))[1] if kept else None

    def keep(self, box: Box, proof: Proof) -> None:
        """Note how a root was done; where that takes too much memory, its feature forgets what it noted first."""
        kept = self.kept.setdefault(box.feature, [])
        kept.append((_size(box), proof))
        self.bytes += _bytes(proof)
        while len(kept) > 1 and (len(kept) > _KEPT or self.bytes > _MOST_BYTES):
            self.bytes -= _bytes(kept.pop(0)[1])


def _size(box: Box) -> int:
    """How many ranks go left: where the root stands on its feature."""
    return int((box.state == LEFT).sum())


def _bytes(proof: Proof) -> int:
    """What the multipliers and trees of a proof take; nodes that one proof took over from another count twice."""
    return sum(node.mu.nbytes + (0 if node.mixture is None else node.mixture.nbytes) for node in proof.nodes())
