"""Tests of a single feature at a node: every threshold, and subsets of levels in the order of their gains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evenleaf.solve.local.choice import Choice
from evenleaf.tree import SubsetTest, Test, ThresholdTest, threshold_above


@dataclass(frozen=True)
class Proposal:
    """A test for a node, the merit it would have with everything else as it is, and whether its sides are swapped."""

    merit: float
    test: Test
    swapped: bool = False


def axis_proposals(choice: Choice, features: Iterable[int], most: int) -> list[Proposal]:
    """The best test of each of the most promising features: ranked by the gains, then swept exactly."""
    columns = list(features)
    schema = choice.space.table.schema
    wanted: dict[tuple[int, bool], None] = {}
    for gain in choice.gains():
        guesses: list[tuple[float, int, bool]] = []
        for column in columns:
            if schema[column].is_categorical:
                guesses.append((_level_guess(choice, column, gain), column, False))
            else:
                guesses += [(guess, column, swapped) for guess, swapped in _threshold_guesses(choice, column, gain)]
        wanted |= dict.fromkeys((column, swapped) for _, column, swapped in sorted(guesses)[:most])
    found: list[Proposal] = []
    for column, swapped in wanted:
        if schema[column].is_categorical:
            found += [_best_subset(choice, column, gain) for gain in choice.gains()]
        else:
            found += _best_thresholds(choice, column, swapped)
    return [proposal for proposal in found if np.isfinite(proposal.merit)]


def _sorted(choice: Choice, column: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The people of the node who have a value, ascending; the last of each value; and those who have none."""
    place = choice.place[choice.space.order(column)]
    order = place[place >= 0]
    values = choice.space.table.data[column][choice.rows[order]]
    n_known = len(order) - int(np.isnan(values).sum())
    ends = np.flatnonzero(values[1:n_known] > values[: n_known - 1]) if n_known else np.zeros(0, dtype=np.intp)
    return order[:n_known], np.append(ends, n_known - 1) if n_known else ends, order[n_known:]


def _threshold_guesses(choice: Choice, column: int, gain: np.ndarray) -> list[tuple[float, bool]]:
    """The least sum of gains over all thresholds, once with the low values on the left and once on the right."""
    known, ends, missing = _sorted(choice, column)
    if not len(known) or (len(ends) < 2 and not len(missing)):
        return []
    low = np.cumsum(gain[known])[ends]
    rest = min(0.0, float(gain[missing].sum()))
    return [(float(low.min()) + rest, False), (float((low[-1] - low).min()) + rest, True)]


def _best_thresholds(choice: Choice, column: int, swapped: bool) -> list[Proposal]:
    """The best threshold for either side of the missing, `swapped` where the low values take the right side."""
    known, ends, missing = _sorted(choice, column)
    values = choice.space.table.data[column]
    found = []
    for missing_left in (True, False) if len(missing) else (True,):
        start = np.full(len(choice.rows), swapped)
        start[missing] = missing_left != swapped
        merit = choice.sweep(start, known)[ends + 1]
        best = int(merit.argmin())
        threshold = threshold_above(values, float(values[choice.rows[known[ends[best]]]]))
        found.append(Proposal(float(merit[best]), ThresholdTest(column, threshold, missing_left), swapped))
    return found


def _level_sums(choice: Choice, column: int, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The levels at the node (−1 for the missing), each person's place among them, and their sums of gains."""
    levels, place = np.unique(choice.space.table.data[column][choice.rows], return_inverse=True)
    return levels, place, np.bincount(place, weights=gain, minlength=len(levels))


def _level_guess(choice: Choice, column: int, gain: np.ndarray) -> float:
    """Each level goes to the side that is cheaper for it."""
    return float(np.minimum(_level_sums(choice, column, gain)[2], 0.0).sum())


def _best_subset(choice: Choice, column: int, gain: np.ndarray) -> Proposal:
    """Levels enter the left side one after the other, those that gain most a head first; the best moment wins."""
    levels, place, total = _level_sums(choice, column, gain)
    turn = np.empty(len(levels), dtype=np.intp)
    turn[np.argsort(total / np.bincount(place), kind="stable")] = np.arange(len(levels))
    order = np.argsort(turn[place], kind="stable")
    ends = np.cumsum(np.bincount(turn[place]))
    merit = choice.sweep(np.zeros(len(choice.rows), dtype=bool), order)[ends]
    best = int(merit.argmin())
    chosen = levels[turn <= best]
    named = tuple(sorted(int(level) for level in chosen if level >= 0))
    return Proposal(float(merit[best]), SubsetTest(column, named, bool(-1 in chosen)))
