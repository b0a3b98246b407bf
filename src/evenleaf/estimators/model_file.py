"""Models that travel: one JSON file with a version and a checksum, safe to read whoever wrote it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from evenleaf import __version__
from evenleaf.errors import InputError
from evenleaf.estimators.base import FairTree
from evenleaf.estimators.model_json import bare_model, model_from_json, model_to_json
from evenleaf.files import write_whole
from evenleaf.tree import tree_from_json
from evenleaf.tree.export import FORMAT as TREE_FORMAT

FORMAT = "evenleaf-model"
VERSION = 1
ANSWER_FORMAT = "evenleaf-answer"  # what the command line writes: a tree with its question
_LARGEST_FILE = 500_000_000


def save_model(model: FairTree, path: str | Path) -> Path:
    """Write a fitted tree into a file, whole or not at all; `load_model` reads it back."""
    if not isinstance(model, FairTree):
        raise InputError(f"only a FairTreeClassifier or a FairTreeRegressor can be saved, not {type(model).__name__}")
    check_is_fitted(model, "tree_")
    body = model_to_json(model)
    whole = {
        "format": FORMAT,
        "version": VERSION,
        "evenleaf": __version__,
        "checksum": checksum(body),
        "model": body,
    }
    place = Path(path)
    try:
        write_whole(place, [json.dumps(whole, ensure_ascii=False, allow_nan=False).encode("utf-8")])
    except OSError as error:
        raise InputError(f"cannot write {place}: {error.strerror or error}") from error
    return place


def load_model(path: str | Path) -> FairTree:
    """Read a model file. Nothing in it is run; a file that is damaged or was edited is refused.

    A tree alone, as `tree_to_json` or the command line writes it, becomes an estimator that predicts and explains.

    The checksum finds accidents, not forgers: whoever edits a file on purpose can mend it too. What a stranger
    claims of a tree is checked with `evenleaf verify`.
    """
    place = Path(path)
    try:
        if place.stat().st_size > _LARGEST_FILE:
            raise InputError(f"{place} is too large for a model file")
        data = json.loads(place.read_bytes(), parse_constant=_refuse)
    except OSError as error:
        raise InputError(f"{place} cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{place} is not a model file, or only a part of one: {error}") from error
    if isinstance(data, Mapping) and data.get("format") in (TREE_FORMAT, ANSWER_FORMAT):
        return bare_model(tree_from_json(data if data["format"] == TREE_FORMAT else data.get("tree")))
    return model_from_json(_body(data, place))


def checksum(body: Mapping[str, Any]) -> str:
    """SHA-256 of the model in one spelling: keys in order, no spaces."""
    spelled = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return "sha256:" + hashlib.sha256(spelled.encode("ascii")).hexdigest()


def _body(data: object, place: Path) -> Mapping[str, Any]:
    """The model inside the envelope, once version and checksum are right."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise InputError(f"{place} is not an Evenleaf model: its 'format' entry is missing or different")
    version, body = data.get("version"), data.get("model")
    if isinstance(version, bool) or version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        by = f"Evenleaf {str(data.get('evenleaf'))[:20]}"
        hint = f"it was written by a newer one ({by}); upgrade to read it" if newer else "the version is unknown"
        raise InputError(f"{place} has the format version {version!r}, and this Evenleaf reads {VERSION}: {hint}")
    if not isinstance(body, Mapping):
        raise InputError(f"{place} holds no model")
    if data.get("checksum") != checksum(body):
        raise InputError(f"{place} was changed after it was written: its checksum does not fit; ask for it anew")
    return body


def _refuse(word: str) -> float:
    raise InputError(f"the model file holds {word}, which no model does")
