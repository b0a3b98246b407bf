"""The people of a side as stumps are priced on them: by outcome, and by each feature with its alive cuts between them.

A layout is (rows, person, place, places, passed, cuts, n_cuts). `rows` and the places are those of `members.py`;
`person[k]` stands at place k, and `place[i]` is the place of person i. `places[f]` are the places in the order of
feature f; `passed[p, f, j]` counts the alive cuts of part p below the j-th of them, so that between two people there
is an alive cut if it differs, and `cuts[p]` lists these cuts, those of feature f from `offsets[f]` on.
"""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import njit
from evenleaf.solve.values.kernels.members import MOMENT, OUTCOME, PEOPLE, SLOPE, TWICE, TWICE_MOMENT


@njit
def lay_out(people, tables, ids, part, alive, busy, layout):
    """Write the layout of the people who are in either part (0 or 1); how many there are is returned.

    `ids[f]` lists the people in the order of feature f, its last row in the order of the outcome.
    """
    level, levels, share, c, count, _ = people
    rows, person, place = layout[0], layout[1], layout[2]
    n = 0
    for i in ids[-1]:
        if part[i] < 2:
            n += 1
            y = levels[level[i]]
            rows[n, OUTCOME], rows[n, TWICE], rows[n, TWICE_MOMENT] = y, 2.0 * share[i], 2.0 * share[i] * y
            rows[n, SLOPE], rows[n, MOMENT], rows[n, PEOPLE] = c[i] - share[i], share[i] * y, count[i]
            person[n], place[i] = i, n
    rows[0] = 0.0
    rows[n + 1] = 0.0
    rows[0, OUTCOME], rows[n + 1, OUTCOME] = levels[0], levels[-1]
    for f in range(len(tables[1])):
        if not tables[2][f]:
            _lay_out_feature(f, tables, ids, part, place, alive, busy, layout)
    return n


@njit
def _lay_out_feature(f, tables, ids, part, place, alive, busy, layout):
    """The people in the order of a feature, and how many alive cuts each has passed."""
    ranks, sizes, _, offsets = tables
    places, passed, cuts, n_cuts = layout[3], layout[4], layout[5], layout[6]
    n, first = 0, offsets[f]
    for i in ids[f]:
        places[f, n] = place[i]
        n += part[i] < 2
    for p in range(2):
        found, t, j = 0, 0, 0
        if busy[p, f]:
            for i in ids[f]:
                if part[i] < 2:
                    while t < ranks[f, i]:
                        cuts[p, first + found] = t
                        found += alive[p, first + t] != 0
                        t += 1
                    passed[p, f, j] = found
                    j += 1
            while t < sizes[f] - 1:
                cuts[p, first + found] = t
                found += alive[p, first + t] != 0
                t += 1
        n_cuts[p, f] = found


@njit
def place_parts(n, layout, goes_right, member):
    """Who is in which part, by place, from a mark a person."""
    person = layout[1]
    for k in range(1, n + 1):
        member[k] = goes_right[person[k]]
