"""What pickle, joblib and skops keep of a fitted tree: plain values, so that little must be trusted to load it."""

from __future__ import annotations

from typing import Any

from evenleaf.estimators.claim import certificate_bytes, claim_from_json, claim_to_json
from evenleaf.estimators.indices import Index
from evenleaf.tree import compact, tree_from_json, tree_to_json

State = dict[str, Any]


def to_plain(state: State) -> State:
    """The attributes of a fitted estimator with its tree, claim and indices as lists and dicts."""
    if "tree_" not in state:
        return state
    left_out = ("tree_", "solution_", "fairness_", "_compact")
    fitted = {
        "tree": tree_to_json(state["tree_"]),
        "claim": claim_to_json(state["solution_"]),
        "certificate": certificate_bytes(state["solution_"].certificate),
        "fairness": {name: [index.data, index.decisions] for name, index in state["fairness_"].items()},
    }
    return {**{name: value for name, value in state.items() if name not in left_out}, "_fitted": fitted}


def from_plain(state: State) -> State:
    """The attributes that `to_plain` was given."""
    if "_fitted" not in state:
        return state
    rest = {name: value for name, value in state.items() if name != "_fitted"}
    fitted = state["_fitted"]
    tree = tree_from_json(fitted["tree"])
    return {
        **rest,
        "tree_": tree,
        "_compact": compact(tree),
        "solution_": claim_from_json(fitted["claim"], tree, fitted["certificate"]),
        "fairness_": {name: Index(*values) for name, values in fitted["fairness"].items()},
    }
