"""A choice at a node: each person there is given one of two decisions. Exact one-dimensional sweeps over it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evenleaf.solve.local.workspace import Workspace

# A table of disparity rows by people is swept without sorting where it is at most this much larger than its entries.
_DENSE = 4


@dataclass(frozen=True, eq=False)
class Choice:
    """The people at a node, what both sides would give them, what they have now, and in which leaf they would end.

    `elsewhere` is everybody's decision now; only that of `rows` is up for choice.
    """

    space: Workspace
    rows: np.ndarray
    elsewhere: np.ndarray
    left: np.ndarray
    right: np.ndarray
    left_leaf: np.ndarray
    right_leaf: np.ndarray

    @cached_property
    def loss_step(self) -> np.ndarray:
        """What the loss gains when a person goes left rather than right."""
        return self.space.losses(self.rows, self.left) - self.space.losses(self.rows, self.right)

    @cached_property
    def psi_step(self) -> np.ndarray:
        """How ψ differs between left and right (people × counted classes)."""
        return self.space.psi(self.left) - self.space.psi(self.right)

    @cached_property
    def _entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(row, place in `rows`, value) of the disparity's entries for people to whom the choice matters."""
        space = self.space
        matters = np.append(self.psi_step.any(axis=1), False)
        where = self.place[space.entry_person]
        kept = np.flatnonzero(matters[where])
        return space.entry_row[kept], where[kept], space.entry_value[kept]

    @cached_property
    def place(self) -> np.ndarray:
        """Where each person of the table stands in `rows`, −1 for those who are elsewhere."""
        place = np.full(len(self.elsewhere), -1, dtype=np.intp)
        place[self.rows] = np.arange(len(self.rows))
        return place

    def gains(self) -> tuple[np.ndarray, ...]:
        """Per person, what going left rather than right adds to the merit: two guesses that ignore the others.

        One takes the disparity as linear (its slope now), which is true of the sum but too rosy; the mean of it
        and of the exact price of moving each person alone, which is too dark, is the other.
        """
        return self._gains

    @cached_property
    def _gains(self) -> tuple[np.ndarray, ...]:
        space = self.space
        if not space.price or not len(self.space.row_weight):
            return (self.loss_step,)
        now = space.differences(self.elsewhere)
        slope = space.matrix.T @ (space.row_weight * np.sign(now))
        linear = self.loss_step + space.price * (slope[self.rows] * self.psi_step).sum(axis=1)
        held = space.psi(self.elsewhere[self.rows])
        alone = self._moved_alone(now, space.psi(self.left) - held) - self._moved_alone(
            now, space.psi(self.right) - held
        )
        mean = (linear + self.loss_step + space.price * alone) / 2
        # Below ε disparity costs nothing, near it much: both are worth a look.
        return (linear, mean) if space.limit is None else (self.loss_step, mean)

    def _moved_alone(self, now: np.ndarray, step: np.ndarray) -> np.ndarray:
        """What D gains when one person alone changes ψ by this step."""
        row, place, value = self._entries
        total = np.zeros(len(self.rows))
        for label in range(step.shape[1]):
            held, weight = now[row, label], self.space.row_weight[row, label]
            moved = weight * (np.abs(held + value * step[place, label]) - np.abs(held))
            total += np.bincount(place, weights=moved, minlength=len(self.rows))
        return total

    def sweep(self, start: np.ndarray, order: np.ndarray) -> np.ndarray:
        """The merit after each prefix of `order` has changed sides, from `start` (who is left at first).

        Exact, ties included; leaves that hold somebody but too few people make it infinite.
        """
        space, sign = self.space, np.where(start[order], -1.0, 1.0)
        given = self.elsewhere.copy()
        given[self.rows] = np.where(start, self.left, self.right)
        loss = space.losses(space.everybody, given).sum() + _running(sign * self.loss_step[order])
        before = space.differences(given)
        first = (space.row_weight * np.abs(before)).sum()
        merit = space.merit(loss, first + _running(self._disparity_steps(before, order, sign)))
        return np.where(self._crowded(start, order), merit, np.inf)

    def merit_now(self) -> float:
        """The merit of what everybody has now."""
        space = self.space
        loss = space.losses(space.everybody, self.elsewhere).sum()
        discrimination = (space.row_weight * np.abs(space.differences(self.elsewhere))).sum()
        return float(space.merit(np.asarray(loss), np.asarray(discrimination)))

    def _disparity_steps(self, before: np.ndarray, order: np.ndarray, sign: np.ndarray) -> np.ndarray:
        """What each change of sides in turn adds to D."""
        row, place, value = self._entries
        turn = np.full(len(self.rows), -1, dtype=np.intp)
        turn[order] = np.arange(len(order))
        kept = np.flatnonzero(turn[place] >= 0)
        row, place, value = row[kept], place[kept], value[kept]
        turns = turn[place]
        dense = len(before) * len(order) <= _DENSE * len(row)
        sorting = None if dense else np.argsort(row * max(1, len(order)) + turns)
        total = np.zeros(len(order))
        for label in range(before.shape[1]):
            step = value * sign[turns] * self.psi_step[place, label]
            weight = self.space.row_weight[:, label]
            if sorting is None:
                total += _dense_steps(before[:, label], weight, row, turns, step, len(order))
            else:
                total += _sorted_steps(
                    before[:, label], weight, row[sorting], turns[sorting], step[sorting], len(order)
                )
        return total

    def _crowded(self, start: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Whether after each prefix every leaf holds nobody or enough people."""
        least = self.space.problem.shape.min_samples_leaf
        good = np.ones(len(order) + 1, dtype=bool)
        if least <= 1:
            return good
        sign = np.where(start[order], -1, 1)
        for leaf, held, turn in ((self.left_leaf, start, sign), (self.right_leaf, ~start, -sign)):
            for number in np.unique(leaf):
                inside = leaf == number
                count = (inside & held).sum() + _running(turn * inside[order])
                good &= (count == 0) | (count >= least)
        return good


def _running(steps: np.ndarray) -> np.ndarray:
    """Sums of prefixes, the empty one included."""
    return np.concatenate([np.zeros(1), np.cumsum(steps)])


def _dense_steps(
    before: np.ndarray, weight: np.ndarray, row: np.ndarray, turns: np.ndarray, step: np.ndarray, length: int
) -> np.ndarray:
    """With few rows: a table of what each turn does to each row."""
    table = np.zeros((len(before), length + 1))
    table[:, 0] = before
    table[row, turns + 1] = step  # a person has one entry a row
    return np.asarray(np.diff(weight @ np.abs(np.cumsum(table, axis=1))))


def _sorted_steps(
    before: np.ndarray, weight: np.ndarray, row: np.ndarray, turns: np.ndarray, step: np.ndarray, length: int
) -> np.ndarray:
    """With many rows: entries in the order of row and turn, so that one running sum serves all rows."""
    if not len(row):
        return np.zeros(length)
    total = np.cumsum(step)
    first = np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))
    lengths = np.diff(np.append(first, len(row)))
    after = before[row] + total - np.repeat(total[first] - step[first], lengths)
    change = weight[row] * (np.abs(after) - np.abs(after - step))
    return np.bincount(turns, weights=change, minlength=length)
