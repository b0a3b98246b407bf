"""Solvers: each answers a `Problem` with a `Solution`, a claim with evidence."""
