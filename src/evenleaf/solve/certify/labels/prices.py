"""What each label costs each person at some multipliers, and what a tree below the claim costs less than (§2, §7).

Every tree has loss + λD ≥ Σ prices; with a limit ε instead of λ, loss ≥ Σ prices − scale·ε. For that, a row
|Σ a_i z_i| of the disparity may be priced by μ Σ a_i z_i with |μ| ≤ 1. Or by a *facet* that the proof names:
Σ g_i z_i + h, where h is the least of |Σ a_i z_i| − Σ g_i z_i over all labellings of the row's people, which are all
looked at here. Or by a mixture: |μ| and the parts of the facets, none of them negative, are 1 together at most.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from evenleaf.problem import FEASIBILITY_TOLERANCE
from evenleaf.solve.certify.claim import Claim, ProofError
from evenleaf.solve.certify.labels.meaning import person_rows
from evenleaf.solve.proofs.facets import FACET_GRID, MOST_PEOPLE, Facets
from evenleaf.solve.proofs.labels import GRID, Labels, Region, lengthened
from evenleaf.solve.search.compiled import Compiled

Decided = tuple[tuple[int, int, bool], ...]  # (person, label, whether the person has it)


class Prices:
    """Prices for a problem, with the facets of a proof."""

    def __init__(self, claim: Claim, compiled: Compiled, facets: Facets, limit: float | None) -> None:
        self.claim, self.limit, self.constant = claim, limit, compiled.constant
        self.losses = np.column_stack([np.zeros(compiled.n_people), compiled.base])
        self.operator, self.weight = person_rows(compiled), compiled.weight
        self.n_rows, self.owner, self.least = len(self.weight), facets.row, np.zeros(len(facets))
        if len(facets):
            self._add(facets)

    def _add(self, facets: Facets) -> None:
        """Take the facets in as further rows; each must name a row of few people, and slopes for them."""
        rows = sp.csr_array(self.operator.T)
        rows.sort_indices()
        if self.weight.shape[1] != 2 or self.weight[:, 0].any():
            raise ProofError("the proof has facets, which are for two classes only")
        slopes = sp.lil_array((len(facets), len(self.losses)))
        for number, (row, slope) in enumerate(zip(facets.row, facets.slope, strict=True)):
            if not 0 <= row < self.n_rows:
                raise ProofError("a facet of the proof is about a row of the disparity that there is not")
            here = slice(rows.indptr[row], rows.indptr[row + 1])
            size = here.stop - here.start
            if size > MOST_PEOPLE or slope[size:].any():
                raise ProofError(f"a facet of the proof is not about the {size} people of its row")
            labels = (np.arange(1 << size)[:, None] >> np.arange(size)) & 1
            slopes[number, rows.indices[here]] = slope[:size] / FACET_GRID
            costs = np.abs(labels @ rows.data[here]) - labels @ (slope[:size] / FACET_GRID)
            self.least[number] = costs.min() * self.weight[row, 1]
        self.operator = sp.csr_array(sp.hstack([self.operator, sp.csr_array(slopes).T]))
        self.weight = np.vstack([self.weight, self.weight[facets.row]])

    def at(self, node: Region | Labels, decided: Decided) -> tuple[np.ndarray, float]:
        """The prices (label, person) at the multipliers of a node, and the budget of a tree below the claim."""
        mu, scale = self._multipliers(node.mu), node.scale
        if not (np.isfinite(scale) and scale >= 0) or (self.limit is None and scale != 1):
            raise ProofError(f"the multipliers of the certificate are scaled by {scale:g}")
        prices = (self.losses + scale * (self.operator @ (self.weight * mu))).T
        budget = self.claim.objective - self.claim.tolerance - self.constant
        budget -= scale * float(self.least @ mu[self.n_rows :, -1])
        if self.limit is not None:
            budget += scale * (self.limit + FEASIBILITY_TOLERANCE)
        # A label that was decided against costs so much more that no tree with it is below the budget. Trees
        # without such labels cost what they did, so whatever the surcharge, they are judged rightly.
        surcharge = 1.0 + max(0.0, budget - float(prices.min(axis=0).sum()))
        for person, label, has in decided:
            against = np.arange(len(prices)) != label if has else np.arange(len(prices)) == label
            prices[against, person] += surcharge
        return prices, budget

    def _multipliers(self, mu: np.ndarray) -> np.ndarray:
        """The multipliers of a node, those of each row together at most 1."""
        whole = lengthened(mu.astype(np.int64), len(self.weight)) if len(mu) >= self.n_rows else mu
        if whole.shape != self.weight.shape:
            raise ProofError("the multipliers of the certificate are not between −1 and 1, one a row and class")
        together = np.abs(whole[: self.n_rows])
        np.add.at(together, self.owner, whole[self.n_rows :])
        if (together > GRID).any() or (whole[self.n_rows :] < 0).any():
            raise ProofError("the multipliers of the certificate are not between −1 and 1, with the facets of a row")
        return np.asarray(whole / GRID)
