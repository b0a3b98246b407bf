"""The ways to look at the groups: all protected columns together, each alone, and all but each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenleaf.audit.prepare import Prepared
from evenleaf.audit.report import GroupNote, How, IndexNote, View
from evenleaf.fairness import DisparateImpact, DisparateTreatment, Disparity, Progress
from evenleaf.fairness.neighbours import Neighbourhoods
from evenleaf.metrics.groups import GroupFigure, group_rates
from evenleaf.metrics.indices import psi_of
from evenleaf.table import Grouping, Groups, Label, People, make_groups, require_two

IndexNotion = DisparateImpact | DisparateTreatment


@dataclass(eq=False)
class Examiner:
    """What the views have in common; who is near whom is searched once, and everybody is counted once."""

    prepared: Prepared
    positive: Label | None
    resampling: dict[str, Any]
    notions: dict[str, IndexNotion]
    progress: Progress | None
    _found: Neighbourhoods | None = None

    @cached_property
    def people(self) -> People:
        """Everybody, without groups: each view brings its own."""
        return People(self.prepared.features, self.prepared.outcome, (), self.prepared.weight)

    @cached_property
    def overall(self) -> tuple[dict[str, Any], ...]:
        """The rates (or the mean) of everybody."""
        return tuple(_figure(figure) for figure in self._figures(self._nobody, everybody=True))

    @cached_property
    def _nobody(self) -> Groups:
        """No groups at all."""
        return Groups((), (), np.zeros(self.people.n_people, dtype=np.intp))

    def views(self, names: list[str], groups: Grouping) -> Iterator[View]:
        """All protected columns; then each alone; then all but each, where that is not one of those before."""
        alone = [self._view("alone", [name]) for name in names] if len(names) > 1 else []
        if groups == "each" and alone:
            yield _sum_of("each", names, None, alone)
        else:
            yield self._view("joint", names)
        yield from alone
        for name in names if len(names) > 2 else ():
            others = [other for other in names if other != name]
            if groups == "each":
                yield _sum_of("without", others, name, [view for view in alone if view.columns != (name,)])
            else:
                yield replace(self._view("without", others), without=name, groups=())

    def _view(self, how: How, names: list[str]) -> View:
        (groups,) = make_groups(self.prepared.protected.select(names))
        require_two((groups,))
        operators = {name: self._operator(name, groups) for name in self.notions}
        psi = psi_of(self.people.outcome)
        contributions = {
            name: operator.row_values(psi).reshape(groups.n_groups, -1).sum(axis=1)
            for name, operator in operators.items()
        }
        indices = tuple(
            IndexNote(name, float(contributions[name].sum()), operator.n_terms, operator.empty_terms)
            for name, operator in operators.items()
        )
        notes = () if how == "without" else tuple(self._groups(groups, contributions))
        return View(how, tuple(names), None, groups.n_groups, indices, notes)

    def _operator(self, name: str, groups: Groups) -> Disparity:
        """The rows of one notion, groups outermost, so that a reshape gives each group its own."""
        notion = self.notions[name]
        if isinstance(notion, DisparateImpact):
            return notion.compare(self.people, groups)
        return notion.compare_within(self._around(notion), self.people, groups)

    def _around(self, notion: DisparateTreatment) -> Neighbourhoods:
        if self._found is None:
            self._found = notion.neighbourhoods(self.people, self._nobody, self.progress)
        return self._found

    def _groups(self, groups: Groups, contributions: dict[str, np.ndarray]) -> Iterator[GroupNote]:
        figures = self._figures(groups, everybody=False)
        n_measures = len(figures) // groups.n_groups
        for code, label in enumerate(groups.labels):
            own = figures[code * n_measures : (code + 1) * n_measures]
            share = {name: float(values[code]) for name, values in contributions.items()}
            yield GroupNote(label, own[0].n, own[0].share, tuple(map(_figure, own)), share)

    def _figures(self, groups: Groups, *, everybody: bool) -> tuple[GroupFigure, ...]:
        return group_rates(
            self.people.outcome,
            sensitive_features=groups,
            positive=self.positive,
            sample_weight=self.people.weight,
            everybody=everybody,
            **self.resampling,
        ).figures


def _figure(figure: GroupFigure) -> dict[str, Any]:
    keys = ("measure", "label", "value", "low", "high")
    return {key: getattr(figure, key) for key in keys}


def _sum_of(how: How, names: Sequence[str], without: str | None, parts: Sequence[View]) -> View:
    """Several views added up, as `groups="each"` does."""
    indices = tuple(
        IndexNote(
            first.index,
            sum(view.indices[place].value for view in parts),
            sum(view.indices[place].n_terms for view in parts),
            sum(view.indices[place].empty_terms for view in parts),
        )
        for place, first in enumerate(parts[0].indices)
    )
    return View(how, tuple(names), without, sum(view.n_groups for view in parts), indices)
