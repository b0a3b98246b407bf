"""Simulated annealing over trees of depth 3: one test is swept exactly, then every leaf takes its best value.

The tests are numbered like a heap (the root is 0, below k are 2k + 1 and 2k + 2), the leaves from 0 on below them.
`people` is (place of each person on each feature, people in that order, sizes, outcome, share); `rows` is (pointers,
rows, entries, weight) of the disparity by person. A test (f, t) sends right who stands above t on f.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit

_N_TESTS = 7
_SHAKEN, _HOW_FAR = 0.3, 0.15  # how often a leaf's value is shaken, and by how much
_TRIED = 3  # features a step


@njit
def find_leaves(tests, place, leaf):
    """Everybody's leaf."""
    for i in range(len(leaf)):
        k = 0
        while k < _N_TESTS:
            k = 2 * k + (2 if place[tests[k, 0], i] > tests[k, 1] else 1)
        leaf[i] = k - _N_TESTS


@njit
def merit(leaf, values, people, rows, v):
    """The objective of a tree; `v` becomes the differences of its values."""
    outcome, share = people[3], people[4]
    pointers, row, entries, weight = rows
    v[:] = 0.0
    total = 0.0
    for i in range(len(leaf)):
        u = values[leaf[i]]
        total += share[i] * abs(outcome[i] - u)
        for k in range(pointers[i], pointers[i + 1]):
            v[row[k]] += entries[k] * u
    for r in range(len(weight)):
        total += weight[r] * abs(v[r])
    return total


@njit
def _settle(number, leaf, values, people, rows, v, alpha, kinks, jumps):
    """Give one leaf its best value, all others as they are: a convex function with a kink a person and a row."""
    outcome, share = people[3], people[4]
    pointers, row, entries, weight = rows
    alpha[:] = 0.0
    n, slope = 0, 0.0
    for i in range(len(leaf)):
        if leaf[i] == number:
            kinks[n], jumps[n] = outcome[i], 2 * share[i]
            slope -= share[i]
            n += 1
            for k in range(pointers[i], pointers[i + 1]):
                alpha[row[k]] += entries[k]
    if n == 0:
        return
    for r in range(len(weight)):
        steep = weight[r] * abs(alpha[r])
        if steep > 1e-14:
            kinks[n], jumps[n] = values[number] - v[r] / alpha[r], 2 * steep
            slope -= steep
            n += 1
    order = np.argsort(kinks[:n])
    best = kinks[order[n - 1]]
    for k in order:
        slope += jumps[k]
        if slope >= 0.0:
            best = kinks[k]
            break
    best = min(1.0, max(0.0, best))
    for r in range(len(weight)):
        v[r] += (best - values[number]) * alpha[r]
    values[number] = best


@njit
def _moved(i, by, rows, v):
    """What the disparity gains when a person's value changes by so much; `v` follows."""
    pointers, row, entries, weight = rows
    gained = 0.0
    for k in range(pointers[i], pointers[i + 1]):
        r = row[k]
        before = abs(v[r])
        v[r] += entries[k] * by
        gained += weight[r] * (abs(v[r]) - before)
    return gained


@njit
def _sides(k, tests, values, place, leaf, here, left, right):
    """Who is at a test, and what value either side would give them."""
    for i in range(len(leaf)):
        above = leaf[i] + _N_TESTS
        while above > k:
            above = (above - 1) // 2
        here[i] = above == k
        if here[i]:
            for side in range(2):
                below = 2 * k + 1 + side
                while below < _N_TESTS:
                    below = 2 * below + (2 if place[tests[below, 0], i] > tests[below, 1] else 1)
                if side == 0:
                    left[i] = values[below - _N_TESTS]
                else:
                    right[i] = values[below - _N_TESTS]


