"""What a solver claims about a tree, as plain JSON and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from evenleaf.errors import InputError
from evenleaf.problem import Score
from evenleaf.solve import Solution, Status, Stop, TracePoint
from evenleaf.solve.certificate import certificate_from_bytes
from evenleaf.tree import Tree

CERTIFICATE_MAGIC = b"evenleaf-certificate\n"


def claim_to_json(solution: Solution) -> dict[str, Any]:
    """Status, figures and trace; a number that is not finite (nothing is known) is None."""
    score = solution.score
    return {
        "status": str(solution.status),
        "stop": str(solution.stop),
        "solver": solution.solver,
        "seconds": float(solution.seconds),
        "bound": _finite(solution.bound),
        "loss": None if score is None else float(score.loss),
        "discrimination": None if score is None else float(score.discrimination),
        "objective": None if score is None else float(score.objective),
        "message": solution.message,
        "trace": [[p.seconds, _finite(p.bound), _finite(p.objective)] for p in solution.trace],
    }


def claim_from_json(data: object, tree: Tree, certificate: bytes | None) -> Solution:
    """Read back what `claim_to_json` wrote, as the solution that a tree came with."""
    if not isinstance(data, Mapping):
        raise InputError("the model's claim must be an object")
    try:
        score = None
        if data["objective"] is not None:
            score = Score(float(data["loss"]), float(data["discrimination"]), float(data["objective"]), ())
        return Solution(
            tree,
            score,
            _number(data["bound"], -math.inf),
            Status(data["status"]),
            Stop(data["stop"]),
            str(data["solver"]),
            float(data["seconds"]),
            tuple(TracePoint(float(s), _number(b, -math.inf), _number(o, math.inf)) for s, b, o in data["trace"]),
            str(data["message"]),
            read_certificate(certificate),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"the model's claim is incomplete or damaged: {error}") from error


def certificate_bytes(certificate: Any) -> bytes | None:
    """A certificate as bytes; it may be bytes already."""
    return certificate if certificate is None or isinstance(certificate, bytes) else certificate.to_bytes()


def read_certificate(raw: bytes | None) -> Any:
    """The certificate in these bytes; bytes of another kind stay as they are, for whoever can read them."""
    if raw is None or not raw.startswith(CERTIFICATE_MAGIC):
        return raw
    try:
        return certificate_from_bytes(raw)
    except RecursionError as error:
        raise InputError("the certificate cannot be read: it is nested too deeply") from error


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _number(value: Any, otherwise: float) -> float:
    return otherwise if value is None else float(value)
