"""What the tests of the three checkers share: a solver's proof, whether it holds, and claims that it must not prove."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from edited_certificates import TOLERANCE, copy_of, reason
from evenleaf.problem import Problem
from evenleaf.solve import Budget, Solver
from evenleaf.solve.certificate import Certificate, Proof, make_certificate
from evenleaf.solve.certify import check
from evenleaf.table import People, Task
from evenleaf.testing import SHELF, brute_force, people_from
from evenleaf.tree import Leaf, Tree


def certificate_by(solver: Solver, problem: Problem) -> Certificate:
    solution = solver.solve(problem, Budget())
    assert solution.proven
    assert isinstance(solution.certificate, Certificate)
    return solution.certificate


def certificate_holds(certificate: Certificate, problem: Problem, steps: tuple[int, ...]) -> None:
    """As it is and as bytes; `steps`: how many lines the checker may say that it went through."""
    for form in (certificate, certificate.to_bytes()):
        verdict = check(form, problem)
        assert verdict.holds, verdict.reason
        assert verdict.reason == ""
        assert len(verdict.checked) in steps


def shelf_certificates(solver: Solver, takes: Callable[[Problem], bool]) -> int:
    """How many proofs of the shelf were checked, all of which hold."""
    checked = 0
    for entry in SHELF:
        problem = entry.build()
        if takes(problem):
            verdict = check(certificate_by(solver, problem).to_bytes(), problem)
            assert verdict.holds, f"{entry.name}: {verdict.reason}"
            checked += 1
    return checked


def progress_is_told(certificate: Certificate, problem: Problem, total: int) -> None:
    told: list[tuple[int, int]] = []
    assert check(certificate, problem, lambda done, of: told.append((done, of))).holds
    assert told == sorted(told)
    assert told[-1] == (total, total)


def read_again(certificate: Certificate) -> Certificate:
    """The certificate as somebody reads it who was sent its bytes, and from whom we get the same bytes back."""
    again = copy_of(certificate)
    assert again.to_bytes() == certificate.to_bytes()
    assert again.n_nodes == certificate.n_nodes
    return again


def people_without_pattern(n: int, levels: int = 4, groups: str = "ab", task: Task = "classification") -> People:
    """Two columns of numbers and `levels` of the column c that say little about the outcome: a proof takes work."""
    number = np.arange(n)
    x, z = number * 7 % 11, number * number % 5
    columns = {"x": x, "z": z, "c": [f"level {i}" for i in (number * 5 + 1) % (levels + 3) % levels]}
    label, amount = (x + 2 * z + number % 3) % 2, (x + 2 * z + number * 5 % 7) % 9
    outcome = label if task == "classification" else amount.astype(float)
    return people_from(columns, outcome, {"g": [groups[i] for i in number * 3 % 7 % len(groups)]}, task=task)


def claim_of(problem: Problem, tree: Tree, proof: Proof) -> Certificate:
    """Somebody's claim that no tree is better than this one, whether it is true or not."""
    return make_certificate(problem, tree, problem.evaluate(tree).objective, TOLERANCE, proof)


def claim_is_refused(problem: Problem, tree: Tree, proof: Proof) -> None:
    """The claim is refused because something is better, and not for a fault in how the proof is written."""
    said = reason(claim_of(problem, tree, proof), problem)
    constant = "one value for everybody is better" if problem.target.classes is None else "for everybody is better"
    assert "does not rule out" in said or constant in said, (said, str(tree))


def worse_classifiers(problem: Problem) -> list[Tree]:
    """Valid trees that are worse than the best: constants, and the best tree of less depth."""
    constants = constant_trees(problem, range(len(problem.target.classes or ())))
    return worse_of(problem, [*constants, *less_deep(problem)], brute_force(problem).objective)


def constant_trees(problem: Problem, values: Iterable[float]) -> list[Tree]:
    return [Tree(problem.people.features.schema, problem.target, (Leaf(float(value)),)) for value in values]


def less_deep(problem: Problem) -> list[Tree]:
    """The best tree of less depth, where a smaller one has a test at all."""
    if problem.shape.max_depth <= 1:
        return []
    shallow = brute_force(problem.with_shape(replace(problem.shape, max_depth=problem.shape.max_depth - 1))).tree
    assert shallow is not None
    return [shallow]


def worse_of(problem: Problem, trees: list[Tree], best: float) -> list[Tree]:
    scored = [(problem.evaluate(tree), tree) for tree in trees]
    return [tree for score, tree in scored if score.feasible and score.objective > best + 2 * TOLERANCE]
