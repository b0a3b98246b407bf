"""Subtrees by what they use of a limited supply (leaves, features), and pairs of them that keep within it.

A row lists what a subtree uses: a number for each test that counts, −1 where there is none, and `len(most_uses)` for a
test that counts only as one more.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, njit


@njit
def keeps(one, two, root, most_tests, most_features, most_uses):
    """Whether two subtrees and the root between them keep within the supply."""
    other = len(most_uses)
    n_one, n_two = len(one), len(two)
    tests, features = 0, 0
    for i in range(n_one + n_two + 1):
        mine = one[i] if i < n_one else (two[i - n_one] if i < n_one + n_two else root)
        if mine < 0:
            continue
        tests += 1
        if mine == other:
            continue
        before, uses = False, 1
        for j in range(i):
            if (one[j] if j < n_one else two[j - n_one]) == mine:
                before, uses = True, uses + 1
        if uses > most_uses[mine]:
            return False
        if not before:
            features += 1
    return tests <= most_tests and features <= most_features


@njit
def best_within(cost_left, rows_left, cost_right, rows_right, root, most_tests, most_features, most_uses):
    """The cheapest pair of subtrees that keeps within the supply: (cost, left, right)."""
    order = np.argsort(cost_right)
    best, best_left, best_right = INFINITE, -1, -1
    if len(order) == 0:
        return best, best_left, best_right
    for p in np.argsort(cost_left):
        if cost_left[p] + cost_right[order[0]] >= best:
            break
        for q in order:
            if cost_left[p] + cost_right[q] >= best:
                break
            if keeps(rows_left[p], rows_right[q], root, most_tests, most_features, most_uses):
                best, best_left, best_right = cost_left[p] + cost_right[q], p, q
                break
    return best, best_left, best_right


@njit
def cheapest_partner(cost, rows, cost_other, rows_other, root, most_tests, most_features, most_uses, slack, partner):
    """For each use on one side the cheapest subtree that may stand on the other; infinite beyond the slack.

    A use may be had by other subtrees than the cheapest, and need not have a cost at all where less does as well: so
    only the least that anything costs on this side tells what is beyond the slack.
    """
    order, least = np.argsort(cost_other), cost.min()
    for p in range(len(cost)):
        partner[p] = INFINITE
        for q in order:
            if least + cost_other[q] >= slack:
                break
            if keeps(rows[p], rows_other[q], root, most_tests, most_features, most_uses):
                partner[p] = cost_other[q]
                break


@njit
def slack_of_stumps(left, right, move_starts, use_of, partner, slack, slack_left, slack_right, alive):
    """What each stump below each child test may cost, given the cheapest that goes with it; which tests may stay."""
    n_features = left.shape[1] - 1
    for f in range(n_features):
        for k in range(move_starts[f], move_starts[f + 1]):
            slack_left[k, :] = -INFINITE
            slack_right[k, :] = -INFINITE
            for g in range(n_features + 1):
                for h in range(n_features + 1):
                    use = use_of[f, g, h]
                    if use < 0 or left[k, g] + right[k, h] + partner[use] >= slack:
                        continue
                    alive[k] = True
                    slack_left[k, g] = max(slack_left[k, g], slack - right[k, h] - partner[use])
                    slack_right[k, h] = max(slack_right[k, h], slack - left[k, g] - partner[use])
