"""People of one kind, and what one of them adds: the rows of the operator over kinds, proportional ones made one.

Sums are taken in the order of kinds and nothing is rearranged, so that equal trees are worth the same to the last bit
on every machine.
"""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from evenleaf.solve.fronts.kernels.bits import number_kinds
from evenleaf.solve.search.kernels.compile import strict

_SAME = 1e-12


@strict
def find_kinds(codes, weight, total, pointers, people, entries, row_weight, costs, factor, most):
    """The kind of each person; of each kind how many people, the weight of one, what one adds; what all have.

    `total` is the weight of all. The operator is given as it is stored, row by row; `row_weight` is by class, `costs`
    are by outcome and label. No kinds where there would be more than `most`, or where a row is not balanced.
    """
    if _names_everybody(pointers, people, len(codes)):
        columns = entries.reshape(len(pointers) - 1, len(codes))
        return _described(codes, weight, total, columns, row_weight, costs, factor, most)
    filled = _filled(pointers, people, entries, len(codes))
    return _described(codes, weight, total, filled, row_weight, costs, factor, most)


@strict
def _names_everybody(pointers, people, n_people):
    """Whether every row does, in order: then what is stored is a table already."""
    if len(people) != (len(pointers) - 1) * n_people:
        return False
    in_order = True
    for r in range(len(pointers) - 1):
        in_order &= pointers[r] == r * n_people
        for i in range(n_people):
            in_order &= people[r * n_people + i] == i
    return in_order


@strict
def _filled(pointers, people, entries, n_people):
    """The rows with zeros where nothing is stored."""
    columns = np.zeros((len(pointers) - 1, n_people))
    for r in range(len(columns)):
        for e in range(pointers[r], pointers[r + 1]):
            columns[r, people[e]] += entries[e]
    return columns


@strict
def _described(codes, weight, total, columns, row_weight, costs, factor, most):
    kind, example, heads = _numbered(codes, weight, columns, most)
    rows, balanced = _folded(columns, row_weight, example, heads)
    if not balanced:
        heads = heads[:0]
    K, D = len(heads), len(rows)
    vectors, offset, own = np.ones((K, D + 2)), np.zeros(D + 1), np.empty(K)
    for k in range(K):
        own[k] = weight[example[k]]
        part, y = own[k] / total, codes[example[k]]
        vectors[k, 0] = costs[y, 1] * part - costs[y, 0] * part
        vectors[k, 1 : D + 1] = factor * rows[:, k]
        offset[0] += heads[k] * (costs[y, 0] * part)
    return kind, heads, own, vectors, offset


@strict
def _numbered(codes, weight, columns, most):
    """People are told apart by outcome and column, and by weight where that is uneven."""
    even = True
    for i in range(len(weight)):
        even &= weight[i] == weight[0]
    if even:
        return number_kinds(codes, columns.view(np.int64), most)
    told_apart = np.empty((len(columns) + 1, len(weight)))
    told_apart[:-1], told_apart[-1] = columns, weight
    return number_kinds(codes, told_apart.view(np.int64), most)


@strict
def _folded(columns, row_weight, example, heads):
    """The rows over kinds, their weights multiplied in and proportional ones made one, and whether all are balanced.

    A row that compares averages sums to zero, so that of two classes both have the same difference but for its sign.
    """
    kept, used = np.empty((len(columns), len(example))), 0
    for r in range(len(columns)):
        row, total, size = np.empty(len(example)), 0.0, 0.0
        for k in range(len(example)):
            row[k] = columns[r, example[k]] * row_weight[r].sum()
            total += row[k] * heads[k]
            size += abs(row[k] * heads[k])
        if abs(total) > 1e-9 * size:
            return kept[:0], False
        used = _fold(row, kept, used)
    return kept[:used], True


@strict
def _fold(row, kept, used):
    """Add a row to those that are kept: to one that it is proportional to, or as one more; how many they are."""
    largest = np.abs(row).max() if len(row) else 0.0
    for place in range(used):
        lead = np.abs(kept[place]).argmax()
        ratio = row[lead] / kept[place, lead]
        if (np.abs(row - ratio * kept[place]) <= _SAME * largest).all():
            kept[place] *= 1 + abs(ratio)
            return used
    if largest == 0:
        return used
    kept[used] = row
    return used + 1


@strict
def sums_of_pairs(counts, heads, vectors):
    """Vectors summed over the people with both of two bits (quantity × feature × feature), and over everybody."""
    K, F, width = len(heads), counts.shape[1], vectors.shape[1]
    sums, total = np.zeros((width, F, F)), np.zeros(width)
    for q in range(width):
        for k in range(K):
            total[q] += heads[k] * vectors[k, q]
            for f in range(F):
                for g in range(F):
                    sums[q, f, g] += counts[k, f, g] * vectors[k, q]
    return sums, total
