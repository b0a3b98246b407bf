"""The checker of proofs about few disparity rows (ALGORITHM §6, §10).

Read `proof.py` first, then `outlines.py` (what a part is, and what covers it), `parts.py`, `slots.py` and `forks.py`
(how little its trees can cost) and `lists.py` (all trees that are left).
"""
