"""Everything a report says, as pure data: the page, the JSON inside it and the drawings all read this."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from evenleaf.case import Case
from evenleaf.fairness import Progress
from evenleaf.fairness.notion import stage
from evenleaf.metrics.groups import group_rates
from evenleaf.report.asked import asked_entry, claim_entry, column_entries, target_entry
from evenleaf.report.different import OtherGroups, by_group, people_apart, since_start
from evenleaf.report.entry import Entry, arrange
from evenleaf.report.gaps import GapTable, histograms
from evenleaf.report.nodes import node_entries
from evenleaf.report.provenance import provenance
from evenleaf.solve import FrontierPoint, Solution
from evenleaf.table import Outcome
from evenleaf.tree import Tree, columns_of

__all__ = ["Entry", "Summary", "summarise"]

FORMAT = "evenleaf-report"
VERSION = 1
NEIGHBOURS_SHOWN = 5
# Fewer people than this cannot be resampled into an interval worth reading.
SMALL_GROUP = 30


@dataclass(frozen=True)
class Summary:
    """The data of a report; `trees` goes from the least loss to the least discrimination."""

    asked: dict[str, Any]
    trees: list[dict[str, Any]]
    chosen: int
    data: dict[str, Any]
    columns: dict[str, Any]
    target: dict[str, Any]
    gaps: dict[str, Any] | None
    provenance: dict[str, Any]
    includes_rows: bool

    def to_json(self) -> dict[str, Any]:
        """Plain lists and dicts, ready for `json.dumps`; what is not a finite number is None."""
        names = (*self.__dataclass_fields__,)
        return {"format": FORMAT, "version": VERSION, **{name: _plain(getattr(self, name)) for name in names}}


def summarise(
    case: Case,
    points: Iterable[FrontierPoint] = (),
    *,
    asked: Solution | None = None,
    include_rows: bool = False,
    seed: int = 0,
    command: str | None = None,
    solver: str = "auto",
    n_resamples: int = 500,
    fresh: Case | None = None,
    progress: Progress | None = None,
) -> Summary:
    """The figures of a frontier, of one answer, or of an answer among the trees of its frontier.

    No row of the table is in it unless `include_rows` says so: counts, rates and histograms only. `fresh` are new
    people, for whom every tree's loss and discrimination are computed too.
    """
    entries, chosen = arrange(case.problem, points, asked)
    looking = _Looking(case, entries, include_rows, {"n_resamples": n_resamples, "random_state": seed}, progress)
    chosen_by = "frontier" if asked is None else "limit" if case.question.max_discrimination is not None else "weight"
    used = sorted({column for entry in entries for column in columns_of(entry.tree)})
    return Summary(
        asked=asked_entry(case, chosen_by),
        trees=[
            {**entry, "fresh": _fresh(fresh, tree.tree)} for entry, tree in zip(looking.trees(), entries, strict=True)
        ],
        chosen=chosen,
        data=looking.data(),
        columns=column_entries(case.people, used),
        target=target_entry(entries[0].tree),
        gaps=looking.gap_axis(),
        provenance=provenance(checksum=case.checksum, seed=seed, command=command, solver=solver),
        includes_rows=include_rows and looking.others is not None,
    )


class _Looking:
    """What the trees of one report have in common: who is similar to whom is searched once."""

    def __init__(
        self,
        case: Case,
        entries: Sequence[Entry],
        include_rows: bool,
        resampling: dict[str, int],
        progress: Progress | None,
    ) -> None:
        self.case, self.entries, self.people = case, entries, case.people
        self.include_rows, self.resampling, self.progress = include_rows, resampling, progress
        outcome = self.people.outcome
        self.positive = None if case.positive is None else (outcome.classes or ()).index(case.positive)
        self.decided = [entry.tree.decide(self.people.features) for entry in entries]
        compared = bool(self.people.groups) and self.people.features.n_columns > 0
        self.others = OtherGroups.of(self.people, NEIGHBOURS_SHOWN, stage(progress, 0, 3)) if compared else None
        self._gaps(compared)

    def _gaps(self, compared: bool) -> None:
        """γ under every tree, and under the decisions in the data last."""
        self.middles: list[float] = []
        self.histograms: list[list[dict[str, Any]]] = []
        if compared:
            outcome = self.people.outcome
            every = (0,) if outcome.classes is None else tuple(range(outcome.n_classes))
            self.shown = every if self.positive is None else (self.positive,)
            self.gap_table = GapTable(
                self.people, self.case.question.n_neighbors, self.shown, stage(self.progress, 1, 3)
            )
            values = [self.gap_table.values(decided) for decided in [*self.decided, outcome.values]]
            whole = 1.0 if outcome.classes is not None else float(np.ptp(outcome.values)) or 1.0
            self.middles, self.histograms = histograms(values, whole)

    def gap_axis(self) -> dict[str, Any] | None:
        """What the histograms share."""
        if not self.histograms:
            return None
        return {
            "middles": self.middles,
            "classes": list(self.shown),
            "empty": self.gap_table.empty,
            "n_neighbors": self.case.question.n_neighbors,
            "partition": self.people.groups[0].name,
        }

    def trees(self) -> list[dict[str, Any]]:
        """One entry a tree."""
        found = []
        tell = stage(self.progress, 2, 3)
        for place, entry in enumerate(self.entries):
            found.append(self._tree(place, entry))
            if tell is not None:
                tell((place + 1) / len(self.entries))
        return found

    def data(self) -> dict[str, Any]:
        """The same figures for the decisions that stand in the table."""
        problem, outcome = self.case.problem, self.people.outcome
        return {
            "discrimination": problem.disparity.value(problem.psi(outcome.values)),
            "rates": self._rates(outcome.values, against=None),
            "gaps": self.histograms[-1] if self.histograms else None,
        }

    def _tree(self, place: int, entry: Entry) -> dict[str, Any]:
        decided = self.decided[place]
        score = self.case.problem.evaluate(entry.tree)
        tree: dict[str, Any] = {
            **claim_entry(entry),
            "loss": score.loss,
            "accuracy": self._accuracy(decided),
            "discrimination": score.discrimination,
            "depth": entry.tree.depth,
            "leaves": entry.tree.n_leaves,
            "features": [self.people.features.schema[column].name for column in columns_of(entry.tree)],
            "nodes": node_entries(entry.tree, self.people),
            "text": str(entry.tree),
            "rates": self._rates(decided, against=self.people.outcome),
            "gaps": self.histograms[place] if self.histograms else None,
        }
        if self.others is not None:
            tree["different"] = by_group(self.others, decided, self.positive)
            tree["changed"] = since_start(self.people.groups[0], decided, self.decided[0], self.positive)
            tree["people"] = people_apart(self.others, decided) if self.include_rows else None
        return tree

    def _accuracy(self, decided: np.ndarray) -> float | None:
        """The share decided as in the data; None for numbers."""
        outcome = self.people.outcome
        return None if outcome.classes is None else float(self.people.share @ (decided == outcome.values))

    def _rates(self, decided: np.ndarray, against: Outcome | None) -> list[list[dict[str, Any]]]:
        """The figures of everybody and of each group, once a partition; a small group has no interval."""
        outcome = self.people.outcome
        own = Outcome(outcome.name, decided, outcome.classes)
        parts = []
        for groups in self.people.groups:
            found = group_rates(
                _labels(own),
                sensitive_features=groups,
                y_true=None if against is None else _labels(against),
                positive=None if self.case.positive is None else str(self.case.positive),
                task=outcome.task,
                sample_weight=self.people.weight,
                **self.resampling,  # type: ignore[arg-type]
            )
            parts.append([_figure(row) for row in found.rows()])
        return parts


def _fresh(case: Case | None, tree: Tree) -> dict[str, Any] | None:
    """The figures of a tree among new people."""
    if case is None:
        return None
    loss, discrimination, accuracy = case.figures(tree)
    return {
        "source": case.source,
        "n": case.people.n_people,
        "loss": loss,
        "discrimination": discrimination,
        "accuracy": accuracy,
    }


def _labels(outcome: Outcome) -> Any:
    """The outcome as the caller of a metric would give it; classes as texts, because 0.5 is not taken for a class."""
    if outcome.classes is None:
        return outcome.values
    return np.array([str(label) for label in outcome.classes], dtype=object)[outcome.values]


def _figure(row: dict[str, Any]) -> dict[str, Any]:
    few = row["n"] < SMALL_GROUP
    ends = {"low": None, "high": None} if few else {}
    label = None if row["label"] is None else str(row["label"])
    return {**row, **ends, "label": label, "few": few}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not isfinite(value) else value
