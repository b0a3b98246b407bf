"""The certificate of a proof: a claim about a tree, and the proof of it in the words of the search that found it (§6).

Each kind of proof has its module in `solve/proofs`; a certificate adds the claim, and makes a file of both that is
safe to read from strangers.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenleaf.errors import InputError
from evenleaf.problem import Problem
from evenleaf.solve.proofs.fronts import FrontsProof
from evenleaf.solve.proofs.labels import LabelsProof
from evenleaf.solve.proofs.stream import Source, octets
from evenleaf.solve.proofs.values import ValuesProof
from evenleaf.tree import Tree, tree_from_json, tree_to_json

VERSION = 1
_MOST_BYTES = 1 << 32  # a stranger's file must not fill the memory
_MAGIC = b"evenleaf-certificate\n"


class Proof(Protocol):
    """What every kind of proof can do."""

    @property
    def kind(self) -> str:
        """The name under which it is read again."""

    @property
    def n_nodes(self) -> int:
        """How many sets of trees the proof speaks about."""

    def write(self, emit: Callable[[np.ndarray], None]) -> dict[str, Any]:
        """The proof as JSON, with its rows of numbers passed to `emit`; each kind has a `read` that undoes it."""


_KINDS: dict[str, Callable[[dict[str, Any], Source], Proof]] = {
    LabelsProof.kind: LabelsProof.read,
    FrontsProof.kind: FrontsProof.read,
    ValuesProof.kind: ValuesProof.read,
}


@dataclass(frozen=True, eq=False)
class Certificate:
    """A claim (this tree, this objective, nothing better by more than `tolerance`) with its proof.

    One that is `deferred` is written when it is first looked at: for a small question the checksum of the table
    takes longer than the search.
    """

    objective: float
    tolerance: float
    tree: dict[str, Any]
    problem: str
    proof: Proof

    def to_bytes(self) -> bytes:
        """Compressed, safe to read from strangers, the same for the same proof."""
        head = {
            "version": VERSION,
            "objective": self.objective,
            "tolerance": self.tolerance,
            "tree": self.tree,
            "problem": self.problem,
            "kind": self.proof.kind,
            "proof": self.proof.write(_ignore),
        }
        text = json.dumps(head, separators=(",", ":")).encode()
        squeeze = zlib.compressobj(6)
        packed = [squeeze.compress(len(text).to_bytes(8, "little") + text)]
        self.proof.write(lambda row: packed.append(squeeze.compress(octets(row))))
        packed.append(squeeze.flush())
        body = b"".join(packed)
        return _MAGIC + hashlib.sha256(body).digest() + body

    @property
    def n_nodes(self) -> int:
        """How many sets of trees the proof speaks about."""
        return self.proof.n_nodes

    @classmethod
    def deferred(cls, make: Callable[[], Certificate]) -> Certificate:
        """The certificate that `make` will write; until then it keeps what that needs."""
        certificate = object.__new__(cls)
        object.__setattr__(certificate, "_make", make)
        return certificate

    def settle(self) -> None:
        """Write it now, so that it no longer keeps the table that it is about."""
        if "_make" in self.__dict__:
            self.__dict__.update(self.__dict__.pop("_make")().__dict__)

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not there: a field of a certificate that is not written yet, or nothing it has.
        if "_make" not in self.__dict__ or name.startswith("__"):
            raise AttributeError(name)
        self.settle()
        return getattr(self, name)

    def __getstate__(self) -> dict[str, Any]:
        self.settle()
        return self.__dict__


def certificate_from_bytes(data: bytes) -> Certificate:
    """Read a certificate; a clear error where it is not one, was cut short or was edited."""
    if not data.startswith(_MAGIC):
        raise InputError("this is not an Evenleaf certificate")
    packed = data[len(_MAGIC) + 32 :]
    if hashlib.sha256(packed).digest() != data[len(_MAGIC) : len(_MAGIC) + 32]:
        raise InputError("the certificate was cut short or edited: its checksum does not hold")
    try:
        unpack = zlib.decompressobj()
        body = unpack.decompress(packed, _MOST_BYTES)
        if unpack.unconsumed_tail:
            raise InputError("the certificate is larger than any that Evenleaf writes")
        length = int.from_bytes(body[:8], "little")
        head = json.loads(body[8 : 8 + length])
        if head["version"] != VERSION:
            raise InputError(f"the certificate has version {head['version']}; this Evenleaf reads version {VERSION}")
        if head["kind"] not in _KINDS:
            raise InputError(
                f"the certificate holds a proof of the kind {head['kind']!r}, which this Evenleaf cannot read"
            )
        proof = _KINDS[head["kind"]](head["proof"], Source(body[8 + length :]))
        return Certificate(
            float(head["objective"]), float(head["tolerance"]), dict(head["tree"]), str(head["problem"]), proof
        )
    except (LookupError, ValueError, TypeError, ArithmeticError, RecursionError, StopIteration, zlib.error) as error:
        raise InputError(f"the certificate cannot be read: {error}") from error


def fingerprint(problem: Problem) -> str:
    """A checksum of everything a proof depends on: the table, the outcome, the operator, the loss and the limits."""
    digest = hashlib.sha256()
    people, disparity = problem.people, problem.disparity
    for column in people.features.data:
        digest.update(np.ascontiguousarray(column).tobytes())
    digest.update(json.dumps(people.features.schema.to_json(), sort_keys=True, default=str).encode())
    digest.update(np.ascontiguousarray(people.outcome.values).tobytes())
    digest.update(np.ascontiguousarray(people.weight).tobytes())
    matrix = disparity.matrix.tocsr(copy=True)
    matrix.sort_indices()
    for part in (matrix.indptr, matrix.indices, matrix.data, disparity.weight):
        digest.update(np.ascontiguousarray(part).tobytes())
    settings = (problem.loss, problem.shape, problem.fairness_weight, problem.max_discrimination)
    digest.update(repr(settings).encode())
    return digest.hexdigest()


def make_certificate(problem: Problem, tree: Tree, objective: float, tolerance: float, proof: Proof) -> Certificate:
    """The certificate for a tree that was proven."""
    return Certificate(objective, tolerance, tree_to_json(tree), fingerprint(problem), proof)


def claimed_tree(certificate: Certificate) -> Tree:
    """The tree that a certificate is about."""
    return tree_from_json(certificate.tree)


def _ignore(_: np.ndarray) -> None:
    """For the walk that wants the words only."""
