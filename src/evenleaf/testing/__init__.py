"""For whoever writes a solver: brute force, a shelf of problems with known optima, a suite to pass.

`evenleaf.testing.strategies` makes random problems with hypothesis, which must be installed for that; so it is
not imported here.
"""

from evenleaf.testing.brute import brute_force, count_trees
from evenleaf.testing.candidates import candidate_tests
from evenleaf.testing.columns import people_from
from evenleaf.testing.conformance import check_against_brute_force, check_solver
from evenleaf.testing.entry import ShelfProblem
from evenleaf.testing.shelf import SHELF

__all__ = [
    "SHELF",
    "ShelfProblem",
    "brute_force",
    "candidate_tests",
    "check_against_brute_force",
    "check_solver",
    "count_trees",
    "people_from",
]
