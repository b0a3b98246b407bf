"""A fitted estimator as plain JSON, and back: tree, columns, settings, claim and certificate."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenleaf.errors import InputError
from evenleaf.estimators.base import FairTree
from evenleaf.estimators.claim import certificate_bytes, claim_from_json, claim_to_json
from evenleaf.estimators.classifier import FairTreeClassifier
from evenleaf.estimators.indices import Index
from evenleaf.estimators.plain import fairness_from_json, fairness_to_json, plain
from evenleaf.estimators.regressor import FairTreeRegressor
from evenleaf.solve import Solution, Status, Stop
from evenleaf.tree import Tree, compact, tree_from_json, tree_to_json

_KINDS: dict[str, type[FairTree]] = {"FairTreeClassifier": FairTreeClassifier, "FairTreeRegressor": FairTreeRegressor}
_LABELS = "biufUO"  # the kinds of numpy arrays that labels come in


def model_to_json(model: FairTree) -> dict[str, Any]:
    """Everything that prediction and display need; no training data."""
    settings = {name: plain(value) for name, value in model.get_params(deep=False).items()}
    settings["fairness"] = fairness_to_json(model.fairness)
    names = getattr(model, "feature_names_in_", None)
    return {
        "kind": type(model).__name__,
        "tree": tree_to_json(model.tree_),
        "label_dtype": model.classes_.dtype.str if hasattr(model, "classes_") else None,
        "n_columns": int(model.n_features_in_),
        "columns": None if names is None else [str(name) for name in names],
        "protected": list(model.protected_),
        "settings": settings,
        "claim": claim_to_json(model.solution_),
        "certificate": _certificate_to_json(model.solution_.certificate),
        "fairness": {name: [index.data, index.decisions] for name, index in model.fairness_.items()},
        "importances": model.feature_importances_.tolist(),
        "counts": model._leaf_counts.tolist(),
    }


def model_from_json(data: object) -> FairTree:
    """Read back what `model_to_json` wrote; anything else is an `InputError` that says what is wrong."""
    if not isinstance(data, Mapping) or str(data.get("kind")) not in _KINDS:
        raise InputError("the model file holds no FairTreeClassifier or FairTreeRegressor")
    tree = tree_from_json(data.get("tree"))
    model = _KINDS[data["kind"]](**_settings(data))
    if isinstance(model, FairTreeClassifier) != (tree.target.classes is not None):
        raise InputError("the model's kind and its tree do not fit together: one is about classes, one about numbers")
    model.tree_, model._compact = tree, compact(tree)
    if tree.target.classes is not None:
        model.classes_ = _labels(tree, data.get("label_dtype"))
    _read_columns(model, data)
    model.solution_ = claim_from_json(data.get("claim"), tree, _certificate_from_json(data.get("certificate")))
    model.fairness_ = _indices(data.get("fairness"))
    model.feature_importances_ = _array(data, "importances", (model.n_features_in_,))
    model._leaf_counts = _array(data, "counts", (len(tree.nodes), len(tree.target.classes or (0,))))
    return model


def bare_model(tree: Tree, solution: Solution | None = None) -> FairTree:
    """An estimator around a tree that came without one: it predicts, but knows no head counts."""
    model = FairTreeRegressor() if tree.target.classes is None else FairTreeClassifier()
    if tree.target.classes is not None:
        model.classes_ = np.array(tree.target.classes)
    model.max_depth = tree.depth
    model.tree_, model._compact, model.protected_ = tree, compact(tree), ()
    model.n_features_in_ = len(tree.schema)
    model.feature_names_in_ = np.array(tree.schema.names, dtype=object)
    unknown = Solution(tree, None, -np.inf, Status.FEASIBLE, Stop.HEURISTIC, "unknown", 0.0)
    model.solution_ = unknown if solution is None else solution
    model.fairness_, model.feature_importances_ = {}, np.zeros(len(tree.schema))
    model._leaf_counts = np.zeros((len(tree.nodes), len(tree.target.classes or (0,))))
    return model


def _settings(data: Mapping[str, Any]) -> dict[str, Any]:
    settings = data.get("settings")
    known = _KINDS[data["kind"]]._get_param_names()
    if not isinstance(settings, Mapping) or not set(settings) <= set(known):
        raise InputError("the model's settings are not those of its kind of estimator")
    return {**settings, "fairness": fairness_from_json(settings.get("fairness"))}


def _labels(tree: Tree, dtype: Any) -> np.ndarray:
    """The classes as numpy stored them when the model was learnt."""
    labels = list(tree.target.classes or ())
    try:
        kind = np.dtype(dtype)
        if kind.kind not in _LABELS:
            raise TypeError(kind)  # noqa: TRY301
        return np.array(labels, dtype=kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError("the model's labels have a type that is not known") from error


def _read_columns(model: FairTree, data: Mapping[str, Any]) -> None:
    """Names, number and protected columns, and the tree's own columns must be among them."""
    width, names, protected = data.get("n_columns"), data.get("columns"), data.get("protected")
    if isinstance(width, bool) or not isinstance(width, int) or not 0 <= width <= 1_000_000:
        raise InputError("the model's 'n_columns' must be a number of columns")
    if names is not None and not (_texts(names) and len(names) == width):
        raise InputError("the model's 'columns' must be a list with a name for each column")
    if not _texts(protected):
        raise InputError("the model's 'protected' must be a list of names")
    model.n_features_in_, model.protected_ = width, tuple(protected)  # type: ignore[arg-type]
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    known = set(names or [f"x{position}" for position in range(width)])
    if not set(model.tree_.schema.names) <= known:
        raise InputError("the model's tree looks at a column that the model does not have")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def _indices(data: Any) -> dict[str, Index]:
    if not isinstance(data, Mapping):
        raise InputError("the model's 'fairness' must be an object")
    try:
        return {str(name): Index(float(values[0]), float(values[1])) for name, values in data.items()}
    except (TypeError, ValueError, LookupError) as error:
        raise InputError("the model's 'fairness' must hold two numbers for each index") from error


def _array(data: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> np.ndarray:
    try:
        values = np.array(data.get(name), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the model's {name!r} must be numbers") from error
    if values.shape != shape or not np.isfinite(values).all():
        raise InputError(f"the model's {name!r} must be {' × '.join(map(str, shape))} finite numbers")
    return values


def _certificate_to_json(certificate: Any) -> str | None:
    """Bytes, or anything that can be turned into them, as base64."""
    raw = certificate_bytes(certificate)
    return None if raw is None else base64.b64encode(raw).decode("ascii")


def _certificate_from_json(data: Any) -> bytes | None:
    """The bytes of the certificate; whoever checks it reads them."""
    if data is None:
        return None
    try:
        return base64.b64decode(data, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise InputError("the model's certificate is damaged") from error
