"""The one place of this room that knows certificates: into the model file, out of it, and through the checker."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from evenleaf.errors import InputError
from evenleaf.fairness import Progress
from evenleaf.problem import Problem
from evenleaf.solve.certificate import certificate_from_bytes
from evenleaf.solve.result import PROOF_TOLERANCE


def certificate_to_json(certificate: Any) -> str | None:
    """Bytes, or anything that can be turned into them, as base64; None where there is no certificate."""
    if certificate is None:
        return None
    raw = certificate if isinstance(certificate, bytes) else certificate.to_bytes()
    return base64.b64encode(raw).decode("ascii")


def certificate_from_json(data: object) -> bytes | None:
    """The bytes of a certificate; the checker reads them."""
    if data is None:
        return None
    try:
        return base64.b64decode(data, validate=True)  # type: ignore[arg-type]
    except (TypeError, ValueError, binascii.Error) as error:
        raise InputError("the model's certificate is damaged") from error


def check_certificate(
    certificate: bytes, problem: Problem, objective: float, progress: Progress | None = None
) -> tuple[bool, str]:
    """Whether the certificate proves that no tree is better than the objective, and in words what was checked."""
    from evenleaf.solve.certify import check

    try:
        proven = certificate_from_bytes(certificate).objective
    except InputError as error:
        return False, str(error)
    verdict = check(certificate, problem, None if progress is None else lambda done, total: progress(done / total))
    if not verdict.holds:
        return False, f"the certificate is no proof: {verdict.reason}"
    if objective > proven + PROOF_TOLERANCE:
        return False, f"the certificate is about a better tree, with the objective {proven:.9g}"
    return True, f"no tree is better, by a certificate that was checked without the solver. {' '.join(verdict.checked)}"
