"""What a mixed-integer solver must offer: one small file each, known without being imported."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from evenleaf.solve.budget import Budget
from evenleaf.solve.mip.model import LinearModel
from evenleaf.solve.result import Stop


@dataclass(frozen=True, eq=False)
class MipResult:
    """What a solver found: the best point (None where it has none), a valid lower bound, and why it stopped."""

    x: np.ndarray | None
    bound: float
    stop: Stop
    infeasible: bool
    message: str


class Backend(ABC):
    """A mixed-integer solver. Availability is asked by `find_spec`, the licence by a probe."""

    name: ClassVar[str]
    package: ClassVar[str]
    extra: ClassVar[str]

    @classmethod
    def installed(cls) -> bool:
        """Whether the package is there, found out without importing it."""
        return find_spec(cls.package) is not None

    @classmethod
    def licence_problem(cls, model: LinearModel) -> str | None:  # noqa: ARG003
        """Why the licence at hand cannot solve this model, or None where it can."""
        return None

    @abstractmethod
    def solve(
        self,
        model: LinearModel,
        budget: Budget,
        start: np.ndarray | None = None,
        options: dict[str, Any] | None = None,
    ) -> MipResult:
        """Solve within the budget; a full point may be given as a start, and must be taken or refused loudly."""
