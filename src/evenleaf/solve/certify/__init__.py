"""The checker of proofs: plain, slow, and without any of the search's kernels (ALGORITHM §6).

Read `check.py` first (what every certificate must show), then the folder of its kind of proof: `labels/proof.py`, and
`labels/bounds.py` and `labels/stumps.py` (how little a tree can cost).
"""

from evenleaf.solve.certify.check import Verdict, check

__all__ = ["Verdict", "check"]
