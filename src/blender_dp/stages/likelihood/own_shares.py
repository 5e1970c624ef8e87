"""From the shares of a population to the shares of the users themselves, who were drawn from it.

The fit estimates a population: its expectations about listed and unlisted records are about what is common, not about these
users. But all of these users are in one of the groups, so part of their own deviation from the population was observed.
With S = (diag(p) - p pᵀ) / users, the covariance of drawing them, and with normal evidence, the users' own shares have the
mean p̂ - S g, where g is the pull of the expectations at the estimate p̂. Their covariance is
V - S + V P S + S P V - S P S + S P V P S, where V is that of p̂, and P the precision of the expectations.

If few users opt in, this changes little. If nearly all do, it is most of the error: their counts are nearly known.
"""

from __future__ import annotations

import numpy as np

from blender_dp.stages.layout import Floats
from blender_dp.stages.likelihood.bound import among_all
from blender_dp.stages.likelihood.evidence import Evidence
from blender_dp.stages.likelihood.fit import Fit, hidden_cells


def own_shares(both: Fit, evidence: Evidence) -> Floats:
    """The users' own shares of all cells."""
    shares, pull = both.shares, expectation_pull(both, evidence)
    moved = shares - (shares * pull - shares * float(shares @ pull)) / evidence.users
    moved = np.maximum(moved, 0.0)
    own: Floats = moved / moved.sum()
    return own


def expectation_pull(both: Fit, evidence: Evidence) -> Floats:
    """How strongly the expectations pull each share, as a score: down for listed records, either way for unlisted URLs."""
    pull = np.zeros_like(both.shares)
    if evidence.released is not None:
        pull -= evidence.released.selection(both.shares)
    if both.unlisted is not None:
        hidden = hidden_cells(evidence.layout)
        pull[hidden] += (both.unlisted.mean - both.shares[hidden]) / both.unlisted.variance
    return pull


def own_variances(both: Fit, evidence: Evidence) -> tuple[Floats, Floats]:
    """The variances of cells and queries as estimates of the users' own shares."""
    layout, users = evidence.layout, evidence.users
    precision = np.zeros_like(both.shares)
    if both.unlisted is not None:
        precision[hidden_cells(layout)] = 1 / both.unlisted.variance
    drawn = both.shares * (1 - both.shares) / users  # S is nearly diagonal, because unlisted shares are small
    less = drawn**2 * precision * (1 - precision * both.variance)
    # An unlisted share and its query's share vary together; how much is not computed, but limited by both.
    together = np.minimum(both.variance, np.sqrt(both.variance * layout.per_cell(both.query_variance)))
    cells = 2 * drawn * precision * both.variance - less
    queries = layout.per_query(2 * drawn * precision * together - less)
    return (
        among_all(both.variance, both.shares, users, cells),
        among_all(both.query_variance, both.query_shares, users, queries),
    )
