"""For whoever writes a solver: brute force, a shelf of problems with known optima, a suite to pass.

`evenleaf.testing.strategies` makes random problems with hypothesis, which must be installed for that; so it is
not imported here.
"""

from evenleaf.testing.brute import brute_force, count_trees

__all__ = ["brute_force", "count_trees"]
