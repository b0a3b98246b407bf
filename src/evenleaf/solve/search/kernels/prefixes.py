"""The least and the greatest prefix sum of a row of numbers, kept while the numbers change one at a time.

With two classes the best cut of a feature is the least of four sums: nobody or everybody takes label 1, or the
people up to some cut do (the least prefix), or those above it (the total less the greatest prefix). A binary tree
over the segments keeps both prefixes at O(log segments) a change, where a scan would cost every segment.
"""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import njit


@njit
def leaves_for(n_segments):
    """The power of two that holds this many segments."""
    size = 1
    while size < n_segments:
        size *= 2
    return size


@njit
def build(sums, low, high, size, n_segments):
    """Fill the inner nodes from the leaves, which stand at `size` and after; leaves past the last are zero."""
    for s in range(n_segments, size):
        sums[size + s] = 0.0
    for s in range(size):
        low[size + s] = sums[size + s]
        high[size + s] = sums[size + s]
    for node in range(size - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        sums[node] = sums[left] + sums[right]
        low[node] = min(low[left], sums[left] + low[right])
        high[node] = max(high[left], sums[left] + high[right])


@njit
def add(sums, low, high, size, segment, amount):
    """Add to one segment, and mend the nodes above it."""
    node = size + segment
    sums[node] += amount
    low[node] = sums[node]
    high[node] = sums[node]
    node >>= 1
    while node:
        left, right = 2 * node, 2 * node + 1
        sums[node] = sums[left] + sums[right]
        low[node] = min(low[left], sums[left] + low[right])
        high[node] = max(high[left], sums[left] + high[right])
        node >>= 1


@njit
def best_labelled(sums, low, high):
    """The cheapest cut or constant at the moment."""
    total = sums[1]
    return min(0.0, total, low[1], total - high[1])


@njit
def open_leaves(unmarked, size, n_cuts):
    """How many cuts below each node are not marked yet: all of them."""
    for s in range(size):
        unmarked[size + s] = 1 if s < n_cuts else 0
    for node in range(size - 1, 0, -1):
        unmarked[node] = unmarked[2 * node] + unmarked[2 * node + 1]


@njit
def mark_below(sums, low, high, unmarked, size, slack, stack, before):
    """Mark every cut with a labelling that costs less than the slack; marked ones are passed over."""
    total = sums[1]
    depth = 1
    stack[0] = 1
    before[0] = 0.0
    while depth:
        depth -= 1
        node, prefix = stack[depth], before[depth]
        if unmarked[node] == 0 or (prefix + low[node] >= slack and total - prefix - high[node] >= slack):
            continue
        if node >= size:
            while node:
                unmarked[node] -= 1
                node >>= 1
            continue
        left = 2 * node
        stack[depth] = left
        before[depth] = prefix
        stack[depth + 1] = left + 1
        before[depth + 1] = prefix + sums[left]
        depth += 2
