"""What an estimator warns about."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning


class NotProvenWarning(ConvergenceWarning):  # type: ignore[misc]
    """A limit stopped the solver before the tree was proven optimal; `solution_.gap` says how far off it may be."""


class ProtectedColumnWarning(UserWarning):
    """A protected column also stands among the features; it was left out of learning."""
