"""Is a certificate a proof? First its claim is checked, then, by the checker of its kind, that nothing is better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve.certificate import Certificate, certificate_from_bytes, claimed_tree, fingerprint
from evenleaf.solve.certify.claim import Claim, Progress, ProofError
from evenleaf.solve.certify.fronts.proof import FrontsCheck
from evenleaf.solve.certify.labels.proof import LabelsCheck
from evenleaf.solve.certify.values.proof import ValuesCheck
from evenleaf.solve.proofs.fronts import FrontsProof
from evenleaf.solve.proofs.labels import LabelsProof
from evenleaf.solve.proofs.values import ValuesProof
from evenleaf.solve.result import PROOF_TOLERANCE
from evenleaf.tree import Leaf, Tree

_AGREEMENT = 1e-9
_CHECKERS: dict[str, Callable[[Claim, Any, Problem, Progress], Any]] = {
    LabelsProof.kind: LabelsCheck,
    FrontsProof.kind: FrontsCheck,
    ValuesProof.kind: ValuesCheck,
}


@dataclass(frozen=True)
class Verdict:
    """Whether a proof holds, why not, and what was checked on the way."""

    holds: bool
    reason: str
    checked: tuple[str, ...]


def check(certificate: Certificate | bytes, problem: Problem, on_progress: Progress | None = None) -> Verdict:
    """Check a certificate against a problem from the definitions; nothing that the solver computed is believed."""
    checked: list[str] = []
    try:
        if isinstance(certificate, bytes):
            certificate = certificate_from_bytes(certificate)
        _check_claim(certificate, problem, checked)
        kind = certificate.proof.kind
        claim = Claim(certificate.objective, certificate.tolerance)
        _CHECKERS[kind](claim, certificate.proof, problem, on_progress or (lambda _done, _total: None)).check(checked)
    except (ProofError, InputError) as error:
        return Verdict(False, str(error), tuple(checked))
    except RecursionError:
        return Verdict(False, "the parts of the certificate are nested too deeply", tuple(checked))
    return Verdict(True, "", tuple(checked))


def _check_claim(certificate: Certificate, problem: Problem, checked: list[str]) -> None:
    """The certificate is about this problem, and its tree is worth what it claims."""
    if fingerprint(problem) != certificate.problem:
        raise ProofError("the certificate is about another table or question")
    checked.append("The certificate is about this table and this question.")
    if problem.shape.branching != "single" or problem.shape.leaves != "constant":
        raise ProofError("only proofs about trees with a single feature a test and constant leaves can be checked")
    if not 0 <= certificate.tolerance <= PROOF_TOLERANCE:
        raise ProofError(f"a proof to within {certificate.tolerance:g} is none; {PROOF_TOLERANCE:g} is the most")
    score = problem.evaluate(claimed_tree(certificate))
    if not score.feasible:
        raise ProofError(f"the tree breaks a limit: {'; '.join(score.violations)}")
    if not abs(score.objective - certificate.objective) <= _AGREEMENT * max(1.0, abs(score.objective)):
        raise ProofError(f"the tree has the objective {score.objective:.9g}, not {certificate.objective:.9g}")
    checked.append(f"The tree keeps every limit, and its objective is {score.objective:.6g}.")
    if problem.target.classes is not None:
        _check_constants(certificate, problem)
        checked.append("No tree without a test is better.")


def _check_constants(certificate: Certificate, problem: Problem) -> None:
    """Deciding everybody alike is no better; a single value for everybody is left to the proofs about numbers."""
    for label, name in enumerate(problem.target.classes or ()):
        leaf = Tree(problem.people.features.schema, problem.target, (Leaf(float(label)),))
        other = problem.evaluate(leaf)
        if other.feasible and other.objective < certificate.objective - certificate.tolerance:
            raise ProofError(f"deciding {name!r} for everybody is better: {other.objective:.9g}")
