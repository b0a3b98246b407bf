"""What workers are sent to do, with all that it starts from: what comes out does not depend on who does it, or when."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.proofs.facets import Facets
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
    average: np.ndarray | None = None  # of the trees that kept a bound low: what facets are found from


@dataclass(frozen=True, eq=False)
class Examination:
    """Close a box, or split it, or raise its bound."""

    start: Incumbent
    box: Box
    proof: Labels | None
    decides: bool
    aim: float | None
    facets: Facets

    def run(self, worker: Worker) -> Outcome:
        """Examine the box."""
        start, before = self.start, worker.ascent.steps
        worker.begin(start.tree, start.objective, start.polished)
        worker.adopt(self.facets)
        examined = worker.examine(self.box, self.proof, self.decides, self.aim)
        average = None if worker.lowest is None or not worker.has_facets else worker.lowest.average
        return Outcome(worker.tree, worker.found, worker.polished, worker.ascent.steps - before, examined, average)


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
