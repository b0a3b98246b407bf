"""A leaf that loses people, a bit each in the order of their outcomes (ALGORITHM §9.10).

A leaf's cost is convex and piecewise linear in its value, with a kink at everybody's outcome. Its state is the place
up to which its people count as below the value, the slope right of there, and the height: at value u, as long as u
stays between the same two people, the leaf costs u · slope + height. Whoever leaves changes slope and height and loses
a bit. A leaf that grows would have to pass all levels between two of its people; here the next bit is the next kink.

Places count from 1. `rows[k]` is (outcome, 2·share, 2·share·outcome, price − share, share·outcome, people) of who is
at place k. Place 0 and the one after the last are the ends of the label range; their bits are never taken.
"""

from __future__ import annotations

import numpy as np

from evenleaf.solve.search.kernels.compile import leading_zeros, trailing_zeros, woven

OUTCOME, TWICE, TWICE_MOMENT, SLOPE, MOMENT, PEOPLE = range(6)
N_COLUMNS = 6

_ONE, _WORD, _IN_WORD = np.uint64(1), np.uint64(6), np.uint64(63)


@woven
def bit_of(k):
    """The bit of a place within its word."""
    return _ONE << (np.uint64(k) & _IN_WORD)


@woven
def _next(bits, at):
    """The next place with a bit after this one; the upper end has one."""
    word = at >> _WORD
    left = (bits[word] >> (at & _IN_WORD)) >> _ONE
    if left:
        return at + _ONE + np.uint64(trailing_zeros(left))  # type: ignore[call-arg]
    word += _ONE
    while bits[word] == 0:
        word += _ONE
    return (word << _WORD) + np.uint64(trailing_zeros(bits[word]))  # type: ignore[call-arg]


@woven
def _last(bits, at):
    """The last place with a bit up to this one; the lower end has one."""
    word = at >> _WORD
    left = bits[word] << (_IN_WORD - (at & _IN_WORD))
    if left:
        return at - np.uint64(leading_zeros(left))  # type: ignore[call-arg]
    word -= _ONE
    while bits[word] == 0:
        word -= _ONE
    return (word << _WORD) + _IN_WORD - np.uint64(leading_zeros(bits[word]))  # type: ignore[call-arg]


@woven
def settled(at, slope, height, rows, bits, end):
    """Go to the cheapest value: (place, slope, height) there; the value is the outcome of who stands there."""
    if slope < 0.0:
        while slope < 0.0 and at != end:
            at = _next(bits, at)
            slope += rows[at, TWICE]
            height -= rows[at, TWICE_MOMENT]
    else:
        at = _last(bits, at)
        while at > 0 and slope > rows[at, TWICE]:
            slope -= rows[at, TWICE]
            height += rows[at, TWICE_MOMENT]
            at = _last(bits, at - _ONE)
    return at, slope, height


@woven
def without(spots, first, end, at, slope, height, rows, bits):
    """Take some people out of a leaf: (slope, height) at the same value."""
    for j in range(first, end):
        k = spots[j]
        below = k <= at
        slope -= rows[k, SLOPE] + (rows[k, TWICE] if below else 0.0)
        height -= rows[k, MOMENT] - (rows[k, TWICE_MOMENT] if below else 0.0)
        bits[k >> _WORD] &= ~(_ONE << (k & _IN_WORD))
    return slope, height
