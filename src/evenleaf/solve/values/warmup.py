"""The first multipliers and the first trees: a look at a few roots a feature, then a climb on the most promising."""

from __future__ import annotations

import numpy as np

from evenleaf.solve.values.ascent import FIRST, SEARCH, SHORT
from evenleaf.solve.values.boxes import single_root
from evenleaf.solve.values.compiled import Compiled
from evenleaf.solve.values.worker import Worker

Multipliers = tuple[np.ndarray, float]


def warm_up(worker: Worker, alive: list[np.ndarray], start: Multipliers) -> Multipliers:
    """Good multipliers; the worker then has a good tree."""
    mu, scale = start
    deep = worker.ascent.deep
    tried, climbed, rounds = (3, 3, 1) if deep else (6, 10, 2)
    roots = [
        (feature, left, marks)
        for feature in range(worker.compiled.n_features)
        if worker.pairs[feature].any()
        for left in _sample_roots(worker.compiled, feature, tried)
        for marks in alive
    ]
    looks = []
    for number, (feature, left, marks) in enumerate(roots):
        if not worker.budget.exhausted:
            reached = worker.climb(single_root(feature, left, marks, mu, scale), FIRST)
            looks.append((reached.box.bound, number))
    best = np.inf
    for _ in range(rounds):
        start_mu, start_scale = mu, scale
        for _, number in sorted(looks)[:climbed]:
            if worker.budget.exhausted:
                break
            feature, left, marks = roots[number]
            reached = worker.climb(single_root(feature, left, marks, start_mu, start_scale), SHORT if deep else SEARCH)
            if reached.box.bound < best:
                best, mu, scale = reached.box.bound, reached.box.mu, reached.box.scale
    return mu, scale


def _sample_roots(compiled: Compiled, feature: int, tried: int) -> list[np.ndarray]:
    """Cuts at quantiles of the people; for levels, prefixes in the order of their mean outcome."""
    size, ranks = int(compiled.sizes[feature]), compiled.ranks[feature]
    people = np.bincount(ranks, weights=compiled.count, minlength=size)
    rank_order = np.arange(size)
    if compiled.unordered[feature]:
        outcome = np.bincount(ranks, weights=compiled.count * compiled.levels[compiled.level], minlength=size)
        rank_order = np.argsort(outcome / people, kind="stable")
    reached = np.cumsum(people[rank_order]) / people.sum()
    cuts = np.unique(np.searchsorted(reached, np.arange(1, tried + 1) / (tried + 1)))
    return [np.isin(np.arange(size), rank_order[: min(cut, size - 2) + 1]) for cut in cuts]
