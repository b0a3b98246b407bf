"""The checker of proofs about trees that decide numbers; `proof.py` is where to start reading."""
