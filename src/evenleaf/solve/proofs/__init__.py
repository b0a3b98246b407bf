"""What proofs are made of, one module a kind of search: written by a solver, read and checked by `certify`."""
