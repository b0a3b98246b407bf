"""Relabelling leaves to keep a discrimination bound at the least loss of accuracy (Kamiran et al. 2010, section 4.2).

Turning over leaf l changes the discrimination by Δdisc_l and loses Δacc_l. Only leaves with Δdisc_l < 0 help, and
choosing among them is a knapsack: cover at least (discrimination − ε) at the least loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenleaf.errors import InputError

Relabelling = Literal["greedy", "exact"]
# (loss, reduction, the leaves chosen as a linked list)
Link = tuple[int, Any] | None
State = tuple[float, float, Link]
# Sums of shares are compared up to this.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Leaves:
    """What falls into each leaf: weight of the positive and negative class, shares of either community.

    `deprived` is the part of the deprived community that reaches the leaf, `favoured` that of all others; both add
    up to one. `says_yes` is the leaf's label by its majority.
    """

    positive: np.ndarray
    negative: np.ndarray
    deprived: np.ndarray
    favoured: np.ndarray
    says_yes: np.ndarray

    @property
    def discrimination(self) -> float:
        """P(yes | favoured) − P(yes | deprived)."""
        return float((self.favoured - self.deprived)[self.says_yes].sum())

    @property
    def reductions(self) -> np.ndarray:
        """−Δdisc_l: by how much turning the leaf over lowers the discrimination."""
        gap = self.favoured - self.deprived
        return np.where(self.says_yes, gap, -gap)

    @property
    def losses(self) -> np.ndarray:
        """−Δacc_l: the weight of those who would be decided rightly before and wrongly after, net."""
        gap = self.positive - self.negative
        return np.where(self.says_yes, gap, -gap)


def relabel(leaves: Leaves, bound: float, how: Relabelling) -> np.ndarray:
    """Which leaves to turn over so that the discrimination is at most `bound`; the least loss if exact."""
    if bound < 0:
        raise InputError(f"the discrimination bound must be at least 0, not {bound}")
    needed = leaves.discrimination - bound
    useful = np.flatnonzero(leaves.reductions > ROUNDING)
    chosen = np.zeros(len(leaves.says_yes), dtype=bool)
    if needed <= ROUNDING:
        return chosen
    choose = _greedy if how == "greedy" else _exact
    chosen[useful[choose(leaves.reductions[useful], leaves.losses[useful], needed)]] = True
    return chosen


def _greedy(reductions: np.ndarray, losses: np.ndarray, needed: float) -> np.ndarray:
    """The published heuristic: the best ratio of discrimination to accuracy first, until the bound holds."""
    ratio = np.divide(reductions, losses, out=np.full(len(losses), np.inf), where=losses > 0)
    order = np.argsort(-ratio, kind="stable")
    reached = np.cumsum(reductions[order])
    return order[: int(np.argmax(reached >= needed - ROUNDING)) + 1]


def _exact(reductions: np.ndarray, losses: np.ndarray, needed: float) -> np.ndarray:
    """The knapsack by dominance: of all partial choices only those that no cheaper one outdoes are kept.

    Each state is (loss, reduction, link), sorted by both. With whole people there are at most N losses, so that the
    list stays short; a state that covers what is needed is never extended.
    """
    states: list[State] = [(0.0, 0.0, None)]
    for leaf in range(len(losses)):
        added: list[State] = [
            (loss + float(losses[leaf]), covered + float(reductions[leaf]), (leaf, link))
            for loss, covered, link in states
            if covered < needed - ROUNDING
        ]
        states = _undominated(states + added, needed)
    _, _, link = states[-1]
    picked = []
    while link is not None:
        leaf, link = link
        picked.append(leaf)
    return np.array(picked, dtype=np.intp)


def _undominated(states: list[State], needed: float) -> list[State]:
    kept: list[State] = []
    for state in sorted(states, key=lambda state: (state[0], -state[1])):
        if kept and state[1] <= kept[-1][1]:
            continue
        kept.append(state)
        if state[1] >= needed - ROUNDING:
            break  # whatever costs more need not cover more
    return kept
