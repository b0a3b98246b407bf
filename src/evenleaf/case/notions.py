"""Fairness notions by the names that fit on a command line and into a model file: "dtdi", "0.5*didi", …"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add

from evenleaf.errors import InputError
from evenleaf.fairness import (
    DisparateImpact,
    DisparateMistreatment,
    DisparateTreatment,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    PredictiveEquality,
)
from evenleaf.table import Label, find_name

NOTHING = "none"
_ERROR_RATES: dict[str, Callable[[Label | None], Notion]] = {
    "equal-opportunity": EqualOpportunity,
    "predictive-equality": PredictiveEquality,
    "equalized-odds": EqualizedOdds,
}

# The short name of each index and the harm it measures, for people who read a page rather than a formula.
SHORT = {
    "didi": "DIDI",
    "dtdi": "DTDI",
    "dtdi-outcomes": "DTDI by outcome",
    "mistreatment": "disparate mistreatment",
    "equal-opportunity": "inequality of opportunity",
    "predictive-equality": "predictive inequality",
    "equalized-odds": "unequal odds",
}
HARM = {
    "didi": "groups as a whole receive a decision at different rates",
    "dtdi": "similar people of different groups are decided differently",
    "dtdi-outcomes": "people of different groups with the same true outcome are decided differently",
    "mistreatment": "groups suffer different errors",
    "equal-opportunity": "of those who truly qualify, groups are found at different rates",
    "predictive-equality": "of those who truly do not qualify, groups are wrongly chosen at different rates",
    "equalized-odds": "groups have different rates of being rightly found or wrongly chosen",
}


NOTIONS = tuple(SHORT)


def parse_notion(texts: Sequence[str], n_neighbors: int, positive: Label | None) -> Notion | None:
    """The sum of the named notions, each with a factor if one stands before it; None for "none"."""
    parts = split_notion(texts)
    if not parts:
        return None
    return reduce(add, (_scaled(factor, _notion(name, n_neighbors, positive)) for factor, name in parts))


def split_notion(texts: Sequence[str]) -> list[tuple[float, str]]:
    """The factor and the name of each part: "0.5*didi" is (0.5, "didi")."""
    if NOTHING in texts:
        if len(texts) > 1:
            raise InputError("the fairness 'none' cannot be combined with a notion; leave one of them out")
        return []
    return [_part(text) for text in texts]


def index_name(texts: Sequence[str]) -> str:
    """What the discrimination figure is called."""
    parts = [(factor, SHORT[name]) for factor, name in split_notion(texts)]
    return " + ".join(name if factor == 1 else f"{factor:g}·{name}" for factor, name in parts) or "no index"


def harms(texts: Sequence[str]) -> tuple[str, ...]:
    """The harm that each part measures."""
    return tuple(HARM[name] for _, name in split_notion(texts))


def _part(text: str) -> tuple[float, str]:
    before, times, name = text.rpartition("*")
    name = name.strip().lower()
    find_name(name, [*NOTIONS, NOTHING], what="fairness notion")
    if not times:
        return 1.0, name
    try:
        return float(before), name
    except ValueError as error:
        raise InputError(f"the factor of {text!r} is not a number; write it as in 0.5*didi") from error


def _notion(name: str, n_neighbors: int, positive: Label | None) -> Notion:
    """What a name asks for, given the number of similar people and the class that is wanted (None: the last of two)."""
    if name in _ERROR_RATES:
        return _ERROR_RATES[name](positive)
    if name == "didi":
        return DisparateImpact()
    if name == "mistreatment":
        return DisparateMistreatment()
    return DisparateTreatment(n_neighbors, distance="outcomes" if name == "dtdi-outcomes" else "features")


def _scaled(factor: float, notion: Notion) -> Notion:
    return notion if factor == 1 else factor * notion
