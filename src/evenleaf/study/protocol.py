"""Which setting to try next, and which one is λ*: the paper's rule as pure functions of what is known so far.

The paper tries λ in {0, 0.1, 0.2, …} one after another and stops at the first whose discrimination on the fold is
below 0.01 %. For an optimal tree the discrimination never grows with λ (compare the two objectives at two weights),
so that the same λ* is found by doubling the stride and halving the interval: some ten trees in the place of sixty.
For methods without that guarantee it is a choice, and `search = "every"` tries them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenleaf.study.config import Protocol
from evenleaf.study.methods import dial_name, dial_settings


def settings_of(method: str, protocol: Protocol) -> tuple[float, ...]:
    """All settings of the method's dial, from no fairness to as much as there is."""
    return tuple(dial_settings(method, protocol))


def next_step(method: str, protocol: Protocol, tried: Mapping[int, float]) -> int | None:
    """The place of the next setting, given the training discrimination at those tried; None when done."""
    below = {place: value < protocol.tolerance for place, value in tried.items()}
    last = len(settings_of(method, protocol)) - 1
    if dial_name(method) == "λ" and protocol.search == "doubling":
        return doubling(below, last)
    return every(below, last)


def every(below: Mapping[int, bool], last: int) -> int | None:
    """One after another until one is below the tolerance."""
    if any(below.values()):
        return None
    step = len(below)
    return step if step <= last else None


def doubling(below: Mapping[int, bool], last: int) -> int | None:
    """0, 1, 2, 4, 8, … until one is below; then the middle between the last above and the first below."""
    if not below:
        return 0
    hits = [place for place, hit in below.items() if hit]
    if not hits:
        furthest = max(below)
        return None if furthest == last else min(last, max(1, 2 * furthest))
    first = min(hits)
    above = max((place for place, hit in below.items() if not hit and place < first), default=-1)
    return None if first - above <= 1 else (above + first) // 2


def chosen_step(rows: Sequence[Mapping[str, Any]], index: str, tolerance: float) -> Mapping[str, Any]:
    """The row at λ*: the first below the tolerance, or where there is none the least discriminating one."""
    fair = [row for row in rows if row["train"][index] < tolerance]
    if fair:
        return min(fair, key=lambda row: row["step"])
    return min(rows, key=lambda row: (row["train"][index], row["train"]["loss"], row["step"]))
