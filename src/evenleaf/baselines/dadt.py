"""Discrimination-aware decision trees of Kamiran, Calders and Pechenizkiy (2010): `DADT` in the paper."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from evenleaf.baselines.base import Baseline, at_least_zero, the_groups, two_classes
from evenleaf.baselines.gains import COMBINE, NO_GAIN, Criterion, check_criterion, information_gain
from evenleaf.baselines.relabel import Leaves, Relabelling, relabel
from evenleaf.baselines.splits import splits_by
from evenleaf.errors import InputError
from evenleaf.fairness import indicators
from evenleaf.metrics.arguments import positive_code
from evenleaf.table import Groups, Label, People, Table, find_name
from evenleaf.tree import Branch, Leaf, Node, Target, Test, Tree, tidy


class DiscriminationAwareTree(ClassifierMixin, Baseline):  # type: ignore[misc]
    """A greedy tree whose splits weigh what they tell about the class and about the group.

    `criterion` is "IGC" (class only), "IGC-IGS", "IGC/IGS" or "IGC+IGS". `relabel="greedy"` or "exact" then turns
    leaves over until P(positive | favoured) − P(positive | deprived) ≤ `max_discrimination` on the training people.
    `deprived` is the label of a group; by default the one with the lowest rate of the positive class, against all
    others together. `positive` is a class, by default the last of the two.
    """

    def __init__(
        self,
        criterion: Criterion = "IGC+IGS",
        relabel: Relabelling | None = None,
        max_discrimination: float = 0.0,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        positive: Label | None = None,
        deprived: str | None = None,
    ) -> None:
        self.criterion = criterion
        self.relabel = relabel
        self.max_discrimination = max_discrimination
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.positive = positive
        self.deprived = deprived

    def decide(self, table: Table) -> np.ndarray:
        """The class codes."""
        return self.tree_.decide(table)

    def _looks_at_groups(self) -> bool:
        return self.criterion != "IGC" or self.relabel is not None

    def _learn(self, people: People) -> None:
        check_criterion(self.criterion)
        bound = at_least_zero("max_discrimination", self.max_discrimination)
        tree = grow(people, self.criterion, self.max_depth, self.min_samples_leaf)
        if self.relabel is not None:
            tree = self._relabelled(tree, people, bound)
        self.tree_ = tidy(tree, people.features, people.weight)

    def _relabelled(self, tree: Tree, people: People, bound: float) -> Tree:
        if self.relabel not in ("greedy", "exact"):
            raise InputError(f"relabel must be None, 'greedy' or 'exact', not {self.relabel!r}")
        two_classes(people, "relabelling")
        yes = positive_code(people.outcome, self.positive)
        groups = the_groups(people)
        who = (
            deprived_group(people, groups, yes)
            if self.deprived is None
            else find_name(self.deprived, groups.labels, what="group")
        )
        nodes = np.array([place for place, node in enumerate(tree.nodes) if isinstance(node, Leaf)])
        leaves = leaf_counts(tree, nodes, people, groups.members(who), yes)
        turned = set(nodes[relabel(leaves, bound, self.relabel)].tolist())
        return replace(
            tree,
            nodes=tuple(
                Leaf(1.0 - node.value) if place in turned and isinstance(node, Leaf) else node
                for place, node in enumerate(tree.nodes)
            ),
        )


def deprived_group(people: People, groups: Groups, positive: int) -> int:
    """The group with the lowest rate of the positive class among those that have anybody."""
    weight = np.bincount(groups.codes, weights=people.weight, minlength=groups.n_groups)
    good = people.weight * (people.outcome.values == positive)
    rate = np.bincount(groups.codes, weights=good, minlength=groups.n_groups)
    return int(np.argmin(np.divide(rate, weight, out=np.full(groups.n_groups, np.inf), where=weight > 0)))


def leaf_counts(tree: Tree, nodes: np.ndarray, people: People, deprived: np.ndarray, positive: int) -> Leaves:
    """The contingency table of every leaf, and the shares that relabelling works with."""
    place = np.searchsorted(nodes, tree.apply(people.features))
    yes = people.outcome.values == positive

    def sums(who: np.ndarray) -> np.ndarray:
        return np.bincount(place, weights=people.weight * who, minlength=len(nodes))

    labels = np.array([node.value for node in tree.nodes if isinstance(node, Leaf)])
    return Leaves(
        sums(yes),
        sums(~yes),
        sums(deprived) / people.weight[deprived].sum(),
        sums(~deprived) / people.weight[~deprived].sum(),
        labels == positive,
    )


def grow(people: People, criterion: str, max_depth: int | None, least: int) -> Tree:
    """From the root down, the split with the highest criterion each time; leaves decide by majority."""
    by_class = people.weight[:, None] * indicators(people.outcome.values, people.outcome.n_classes)
    if people.groups:
        groups = the_groups(people)
        by_group = people.weight[:, None] * indicators(groups.codes, groups.n_groups)
    else:
        by_group = people.weight[:, None]
    nodes: list[Node] = []
    sums = np.ascontiguousarray(np.column_stack([by_class, by_group]))  # people are taken by row
    grower = _Grower(people.features, sums, by_class.shape[1], criterion, least)
    grower.write(np.arange(people.n_people), np.inf if max_depth is None else max_depth, nodes)
    return Tree(people.features.schema, Target.of(people.outcome), tuple(nodes))


class _Grower:
    """The people's sums (classes first, then groups) and what counts as a good split."""

    def __init__(self, table: Table, sums: np.ndarray, n_classes: int, criterion: str, least: int) -> None:
        self.table, self.sums, self.n_classes, self.criterion, self.least = table, sums, n_classes, criterion, least

    def write(self, rows: np.ndarray, depth_left: float, nodes: list[Node]) -> None:
        """Append the tree for these people, parents before children."""
        test = self._best_test(rows) if depth_left > 0 else None
        if test is None:
            nodes.append(Leaf(float(self.sums[rows, : self.n_classes].sum(axis=0).argmax())))
            return
        left = test.goes_left(self.table, rows)
        place = len(nodes)
        nodes.append(Branch(test, place + 1, place + 2))  # mended once the left side is written
        self.write(rows[left], depth_left - 1, nodes)
        nodes[place] = Branch(test, place + 1, len(nodes))
        self.write(rows[~left], depth_left - 1, nodes)

    def _best_test(self, rows: np.ndarray) -> Test | None:
        best: tuple[float, Any, int] | None = None
        total = self.sums[rows].sum(axis=0)
        if np.count_nonzero(total[: self.n_classes]) < 2:
            return None  # all alike: nothing is left to learn here
        for column in range(self.table.n_columns):
            splits = splits_by(self.table, column, rows, self.sums[rows])
            if splits is None or not len(splits.count):
                continue
            merit = self._merit(splits.left, total)
            merit[(splits.count < self.least) | (len(rows) - splits.count < self.least)] = -np.inf
            place = int(merit.argmax())
            if merit[place] > NO_GAIN and (best is None or merit[place] > best[0] + NO_GAIN):
                best = float(merit[place]), splits.test, place
        return None if best is None else best[1](best[2])

    def _merit(self, left: np.ndarray, total: np.ndarray) -> np.ndarray:
        k = self.n_classes
        gains = information_gain(left[:, :k], total[:k]), information_gain(left[:, k:], total[k:])
        return COMBINE[self.criterion](*gains)
