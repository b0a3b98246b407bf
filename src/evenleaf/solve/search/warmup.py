"""Good multipliers and a good tree to begin with (ALGORITHM §9.9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenleaf.solve.search.ascent import CLIMB, LOOK, SEARCH
from evenleaf.solve.search.boxes import MOST_SWEPT_DEPTH, single_root
from evenleaf.solve.search.compiled import Compiled
from evenleaf.solve.search.worker import Worker

_DEEPEST_CLIMBED = 3  # below that a single bound takes too long
_CUTS_TRIED, _ROOTS_CLIMBED, _ROOTS_CLIMBED_DEEP = 8, 10, 3


def warm_up(worker: Worker, note: Callable[[Worker], None]) -> tuple[np.ndarray, float]:
    """Climb on the most promising of a few roots a feature; a deep tree starts from what a shallow one found."""
    mu, scale = np.zeros_like(worker.compiled.weight), 1.0
    rounds, climbed, effort = 2, _ROOTS_CLIMBED, SEARCH
    if worker.depth > MOST_SWEPT_DEPTH:
        problem = worker.problem
        shallow = Worker(
            problem.with_shape(replace(problem.shape, max_depth=worker.depth - 1)), worker.compiled, worker.budget
        )
        shallow.begin(worker.tree, worker.objective, frozenset())
        mu, scale = warm_up(shallow, note)
        if shallow.tree is not None:
            worker.offer(shallow.tree)
        if shallow.found is not None and not worker.coupled:
            worker.descend(shallow.found)
            note(worker)
        if worker.depth > _DEEPEST_CLIMBED:
            return mu, scale
        rounds, climbed, effort = 1, _ROOTS_CLIMBED_DEEP, CLIMB
    roots = [
        (feature, left)
        for feature in range(worker.compiled.n_features)
        if worker.pairs[feature].any()
        for left in _sample_roots(worker.compiled, feature)
    ]
    looks = []
    for number, (feature, left) in enumerate(roots):
        if not worker.budget.exhausted:
            reached = worker.climb(single_root(worker.compiled, feature, left, mu, scale, worker.depth), LOOK)
            looks.append((reached.box.bound, number))
    note(worker)
    best = np.inf
    for _ in range(rounds):
        start_mu, start_scale = mu, scale
        for _, number in sorted(looks)[:climbed]:
            if worker.budget.exhausted:
                break
            feature, left = roots[number]
            box = single_root(worker.compiled, feature, left, start_mu, start_scale, worker.depth)
            reached = worker.climb(box, effort)
            note(worker)
            if reached.box.bound < best:
                best, mu, scale = reached.box.bound, reached.box.mu, reached.box.scale
    return mu, scale


def _sample_roots(compiled: Compiled, feature: int) -> list[np.ndarray]:
    """Cuts at quantiles of the people; for levels, prefixes in the order of their mean cost."""
    size = int(compiled.sizes[feature])
    people = np.bincount(compiled.ranks[feature], weights=compiled.count, minlength=size)
    rank_order = np.arange(size)
    if compiled.unordered[feature]:
        cost = np.bincount(compiled.ranks[feature], weights=compiled.base[:, -1], minlength=size)
        rank_order = np.argsort(cost / people, kind="stable")
    reached = np.cumsum(people[rank_order]) / people.sum()
    cuts = np.unique(np.searchsorted(reached, np.arange(1, _CUTS_TRIED + 1) / (_CUTS_TRIED + 1)))
    return [np.isin(np.arange(size), rank_order[: min(cut, size - 2) + 1]) for cut in cuts]
