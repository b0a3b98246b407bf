"""The paper's mixed-integer program: formulation, sparse model, solvers, decoding."""
