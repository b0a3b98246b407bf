"""The audit: every index, overall and by group, for all protected columns together, alone and left out in turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from evenleaf.audit.prepare import AskedTask, Prepared, check_roles, prepare
from evenleaf.audit.report import AuditReport, View
from evenleaf.audit.views import Examiner, IndexNotion
from evenleaf.errors import InputError
from evenleaf.fairness import DisparateImpact, DisparateTreatment, Progress
from evenleaf.metrics.arguments import find_label
from evenleaf.table import Grouping, Label, read_columns
from evenleaf.table.read import MISSING_MARKERS

Index = Literal["didi", "dtdi", "all"]
# Fewer people than this cannot be resampled into an interval worth reading.
SMALL_GROUP = 30


def audit(
    data: Any,
    *,
    target: str,
    protected: str | Sequence[str],
    task: AskedTask = "auto",
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    weight: str | None = None,
    groups: Grouping = "joint",
    n_neighbors: int = 10,
    positive: Label | None = None,
    index: Index = "all",
    drop_incomplete: bool = False,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    random_state: int = 0,
    progress: Progress | None = None,
) -> AuditReport:
    """Describe how the decisions in a table differ between groups.

    `data` is any frame, dict of columns or array; `target` names the decided column, `protected` the columns
    that tell the groups apart; `weight` may name a column that says how many people each row stands for.
    Protected columns never enter the distance between people. The result describes this table: it does not say
    why rates differ, nor whether anybody was wronged.
    """
    _check(index, task, groups)
    names = [protected] if isinstance(protected, str) else list(protected)
    prepared = prepare(
        data,
        target=target,
        protected=names,
        task=task,
        categorical=categorical,
        ignore=ignore,
        weight=weight,
        drop_incomplete=drop_incomplete,
    )
    label = _positive(prepared, positive)
    resampling = {"confidence": confidence, "n_resamples": n_resamples, "random_state": random_state}
    examiner = Examiner(prepared, label, resampling, _notions(prepared, index, n_neighbors), progress)
    views = tuple(examiner.views(names, groups))
    settings = {"groups": groups, "n_neighbors": n_neighbors, "index": index, "normalize": True, **resampling}
    return AuditReport(
        target=target,
        task=prepared.outcome.task,
        task_inferred=prepared.task_inferred,
        classes=prepared.outcome.classes,
        positive=label,
        n_people=len(prepared.outcome.values),
        n_dropped=prepared.n_dropped,
        overall=examiner.overall,
        columns=prepared.columns,
        views=views,
        settings=settings,
        notes=tuple(_remarks(prepared, views, index)),
    )


def audit_file(
    path: str | Path,
    *,
    target: str,
    protected: str | Sequence[str],
    missing: Iterable[str] = MISSING_MARKERS,
    categorical: Sequence[str] = (),
    ignore: Sequence[str] = (),
    weight: str | None = None,
    **options: Any,
) -> AuditReport:
    """`audit` for a CSV, TSV or Parquet file ("-" is CSV on standard input).

    `missing` are the texts that stand for no value in CSV; the other options are those of `audit`.
    """
    check_roles(target, [protected] if isinstance(protected, str) else protected, ignore, weight)
    columns = read_columns(path, missing=missing, categorical=categorical, leave_out=ignore)
    return audit(columns, target=target, protected=protected, categorical=categorical, weight=weight, **options)


def _check(index: Any, task: Any, groups: Any) -> None:
    for name, value, known in (
        ("index", index, get_args(Index)),
        ("task", task, get_args(AskedTask)),
        ("groups", groups, get_args(Grouping)),
    ):
        if value not in known:
            raise InputError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}")


def _positive(prepared: Prepared, positive: Label | None) -> Label | None:
    """The class whose rate is shown: as named, or of two classes the last in order; None shows all."""
    classes = prepared.outcome.classes
    if classes is None:
        if positive is not None:
            raise InputError(f"a positive class was named, but {prepared.outcome.name!r} is a number")
        return None
    if positive is not None:
        return classes[find_label(prepared.outcome, positive)]
    return classes[-1] if len(classes) == 2 else None


def _notions(prepared: Prepared, index: Index, n_neighbors: int) -> dict[str, IndexNotion]:
    """The indices asked for; without features there are no similar people, so "all" then means impact alone."""
    notions: dict[str, IndexNotion] = {}
    if index in ("didi", "all"):
        notions["didi"] = DisparateImpact()
    if index == "dtdi" or (index == "all" and prepared.features.n_columns):
        notions["dtdi"] = DisparateTreatment(n_neighbors)
    return notions


def _remarks(prepared: Prepared, views: Sequence[View], index: Index) -> Iterator[str]:
    if index == "all" and not prepared.features.n_columns:
        yield "DTDI was left out: besides the target and the protected columns there is nothing to compare people by."
    if prepared.n_dropped:
        yield f"{prepared.n_dropped:,} rows with a missing value were left out."
    for view in views:
        small = [f"{group.group} ({group.n})" for group in view.groups if group.n < SMALL_GROUP]
        if small:
            few = ", ".join(small[:5]) + (f" and {len(small) - 5} more" if len(small) > 5 else "")
            yield (
                f"Groups by {' × '.join(view.columns)} with fewer than {SMALL_GROUP} people: {few}. "
                "Their rates and intervals say little."
            )
