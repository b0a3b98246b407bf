"""The least and the greatest prefix sum of a row of numbers, kept while the numbers change one at a time.

With two classes the best cut of a feature is the least of four sums: nobody or everybody takes label 1, or the
people up to some cut do (the least prefix), or those above it (the total less the greatest prefix). A binary tree
over the segments keeps both prefixes at O(log segments) a change, where a scan would cost every segment.
"""

from __future__ import annotations

from evenleaf.solve.search.kernels.compile import inner


@inner
def leaves_for(n_segments):
    """The power of two that holds this many segments."""
    size = 1
    while size < n_segments:
        size *= 2
    return size


@inner
def build(nodes, size, n_segments):
    """Fill the inner nodes from the leaves, whose sums stand at `size` and after; leaves past the last are zero.

    A row holds the sum of the numbers below a node, and their least and greatest prefix.
    """
    for s in range(size):
        amount = nodes[size + s, 0] if s < n_segments else 0.0
        nodes[size + s, 0], nodes[size + s, 1], nodes[size + s, 2] = amount, amount, amount
    for node in range(size - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        nodes[node, 0] = nodes[left, 0] + nodes[right, 0]
        nodes[node, 1] = min(nodes[left, 1], nodes[left, 0] + nodes[right, 1])
        nodes[node, 2] = max(nodes[left, 2], nodes[left, 0] + nodes[right, 2])


@inner
def add(nodes, size, segment, amount):
    """Add to one segment, and mend the nodes above it: what they hold is carried along, only siblings are read."""
    node = size + segment
    total = nodes[node, 0] + amount
    low, high = total, total
    nodes[node, 0], nodes[node, 1], nodes[node, 2] = total, low, high
    while node > 1:
        sibling = node ^ 1
        beside = nodes[sibling, 0]
        if node & 1:
            low, high = min(nodes[sibling, 1], beside + low), max(nodes[sibling, 2], beside + high)
        else:
            low, high = min(low, total + nodes[sibling, 1]), max(high, total + nodes[sibling, 2])
        total += beside
        node >>= 1
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = total, low, high


@inner
def best_labelled(nodes):
    """The cheapest cut or constant at the moment."""
    total = nodes[1, 0]
    return min(0.0, total, nodes[1, 1], total - nodes[1, 2])


@inner
def open_leaves(unmarked, size, n_cuts):
    """How many cuts below each node are not marked yet: all of them."""
    for s in range(size):
        unmarked[size + s] = 1 if s < n_cuts else 0
    for node in range(size - 1, 0, -1):
        unmarked[node] = unmarked[2 * node] + unmarked[2 * node + 1]


@inner
def mark_below(nodes, unmarked, size, slack, stack, before):
    """Mark every cut with a labelling that costs less than the slack; marked ones are passed over."""
    total = nodes[1, 0]
    depth = 1
    stack[0] = 1
    before[0] = 0.0
    while depth:
        depth -= 1
        node, prefix = stack[depth], before[depth]
        if unmarked[node] == 0 or (prefix + nodes[node, 1] >= slack and total - prefix - nodes[node, 2] >= slack):
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
        before[depth + 1] = prefix + nodes[left, 0]
        depth += 2
