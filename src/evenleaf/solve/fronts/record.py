"""What the search has shown, part by part, to be written down as a proof.

The engine says what it knows of a part and which parts it split it into; nothing here changes what it does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evenleaf.solve.fronts.tests import Box, Cuts, Part, Slot, Split
from evenleaf.solve.proofs import fronts as written
from evenleaf.solve.proofs.fronts import LEFT, OPEN, RIGHT, FrontsProof, Step

_MOST_PARTS = 1_000_000  # a longer proof would fill the memory, and nobody would wait for its check


@dataclass(eq=False)
class _Entry:
    bound: float
    mus: np.ndarray
    parts: dict[Part, None] = field(default_factory=dict)  # in the order in which they came


class Recorder:
    """Remembers parts; `given_up` once there are too many."""

    def __init__(self, keep: bool, sizes: np.ndarray) -> None:
        self.given_up = not keep
        self.sizes = sizes
        self.entries: dict[Part, _Entry] = {}

    def knows(self, part: Part, bound: float, mus: np.ndarray) -> None:
        """A part has this bound, and these are its multipliers."""
        if self.given_up:
            return
        entry = self.entries.get(part)
        if entry is None:
            self.entries[part] = _Entry(bound, mus)
            self.given_up = len(self.entries) > _MOST_PARTS
            return
        entry.bound, entry.mus = max(entry.bound, bound), mus

    def parted(self, whole: Part, part: Part) -> None:
        """A part is one of those that another was split into; the same part again says nothing new."""
        if not self.given_up and part != whole:
            self.entries[whole].parts[part] = None

    def proof(self, top: Part, objective: float) -> FrontsProof | None:
        """The proof that nothing is below the objective; parts whose whole is ruled out already are left out."""
        if self.given_up or top not in self.entries:
            return None
        first = Step(None, self.entries[top].mus)
        waiting = [(top, first)]
        while waiting:
            whole, step = waiting.pop()
            entry = self.entries[whole]
            if entry.bound >= objective:
                continue
            for part in entry.parts:
                place, box = _difference(whole, part)
                if isinstance(box, Cuts) and box.empty:
                    continue
                step.place = place
                known = self.entries[part]
                mus = known.mus[:0] if np.array_equal(known.mus, entry.mus) else known.mus
                below = Step(None if box is None else self._box(box), mus)
                step.parts.append(below)
                waiting.append((part, below))
        return FrontsProof(first)

    def _box(self, box: Box) -> written.Box:
        if isinstance(box, Cuts):
            return written.Box(box.feature, box.low, box.high)
        sides = np.full(int(self.sizes[box.feature]), OPEN, dtype=np.int8)
        sides[list(box.left)], sides[list(box.right)] = LEFT, RIGHT
        return written.Box(box.feature, 0, 0, sides)


def _difference(whole: Part, part: Part) -> tuple[tuple[int, ...], Box | None]:
    """Where a part differs from the one that was split, and the tests that it has there (None: a leaf)."""
    if isinstance(part, Slot):
        return (), None
    if not isinstance(whole, Split) or not isinstance(part, Split) or whole.box != part.box:
        return (), part.box
    side = int(whole.left == part.left)
    path, box = _difference(whole.right, part.right) if side else _difference(whole.left, part.left)
    return (side, *path), box
