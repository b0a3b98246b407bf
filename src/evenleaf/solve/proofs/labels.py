"""The proof of the search over labels: how the trees were parted, and the multipliers that rule each part out (§6).

It speaks about a problem as `search/compiled.py` prepares it: people with equal features merged,
features as ranks, operator rows merged. Multipliers are whole numbers over `GRID`; the search
rounds them so before it prices them, so that the checker sees exactly what the search saw. There is one for each row
and class, then one for each facet of a row; facets found later than a node count nothing there.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from evenleaf.solve.proofs.facets import NO_FACETS, Facets
from evenleaf.solve.proofs.stream import Source

GRID = 1 << 30
LEFT, RIGHT, OPEN = 0, 1, 2
# Of proofs with limits that join tests: how deep the trees may be, and where people in leaves are counted, how many
# levels a column may have. Beyond that no bound is written down that the checker could follow.
DEEPEST_LIMITED, MOST_COUNTED_LEVELS = 3, 13
_LARGE = 10_000  # multipliers


@dataclass(eq=False)
class Labels:
    """A node of the tree of decided labels.

    At its multipliers, every tree of the box that keeps the labels decided so far costs at least the claimed
    objective; or a person is named, and the trees that do not are parted into those that give the person the
    label (`children[1]`) and those that do not (`children[0]`). Or the roots of the box are parted into smaller
    regions, in each of which the trees that keep the labels decided so far are ruled out.
    """

    mu: np.ndarray
    scale: float
    person: int = -1
    label: int = 0
    children: tuple[Labels, Labels] | None = None
    parts: list[Region] = field(default_factory=list)
    gain: float = 0.0  # how much the labels raised the bound; a hint for the next root, no part of the record

    def nodes(self) -> Iterator[Labels]:
        """This node and all below it."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children or ())


@dataclass(eq=False)
class Region:
    """A set of root tests on one feature, and why no tree with such a root beats the claim.

    Of an ordered feature: the cuts after ranks `first` to `last`. Of an unordered one: `sides` tells of each rank
    whether it goes left, right, or is open. The multipliers rule some trees out; the rest is ruled out by the
    tree of labels, or by the smaller regions that it was split into, or nothing is left.
    """

    feature: int
    first: int
    last: int
    sides: np.ndarray | None
    mu: np.ndarray
    scale: float
    labels: Labels | None = None
    parts: list[Region] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class LabelsProof:
    """All regions of a proof, and the facets that their multipliers speak about; `rows`: how many have a multiplier."""

    regions: tuple[Region, ...]
    facets: Facets = NO_FACETS
    rows: int = 0
    kind: ClassVar[str] = "labels"

    @property
    def n_nodes(self) -> int:
        """How many sets of trees the proof speaks about."""
        return sum(count_nodes(region) for region in self.regions)

    def write(self, emit: Callable[[np.ndarray], None]) -> dict[str, Any]:
        """The words of the proof; its multipliers are passed on in the order in which they are read again."""
        rows, classes = self.regions[0].mu.shape if self.regions else (0, 0)
        rows = max(rows, self.rows)

        def tell(mu: np.ndarray, before: np.ndarray | None) -> None:
            whole = lengthened(mu, rows)
            # Whole numbers of 32 bits wrap around, so that the sum of the steps is exact whatever their size.
            emit(whole if before is None else (whole - lengthened(before, rows)).astype(np.int32))

        return {
            "rows": [rows, classes],
            "facets": self.facets.write(),
            "regions": [_region_out(region, None, tell) for region in self.regions],
        }

    @classmethod
    def read(cls, words: dict[str, Any], source: Source) -> LabelsProof:
        """The proof from its words and its multipliers."""
        rows, classes = (int(n) for n in words["rows"])
        regions = tuple(_region_in(entry, None, source, (rows, classes)) for entry in words["regions"])
        return cls(regions, Facets.read(words["facets"]), rows)


def lengthened(mu: np.ndarray, rows: int) -> np.ndarray:
    """Multipliers with zeros for the facets that have come since."""
    if len(mu) >= rows:
        return mu
    longer = np.zeros((rows, mu.shape[1]), dtype=mu.dtype)
    longer[: len(mu)] = mu
    return longer


