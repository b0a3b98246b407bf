"""The shelf: small problems with known optima, for every solver to answer."""

from __future__ import annotations

from evenleaf.testing.entry import ShelfProblem
from evenleaf.testing.shelf_fair import FAIR
from evenleaf.testing.shelf_numbers import NUMBERS
from evenleaf.testing.shelf_plain import PLAIN

SHELF: tuple[ShelfProblem, ...] = (*PLAIN.problems, *FAIR.problems, *NUMBERS.problems)
