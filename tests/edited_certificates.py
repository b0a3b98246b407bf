"""Certificates as somebody else might write them, read again or edited under a right checksum; what is said of them."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from evenleaf.problem import Problem
from evenleaf.solve.certificate import Certificate, certificate_from_bytes
from evenleaf.solve.certify import check
from evenleaf.tree import Tree, tree_to_json

TOLERANCE = 1e-7
STRANGE: list[Any] = [None, -1, 0, 1, 2, 5, 10**30, 0.5, 1e300, "x", [], {}, [[]]]


def copy_of(certificate: Certificate) -> Certificate:
    return certificate_from_bytes(certificate.to_bytes())


def reason(certificate: Certificate | bytes, problem: Problem) -> str:
    verdict = check(certificate, problem)
    assert not verdict.holds
    return verdict.reason


def other_figures_are_seen(certificate: Certificate, problem: Problem, other: Tree) -> None:
    """The objective is what the tree costs, the tree is the one that was proven, and a proof is a close one."""
    for objective in (certificate.objective - 0.01, np.nan):
        assert "the tree has the objective" in reason(replace(certificate, objective=objective), problem)
    for tolerance in (0.1, 1.1e-6, -1.0, np.nan):
        assert "a proof to within" in reason(replace(certificate, tolerance=tolerance), problem)
    assert "the tree has the objective" in reason(replace(certificate, tree=tree_to_json(other)), problem)


def other_questions_are_seen(certificate: Certificate, problem: Problem, *others: Problem) -> None:
    """A proof speaks about one table and one question: here are some with one thing changed, and `others`."""
    people = problem.people
    changed = people.features.data[0].copy()
    changed[0] += 0.5
    table = replace(people.features, data=(changed, *people.features.data[1:]))
    outcome = replace(people.outcome, values=people.outcome.values.max() - people.outcome.values)
    for other in (
        replace(problem, people=replace(people, features=table)),
        replace(problem, people=replace(people, outcome=outcome)),
        replace(problem, people=replace(people, weight=2 * people.weight)),
        replace(problem, disparity=2 * problem.disparity),
        problem.with_weight(0.31),
        problem.with_limit(0.21),
        problem.with_shape(replace(problem.shape, min_samples_leaf=2)),
        *others,
    ):
        assert reason(certificate, other) == "the certificate is about another table or question"


def damage_is_seen(certificate: Certificate, problem: Problem) -> None:
    data = certificate.to_bytes()
    assert "cut short or edited" in reason(data[:-1], problem)
    assert "cut short or edited" in reason(data[:100] + bytes([data[100] ^ 1]) + data[101:], problem)
    for other in (b"something else", b""):
        assert "not an Evenleaf certificate" in reason(other, problem)


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
