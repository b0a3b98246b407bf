"""One problem on the shelf: its name, how it is built, and the optimum that is known for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from evenleaf.problem import Problem
from evenleaf.solve.result import Status


@dataclass(frozen=True)
class ShelfProblem:
    """A problem with a known answer; `build` makes it anew each time, so that no run can spoil another."""

    name: str
    build: Callable[[], Problem]
    objective: float
    status: Status = Status.PROVEN
    about: str = ""

    @property
    def feasible(self) -> bool:
        """Whether any tree keeps the limits."""
        return self.status is not Status.INFEASIBLE


class Shelf:
    """Collects problems in the order in which they are written down."""

    def __init__(self) -> None:
        self.problems: list[ShelfProblem] = []

    def add(self, objective: float) -> Callable[[Callable[[], Problem]], Callable[[], Problem]]:
        """Put the decorated function on the shelf; its docstring says where the optimum comes from."""

        def keep(build: Callable[[], Problem]) -> Callable[[], Problem]:
            status = Status.INFEASIBLE if objective == inf else Status.PROVEN
            self.problems.append(ShelfProblem(build.__name__, build, objective, status, (build.__doc__ or "").strip()))
            return build

        return keep
