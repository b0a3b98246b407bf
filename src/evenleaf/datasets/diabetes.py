"""Diabetes progression, from the table that scikit-learn ships."""

from __future__ import annotations

from evenleaf.datasets.assemble import assemble
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.registry import find
from evenleaf.table import make_outcome


def load_diabetes() -> Dataset:
    """How far the illness has progressed, from nine measurements in their own units; sex is protected."""
    # Imported here: scikit-learn takes longer to import than all the rest together.
    from sklearn import datasets as shipped

    entry, bunch = find("diabetes"), shipped.load_diabetes(scaled=False)
    columns = dict(zip(bunch.feature_names, bunch.data.T, strict=True))
    outcome = make_outcome(bunch.target, task="regression", name=entry.target)
    return assemble(entry, columns, outcome, entry.protected, "sex as coded by the publisher (1, 2)")
