"""Deep nodes, raised little by little at the best multipliers: no further than the bounds of others ask for.

A look at a slot of depth 3 takes as long as a search of that depth. So a node first gets a bound some way below the
incumbent, and is only looked into further once no other node has a lower one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evenleaf.solve.fronts.cell import Cell
from evenleaf.solve.fronts.deep import FirstTests
from evenleaf.solve.fronts.node import Node
from evenleaf.solve.fronts.steps import EPSILON

if TYPE_CHECKING:
    from evenleaf.solve.fronts.worker import Worker

_AIMS = (0.8, 0.9, 0.95, 0.98)  # of what a better tree is worth
_STEP = 0.03
_NEAR = 0.005  # a bound this near to an aim goes on to the next one
_ROUNDING = 1e-12
_LOOKS = 16  # at one slot, before it is the turn of the other


def raised(worker: Worker, node: Node, cell: Cell) -> Node:
    """The node with a better bound, `looked` at once no better one is to be had at its multipliers."""
    prices = worker.lane.prices(node.mus[:1])
    base = float(cell.base(node.mus[:1], prices)[0])
    slots = [cell.first_tests(number, prices) for number in range(len(cell.places))]
    aim = _aim(node.bound, worker.better)
    missing, waiting = _missing(aim - base, slots), _open(slots)
    while waiting and missing > 0:
        slot = min(waiting, key=lambda slot: slot.looks * len(slot.members))
        slot.lift(slot.least + missing, _LOOKS)
        missing, waiting = _missing(aim - base, slots), _open(slots)
    bound = base + sum(slot.least for slot in slots)
    if not waiting and bound < worker.better and not cell.loose:
        worker.offer_sketch(cell.outline(slots, prices), improve=worker.improves)
    return replace(node, bound=max(node.bound, bound), looked=not waiting and missing > 0, step=_STEP)


def _missing(aim: float, slots: list[FirstTests]) -> float:
    """How much slots cost less than they are to cost, but for rounding."""
    missing = aim - sum(slot.least for slot in slots)
    return missing if missing > _ROUNDING else 0.0


def _open(slots: list[FirstTests]) -> list[FirstTests]:
    return [slot for slot in slots if not slot.settled]


def _aim(bound: float, better: float) -> float:
    """How high the bound is to be next."""
    return min((part * better for part in _AIMS if (part - _NEAR) * better > bound), default=better + EPSILON)
