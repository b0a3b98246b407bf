"""A leaf that loses people one by one, kept as a chain in the order of their outcomes (ALGORITHM §9.10).

A leaf's cost is convex and piecewise linear in its value, with a kink at everybody's outcome. Its state is where the
pointer stands on the chain, and what the people up to there and all people weigh. People who leave are taken out of
the chain, so that a step of the pointer always leads to the next kink: a leaf that grows would have to pass all
levels between two of its people. The chain's ends are the ends of the label range; nobody ever takes them out.

`chain` is (outcome, share, share times outcome, price, people) by place on the chain.
"""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import INFINITE, njit


@njit
def make_chains(people, by_outcome, part, chains, place):
    """Chain up the people of both parts, who are listed by outcome; `place[i]` becomes everybody's place."""
    level, levels, share, c, count, _ = people
    outcome, weight, moment, price, crowd = chains
    n_first, n_second = 0, 0
    for i in by_outcome:
        s = part[i]
        if s < 2:
            n_first += s == 0
            n_second += s == 1
            k = n_second if s else n_first
            y = levels[level[i]]
            outcome[s, k], weight[s, k], moment[s, k], price[s, k] = y, share[i], share[i] * y, c[i]
            crowd[s, k] = count[i]
            place[i] = k
    for s in range(2):
        last = (n_second if s else n_first) + 1
        for k in (0, last):
            weight[s, k], moment[s, k], price[s, k], crowd[s, k] = 0.0, 0.0, 0.0, 0
        outcome[s, 0], outcome[s, last] = levels[0], levels[-1]
    return n_first, n_second


@njit
def start(outcome, weight, moment, price, crowd, n):
    """Everybody in one leaf: (cost, place, weight and moment up to there, weight, moment and price of all, people)."""
    total, moments, prices, people = 0.0, 0.0, 0.0, 0
    for k in range(1, n + 1):
        total += weight[k]
        moments += moment[k]
        prices += price[k]
        people += crowd[k]
    at, below, below_moment, slope = 0, 0.0, 0.0, prices - total
    while slope < 0.0 and at <= n:
        at += 1
        below += weight[at]
        below_moment += moment[at]
        slope += 2.0 * weight[at]
    return outcome[at] * slope + moments - 2.0 * below_moment, at, below, below_moment, total, moments, prices, people


@njit
def cuts(chain, n, spots, ranks, size, limits, alive, nearest, fill, out, first, offset, work, best):
    """Price every alive cut of a feature; `best` (cost, test) becomes the best one if that is better.

    `spots` are the people's places on the chain in the order of the feature, `ranks` their ranks. With `fill` the cost
    of each cut is written into `out`. `first` is the state of `start`, `limits` (people a leaf, people who may join).
    """
    outcome, weight, moment, price, crowd = chain
    least, loose = limits
    lower, lower_people, after, before = work
    _, begin, begin_below, begin_moment, total0, moments0, prices0, people0 = first
    for upper in range(2):
        # First the upper people leave, and what stays is the lower leaf; then the lower people do.
        for k in range(n + 2):
            after[k], before[k] = k + 1, k - 1
        at, below, below_moment = begin, begin_below, begin_moment
        total, moments, prices, people = total0, moments0, prices0, people0
        for step in range(n + 1):
            b = step if upper else n - step
            low = ranks[b - 1] if b > 0 else 0
            high = ranks[b] if b < n else size - 1
            if low < high and nearest[low] < high:
                slope = prices - total + 2.0 * below
                while slope < 0.0 and at <= n:
                    at = after[at]
                    below += weight[at]
                    below_moment += moment[at]
                    slope += 2.0 * weight[at]
                while at > 0 and slope > 2.0 * weight[at]:
                    slope -= 2.0 * weight[at]
                    below -= weight[at]
                    below_moment -= moment[at]
                    at = before[at]
                cost = outcome[at] * slope + moments - 2.0 * below_moment
                if upper == 0:
                    lower[b], lower_people[b] = cost, people
                else:
                    enough = lower_people[b] + loose >= least and people + loose >= least
                    cost = cost + lower[b] if enough else INFINITE
                    if cost < best[0]:
                        best[0], best[1] = cost, offset + nearest[low]
                    if fill:
                        for t in range(low, high):
                            if alive[t]:
                                out[t] = cost
            if step < n:
                k = spots[b if upper else b - 1]
                total -= weight[k]
                moments -= moment[k]
                prices -= price[k]
                people -= crowd[k]
                if k <= at:
                    below -= weight[k]
                    below_moment -= moment[k]
                after[before[k]] = after[k]
                before[after[k]] = before[k]
                if k == at:
                    at = before[k]
    return


@njit
def find_nearest(alive, sizes, unordered, offsets, nearest):
    """For each rank of each ordered feature the next alive cut at or above it; `size` where there is none."""
    for f in range(len(sizes)):
        if not unordered[f]:
            where = sizes[f]
            nearest[offsets[f] + f + sizes[f] - 1] = where
            for t in range(sizes[f] - 2, -1, -1):
                if alive[offsets[f] + t]:
                    where = t
                nearest[offsets[f] + f + t] = where
