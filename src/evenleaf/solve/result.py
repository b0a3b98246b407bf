"""A result is a claim with evidence: the tree, what it is worth, how low any tree could be, and why it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from evenleaf.errors import DisagreementError
from evenleaf.problem import Problem, Score
from evenleaf.tree import Tree

# A tree within this of the bound is called optimal; solvers work to tighter tolerances than that.
PROOF_TOLERANCE = 1e-6


class Status(StrEnum):
    """What you have."""

    PROVEN = "proven"  # the tree is optimal: the bound meets it
    FEASIBLE = "feasible"  # a valid tree; the gap says how much better another could be
    INFEASIBLE = "infeasible"  # proven: no tree keeps the limits
    UNKNOWN = "unknown"  # stopped before a valid tree was found


class Stop(StrEnum):
    """Why the solver stopped."""

    FINISHED = "finished"
    TIME_LIMIT = "time limit"
    GAP = "gap reached"
    INTERRUPTED = "interrupted"
    HEURISTIC = "a heuristic: it does not prove"


@dataclass(frozen=True)
class TracePoint:
    """What was known at a moment: the bound and the best objective so far."""

    seconds: float
    bound: float
    objective: float


@dataclass(frozen=True)
class Solution:
    """The answer to a problem. `message` is the solver's own words."""

    tree: Tree | None
    score: Score | None
    bound: float
    status: Status
    stop: Stop
    solver: str
    seconds: float
    trace: tuple[TracePoint, ...] = ()
    message: str = ""
    certificate: Any = None

    @property
    def proven(self) -> bool:
        """Whether this is the optimum, with a proof."""
        return self.status is Status.PROVEN

    @property
    def objective(self) -> float:
        """The objective of the tree, infinite where there is none."""
        return np.inf if self.score is None else self.score.objective

    @property
    def gap(self) -> float:
        """How much better another tree could be, as a part of the objective."""
        if self.proven:
            return 0.0
        return relative_gap(self.objective, self.bound)

    def __str__(self) -> str:
        lines = [f"status     {self.status} ({self.stop})", f"solver     {self.solver}, {self.seconds:.2f} s"]
        if self.score is not None:
            lines += [
                f"objective  {self.objective:.6f}",
                f"loss       {self.score.loss:.6f}",
                f"disparity  {self.score.discrimination:.6f}",
            ]
        lines.append(f"bound      {self.bound:.6f}   gap {self.gap:.2%}")
        if self.message:
            lines.append(f"message    {self.message}")
        return "\n".join(lines)


def relative_gap(objective: float, bound: float) -> float:
    """(objective − bound) / objective, zero where they meet and one where nothing is known."""
    if not np.isfinite(objective) or not np.isfinite(bound):
        return 1.0
    return float(max(0.0, objective - bound) / max(abs(objective), 1e-12))


def confirm(problem: Problem, tree: Tree, claimed: float, tolerance: float = PROOF_TOLERANCE) -> Score:
    """Re-evaluate a solver's tree; raise where its claim or its limits do not hold."""
    score = problem.evaluate(tree)
    if score.violations:
        raise DisagreementError(f"the solver's tree breaks a limit: {'; '.join(score.violations)}")
    # Asked this way round, a claim that is not a number is refused too.
    if not abs(score.objective - claimed) <= tolerance * max(1.0, abs(score.objective)):
        raise DisagreementError(
            f"the solver claims the objective {claimed:.9g}, but its tree has {score.objective:.9g}"
        )
    return score
