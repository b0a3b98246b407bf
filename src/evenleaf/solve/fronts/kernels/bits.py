"""People as bits: who has the second value of each column, people of one kind side by side.

Then a sum over everybody with both of two values is a count of common bits, 64 people at a time, and a whole number.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit

CONSTANT, BINARY, MORE = 0, 1, 2


@njit
def number_kinds(codes, columns, most):
    """The kind of each person, equal in code and in all columns (column by person), and a person of each kind.

    No kinds at all where there would be more than `most`.
    """
    R, N = columns.shape
    kind, known, used = np.empty(N, np.int64), np.empty(most, np.int64), 0
    for i in range(N):
        found = -1
        for k in range(used):
            j = known[k]
            same = codes[i] == codes[j]
            for r in range(R):
                same &= columns[r, i] == columns[r, j]
            if same:
                found = k
                break
        if found < 0:
            if used == most:
                return kind, known[:0]
            known[used] = i
            found, used = used, used + 1
        kind[i] = found
    return kind, known[:used]


@njit
def laid_out(kind, n_kinds):
    """The people kind by kind, each kind from a new word on (−1 fills up); how many of each, and its first word."""
    heads, words = np.zeros(n_kinds, np.int64), np.zeros(n_kinds + 1, np.int64)
    for i in range(len(kind)):
        heads[kind[i]] += 1
    for k in range(n_kinds):
        words[k + 1] = words[k] + (heads[k] + 63) // 64
    order, place = np.full(64 * words[n_kinds], -1, np.int32), 64 * words[:n_kinds]
    for i in range(len(kind)):
        order[place[kind[i]]] = i
        place[kind[i]] += 1
    return order, heads, words


@njit
def pack(values, order, flags, bits):
    """Set the bits of those who have another value than the first person; one of the codes above, and such a person.

    Values are whole numbers: comparisons of the numbers that may be missing are not to be relied on here. `flags` is
    room for a byte a place of the order.
    """
    first, example = values[0], 0
    for i in range(len(values)):
        if values[i] != first:
            example = i
            break
    other = values[example]
    if other == first:
        return CONSTANT, example
    known = 0
    for i in range(len(values)):
        known += (values[i] == first) | (values[i] == other)
    if known < len(values):
        return MORE, example
    for p in range(len(order)):
        flags[p] = (values[max(order[p], 0)] != first) & (order[p] >= 0)
    eight = flags.view(np.uint64)
    for w in range(len(bits)):
        word = np.uint64(0)
        for b in range(8):
            # Of eight bytes that are 0 or 1 this product gathers the bits in its highest byte.
            byte = (eight[8 * w + b] * np.uint64(0x0102040810204080)) >> np.uint64(56)
            word |= byte << np.uint64(8 * b)
        bits[w] = word
    return BINARY, example


@njit
def _ones(word):
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@njit
def pair_counts(bits, words):
    """How many people of each kind have both bits: kind × feature × feature."""
    F, K = len(bits), len(words) - 1
    counts = np.zeros((K, F, F), np.int64)
    for f in range(F):
        for g in range(f, F):
            one, two = bits[f], bits[g]
            for k in range(K):
                total = np.uint64(0)
                for w in range(words[k], words[k + 1]):
                    total += _ones(one[w] & two[w])
                counts[k, f, g] = counts[k, g, f] = np.int64(total)
    return counts


@njit
def parted(sort, weight, n_sorts):
    """The first person of each sort (−1 where there is none), and what all of it weigh."""
    first, total = np.full(n_sorts, -1, np.int64), np.zeros(n_sorts)
    for i in range(len(sort)):
        if first[sort[i]] < 0:
            first[sort[i]] = i
        total[sort[i]] += weight[i]
    return first, total
