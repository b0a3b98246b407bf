"""The main job from end to end on the embedded data: audit it, learn the whole trade-off with proofs, make the page."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from evenleaf.audit import AuditReport, audit
from evenleaf.case import Case, Question, answer_point, make_case
from evenleaf.datasets import Dataset, load_adult
from evenleaf.errors import InputError
from evenleaf.files import write_whole
from evenleaf.report import summarise, write_page
from evenleaf.solve import Budget, Frontier, FrontierPoint, frontier

N_PEOPLE = 5_000
SEED = 1
TIME_LIMIT = 120.0
WEIGHT = 1.0  # the λ whose tree is written as a model
Say = Callable[[str], None]
Learning = Callable[[], AbstractContextManager[Callable[[int, int], None] | None]]


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo made, and where; `page` is the file to open."""

    report: AuditReport
    case: Case
    frontier: Frontier
    page: Path
    model: Path
    table: Path
    files: tuple[Path, ...]

    @property
    def trees(self) -> dict[str, FrontierPoint]:
        """The two trees to compare: without fairness, and at λ = 1."""
        return {"plain": self.frontier.points[0], "fair": self.frontier.at(WEIGHT)}


def run_demo(
    folder: Path, say: Say = lambda _: None, n_people: int = N_PEOPLE, learning: Learning = lambda: nullcontext(None)
) -> Demo:
    """Audit Adult, learn every depth-2 tree that is best for some λ, and write everything into a folder.

    `learning` surrounds the long part, and may give a function to be told how many λ are solved and waiting.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror or error}") from error
    say("reading the Adult data set (45,222 people, embedded)")
    adult = load_adult()
    say("auditing its decisions by race: similar people are compared with each other")
    report = audit(adult.frame_columns(), target=adult.outcome.name, protected=adult.protected.schema.names)
    say(f"learning the whole trade-off from {n_people:,} of them (the first run compiles for some twenty seconds)")
    sample = adult.sample(n_people, seed=SEED)
    table = folder / "adult-sample.csv"
    sample.to_csv(table)
    case = _case(sample, table)
    with learning() as on_solved:
        found = frontier(case.problem, Budget(TIME_LIMIT), on_solved=on_solved)
    say("writing the page")
    files = _write(folder, report, case, found)
    return Demo(report, case, found, files[0], files[1], table, (*files, table))


def _case(sample: Dataset, table: Path) -> Case:
    question = Question(sample.outcome.name, sample.protected.schema.names)
    return make_case(sample.frame_columns(), question, source=str(table))


def _write(folder: Path, report: AuditReport, case: Case, found: Frontier) -> list[Path]:
    """The page, the audit as data, and the model at λ = 1."""
    page, data, model = folder / "report.html", folder / "audit.json", folder / "model.json"
    command = f"evenleaf demo --out {folder}"
    write_page(summarise(case, found, seed=SEED, command=command), page)
    write_whole(data, [json.dumps(report.to_json(), indent=2).encode("utf-8")])
    answer_point(case, found.at(WEIGHT), WEIGHT).write(model)
    return [page, model, data]
