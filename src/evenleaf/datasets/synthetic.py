"""Made-up people with a known amount of discrimination, from the paper's two sources.

The introduction of the paper names two: labels that are biased already (some groups were denied what they
deserved), and labels that are right but decisions whose errors fall on some groups more than on others.
`label_bias` and `error_bias` turn each of them up by itself. Merit has the same distribution in every
group, so that every difference between groups comes from the two dials, and the indices of the whole
population follow from them in closed form. Groups are numbered from the best to the worst treated; group g
of G bears g/(G−1) of each bias, and all groups are equally large.

Classification. Everybody deserves "yes" with probability 1/2. A deserved "yes" is withheld from the label
with probability label_bias·g/(G−1). The decision first mistakes any label with probability `noise`, alike
for all (which by Proposition 1 cannot discriminate where the labels do not), then turns a "yes" down with
probability error_bias·g/(G−1).
Regression. Merit has mean 1/2; label_bias·g/(G−1) is taken off the label; the decision adds an error of
mean 0 and standard deviation `noise`, and takes off error_bias·g/(G−1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenleaf.datasets.checks import one_of
from evenleaf.datasets.dataset import Dataset
from evenleaf.errors import InputError
from evenleaf.table import Outcome, Table, Task

_CLASSES = ("no", "yes")
_TRUE_SHARE = 0.5
# How often a person lives in the district of their group: the trace of the group in the features.
_SEGREGATION = 0.8


@dataclass(frozen=True, eq=False)
class Biased:
    """A data set with biased labels, decisions with biased errors, and the population's true indices.

    `merit` is what each person deserved and `decisions` what they got, coded as the outcome is. `label_didi`
    and `decision_didi` are the DIDI (paper, Definitions 2 and 4) of labels and decisions in the population
    from which the people are drawn: those of the sample come near them as n grows.
    """

    dataset: Dataset
    merit: np.ndarray
    decisions: np.ndarray
    label_didi: float
    decision_didi: float

    def __post_init__(self) -> None:
        self.merit.flags.writeable = False
        self.decisions.flags.writeable = False


def make_biased(
    n: int = 1000,
    *,
    label_bias: float = 0.0,
    error_bias: float = 0.0,
    n_groups: int = 2,
    noise: float = 0.0,
    task: Task = "classification",
    seed: int = 0,
) -> Biased:
    """Draw n people with the given biases; see the module for the model. The same for the same seed."""
    _check(n, label_bias, error_bias, n_groups, noise)
    one_of("a task", task, ("classification", "regression"))
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.arange(n) % n_groups)
    burden = np.arange(n_groups) / (n_groups - 1)
    merit = rng.random(n)
    draw = _classes if task == "classification" else _numbers
    deserved, labels, decided = draw(rng, merit, label_bias * burden[group], error_bias * burden[group], noise)
    true_rates = _rates if task == "classification" else _means
    label_rates, decision_rates = true_rates(label_bias * burden, error_bias * burden, noise)
    # With two classes each group's distance from the mean is counted once a class.
    times = 2 if task == "classification" else 1
    return Biased(
        dataset=_dataset(rng, merit, group, labels, n_groups, task),
        merit=deserved,
        decisions=decided,
        label_didi=times * _spread(label_rates),
        decision_didi=times * _spread(decision_rates),
    )


def _check(n: int, label_bias: float, error_bias: float, n_groups: int, noise: float) -> None:
    if n_groups < 2:
        raise InputError(f"n_groups must be at least 2, not {n_groups}: discrimination is between groups")
    if n < n_groups:
        raise InputError(f"n must be at least n_groups ({n_groups}), so that every group has somebody; it is {n}")
    for name, value in (("label_bias", label_bias), ("error_bias", error_bias), ("noise", noise)):
        if not 0 <= value <= 1:
            raise InputError(f"{name} must be between 0 and 1, not {value}")


Draw = tuple[np.ndarray, np.ndarray, np.ndarray]


def _classes(
    rng: np.random.Generator, merit: np.ndarray, withheld: np.ndarray, missed: np.ndarray, noise: float
) -> Draw:
    n = len(merit)
    deserved = merit >= 1 - _TRUE_SHARE
    label = deserved & (rng.random(n) >= withheld)
    decided = (label ^ (rng.random(n) < noise)) & (rng.random(n) >= missed)
    return deserved.astype(np.intp), label.astype(np.intp), decided.astype(np.intp)


def _numbers(
    rng: np.random.Generator, merit: np.ndarray, withheld: np.ndarray, missed: np.ndarray, noise: float
) -> Draw:
    label = merit - withheld
    return merit.copy(), label, label + noise * rng.standard_normal(len(merit)) - missed


def _rates(withheld: np.ndarray, missed: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """P(label is yes | group) and P(decision is yes | group)."""
    label = _TRUE_SHARE * (1 - withheld)
    return label, (label * (1 - noise) + (1 - label) * noise) * (1 - missed)


def _means(withheld: np.ndarray, missed: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:  # noqa: ARG001
    """E(label | group) and E(decision | group); an error of mean 0 does not move them."""
    return 0.5 - withheld, 0.5 - withheld - missed


def _spread(rates: np.ndarray) -> float:
    """Σ over groups of |rate − overall rate|, the groups being equally large."""
    return float(np.abs(rates - rates.mean()).sum())


def _dataset(
    rng: np.random.Generator,
    merit: np.ndarray,
    group: np.ndarray,
    labels: np.ndarray,
    n_groups: int,
    task: Task,
) -> Dataset:
    n = len(merit)
    home = np.where(rng.random(n) < _SEGREGATION, group, rng.integers(n_groups, size=n))
    features = {
        "merit": merit,
        "district": np.array([f"district {place + 1}" for place in range(n_groups)], dtype=object)[home],
        "age": rng.integers(18, 66, size=n).astype(float),
    }
    protected = {"group": np.array([f"group {place + 1}" for place in range(n_groups)], dtype=object)[group]}
    classes = _CLASSES if task == "classification" else None
    return Dataset(
        name="biased",
        features=Table.of(features),
        protected=Table.of(protected),
        outcome=Outcome("label", labels, classes),
        positive=None if classes is None else classes[1],
        definition=f"{n_groups} equally large groups, from the best to the worst treated",
    )