@njit
def _sweep(k, tests, values, people, rows, v, leaf, features, now, here, left, right):
    """The best other test at a place with all values as they are: (merit, feature, cut, whether sides are swapped)."""
    place, order, sizes, outcome, share = people
    n_people = len(leaf)
    _sides(k, tests, values, place, leaf, here, left, right)
    best, feature, cut, swapped = INFINITE, -1, 0, False
    for swap in range(2):
        start, total = v.copy(), now
        above, below = (left, right) if swap else (right, left)
        for i in range(n_people):
            if here[i]:
                u = values[leaf[i]]
                total += share[i] * (abs(outcome[i] - above[i]) - abs(outcome[i] - u))
                total += _moved(i, above[i] - u, rows, start)
        for f in features:
            running, moving = total, start.copy()
            for j in range(n_people):
                i = order[f, j]
                if here[i]:
                    running += share[i] * (abs(outcome[i] - below[i]) - abs(outcome[i] - above[i]))
                    if below[i] != above[i]:
                        running += _moved(i, below[i] - above[i], rows, moving)
                t = place[f, i]
                ends = j == n_people - 1 or place[f, order[f, j + 1]] > t
                same = f == tests[k, 0] and t == tests[k, 1] and not swap
                if ends and t < sizes[f] - 1 and running < best and not same:
                    best, feature, cut, swapped = running, f, t, swap == 1
    return best, feature, cut, swapped


@njit
def _swap(k, tests, values):
    """Exchange what hangs left and right below a test."""
    first, second, width = 2 * k + 1, 2 * k + 2, 1
    while first < _N_TESTS:
        for j in range(width):
            for c in range(2):
                tests[first + j, c], tests[second + j, c] = tests[second + j, c], tests[first + j, c]
        first, second, width = 2 * first + 1, 2 * second + 1, 2 * width
    for j in range(width):
        a, b = first - _N_TESTS + j, second - _N_TESTS + j
        values[a], values[b] = values[b], values[a]


@njit
def wander(tests, values, people, rows, steps, hot, cold, rng):
    """The best tree met (its merit, its tests, its values), and the last one's tests and values.

    The temperature falls from `hot` to `cold`.
    """
    place, sizes, weight = people[0], people[2], rows[3]
    n_people, n_rows = place.shape[1], len(weight)
    v, alpha = np.zeros(n_rows), np.zeros(n_rows)
    kinks, jumps = np.zeros(n_people + n_rows), np.zeros(n_people + n_rows)
    here, left, right = np.zeros(n_people, np.bool_), np.zeros(n_people), np.zeros(n_people)
    leaf = np.zeros(n_people, np.int64)
    find_leaves(tests, place, leaf)
    now = merit(leaf, values, people, rows, v)
    best, best_tests, best_values = now, tests.copy(), values.copy()
    for step in range(steps):
        heat = hot * (cold / hot) ** (step / steps)
        k = rng.integers(0, _N_TESTS)
        new_tests, new_values, new_v, start = tests.copy(), values.copy(), v.copy(), now
        features = rng.permutation(len(sizes))[:_TRIED]
        if rng.random() < _SHAKEN:
            number = rng.integers(0, _N_TESTS + 1)
            new_values[number] = min(1.0, max(0.0, values[number] + _HOW_FAR * rng.standard_normal()))
            start = merit(leaf, new_values, people, rows, new_v)
        _, feature, cut, swapped = _sweep(
            k, new_tests, new_values, people, rows, new_v, leaf, features, start, here, left, right
        )
        if feature < 0:
            continue
        new_tests[k, 0], new_tests[k, 1] = feature, cut
        if swapped:
            _swap(k, new_tests, new_values)
        new_leaf = np.empty_like(leaf)
        find_leaves(new_tests, place, new_leaf)
        merit(new_leaf, new_values, people, rows, new_v)
        for _ in range(2):
            for number in range(_N_TESTS + 1):
                _settle(number, new_leaf, new_values, people, rows, new_v, alpha, kinks, jumps)
        found = merit(new_leaf, new_values, people, rows, new_v)
        if found < now or rng.random() < np.exp((now - found) / heat):
            tests, values, leaf, v, now = new_tests, new_values, new_leaf, new_v, found
            if now < best:
                best, best_tests, best_values = now, tests.copy(), values.copy()
    return best, best_tests, best_values, tests, values
