"""The checker of proofs: plain, slow, and without any of the search's kernels (ALGORITHM §6).

Read `proof.py` first (what a proof must show), then `bounds.py` and `stumps.py` (how little a
tree can cost).
"""

from evenleaf.solve.certify.proof import Verdict, check

__all__ = ["Verdict", "check"]
