"""How much the search may keep: an estimate from the sizes of its arrays, not from the operating system."""

from __future__ import annotations

import os

from evenleaf.solve.search.compiled import Compiled

_MIB = 1 << 20
_IN_A_BOX, _IN_A_PROOF = 8, 4  # bytes a multiplier, before any packing
_KNOWN = 8_000  # bytes of the subtrees that a box of deep trees knows


class Memory:
    """The allowance in MiB, by default half of the machine's."""

    def __init__(self, compiled: Compiled, allowed: float | None, *, deep: bool = False) -> None:
        self.allowed = _MIB * allowed if allowed is not None else _half_of_the_machine()
        self.shape = compiled.weight.shape
        self.besides = 4 * int(compiled.offsets[-1]) + deep * _KNOWN
        self.grow(0)

    def grow(self, n_facets: int) -> None:
        """From now on there are so many facets, each with its multipliers."""
        self.multipliers = (self.shape[0] + n_facets) * self.shape[1]
        self.in_a_box = _IN_A_BOX * self.multipliers + self.besides

    def too_much(self, n_nodes: int, n_boxes: int) -> bool:
        """Whether this many nodes of the proof and open boxes are more than allowed."""
        return n_boxes * self.in_a_box + n_nodes * _IN_A_PROOF * self.multipliers > self.allowed


def _half_of_the_machine() -> float:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2
    except (AttributeError, ValueError, OSError):  # not every system tells
        return 4096.0 * _MIB
