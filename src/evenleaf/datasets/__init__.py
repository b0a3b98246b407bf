"""Data sets to learn and to test with: the paper's four, one more for regression, and made-up people."""

from evenleaf.datasets.adult import load_adult
from evenleaf.datasets.communities import load_communities
from evenleaf.datasets.compas import load_compas
from evenleaf.datasets.credit import load_default
from evenleaf.datasets.dataset import Dataset
from evenleaf.datasets.diabetes import load_diabetes
from evenleaf.datasets.entry import DataFile, Entry
from evenleaf.datasets.load import load
from evenleaf.datasets.registry import REGISTRY, describe, find, names
from evenleaf.datasets.select import importances, keep_important
from evenleaf.datasets.synthetic import Biased, make_biased

__all__ = [
    "REGISTRY",
    "Biased",
    "DataFile",
    "Dataset",
    "Entry",
    "describe",
    "find",
    "importances",
    "keep_important",
    "load",
    "load_adult",
    "load_communities",
    "load_compas",
    "load_default",
    "load_diabetes",
    "make_biased",
    "names",
]
