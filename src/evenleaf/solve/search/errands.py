"""What workers are sent to do, with all that it starts from: what comes out does not depend on who does it, or when."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from evenleaf.solve.proofs.labels import Labels
from evenleaf.solve.search.boxes import Box
from evenleaf.solve.search.examined import Examined
from evenleaf.solve.search.plan import Found
from evenleaf.solve.search.worker import Worker
from evenleaf.tree import Tree


@dataclass(frozen=True, eq=False)
class Incumbent:
    """The best tree, and the objectives of those that descents have started from."""

    tree: Tree | None
    objective: float
    polished: Set[float]


@dataclass(frozen=True, eq=False)
class Outcome:
    """The best trees met on an errand, where descents started, and what became of a box."""

    tree: Tree | None
    found: Found | None
    polished: Set[float]
    steps: int  # bounds asked for
    examined: Examined | None = None


@dataclass(frozen=True, eq=False)
class Examination:
    """Close a box, or split it, or raise its bound."""

    start: Incumbent
    box: Box
    proof: Labels | None
    decides: bool
    aim: float | None

    def run(self, worker: Worker) -> Outcome:
        """Examine the box."""
        start, before = self.start, worker.ascent.steps
        worker.begin(start.tree, start.objective, start.polished)
        examined = worker.examine(self.box, self.proof, self.decides, self.aim)
        return Outcome(worker.tree, worker.found, worker.polished, worker.ascent.steps - before, examined)


@dataclass(frozen=True, eq=False)
class Wandering:
    """Look about for better trees, near the best one that was found; `work`: at how many people."""

    start: Incumbent
    found: Found | None
    work: int
    seed: int

    def run(self, worker: Worker) -> Outcome:
        """Wander."""
        start = self.start
        worker.begin(start.tree, start.objective, start.polished)
        worker.found = self.found
        worker.wander(self.work, self.seed)
        return Outcome(worker.tree, worker.found, worker.polished, 0)


Errand = Examination | Wandering
