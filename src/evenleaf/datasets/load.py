"""Any registered data set by its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from evenleaf.datasets.adult import load_adult
from evenleaf.datasets.checks import one_of
from evenleaf.datasets.communities import load_communities
from evenleaf.datasets.compas import load_compas
from evenleaf.datasets.credit import load_default
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.diabetes import load_diabetes
from evenleaf.datasets.registry import find
from evenleaf.errors import InputError

LOADERS: dict[str, Callable[..., Dataset]] = {
    "adult": load_adult,
    "default": load_default,
    "compas": load_compas,
    "communities": load_communities,
    "diabetes": load_diabetes,
}


def load(name: str, **options: Any) -> Dataset:
    """The data set of that name; the options are those of its own loader (`describe` lists them)."""
    loader = LOADERS[find(name).name]
    known = tuple(inspect.signature(loader).parameters)
    for option in options:
        if not known:
            raise InputError(f"the data set {name!r} has no options, so {option!r} cannot be given")
        one_of(f"an option of the data set {name!r}", option, known)
    return loader(**options)
