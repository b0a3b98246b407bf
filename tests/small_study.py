"""A study of seconds on the embedded data, for tests of the runner and of everything that reads results."""

from __future__ import annotations

from evenleaf.study.config import StudyConfig, parse_config

SMALL = """
seed = 3

[protocol]
indices = ["dtdi", "didi"]
neighbors = 5
depth = 1
weight_step = 1.0
even_until = 2.0
growth = 10.0
most_weight = 200.0
time_limit = 60.0

[methods]
classification = ["MIP-DT", "MIP-DT-A", "CART", "greedy tree", "IGC+IGS Relab", "log-ind", "log-grp"]

[[data]]
name = "adult"
loader = "adult"
options = { race = "white_or_not" }
folds = 2
train = 120
test = 100

[depths]
data = "adult"
depths = [0, 1]
weights = [0.5]
train = 80
time_limit = 60.0

[bounds]
data = "adult"
train = 40
weight = 0.5
time_limit = 60.0
"""


def small_study() -> StudyConfig:
    return parse_config(SMALL, "small.toml")
