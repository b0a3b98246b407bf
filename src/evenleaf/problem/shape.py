"""Which trees are allowed: depth, the kind of tests and leaves, and the limits that keep a tree readable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from evenleaf.errors import InputError
from evenleaf.table import Schema, Table
from evenleaf.tree import Leaf, LinearTest, Tree

Branching = Literal["single", "linear"]
LeafModel = Literal["constant", "linear"]
_FEW_LEAVES = 8


@dataclass(frozen=True)
class Shape:
    """Limits on a tree; None means no limit.

    `max_feature_uses` bounds how many tests look at a feature (Σ_ν p_νj): one number for all, or one a name.
    `max_features_used` counts the features of all tests together, `max_features_per_test` those of one linear test.
    `min_samples_leaf` counts people, not weights, and is asked of leaves below a test: the tree without any test
    is always allowed, so no limit can leave nothing to choose from.
    """

    max_depth: int = 2
    branching: Branching = "single"
    leaves: LeafModel = "constant"
    max_feature_uses: int | Mapping[str, int] | None = None
    max_features_used: int | None = None
    max_features_per_test: int | None = None
    max_leaves: int | None = None
    min_samples_leaf: int = 1
    allowed_features: Sequence[str] | None = None

    def __post_init__(self) -> None:
        _whole("max_depth", self.max_depth, 0)
        _whole("min_samples_leaf", self.min_samples_leaf, 1)
        for name in ("max_features_used", "max_features_per_test"):
            _whole(name, getattr(self, name), 0, optional=True)
        _whole("max_leaves", self.max_leaves, 1, optional=True)
        if self.branching not in ("single", "linear"):
            raise InputError(f"branching must be 'single' or 'linear', not {self.branching!r}")
        if self.leaves not in ("constant", "linear"):
            raise InputError(f"leaves must be 'constant' or 'linear', not {self.leaves!r}")
        self._freeze()

    def _freeze(self) -> None:
        """Keep copies of what the caller may change later."""
        uses = self.max_feature_uses
        if isinstance(uses, Mapping):
            for feature, limit in uses.items():
                _whole(f"max_feature_uses[{feature!r}]", limit, 0)
            object.__setattr__(self, "max_feature_uses", dict(uses))
        else:
            _whole("max_feature_uses", uses, 0, optional=True)
        if self.allowed_features is not None:
            if isinstance(self.allowed_features, str) or not isinstance(self.allowed_features, Iterable):
                raise InputError(f"allowed_features must be a list of names, not {self.allowed_features!r}")
            object.__setattr__(self, "allowed_features", tuple(self.allowed_features))

    def check(self, schema: Schema) -> None:
        """Names in the limits must be columns; a misspelt one is answered with the nearest."""
        for name in self.allowed_features or ():
            schema.position(name)
        if isinstance(self.max_feature_uses, Mapping):
            for name in self.max_feature_uses:
                schema.position(name)

    def allowed(self, schema: Schema) -> tuple[int, ...]:
        """The positions of the columns that tests and linear leaves may look at."""
        if self.allowed_features is None:
            return tuple(range(len(schema)))
        return tuple(sorted({schema.position(name) for name in self.allowed_features}))

    @property
    def joins_tests(self) -> bool:
        """Whether a limit joins tests in different places: what one subtree may have depends on the others."""
        limits = (self.max_leaves, self.max_features_used, self.max_feature_uses)
        return self.min_samples_leaf > 1 or any(limit is not None for limit in limits)

    def use_limits(self, schema: Schema) -> dict[int, int]:
        """The most tests that may look at each column, for the columns that have such a limit."""
        uses = self.max_feature_uses
        if uses is None:
            return {}
        if isinstance(uses, Mapping):
            return {schema.position(name): limit for name, limit in uses.items()}
        return dict.fromkeys(range(len(schema)), uses)

    def violations(self, tree: Tree, table: Table, reached: np.ndarray | None = None) -> tuple[str, ...]:
        """Every limit that a tree breaks on these people, in words; empty where it keeps them all.

        Who knows already which leaves are reached may say so.
        """
        return (*self._structure(tree), *self._features(tree), *self._crowding(tree, table, reached))

    def _structure(self, tree: Tree) -> Iterator[str]:
        if tree.depth > self.max_depth:
            yield f"depth {tree.depth} is more than {self.max_depth}"
        if self.max_leaves is not None and tree.n_leaves > self.max_leaves:
            yield f"{tree.n_leaves} leaves are more than {self.max_leaves}"
        linear_test = linear_leaf = False
        for node in tree.nodes:
            if isinstance(node, Leaf):
                linear_leaf |= bool(node.terms)
            else:
                linear_test |= isinstance(node.test, LinearTest)
        if self.branching == "single" and linear_test:
            yield "a linear test, where only single features may be tested"
        if self.leaves == "constant" and linear_leaf:
            yield "a linear leaf, where leaves must be constant"

    def _features(self, tree: Tree) -> Iterator[str]:
        limits = (self.allowed_features, self.max_feature_uses, self.max_features_used, self.max_features_per_test)
        if all(limit is None for limit in limits):
            return
        schema, uses = tree.schema, tree.feature_uses
        if self.allowed_features is not None:
            looked_at = set(uses) | {t.column for node in tree.nodes if isinstance(node, Leaf) for t in node.terms}
            for column in sorted(looked_at - set(self.allowed(schema))):
                yield f"{schema[column].name!r} is used but not allowed"
        for column, limit in self.use_limits(schema).items():
            if uses[column] > limit:
                yield f"{schema[column].name!r} is tested {uses[column]} times, more than {limit}"
        if self.max_features_used is not None and len(uses) > self.max_features_used:
            yield f"{len(uses)} features are tested, more than {self.max_features_used}"
        if self.max_features_per_test is not None:
            widest = max((len(test.columns) for test in tree.tests), default=0)
            if widest > self.max_features_per_test:
                yield f"a test looks at {widest} features, more than {self.max_features_per_test}"

    def _crowding(self, tree: Tree, table: Table, reached: np.ndarray | None) -> Iterator[str]:
        if len(tree.nodes) == 1:
            return
        reached = tree.apply(table) if reached is None else reached
        leaves = [position for position, node in enumerate(tree.nodes) if isinstance(node, Leaf)]
        if len(leaves) <= _FEW_LEAVES:  # comparing is faster than counting, leaf by leaf
            fewest = min(int(np.count_nonzero(reached == leaf)) for leaf in leaves)
        else:
            fewest = int(np.bincount(reached, minlength=len(tree.nodes))[leaves].min())
        if fewest < self.min_samples_leaf:
            yield f"a leaf holds {fewest} people, fewer than {self.min_samples_leaf}"


def _whole(name: str, value: Any, least: int, *, optional: bool = False) -> None:
    if value is None and optional:
        return
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise InputError(f"{name} must be a whole number, not {value!r}")
    if value < least:
        raise InputError(f"{name} must be at least {least}, not {value}")
