"""The checker of proofs: plain, slow, and without any of the search's kernels (ALGORITHM §6).

Read `check.py` first (what a proof must show), then `bounds.py` (how little a tree can cost).
"""

from evenleaf.solve.certify.check import Verdict, check

__all__ = ["Verdict", "check"]
