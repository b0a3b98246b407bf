"""What was asked and what is proven, as plain data that the page puts into sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evenleaf.case import Case
from evenleaf.report.entry import Entry
from evenleaf.table import People
from evenleaf.tree import Tree

Figure = Mapping[str, Any]


def asked_entry(case: Case, chosen_by: str) -> dict[str, Any]:
    """The table, the roles of its columns, the loss, the notion, its weight or limit, and the allowed trees."""
    question, outcome, problem = case.question, case.people.outcome, case.problem
    weight = None if question.max_discrimination is not None else problem.fairness_weight
    return {
        "source": case.source,
        "n_people": case.people.n_people,
        "n_dropped": case.n_dropped,
        "weighted": question.weight is not None,
        "target": outcome.name,
        "task": outcome.task,
        "classes": None if outcome.classes is None else [str(label) for label in outcome.classes],
        "positive": None if case.positive is None else (outcome.classes or ()).index(case.positive),
        "protected": list(question.protected),
        "partitions": [_partition(case.people, place) for place in range(len(case.people.groups))],
        "index": question.index if question.fair else None,
        "harms": list(question.harms),
        "n_neighbors": question.n_neighbors,
        "n_terms": problem.disparity.n_terms,
        "empty_terms": problem.disparity.empty_terms,
        "chosen_by": chosen_by,
        "fairness_weight": weight if chosen_by == "weight" else None,
        "max_discrimination": question.max_discrimination,
        "shape": _shape(case),
        "columns": [asdict(note) for note in case.columns],
    }


def claim_entry(entry: Entry) -> dict[str, Any]:
    """The solver's claim about one tree; an endless end of an interval of λ is None."""
    solution = entry.solution
    return {
        "proven": entry.proven,
        "status": str(solution.status),
        "stop": str(solution.stop),
        "solver": solution.solver,
        "seconds": solution.seconds,
        "bound": _finite(solution.bound),
        "objective": _finite(solution.objective),
        "gap": 0.0 if entry.proven else solution.gap,
        "certificate": solution.certificate is not None,
        "on_frontier": entry.weight_from is not None,
        "weight_from": entry.weight_from,
        "weight_to": None if entry.weight_to is None else _finite(entry.weight_to),
    }


def column_entries(people: People, used: Sequence[int]) -> dict[str, Any]:
    """The columns that some tree looks at, by position: levels, or the middle half of the numbers, never a row."""
    table = people.features
    entries: dict[str, Any] = {}
    for position in used:
        column = table.schema[position]
        entry: dict[str, Any] = {"name": column.name, "kind": str(column.kind), "has_missing": column.has_missing}
        if column.is_categorical:
            entry["levels"] = list(column.levels)
        else:
            known = table.data[position][~table.missing(position)]
            quarters = np.quantile(known, [0.25, 0.5, 0.75]).tolist() if len(known) else None
            entry["quarters"] = quarters
            entry["whole"] = bool(np.all(known == np.round(known)))
        entries[str(position)] = entry
    return entries


def target_entry(tree: Tree) -> dict[str, Any]:
    """The range within which numbers are decided."""
    return {"low": tree.target.low, "high": tree.target.high}


def _partition(people: People, place: int) -> dict[str, Any]:
    groups = people.groups[place]
    sizes = np.bincount(groups.codes, minlength=groups.n_groups)
    return {"name": groups.name, "labels": list(groups.labels), "sizes": sizes.tolist()}


def _shape(case: Case) -> dict[str, Any]:
    limits = asdict(case.problem.shape)
    allowed = limits.pop("allowed_features")
    return {**limits, "allowed_features": None if allowed is None else list(allowed)}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
