"""The main job from end to end on the embedded data: audit it, learn two trees with proofs, write them down."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenleaf.audit import AuditReport, audit
from evenleaf.datasets import Dataset, load_adult
from evenleaf.errors import InputError
from evenleaf.fairness import DisparateTreatment
from evenleaf.files import write_whole
from evenleaf.problem import Problem, Shape, pose
from evenleaf.solve import Budget, Solution, solve
from evenleaf.tree import Branch, tree_text, tree_to_json

N_PEOPLE = 5_000
WEIGHTS = {"plain": 0.0, "fair": 1.0}
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Learned:
    """One tree of the demo: its question, its answer, and the tree in words with head counts."""

    name: str
    problem: Problem
    solution: Solution
    words: str


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demo made, and where."""

    report: AuditReport
    trees: tuple[Learned, ...]
    n_people: int
    files: tuple[Path, ...]


def run_demo(folder: Path, say: Say = lambda _: None, n_people: int = N_PEOPLE) -> Demo:
    """Audit Adult, learn the best depth-2 tree without and with fairness, and write everything into a folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror or error}") from error
    say("reading the Adult data set (45,222 people, embedded)")
    adult = load_adult()
    say("auditing its decisions by race: similar people are compared with each other")
    report = audit(adult.frame_columns(), target=adult.outcome.name, protected=adult.protected.schema.names)
    say(
        f"learning the best trees of depth 2 from {n_people:,} of them (the first run compiles for some twenty seconds)"
    )
    trees = _learn(adult.sample(n_people, seed=1))
    files = [folder / "adult.csv", _write(folder / "audit.json", json.dumps(report.to_json(), indent=2))]
    adult.to_csv(files[0])
    for learned in trees:
        files.append(_write(folder / f"tree-{learned.name}.txt", f"{learned.words}\n\n{learned.solution}\n"))
        if learned.solution.tree is not None:
            model = json.dumps(tree_to_json(learned.solution.tree), indent=2)
            files.append(_write(folder / f"tree-{learned.name}.json", model))
    return Demo(report, trees, n_people, tuple(files))


def _learn(data: Dataset) -> tuple[Learned, ...]:
    """The same question for each weight: the similar people are looked up once."""
    question = pose(data.people(), fairness=DisparateTreatment(), shape=Shape(max_depth=2))
    learned = []
    for name, weight in WEIGHTS.items():
        problem = question.with_weight(weight)
        solution = solve(problem, Budget(time_limit=120))
        learned.append(Learned(name, problem, solution, _in_words(problem, solution)))
    return tuple(learned)


def _in_words(problem: Problem, solution: Solution) -> str:
    """The tree with the number of people that reach each leaf."""
    tree = solution.tree
    if tree is None:
        return "no tree"
    people = np.bincount(tree.apply(problem.people.features), minlength=len(tree.nodes))
    return tree_text(tree, lambda node: "" if isinstance(tree.nodes[node], Branch) else f"{people[node]:,} people")


def _write(path: Path, text: str) -> Path:
    write_whole(path, [text.encode("utf-8")])
    return path