def _get_mu(node: Any) -> np.ndarray:
    kept = node.__dict__["_mu"]
    if isinstance(kept, np.ndarray):
        return kept
    data, shape = kept
    return np.frombuffer(zlib.decompress(data), dtype=np.int32).reshape(shape)


def _set_mu(node: Any, mu: np.ndarray) -> None:
    small = mu.size <= _LARGE
    node.__dict__["_mu"] = mu if small else (zlib.compress(mu.astype(np.int32).tobytes(), 1), mu.shape)


# A proof on a large table has thousands of long rows of multipliers: they are kept compressed from the start.
for _holder in (Labels, Region):
    setattr(_holder, "mu", property(_get_mu, _set_mu))  # noqa: B010


def count_nodes(region: Region) -> int:
    """How many sets of trees a region speaks about."""
    return sum(1 for _ in _walk(region))


def count_labels(top: Labels) -> int:
    """How many nodes a tree of labels has."""
    return sum(1 for _ in _walk_labels(top))


def _walk(region: Region) -> Iterator[object]:
    yield region
    if region.labels is not None:
        yield from _walk_labels(region.labels)
    for part in region.parts:
        yield from _walk(part)


def _walk_labels(top: Labels) -> Iterator[object]:
    for node in top.nodes():
        yield node
        for part in node.parts:
            yield from _walk(part)


Tell = Callable[[np.ndarray, np.ndarray | None], None]  # multipliers, and those of the set it is part of


def _region_out(region: Region, before: np.ndarray | None, tell: Tell) -> list[Any]:
    """A region as JSON; its multipliers are passed on, as the difference to those of the set it is part of."""
    tell(region.mu, before)
    roots = [region.first, region.last] if region.sides is None else [int(side) for side in region.sides]
    labels = None if region.labels is None else _labels_out(region.labels, region.mu, tell)
    parts = [_region_out(part, region.mu, tell) for part in region.parts]
    return [region.feature, int(region.sides is None), roots, region.scale, labels, parts]


def _labels_out(top: Labels, before: np.ndarray, tell: Tell) -> list[list[Any]]:
    """The nodes in the order of a walk, so that deep trees need no deep nesting."""
    rows: list[list[Any]] = []
    stack = [(top, before)]
    while stack:
        node, parent = stack.pop()
        tell(node.mu, parent)
        parts = [_region_out(part, node.mu, tell) for part in node.parts]
        rows.append([node.scale, node.person, node.label, *([parts] if parts else [])])
        if node.children is not None:
            stack += [(node.children[1], node.mu), (node.children[0], node.mu)]
    return rows


def _region_in(entry: Any, before: np.ndarray | None, source: Source, shape: tuple[int, int]) -> Region:
    feature, ordered, roots, scale, labels, parts = entry
    mu = _next(source, before, shape)
    first, last = (int(roots[0]), int(roots[1])) if ordered else (0, 0)
    region = Region(int(feature), first, last, None if ordered else np.array(roots, dtype=np.int8), mu, float(scale))
    if labels is not None:
        region.labels = _labels_in(labels, mu, source, shape)
    region.parts = [_region_in(part, mu, source, shape) for part in parts]
    return region


def _labels_in(rows: list[Any], before: np.ndarray, source: Source, shape: tuple[int, int]) -> Labels:
    """Rebuild the tree of labels from the walk through it."""
    waiting: list[tuple[Labels | None, int, np.ndarray]] = [(None, 0, before)]
    top: Labels | None = None
    for scale, person, label, *parts in rows:
        parent, position, mu_before = waiting.pop()
        node = Labels(_next(source, mu_before, shape), float(scale), int(person), int(label))
        node.parts = [_region_in(part, node.mu, source, shape) for part in (parts[0] if parts else [])]
        if parent is None:
            top = node
        elif parent.children is not None:
            parent.children = (node, parent.children[1]) if position == 0 else (parent.children[0], node)
        if node.person >= 0:
            node.children = (node, node)  # replaced as the children come in
            waiting += [(node, 1, node.mu), (node, 0, node.mu)]
    if top is None or waiting:
        raise ValueError("a tree of labels is not complete")
    return top


def _next(source: Source, before: np.ndarray | None, shape: tuple[int, int]) -> np.ndarray:
    step = source.take(shape, np.int32)
    return step if before is None else (before + step).astype(np.int32)
