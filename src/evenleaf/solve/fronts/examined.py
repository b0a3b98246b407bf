"""What comes of examining a node, and the best tree known when it began."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.recall import Recall
from evenleaf.solve.fronts.shown import Look
from evenleaf.solve.fronts.tests import Sketch
from evenleaf.tree import Tree


@dataclass(frozen=True, eq=False)
class Incumbent:
    """The best tree known, its objective, and its outline where it has one."""

    tree: Tree | None = None
    objective: float = np.inf
    sketch: Sketch | None = None


@dataclass(eq=False)
class Examined:
    """What came of a node: what it was split into, what was learnt of it on the way, and the best tree met."""

    best: Incumbent
    recall: Recall
    children: list[Node] = field(default_factory=list)
    learnt: list[Node] = field(default_factory=list)
    lifted: bool = False
    cut_short: bool = False
    refused: float = np.inf  # the worth of a tree that lists hold for fair and `Problem.evaluate` does not
    off_the_edge: bool = False
    looks: list[Look] = field(default_factory=list)  # for the searches of other shares
