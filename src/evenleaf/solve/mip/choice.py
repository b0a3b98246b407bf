"""A test as the model chooses it: which levels of one feature go left, or the coefficients of a linear rule."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenleaf.solve.mip.instance import Instance
from evenleaf.solve.mip.terms import MISSING_HIGH, MISSING_LOW, Terms
from evenleaf.tree import LinearTest, SubsetTest, Test, ThresholdTest, midpoints


@dataclass(frozen=True, eq=False)
class SingleChoice:
    """A test of one feature: `left` says of each level, the missing last, whether it goes left."""

    feature: int
    left: np.ndarray

    def sides(self, instance: Instance) -> np.ndarray:
        """Which units go left."""
        return np.asarray(self.left[instance.features[self.feature].codes])

    @property
    def canonical(self) -> bool:
        """Whether the first level goes left; a test and its mirror image ask the same."""
        return bool(self.left[0])

    def mirrored(self) -> SingleChoice:
        """The same question with left and right exchanged."""
        return replace(self, left=~self.left)


@dataclass(frozen=True, eq=False)
class LinearChoice:
    """A linear test on the scaled terms: left where Σ_t p_t x_t is at most the threshold."""

    coefficients: np.ndarray
    threshold: float
    missing_high: np.ndarray
    terms: Terms

    @property
    def scores(self) -> np.ndarray:
        """Σ_t p_t x_it of every unit."""
        return self.terms.scores(self.coefficients, self.missing_high)

    def sides(self, instance: Instance) -> np.ndarray:  # noqa: ARG002
        """Which units go left."""
        return self.scores <= self.threshold

    @property
    def canonical(self) -> bool:
        """Whether the largest coefficient is positive; exchanging the sides turns every sign."""
        return bool(self.coefficients[np.abs(self.coefficients).argmax()] > 0)

    def mirrored(self) -> LinearChoice:
        """The same question with left and right exchanged."""
        right = self.scores[self.scores > self.threshold]
        threshold = -float(right.min()) if len(right) else -np.inf
        return replace(self, coefficients=-self.coefficients, threshold=threshold)

    def normalised(self) -> LinearChoice:
        """Scaled so that the largest coefficient is ±1, with the threshold on the last score that goes left."""
        size = np.abs(self.coefficients).max()
        scaled = replace(self, coefficients=self.coefficients / size, threshold=self.threshold / size)
        left = self.scores <= self.threshold
        return replace(scaled, threshold=float(scaled.scores[left].max())) if left.any() else scaled


Choice = SingleChoice | LinearChoice


def written(choice: Choice, instance: Instance) -> tuple[Test, bool]:
    """The test in the tree's language, and whether its two sides changed places on the way."""
    if isinstance(choice, LinearChoice):
        return _written_linear(choice), False
    feature = instance.features[choice.feature]
    left = choice.left
    missing_left = bool(left[-1]) if feature.has_missing else True
    if feature.categorical:
        levels = tuple(int(level) for level in feature.values[left[: feature.n_known]])
        return SubsetTest(feature.column, levels, missing_left), False
    if not left[0]:
        return written(choice.mirrored(), instance)[0], True
    lowest = int(left[: feature.n_known].sum())  # the known values below the threshold
    return ThresholdTest(feature.column, _threshold(feature.values, lowest), missing_left), False


def _threshold(values: np.ndarray, n_left: int) -> float:
    """Midway between two neighbouring values, so that rounding of q cannot matter (MIP_NOTES, ε and M)."""
    if n_left == len(values):
        return float(values[-1])
    return float(midpoints(values[n_left - 1 : n_left + 1])[0])


def _written_linear(choice: LinearChoice) -> LinearTest:
    """The threshold moves midway between the two sides' scores."""
    scores = choice.scores
    left = scores <= choice.threshold
    threshold = choice.threshold
    if left.any() and not left.all():
        threshold = float(scores[left].max() + scores[~left].min()) / 2
    reading = np.where(choice.missing_high, MISSING_HIGH, MISSING_LOW)
    terms, addend = choice.terms.write(choice.coefficients, reading)
    return LinearTest(terms, threshold - addend)


def chosen_single(test: Test, instance: Instance) -> SingleChoice | None:
    """What the model would choose to ask this, or None where it cannot."""
    number = next((n for n, feature in enumerate(instance.features) if (feature.column,) == test.columns), None)
    if number is None or isinstance(test, LinearTest):
        return None
    feature = instance.features[number]
    known = feature.values <= test.threshold if isinstance(test, ThresholdTest) else np.isin(feature.values, test.left)
    return SingleChoice(number, np.append(known, test.missing_left)[: feature.n_levels])


def chosen_linear(test: Test, instance: Instance, terms: Terms) -> LinearChoice | None:
    """A test as a linear one; None where it reads the missing as something else than low or high."""
    if isinstance(test, LinearTest):
        return _chosen_terms(test, terms)
    single = chosen_single(test, instance)
    if single is None:
        return None
    own = np.flatnonzero(terms.feature == single.feature)
    coefficients, missing_high = np.zeros(terms.n_terms), np.zeros(terms.n_terms, dtype=bool)
    if not isinstance(test, SubsetTest):
        coefficients[own] = 1.0
        missing_high[own] = not test.missing_left
        threshold = float(test.threshold - terms.low[own[0]]) / float(terms.span[own[0]])
    elif test.missing_left or not instance.features[single.feature].has_missing:
        coefficients[own], threshold = ~single.left[: len(own)], 0.5
    else:
        coefficients[own], threshold = -single.left[: len(own)].astype(float), -0.5
    if not coefficients.any():
        return None
    return LinearChoice(coefficients, threshold, missing_high, terms).normalised()


def _chosen_terms(test: LinearTest, terms: Terms) -> LinearChoice | None:
    found = terms.read(test.terms)
    if found is None or not found[0].any():
        return None
    coefficients, addend, reading = found
    high, low = np.isclose(reading, MISSING_HIGH), np.isclose(reading, MISSING_LOW)
    if not (high | low | (coefficients == 0) | ~terms.missing.any(axis=0)).all():
        return None
    return LinearChoice(coefficients, test.threshold - addend, high, terms).normalised()
