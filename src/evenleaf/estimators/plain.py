"""Parameters and notions as plain JSON values, and back; nothing in a file can name code to run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from evenleaf import fairness
from evenleaf.errors import InputError
from evenleaf.fairness import Combination, Notion

# The only classes that a file can ask for, by name.
_NOTIONS: dict[str, type[Notion]] = {
    name: kind
    for name in fairness.__all__
    if isinstance(kind := getattr(fairness, name), type) and issubclass(kind, Notion)
    if kind not in (Notion, Combination)
}


def plain(value: Any) -> Any:
    """Numpy's numbers and arrays as Python's; None for whatever JSON cannot hold (a function, a generator)."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return value


def fairness_to_json(notion: Any) -> Any:
    """A notion as its name and settings; a sum as its parts; one that holds a function or a matrix as words."""
    if isinstance(notion, Combination):
        return {"sum": [[weight, fairness_to_json(part)] for weight, part in notion.parts]}
    if not isinstance(notion, Notion):
        return plain(notion)
    settings = {field.name: getattr(notion, field.name) for field in fields(notion)}  # type: ignore[arg-type]
    written = {name: plain(value) for name, value in settings.items()}
    lost = any(written[name] is None and value is not None for name, value in settings.items())
    if lost or type(notion).__name__ not in _NOTIONS or any(map(_is_matrix, settings.values())):
        return {"described": f"{notion} (with settings that a file cannot hold)"}
    return {"notion": type(notion).__name__, **written}


def fairness_from_json(data: Any) -> Any:
    """Read back what `fairness_to_json` wrote. A described notion comes back as its words, which fit refuses."""
    if data is None or isinstance(data, str):
        return data
    if not isinstance(data, Mapping):
        raise InputError("the model's fairness must be a name or an object")
    if isinstance(data.get("described"), str):
        return data["described"]
    if "sum" in data:
        return _sum(data["sum"])
    kind = _NOTIONS.get(str(data.get("notion")))
    if kind is None:
        raise InputError(f"the model's fairness notion {str(data.get('notion'))[:40]!r} is unknown")
    try:
        return kind(**{name: _tuples(value) for name, value in data.items() if name != "notion"})
    except (TypeError, AttributeError) as error:
        raise InputError(f"the settings of the model's fairness notion are wrong: {error}") from error


def _sum(parts: Any) -> Combination:
    if not isinstance(parts, list) or not all(isinstance(part, list) and len(part) == 2 for part in parts):
        raise InputError("the model's sum of fairness notions must be a list of weights and notions")
    read = [(weight, fairness_from_json(part)) for weight, part in parts]
    if not all(isinstance(weight, (int, float)) and isinstance(part, Notion) for weight, part in read):
        raise InputError("the model's sum of fairness notions must be a list of weights and notions")
    return Combination(tuple((float(weight), part) for weight, part in read))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _is_matrix(value: Any) -> bool:
    return hasattr(value, "shape") and getattr(value, "shape", ()) != ()
