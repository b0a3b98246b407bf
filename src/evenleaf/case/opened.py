"""A question that has met its table: the people, the problem, and a checksum of what was read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.audit.prepare import Prepared, prepare
from evenleaf.audit.report import ColumnNote
from evenleaf.case.question import Question
from evenleaf.errors import InputError
from evenleaf.fairness import Progress
from evenleaf.metrics.arguments import find_label
from evenleaf.problem import Problem, pose
from evenleaf.table import Label, People, Schema, Table, make_groups, read_columns, require_two
from evenleaf.tree import Tree


@dataclass(frozen=True, eq=False)
class Case:
    """Who is decided about, and what is asked. `source` is the file as it was named."""

    question: Question
    source: str
    people: People
    problem: Problem
    columns: tuple[ColumnNote, ...]
    n_dropped: int
    task_inferred: bool

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over the names and values of all columns that count; the file format does not matter."""
        return people_checksum(self.people)

    @property
    def positive(self) -> Label | None:
        """The class whose rate is shown: as named, or of two classes the last; None where there is no such class."""
        return positive_class(self.people, self.question.positive)

    def figures(self, tree: Tree) -> tuple[float, float, float | None]:
        """Loss, discrimination and (for classes) accuracy of a tree among these people, who may be new to it."""
        outcome, features = self.people.outcome, self.people.features.conform(tree.schema)
        if outcome.classes is not None and outcome.classes != tree.target.classes:
            raise InputError(
                f"{self.source}: the classes of {outcome.name!r} are {list(outcome.classes)}, "
                f"but the tree decides between {list(tree.target.classes or ())}"
            )
        decided = tree.decide(features)
        loss = self.problem.loss.value(outcome, decided, self.people.share)
        accuracy = None if outcome.classes is None else float(self.people.share @ (decided == outcome.values))
        return loss, self.problem.disparity.value(self.problem.psi(decided)), accuracy

    def weighing(self, fairness_weight: float) -> Case:
        """The same case with another λ; nothing is read or compared again."""
        question = self.question.weighing(fairness_weight)
        return replace(self, question=question, problem=self.problem.with_weight(fairness_weight))


def open_case(
    path: str | Path, question: Question, *, schema: Schema | None = None, progress: Progress | None = None
) -> Case:
    """Read a CSV, TSV or Parquet file ("-" is CSV on standard input) and pose the question about its people.

    With a `schema` the features are read by it, as they were when a tree was learned.
    """
    columns = read_columns(path, missing=question.missing, categorical=question.categorical, leave_out=question.ignore)
    return make_case(columns, question, source=str(path), schema=schema, progress=progress)


def make_case(
    columns: Any,
    question: Question,
    *,
    source: str = "table",
    schema: Schema | None = None,
    progress: Progress | None = None,
) -> Case:
    """Pose the question about the people of any frame or dict of columns."""
    prepared = prepare(
        columns,
        target=question.target,
        protected=question.protected,
        task=question.task,
        categorical=[name for name in question.categorical if name not in question.ignore],
        ignore=[],
        weight=question.weight,
        drop_incomplete=question.drop_incomplete,
        need_groups=question.fair,
    )
    people = _people(prepared, question, schema)
    named = None if question.positive is None else positive_class(people, question.positive)
    question = replace(question, task=prepared.outcome.task, positive=named)
    problem = pose(
        people,
        shape=question.shape,
        fairness=question.notion(),
        fairness_weight=question.fairness_weight,
        max_discrimination=question.max_discrimination,
        progress=progress,
    )
    return Case(question, source, people, problem, prepared.columns, prepared.n_dropped, prepared.task_inferred)


def positive_class(people: People, named: Label | None) -> Label | None:
    """The class that a question is about: as named, or of two classes the last; None for numbers and many classes."""
    classes = people.outcome.classes
    if classes is None:
        if named is not None:
            raise InputError(f"a positive class was named, but {people.outcome.name!r} is a number")
        return None
    if named is not None:
        return classes[find_label(people.outcome, named)]
    return classes[-1] if len(classes) == 2 else None


def people_checksum(people: People) -> str:
    """SHA-256 over features, outcome, groups and weights, by value."""
    digest = hashlib.sha256()

    def add(name: str, values: np.ndarray, labels: tuple[Any, ...]) -> None:
        digest.update(repr((name, len(values), [str(label) for label in labels])).encode("utf-8"))
        number = values.dtype.kind == "f"
        digest.update(
            np.ascontiguousarray(values + 0.0 if number else values, dtype="<f8" if number else "<i8").tobytes()
        )

    for column, values in zip(people.features.schema, people.features.data, strict=True):
        add(column.name, values, column.levels)
    add(people.outcome.name, people.outcome.values, people.outcome.classes or ())
    for groups in people.groups:
        add(groups.name, groups.codes, groups.labels)
    add("weight", people.weight, ())
    return digest.hexdigest()


def _people(prepared: Prepared, question: Question, schema: Schema | None) -> People:
    features: Table = prepared.features if schema is None else prepared.features.conform(schema)
    groups = make_groups(prepared.protected, question.groups) if question.protected else ()
    if groups:
        require_two(groups)
    return People(features, prepared.outcome, groups, prepared.weight)
