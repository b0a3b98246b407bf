"""The options of a command made into a question, and a budget made of the options about solving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenleaf.case import Question
from evenleaf.table.read import MISSING_MARKERS


def make_question(options: Mapping[str, Any]) -> Question:
    """What `fit` and `frontier` were told, under the names that they share."""
    return Question(
        target=options["target"],
        protected=tuple(options["protected"]),
        task=options["task"].value,
        positive=options["positive"],
        categorical=tuple(options["categorical"]),
        ignore=tuple(options["ignore"]),
        weight=options["weight"],
        groups=options["groups"].value,
        missing=tuple(sorted({*MISSING_MARKERS, *options["missing"]})),
        drop_incomplete=options["drop_incomplete"],
        fairness=tuple(options["fairness"]),
        n_neighbors=options["neighbors"],
        fairness_weight=options.get("fairness_weight"),
        max_discrimination=options.get("max_discrimination"),
        max_depth=options["depth"],
        branching=options["branching"].value,
        leaves=options["leaf_model"].value,
        max_leaves=options["max_leaves"],
        min_samples_leaf=options["min_people"],
        max_features_used=options["max_features"],
        max_feature_uses=options["max_uses"],
        allowed_features=tuple(options["only"]) or None,
    )
