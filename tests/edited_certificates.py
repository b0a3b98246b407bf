"""Certificates as somebody else might write them, read again or edited under a right checksum; what is said of them."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from typing import Any

from evenleaf.problem import Problem
from evenleaf.solve.certificate import Certificate, certificate_from_bytes
from evenleaf.solve.certify import check

TOLERANCE = 1e-7
STRANGE: list[Any] = [None, -1, 0, 1, 2, 5, 10**30, 0.5, 1e300, "x", [], {}, [[]]]


def copy_of(certificate: Certificate) -> Certificate:
    return certificate_from_bytes(certificate.to_bytes())


def reason(certificate: Certificate | bytes, problem: Problem) -> str:
    verdict = check(certificate, problem)
    assert not verdict.holds
    return verdict.reason


def places(entry: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = entry.items() if isinstance(entry, dict) else enumerate(entry) if isinstance(entry, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def signed(head: Any, rest: bytes, magic: bytes) -> bytes:
    text = json.dumps(head).encode()
    packed = zlib.compress(len(text).to_bytes(8, "little") + text + rest)
    return magic + hashlib.sha256(packed).digest() + packed


def edited_is_answered(problem: Problem, data: bytes, best: float, seed: int, value: Any) -> None:
    """Whatever somebody writes in there, there is an answer; and yes is said only of the best tree."""
    start = data.index(b"\n") + 1
    body = zlib.decompress(data[start + 32 :])
    length = int.from_bytes(body[:8], "little")
    head = json.loads(body[8 : 8 + length])
    every = [path for path in places(head) if path]
    path = every[seed % len(every)]
    holder = head
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    edited = signed(head, body[8 + length :], data[:start])
    verdict = check(edited, problem)
    assert verdict.holds == (verdict.reason == "")
    if verdict.holds:
        assert certificate_from_bytes(edited).objective <= best + TOLERANCE
