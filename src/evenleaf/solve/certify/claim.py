"""What a proof is asked to show, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[int, int], None]


class ProofError(Exception):
    """Something that a proof needs does not hold; the message says what."""


@dataclass(frozen=True)
class Claim:
    """No tree has an objective below `objective − tolerance`."""

    objective: float
    tolerance: float
