"""The smallest variance of any unbiased estimate from this evidence, if all of it is normally distributed."""

from __future__ import annotations

from blender_dp.stages.layout import Floats
from blender_dp.stages.likelihood.evidence import Evidence
from blender_dp.stages.likelihood.system import System


def cramer_rao(evidence: Evidence, shares: Floats) -> tuple[Floats, Floats]:
    """The Cramér-Rao bounds of cells and queries at the true shares, for estimates of the share of all users.

    It does not include what is learnt from other queries, so an estimate with shrinkage may be better than the bound.
    """
    step = System.of(evidence.layout, evidence.pulls(shares)).step(shares)
    of_queries = evidence.layout.per_query(shares)
    return (
        among_all(step.variance, shares, evidence.users),
        among_all(step.query_variance, of_queries, evidence.users),
    )


def among_all(variance: Floats, shares: Floats, users: int, presumed: Floats | float = 0.0) -> Floats:
    """The variance as an estimate of these users' own share, rather than of a population that they are drawn from.

    The three groups are all of the users, so sampling adds p(1 - p)/users to the error of a population's share but not to
    that of their own. That holds for every estimate that is linear in the users' data, with any weights for the groups.
    `presumed` is what to add because part of the estimate is not from the users' data: see `own_shares`.
    """
    remaining: Floats = (variance - shares * (1 - shares) / users + presumed).clip(min=0.0)
    return remaining
