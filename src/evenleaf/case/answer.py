"""The model file: a tree with the question it answers, what is claimed of it, and the checksum of its table.

Plain JSON with a version, checked on reading, because model files come from strangers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf import __version__
from evenleaf.case.certificate import certificate_from_json, certificate_to_json
from evenleaf.case.opened import Case
from evenleaf.case.question import Question
from evenleaf.errors import InputError
from evenleaf.files import write_whole
from evenleaf.solve import FrontierPoint, Solution, Status, Stop
from evenleaf.tree import Tree, tree_from_json, tree_to_json
from evenleaf.tree.export import FORMAT as TREE_FORMAT

FORMAT = "evenleaf-answer"
VERSION = 1
_ESTIMATOR_FORMAT = "evenleaf-model"  # what `save_model` writes: a tree that predicts, asked from Python
_LARGEST_FILE = 200_000_000
_NUMBERS = ("loss", "discrimination", "objective", "bound")


@dataclass(frozen=True)
class Claim:
    """What the solver says of the tree: its figures, how low any tree could be, and why it stopped."""

    loss: float
    discrimination: float
    objective: float
    bound: float
    status: Status
    stop: Stop
    solver: str
    seconds: float

    @classmethod
    def of(cls, solution: Solution) -> Claim:
        """The claim of a solution that has a tree."""
        if solution.score is None:
            raise InputError("there is no tree to keep: the solver did not find one")
        score = solution.score
        return cls(
            score.loss,
            score.discrimination,
            score.objective,
            float(solution.bound),
            solution.status,
            solution.stop,
            solution.solver,
            solution.seconds,
        )

    @property
    def proven(self) -> bool:
        """Whether the tree is claimed to be the optimum."""
        return self.status is Status.PROVEN


@dataclass(frozen=True, eq=False)
class Answer:
    """A model file: `question`, `claim` and `checksum` are None for a bare tree."""

    tree: Tree
    question: Question | None = None
    claim: Claim | None = None
    checksum: str | None = None
    certificate: Any = None

    @classmethod
    def of(cls, case: Case, solution: Solution) -> Answer:
        """The answer to a case."""
        if solution.tree is None:
            raise InputError("there is no tree to keep: the solver did not find one")
        return cls(solution.tree, case.question, Claim.of(solution), case.checksum, solution.certificate)

    @classmethod
    def at_weight(cls, case: Case, point: FrontierPoint, weight: float) -> Answer:
        """A point of a frontier as the answer for a λ inside its interval."""
        asked = case.weighing(weight)
        score = asked.problem.evaluate(point.tree)
        status = Status.PROVEN if point.proven else Status.FEASIBLE
        bound = score.objective if point.proven else -np.inf
        return cls.of(asked, replace(point.solution, score=score, bound=bound, status=status, certificate=None))

    def to_json(self) -> dict[str, Any]:
        """Plain lists and dicts, ready for `json.dumps`."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "evenleaf": __version__,
            "tree": tree_to_json(self.tree),
            "question": None if self.question is None else self.question.to_json(),
            "claim": None if self.claim is None else _claim_to_json(self.claim),
            "checksum": self.checksum,
            "certificate": certificate_to_json(self.certificate),
        }

    def write(self, path: str | Path) -> Path:
        """Write the file, whole or not at all."""
        place = Path(path)
        try:
            write_whole(place, [json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False).encode("utf-8")])
        except OSError as error:
            raise InputError(f"cannot write {place}: {error.strerror or error}") from error
        return place


def read_answer(path: str | Path) -> Answer:
    """Read a model file of `fit` or of `save_model`, or a bare tree as JSON; an `InputError` says what is wrong."""
    place = Path(path)
    try:
        if place.stat().st_size > _LARGEST_FILE:
            raise InputError(f"{place} is too large for a model file")
        data = json.loads(place.read_bytes())
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{place} is not a model file: it is not JSON, or only a part of it ({error})") from error
    if isinstance(data, Mapping) and data.get("format") == _ESTIMATOR_FORMAT:
        from evenleaf.estimators import load_model  # scikit-learn takes a second to import

        return Answer(load_model(place).tree_)
    return answer_from_json(data)


def answer_from_json(data: object) -> Answer:
    """Read back what `Answer.to_json` wrote; a tree that stands alone is an answer without a question."""
    if not isinstance(data, Mapping):
        raise InputError("a model file must hold a JSON object")
    if data.get("format") == TREE_FORMAT:
        return Answer(tree_from_json(data))
    if data.get("format") != FORMAT:
        raise InputError("this is not an Evenleaf model: its 'format' entry is missing or different")
    version = data.get("version")
    if isinstance(version, bool) or version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        hint = "it was written by a newer Evenleaf; upgrade to read it" if newer else "the version is unknown"
        raise InputError(f"this model has the format version {version!r}: {hint}")
    checksum = data.get("checksum")
    if checksum is not None and not isinstance(checksum, str):
        raise InputError("the model's checksum must be a text")
    question, claim = data.get("question"), data.get("claim")
    return Answer(
        tree_from_json(data.get("tree")),
        None if question is None else Question.from_json(question),
        None if claim is None else _claim_from_json(claim),
        checksum,
        certificate_from_json(data.get("certificate")),
    )


def _claim_to_json(claim: Claim) -> dict[str, Any]:
    """An endless bound (nothing is known) is None in JSON."""
    numbers = {name: float(getattr(claim, name)) for name in (*_NUMBERS, "seconds")}
    plain = {name: value if np.isfinite(value) else None for name, value in numbers.items()}
    return {**plain, "status": str(claim.status), "stop": str(claim.stop), "solver": claim.solver}


def _claim_from_json(data: object) -> Claim:
    if not isinstance(data, Mapping):
        raise InputError("the claim of the model must be a JSON object")
    numbers = {name: _number(data, name) for name in (*_NUMBERS, "seconds")}
    try:
        status, stop = Status(str(data.get("status"))), Stop(str(data.get("stop")))
    except ValueError as error:
        raise InputError(f"the claim of the model has an unknown status or stop: {error}") from error
    return Claim(status=status, stop=stop, solver=str(data.get("solver")), **numbers)


def _number(data: Mapping[str, Any], name: str) -> float:
    value = data.get(name)
    if value is None and name == "bound":
        return -np.inf
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"the entry {name!r} of the model's claim must be a number")
    return float(value)
