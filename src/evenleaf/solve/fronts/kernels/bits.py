"""People as bits: who has the second value of each column, people of one kind side by side.

Then a sum over everybody with both of two values is a count of common bits, 64 people at a time, and a whole number.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import njit

CONSTANT, BINARY, MORE = 0, 1, 2
TOGETHER = 8  # so many columns are read before their bits are gathered: one a bit of a byte
_BLOCK, _NONE = 512, 255


@njit
def number_kinds(codes, columns, most):
    """The kind of each person, equal in code and in all columns; a person of each kind, and how many they are.

    Columns (column by person) hold the bits of their numbers. No kinds where there would be more than `most` (< 255).
    Everybody in a block is held against one kind after the other, which takes no guess who is of which kind.
    """
    N = len(codes)
    kind, known, heads, used = np.full(N, _NONE, np.uint8), np.empty(most, np.int64), np.zeros(most, np.int64), 0
    same = np.empty(_BLOCK, np.bool_)
    for start in range(0, N, _BLOCK):
        end, k, i = min(start + _BLOCK, N), 0, start
        while True:
            if k == used:
                while i < end and kind[i] != _NONE:
                    i += 1
                if i == end:
                    break
                if used == most:
                    return kind, known[:0], heads[:0]
                known[used] = i
                used += 1
            j, block = known[k], slice(start, end)
            _compare(codes[block], codes[j], same)
            for r in range(len(columns)):
                _compare_too(columns[r, block], columns[r, j], same)
            heads[k] += _claim(kind[block], np.uint8(k), same)
            k += 1
    return kind, known[:used], heads[:used]


@njit
def _compare(values, value, same):
    for i in range(len(values)):
        same[i] = values[i] == value


@njit
def _compare_too(values, value, same):
    for i in range(len(values)):
        same[i] &= values[i] == value


@njit
def _claim(kind, k, same):
    """Give people their kind; how many they are."""
    total = 0
    for i in range(len(kind)):
        total += same[i]
        kind[i] = k if same[i] else kind[i]
    return total


@njit
def laid_out(kind, heads):
    """The people kind by kind, each kind from a new word on (places to fill up hold nobody, N); its first word."""
    words = np.zeros(len(heads) + 1, np.int64)
    for k in range(len(heads)):
        words[k + 1] = words[k] + (heads[k] + 63) // 64
    order, place = np.full(64 * words[-1], len(kind), np.int32), 64 * words[:-1]
    for i in range(len(kind)):
        order[place[kind[i]]] = i
        place[kind[i]] += 1
    return order, words


@njit
def mark(values, column, marks):
    """Set a bit of the byte of each person with another value than the first; one of the codes above, such a person.

    Values are whole numbers: comparisons of the numbers that may be missing are not to be relied on here.
    """
    first, example = values[0], 0
    for i in range(len(values)):
        if values[i] != first:
            example = i
            break
    other = values[example]
    if other == first:
        return CONSTANT, example
    strange, bit = 0, np.uint8(1 << column)
    for i in range(len(values)):
        differs = values[i] != first
        strange += differs & (values[i] != other)
        marks[i] |= bit if differs else np.uint8(0)
    return (MORE if strange else BINARY), example


@njit
def gather(marks, order, octets):
    """The marks of up to eight columns, in the order of people, as bits of bytes a column each (column × place // 8).

    Nobody's mark, the last, is 0. The marks are wiped out for the next columns.
    """
    for p in range(len(order) // 8):
        square = np.uint64(0)
        for person in range(8):
            square |= np.uint64(marks[order[8 * p + person]]) << np.uint64(8 * person)
        # Rows and columns of 8 × 8 bits change places: single bits, then squares of four, then of sixteen.
        swap = (square ^ (square >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
        square ^= swap ^ (swap << np.uint64(7))
        swap = (square ^ (square >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
        square ^= swap ^ (swap << np.uint64(14))
        swap = (square ^ (square >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
        square ^= swap ^ (swap << np.uint64(28))
        for column in range(len(octets)):
            octets[column, p] = np.uint8(square >> np.uint64(8 * column))
    marks[:] = 0


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
