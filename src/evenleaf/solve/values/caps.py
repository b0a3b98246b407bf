"""Trees in which somebody's value is at most, or at least, so much: the splits that break a mixture at depth 3.

A stuck bound belongs to a mixture of trees. With depth 3, deciding tests hardly breaks it; deciding on which side of
its mean a person's value lies does, and near-copies of a tree stay together (ALGORITHM §9.11, for numbers).

A cap is a *ghost*: one more person with the same features, who pays P·|u − v| ± P·(u − v), which is nothing on the
one side of v and 2P a unit on the other. Any P ≥ 0 makes a true bound. So no kernel has to know of caps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.values.boxes import Box, Cap
from evenleaf.solve.values.compiled import Compiled


@dataclass(frozen=True)
class ValueSplit:
    """All trees in two sets: those that give a person at most a value, and those that give at least as much.

    Neither depends on the root, so that a split of one root can be made at another.
    """

    person: int
    value: float

    def parts(self, box: Box, owner: np.ndarray) -> list[tuple[int, Box]]:  # noqa: ARG002
        """The box with either cap, and the number of the set."""
        sides = (Cap(self.person, self.value, above) for above in (False, True))
        return [(number, replace(box, caps=(*box.caps, cap))) for number, cap in enumerate(sides)]


def most_contested(
    people: np.ndarray, values: np.ndarray, weight: np.ndarray, influence: np.ndarray
) -> tuple[int, float, float]:
    """The person about whom trees disagree most, weighed by influence; the mean of the values, and the doubt.

    `values` has a row a tree and a column for each of the people; `weight` is the trees' shares in their mixture.
    """
    weight = weight / weight.sum()
    mean = weight @ values
    doubt = (weight @ np.abs(values - mean)) * influence[people]
    k = int(doubt.argmax())
    return int(people[k]), float(mean[k]), float(doubt[k])


@dataclass(frozen=True, eq=False)
class Ghosts:
    """The prices of the ghosts, and the constant that their costs lack in the kernels."""

    prices: np.ndarray
    offset: float


def with_ghosts(compiled: Compiled, caps: tuple[Cap, ...], scale: float) -> tuple[Compiled, Ghosts]:
    """The problem with a ghost for each cap; its price is above what all others together may pay for a value."""
    if not caps:
        return compiled, Ghosts(np.zeros(0), 0.0)
    who = np.array([cap.person for cap in caps])
    values = np.array([cap.value for cap in caps])
    sign = np.array([-1.0 if cap.above else 1.0 for cap in caps])
    weight = np.abs(compiled.entries) @ compiled.weight[compiled.rows, 0]
    price = float(compiled.share.sum() + max(scale, 1.0) * weight)
    levels = np.unique(np.concatenate([compiled.levels, values]))
    ranks = np.ascontiguousarray(np.concatenate([compiled.ranks, compiled.ranks[:, who]], axis=1))
    extended = replace(
        compiled,
        ranks=ranks,
        order=np.ascontiguousarray(np.argsort(ranks, axis=1, kind="stable").astype(np.int32)),
        count=np.concatenate([compiled.count, np.zeros(len(caps), dtype=np.int64)]),
        levels=levels,
        level=np.searchsorted(levels, np.concatenate([compiled.levels[compiled.level], values])),
        share=np.concatenate([compiled.share, np.full(len(caps), price)]),
        pointers=np.concatenate([compiled.pointers, np.full(len(caps), compiled.pointers[-1])]),
    )
    return extended, Ghosts(sign * price, -float((sign * price * values).sum()))
