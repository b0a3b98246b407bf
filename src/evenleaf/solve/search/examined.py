"""What became of a box that was examined."""

from __future__ import annotations

from dataclasses import dataclass, field

from evenleaf.solve.proofs.labels import Labels, Region
from evenleaf.solve.search.boxes import Box


@dataclass(eq=False)
class Examined:
    """What became of a box: why it is closed or what is left of it, and the best tree met."""

    region: Region
    boxes: list[Box] = field(default_factory=list)
    proof: Labels | None = None
    stuck: bool = False  # nothing more can be done: its bound stands
    cut_short: bool = False  # the budget ran out: the box is still open
    unfinished: bool = False  # so is it here, with a better bound, and `proof` to go on from
    below: list[tuple[Box, list[Region]]] = field(default_factory=list)  # below some of the labels decided in `proof`
    risen: float | None = None  # the bound that a box with free people reached before it was split or labels decided
    n_closed: int = 0  # parts that labels closed at once
