"""What the methods are called (the paper's names where it has one), and the family that each belongs to."""

from __future__ import annotations

from typing import Literal

Index = Literal["dtdi", "didi"]

FAMILIES: dict[str, str] = {
    "MIP-DT": "MIP-DT",
    "MIP-DT-A": "MIP-DT-A",
    "CART": "CART",
    "greedy tree": "CART",
    "IGC": "DADT",
    "IGC-IGS": "DADT",
    "IGC/IGS": "DADT",
    "IGC+IGS": "DADT",
    "IGC+IGS Relab": "DADT",
    "IGC+IGS Relab deep": "DADT",
    "log": "regression",
    "log-ind": "regression",
    "log-grp": "regression",
    "log-hyb": "regression",
    "reduction": "reduction",
    "reg": "regression",
    "LR-ind": "regression",
    "LR-grp": "regression",
}
_FOR_NUMBERS = ("reg", "LR-ind", "LR-grp")
_FOR_BOTH = ("MIP-DT", "MIP-DT-A", "CART", "greedy tree")

CLASSIFICATION = tuple(name for name in FAMILIES if name not in _FOR_NUMBERS)
REGRESSION = (*_FOR_BOTH, *_FOR_NUMBERS)
