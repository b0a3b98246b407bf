"""Evenleaf: optimal, fair and readable decision trees, each with a proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenleaf.estimators import (
        FairTreeClassifier,
        FairTreeFrontier,
        FairTreeRegressor,
        load_model,
        save_model,
    )

__version__ = "0.1.0"

__all__ = [
    "FairTreeClassifier",
    "FairTreeFrontier",
    "FairTreeRegressor",
    "__version__",
    "load_model",
    "save_model",
]


def __getattr__(name: str) -> Any:
    """The estimators are imported when they are asked for: scikit-learn and the solvers take their time."""
    if name.startswith("__") or name not in __all__:
        raise AttributeError(f"module 'evenleaf' has no attribute {name!r}")
    from evenleaf import estimators

    return getattr(estimators, name)


def __dir__() -> list[str]:
    return sorted(__all__)
