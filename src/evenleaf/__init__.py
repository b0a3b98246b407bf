"""Evenleaf: optimal, fair and readable decision trees, each with a proof."""

__version__ = "0.1.0"
