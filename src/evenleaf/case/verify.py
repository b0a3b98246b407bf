"""Check a model file against a table, claim by claim, from the definitions: nothing of the solver is trusted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np

from evenleaf.case.answer import Answer, Claim
from evenleaf.case.certificate import check_certificate
from evenleaf.case.notions import split_notion
from evenleaf.case.opened import Case, open_case
from evenleaf.case.question import Question
from evenleaf.errors import InputError
from evenleaf.fairness import Progress
from evenleaf.metrics import didi, dtdi
from evenleaf.problem import Score
from evenleaf.solve import Budget, solve
from evenleaf.solve.result import PROOF_TOLERANCE, relative_gap
from evenleaf.table import Table

# Sums of N terms agree to this between machines; a claim is wrong beyond it.
_TOLERANCE = 1e-9


class Verdict(StrEnum):
    """What became of one check."""

    HOLDS = "holds"
    FAILS = "fails"
    UNCHECKED = "not checked"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: what, with which result, and in a sentence why."""

    what: str
    verdict: Verdict
    words: str


@dataclass(frozen=True)
class Verification:
    """All checks of a model. `holds` where none failed; `proven` where optimality itself was checked and holds."""

    checks: tuple[Check, ...]
    proven: bool

    @property
    def holds(self) -> bool:
        """Whether nothing that was checked is false."""
        return all(check.verdict is not Verdict.FAILS for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        checks = [{**asdict(check), "verdict": str(check.verdict)} for check in self.checks]
        return {
            "format": "evenleaf-verification",
            "version": 1,
            "holds": self.holds,
            "proven": self.proven,
            "checks": checks,
        }


def verify_file(
    answer: Answer,
    path: str | Path,
    *,
    progress: Progress | None = None,
    proving: Progress | None = None,
    solve_again: Budget | None = None,
) -> Verification:
    """Read the table again, pose the model's own question about it, and compare every claim with what is found.

    `progress` is told of the reading, `proving` of the certificate. A model that claims a proof and does not carry
    one can be solved anew within the budget `solve_again`.
    """
    if answer.question is None or answer.claim is None:
        raise InputError("this file holds a tree without a question or a claim; there is nothing to verify")
    # The features are read by the tree's own schema, so that a level missing from this table changes no code.
    question = _without_form(answer.question)
    case = open_case(path, question, schema=answer.tree.schema, progress=progress)
    case = _with_form(case, answer.question)
    return verify(answer, answer.claim, case, solve_again, proving)


def verify(
    answer: Answer, claim: Claim, case: Case, solve_again: Budget | None = None, proving: Progress | None = None
) -> Verification:
    """The checks of a model against a case."""
    checks = [_same_table(answer, case)]
    if case.problem.target != answer.tree.target:
        checks.append(Check("decision", Verdict.FAILS, "the tree decides about another column or other classes"))
        return Verification(tuple(checks), proven=False)
    score = case.problem.evaluate(answer.tree)
    checks += [_limits(score), *_figures(claim, score), *_indices(answer, case, score)]
    proof = _optimum(answer, claim, case, score, solve_again, proving)
    holds = all(check.verdict is not Verdict.FAILS for check in checks)
    return Verification((*checks, proof), proven=holds and proof.verdict is Verdict.HOLDS)


def _without_form(question: Question) -> Question:
    return replace(question, fairness_weight=None, max_discrimination=None)


def _with_form(case: Case, question: Question) -> Case:
    """λ or ε as it was asked; a frontier's tree carries the λ at which it was solved."""
    problem = case.problem
    if question.max_discrimination is not None:
        problem = problem.with_limit(question.max_discrimination)
    elif question.fair:
        problem = problem.with_weight(1.0 if question.fairness_weight is None else question.fairness_weight)
    return replace(case, question=question, problem=problem)


def _same_table(answer: Answer, case: Case) -> Check:
    if answer.checksum is None:
        return Check("table", Verdict.UNCHECKED, "the model does not say which table it was learned from")
    if answer.checksum == case.checksum:
        people = f"{case.people.n_people:,} people"
        return Check("table", Verdict.HOLDS, f"this is the table the tree was learned from: {people}, same checksum")
    return Check(
        "table", Verdict.FAILS, "this is not the table the tree was learned from: the checksum of its columns differs"
    )


def _limits(score: Score) -> Check:
    if score.feasible:
        return Check("limits", Verdict.HOLDS, "the tree keeps every limit that was asked for")
    return Check("limits", Verdict.FAILS, f"the tree breaks a limit: {'; '.join(score.violations)}")


def _figures(claim: Claim, score: Score) -> Iterator[Check]:
    for name in ("loss", "discrimination", "objective"):
        claimed, found = getattr(claim, name), getattr(score, name)
        if _near(claimed, found):
            yield Check(name, Verdict.HOLDS, f"the {name} is {found:.6g}, computed anew from the definition")
        else:
            yield Check(name, Verdict.FAILS, f"the {name} is {found:.9g}, but the model claims {claimed:.9g}")


def _indices(answer: Answer, case: Case, score: Score) -> Iterator[Check]:
    """DIDI and DTDI a second time, through the plain functions that anybody can call on their own predictions."""
    question = case.question
    parts = split_notion(question.fairness)
    if not parts or any(name not in ("didi", "dtdi") for _, name in parts):
        return
    total = sum(factor * _index(name, answer, case) for factor, name in parts)
    verdict = Verdict.HOLDS if _near(total, score.discrimination) else Verdict.FAILS
    words = f"{question.index} of the tree's predictions by evenleaf.metrics: {total:.6g}"
    yield Check("index", verdict, words)


def _index(name: str, answer: Answer, case: Case) -> float:
    people = case.people
    decided = answer.tree.decide(people.features)
    classes = people.outcome.classes
    y = decided if classes is None else np.array([str(label) for label in classes], dtype=object)[decided]
    options: dict[str, Any] = {"task": people.outcome.task, "sample_weight": people.weight}
    total = 0.0
    for groups in people.groups:
        by = Table.of({"group": [groups.labels[code] for code in groups.codes]})
        if name == "didi":
            total += didi(y, sensitive_features=by, **options)
        else:
            total += dtdi(y, people.features, sensitive_features=by, n_neighbors=case.question.n_neighbors, **options)
    return total


def _optimum(
    answer: Answer, claim: Claim, case: Case, score: Score, solve_again: Budget | None, progress: Progress | None
) -> Check:
    if not claim.proven:
        gap = relative_gap(claim.objective, claim.bound)
        return Check("optimum", Verdict.UNCHECKED, f"the model does not claim to be optimal: its gap is {gap:.2%}")
    if not claim.bound >= score.objective - PROOF_TOLERANCE:
        return Check("optimum", Verdict.FAILS, "the model claims to be optimal, but its bound is below its objective")
    if answer.certificate is not None and solve_again is None:
        holds, words = check_certificate(answer.certificate, case.problem, score.objective, progress)
        return Check("optimum", Verdict.HOLDS if holds else Verdict.FAILS, words)
    if solve_again is None:
        words = "the model claims to be optimal but carries no certificate; --solve-again checks it by solving anew"
        return Check("optimum", Verdict.UNCHECKED, words)
    return _solved_again(case, score, solve_again)


def _solved_again(case: Case, score: Score, budget: Budget) -> Check:
    solution = solve(case.problem, budget)
    if solution.bound >= score.objective - PROOF_TOLERANCE:
        words = f"solved anew in {solution.seconds:.1f} s: no tree is below {score.objective:.6g}"
        return Check("optimum", Verdict.HOLDS, words)
    if solution.objective < score.objective - PROOF_TOLERANCE:
        words = f"solved anew, a better tree was found: {solution.objective:.6g} against {score.objective:.6g}"
        return Check("optimum", Verdict.FAILS, words)
    return Check("optimum", Verdict.UNCHECKED, f"solving anew was stopped ({solution.stop}) before a proof")


def _near(claimed: float, found: float) -> bool:
    return bool(abs(claimed - found) <= _TOLERANCE * max(1.0, abs(found)))
