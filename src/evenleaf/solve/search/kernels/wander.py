"""Simulated annealing over trees: the best cut of some test on a random feature, taken or not by its true price.

Tests are numbered like a heap: below test k are 2k + 1 and 2k + 2, and the leaves follow the last test. `left[k, rank]`
says whether test k sends a rank of its feature left. `rows` is (pointers, rows, entries, weight, base): the disparity
by person, and what a label costs.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit
from evenleaf.solve.search.kernels.descent import disparity_of, relabel
from evenleaf.solve.search.kernels.multipliers import differences

N_DRAWS = 6  # random numbers a step
_RELABELLED = 0.5  # how often a lowest test tries other labels as well


@njit
def wander(features, left, answers, ranks, order, unordered, rows, limit, strictness, hot, cold, draws):
    """Change the tree in place, a step for each row of random `draws`; returns the best one met and its merit.

    With a limit, `strictness` is what a unit of discrimination beyond it costs, and only trees within it count.
    """
    n_people, n_tests, n_steps, n_classes = ranks.shape[1], len(features), len(draws), rows[4].shape[1] + 1
    labels, trial = np.empty(n_people, np.int64), np.empty(n_people, np.int64)
    below, above = np.empty(n_people, np.int64), np.empty(n_people, np.int64)
    v, before = np.zeros(rows[3].shape), np.zeros(rows[3].shape)
    for i in range(n_people):
        labels[i] = _answer(0, i, features, left, answers, ranks)
    differences(rows[0], rows[1], rows[2], labels, v)
    merit = _merit(_loss(labels, rows[4]), disparity_of(rows[3], v), limit, strictness)
    best, best_features, best_left, best_answers = INFINITE, features.copy(), left.copy(), answers.copy()
    side, pair = np.zeros(left.shape[1], np.bool_), np.zeros(2, np.int64)
    for step in range(n_steps):
        heat = hot * (cold / hot) ** (step / n_steps)
        k, f = int(draws[step, 0] * n_tests), int(draws[step, 1] * len(order))
        lowest = 2 * k + 1 >= n_tests
        first = 2 * k + 1 - n_tests  # the leaf below a lowest test
        if lowest:
            pair[0], pair[1] = answers[first], answers[first + 1]
            if pair[0] == pair[1] or draws[step, 2] < _RELABELLED:
                pair[0] = int(draws[step, 3] * n_classes)
                pair[1] = (pair[0] + 1 + int(draws[step, 4] * (n_classes - 1))) % n_classes
        _sides(k, features, left, answers, ranks, lowest, pair, below, above)
        before[:] = v
        value = _best_test(f, ranks, order, unordered, labels, below, above, trial, rows, limit, strictness, v, side)
        if value >= INFINITE or (value > merit and draws[step, 5] >= np.exp((merit - value) / heat)):
            v[:] = before
            continue
        for i in range(n_people):
            if below[i] >= 0:
                labels[i] = below[i] if side[ranks[f, i]] else above[i]
        differences(rows[0], rows[1], rows[2], labels, v)
        features[k], left[k], merit = f, side, value
        if lowest:
            answers[first], answers[first + 1] = pair[0], pair[1]
        if merit < best - 1e-12 and (limit < 0 or disparity_of(rows[3], v) <= limit):
            best, best_features, best_left, best_answers = merit, features.copy(), left.copy(), answers.copy()
    return best_features, best_left, best_answers, best


@njit
def _answer(k, i, features, left, answers, ranks):
    """What the subtree at a place would give somebody."""
    while k < len(features):
        k = 2 * k + (1 if left[k, ranks[features[k], i]] else 2)
    return answers[k - len(features)]


@njit
def _sides(k, features, left, answers, ranks, lowest, pair, below, above):
    """What either side of a test would give everybody who reaches it; −1 for all others."""
    for i in range(len(below)):
        here = 0
        while here < k and here < len(features):
            here = 2 * here + (1 if left[here, ranks[features[here], i]] else 2)
        if here != k:
            below[i] = above[i] = -1
        elif lowest:
            below[i], above[i] = pair[0], pair[1]
        else:
            below[i] = _answer(2 * k + 1, i, features, left, answers, ranks)
            above[i] = _answer(2 * k + 2, i, features, left, answers, ranks)


@njit
def _loss(labels, base):
    total = 0.0
    for i in range(len(labels)):
        if labels[i] > 0:
            total += base[i, labels[i] - 1]
    return total


@njit
def _merit(loss, disparity, limit, strictness):
    """The objective; with a limit, going beyond it is charged."""
    if limit < 0:
        return loss + disparity
    return loss + strictness * max(0.0, disparity - limit)


@njit
def _best_test(f, ranks, order, unordered, labels, below, above, trial, rows, limit, strictness, v, side):
    """The best way to part the people of a test on a feature, into `side`; its merit."""
    pointers, row, entries, weight, base = rows
    trial[:] = labels
    for i in range(len(labels)):
        if above[i] >= 0 and above[i] != trial[i]:
            relabel(pointers, row, entries, weight, base, i, trial[i], above[i], v)
            trial[i] = above[i]
    loss, disparity = _loss(trial, base), disparity_of(weight, v)
    side[:] = False
    best, place = INFINITE, -1
    first = 0
    people = order[f]
    while first < len(people):
        last, rank = first, ranks[f, people[first]]
        loss_before, disparity_before, moved = loss, disparity, False
        while last < len(people) and ranks[f, people[last]] == rank:
            i = people[last]
            if below[i] >= 0 and below[i] != above[i]:
                change, gain = relabel(pointers, row, entries, weight, base, i, above[i], below[i], v)
                loss, disparity, moved = loss + change, disparity + gain, True
            last += 1
        value = _merit(loss, disparity, limit, strictness)
        if unordered[f]:
            if value < _merit(loss_before, disparity_before, limit, strictness):
                side[rank], best = True, value
            else:
                for i in people[first:last]:
                    if below[i] >= 0 and below[i] != above[i]:
                        relabel(pointers, row, entries, weight, base, i, below[i], above[i], v)
                loss, disparity = loss_before, disparity_before
        elif moved and value < best - 1e-13:
            best, place = value, rank
        first = last
    if not unordered[f]:
        side[: place + 1] = True
    return best
