"""Every stump below a test that parts people in two, priced in one pass over each feature (ALGORITHM §3)."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import INFINITE, bare, njit
from evenleaf.solve.values.kernels.inside import join_lower, nobody_lower
from evenleaf.solve.values.kernels.layout import lay_out, place_parts
from evenleaf.solve.values.kernels.members import MOMENT, OUTCOME, PEOPLE, SLOPE, bit_of, settled, without
from evenleaf.solve.values.kernels.subsets import price_subsets


@njit
def stumps(people, tables, ids, part, loose, alive, busy, fill, enough, out, least, best, work, within):
    """The best alive stump of both parts, or no test at all: see `price_stumps`.

    `ids[f]` lists the people in the order of feature f, its last row in the order of the outcome; `part[i]` is 0 or
    1, or 2 for people who are in neither and may yet join either.
    """
    layout, member = work[1], work[2]
    n = lay_out(people, tables, ids, part, alive, busy, layout)
    place_parts(n, layout, part, member)
    price_stumps(people, tables, n, loose, alive, busy, fill, enough, out, least, best, work, within)


@njit
def price_stumps(people, tables, n, loose, alive, busy, fill, enough, out, least, best, work, within):
    """The best alive stump of both parts, or no test at all: `best[s]` becomes (cost, test), the test −1 for none.

    The people of both parts are laid out, and `member` says who is in which; `loose` counts people who may yet join
    either. Tests that leave too few people in a leaf cost infinitely much. `out` becomes the cost of no test (its last
    entry), with `fill` also that of every alive stump.

    `least[s, f]` is a bound known for all stumps on a feature (the last entry: for no test); where the feature is
    priced it becomes its cheapest stump. Features that cannot be the best are passed over, with `fill` those whose
    stumps lead nowhere below `enough` for both parts; without it, so is the second part if the first is too dear.
    """
    n_features, none = len(tables[1]), out.shape[1] - 1
    rows, bits = work[1][0], work[3]
    within[8][4][0] = -1
    n0, n1 = _part_bits(n, work[2], bits)
    begin0, begin1 = _begin(n, rows, bits[0]), _begin(n, rows, bits[1])
    for s in range(2):
        begin = begin1 if s else begin0
        out[s, none] = begin[0] if begin[4] + loose >= people[5] else INFINITE
        least[s, n_features] = out[s, none]
        best[s, 0], best[s, 1] = INFINITE, -2.0
        if alive[s, none] and out[s, none] < INFINITE:
            best[s, 0], best[s, 1] = out[s, none], -1.0
    first = 0 if n0 <= n1 else 1
    for s in (first, 1 - first):
        worth = enough - least[1 - s].min()
        if not fill and s != first and best[first, 0] + min(best[s, 0], least[s].min()) >= enough:
            best[s, 0] = min(best[s, 0], least[s].min())
            return
        _part(people, tables, s, n, loose, alive[s], busy[s], fill, worth,
              begin1 if s else begin0, out[s], least[s], best[s], work, within)  # fmt: skip


@njit
def _part_bits(n, member, bits):
    """The bits of both parts, and those of the two ends; how many people each has."""
    for w in range(((n + 1) >> 6) + 1):
        upper, every = np.uint64(0), np.uint64(0)
        for k in range(max(1, w << 6), min(n + 1, (w + 1) << 6)):
            every |= bit_of(k)
            upper |= np.uint64(member[k]) << (np.uint64(k) & np.uint64(63))
        bits[0, w], bits[1, w] = every & ~upper, upper
    n1 = 0
    for k in range(1, n + 1):
        n1 += member[k]
    for s in range(2):
        bits[s, 0] |= bit_of(0)
        bits[s, (n + 1) >> 6] |= bit_of(n + 1)
    return n - n1, n1


@njit
def _begin(n, rows, bits):
    """All people with a bit in one leaf: (cost, place, slope, height, people)."""
    slope, height, people = 0.0, 0.0, 0
    for k in range(1, n + 1):
        if bits[k >> 6] & bit_of(k):
            slope += rows[k, SLOPE]
            height += rows[k, MOMENT]
            people += int(rows[k, PEOPLE])
    at, slope, height = settled(np.uint64(0), slope, height, rows, bits, np.uint64(n + 1))
    return rows[at, OUTCOME] * slope + height, at, slope, height, people


@njit
def _part(people, tables, s, n, loose, alive, busy, fill, worth, begin, out, least, best, work, within):
    """The stumps of one part, the most promising feature first."""
    ranks, sizes, unordered, offsets = tables
    own, done = np.empty(2), np.zeros(len(sizes), np.bool_)
    for _ in range(len(sizes)):
        f = -1
        for g in range(len(sizes)):
            if busy[g] and not done[g] and (f < 0 or least[g] < least[f]):
                f = g
        if f < 0 or (not fill and least[f] >= best[0]):
            break
        done[f] = True
        if fill and least[f] >= worth:
            out[offsets[f] : offsets[f + 1]] = INFINITE
            continue
        own[0], own[1] = INFINITE, -2.0
        cheap = worth if fill else min(worth, best[0])
        if unordered[f]:
            first, last, ids = offsets[f], offsets[f + 1], _listed(n, work[1][1], work[2], s)
            price_subsets(people, ids, ranks[f], sizes[f], loose, cheap, alive[first:last],
                          out[first:last], s, n, work, within)  # fmt: skip
            _take_best(alive[first:last], out[first:last], first, own)
        else:
            _cuts(f, s, n, offsets[f], people[5], loose, fill, cheap, begin, out, own, work, within)
        least[f] = own[0]
        if own[0] < best[0]:
            best[0], best[1] = own[0], own[1]


@bare
def _cuts(f, s, n, first, fewest, loose, fill, worth, begin, out, best, work, within):
    """Price every alive cut of a feature; `best` (cost, test) becomes the best one if that is better.

    Cuts that cost less than `worth` pay for the rows inside the part exactly, the others at least what is noted.
    """
    cuts, lows, least = work[1][5], work[4][3], within[5][2]
    n_here, n_stops = _stops(f, s, n, work)
    if n_stops == 0:
        return
    for tilted in range(2):
        if tilted and not _tilts(s, n, n_stops, worth, work, within):
            break
        _lower_leaves(s, n, n_here, n_stops, begin, tilted, work, within)
        _upper_leaves(s, n, n_stops, begin, tilted, work, within)
        if tilted:
            _pay_for_rows_inside(n_stops, begin, work, within)
        else:
            _add_leaves(n_here, n_stops, fewest, loose, begin, work, within)
    for q in range(n_stops):
        if least[q] < best[0]:
            best[0], best[1] = least[q], first + cuts[s, first + lows[q]]
        if fill:
            for t in range(lows[q], lows[q + 1]):
                out[first + cuts[s, first + t]] = least[q]


@bare
def _stops(f, s, n, work):
    """Between which people of a part there is an alive cut: (people, stops)."""
    places, passed, n_cuts = work[1][3], work[1][4], work[1][6]
    member, (spots, seen, stops, lows, _, _) = work[2], work[4]
    n_here = 0
    for j in range(n):
        k = places[f, j]
        spots[n_here], seen[n_here] = k, passed[s, f, j]
        n_here += member[k] == s
    n_stops, last = 0, 0
    for b in range(n_here):
        stops[n_stops], lows[n_stops] = b, last
        n_stops += seen[b] > last
        last = seen[b]
    stops[n_stops], lows[n_stops] = n_here, last
    n_stops += n_cuts[s, f] > last
    lows[n_stops] = n_cuts[s, f]
    return n_here, n_stops


@bare
def _lower_leaves(s, n, n_here, n_stops, begin, tilted, work, within):
    """The lower leaf at each stop, where it is cheapest and what it costs; `tilted`: where a tilt is noted, with that.

    People leave group by group, from alive cut to alive cut: here the upper ones, and what stays is the lower leaf.
    """
    rows, start, (spots, _, stops, _, _, bits) = work[1][0], work[3], work[4]
    places, costs, _, tilt = within[5]
    _, at, slope, height, _ = begin
    for w in range(((n + 1) >> 6) + 1):
        bits[w] = start[s, w]
    b, tilt_before = n_here, 0.0
    for q in range(n_stops - 1, -1, -1):
        slope, height = without(spots, stops[q], b, at, slope, height, rows, bits)
        b = stops[q]
        if tilted and tilt[q] != 0.0:
            slope += tilt[q] - tilt_before
            tilt_before = tilt[q]
        if not tilted or tilt[q] != 0.0:
            at, slope, height = settled(at, slope, height, rows, bits, np.uint64(n + 1))
            places[0, q], costs[0, q] = at, rows[at, OUTCOME] * slope + height


@bare
def _upper_leaves(s, n, n_stops, begin, tilted, work, within):
    """The same for the upper leaf, whose tilt is the opposite."""
    rows, start, (spots, _, stops, _, _, bits) = work[1][0], work[3], work[4]
    places, costs, _, tilt = within[5]
    _, at, slope, height, _ = begin
    for w in range(((n + 1) >> 6) + 1):
        bits[w] = start[s, w]
    b, tilt_before = 0, 0.0
    for q in range(n_stops):
        slope, height = without(spots, b, stops[q], at, slope, height, rows, bits)
        b = stops[q]
        if tilted and tilt[q] != 0.0:
            slope -= tilt[q] - tilt_before
            tilt_before = tilt[q]
        if not tilted or tilt[q] != 0.0:
            at, slope, height = settled(at, slope, height, rows, bits, np.uint64(n + 1))
            places[1, q], costs[1, q] = at, rows[at, OUTCOME] * slope + height


@bare
def _add_leaves(n_here, n_stops, fewest, loose, begin, work, within):
    """What each stump costs at the prices; infinitely much where a leaf has too few people."""
    rows, spots, stops = work[1][0], work[4][0], work[4][2]
    costs, least = within[5][1], within[5][2]
    people, below, b = begin[4], 0, 0
    for q in range(n_stops):
        if fewest > 1:
            for j in range(b, stops[q]):
                below += int(rows[spots[j], PEOPLE])
        else:
            below, people = stops[q], n_here  # nobody or somebody: that is all that counts
        b = stops[q]
        few = below + loose < fewest or people - below + loose < fewest
        least[q] = INFINITE if few else costs[0, q] + costs[1, q]


@bare
def _tilts(s, n, n_stops, worth, work, within):
    """By how much rows inside the part tilt the lower leaf of each stump that is cheap enough; whether any is."""
    rows, person, spots, stops = work[1][0], work[1][1], work[4][0], work[4][2]
    places, _, least, tilt = within[5]
    if within[6][s] == 0:
        return False
    some = False
    for q in range(n_stops):
        # Equal values, and nothing is due.
        tilt[q] = rows[places[0, q], OUTCOME] - rows[places[1, q], OUTCOME] if least[q] < worth else 0.0
        some = some or tilt[q] != 0.0
    if not some:
        return False
    nobody_lower(s, n, person, work[2], within)
    spread, lean, b = 0.0, 0.0, 0
    for q in range(n_stops):
        for j in range(b, stops[q]):
            spread, lean = join_lower(spots[j], spread, lean, within)
        b = stops[q]
        if tilt[q] < 0.0:
            tilt[q] = min(0.0, -spread - lean)
        elif tilt[q] > 0.0:
            tilt[q] = max(0.0, spread - lean)
    return True


@bare
def _pay_for_rows_inside(n_stops, begin, work, within):
    """Raise what tilted stumps cost to what they cost with the rows inside paid for exactly."""
    rows = work[1][0]
    places, costs, least, tilt = within[5]
    whole = rows[begin[1], OUTCOME] * begin[2] + begin[3]
    for q in range(n_stops):
        if tilt[q] != 0.0:
            v, w = rows[places[0, q], OUTCOME], rows[places[1, q], OUTCOME]
            turned = v > w if tilt[q] < 0.0 else v < w
            least[q] = max(least[q], whole if turned else costs[0, q] + costs[1, q])


@njit
def _take_best(alive, out, first, best):
    for t in range(len(out)):
        if alive[t] and out[t] < best[0]:
            best[0], best[1] = out[t], first + t


@njit
def _listed(n, person, member, s):
    """The people of one part."""
    listed, found = np.empty(n, np.int64), 0
    for k in range(1, n + 1):
        if member[k] == s:
            listed[found] = person[k]
            found += 1
    return listed[:found]
