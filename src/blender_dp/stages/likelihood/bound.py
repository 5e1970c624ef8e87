"""The least variance that any unbiased estimate from this evidence can have, all of it taken as normal."""

from __future__ import annotations

from blender_dp.stages.layout import Floats
from blender_dp.stages.likelihood.evidence import Evidence
from blender_dp.stages.likelihood.system import System


def cramer_rao(evidence: Evidence, shares: Floats) -> tuple[Floats, Floats]:
    """The Cramér-Rao bounds of cells and queries at the true shares, for estimates of the share of all users.

    Nothing learnt from other queries is in it, so an estimate that shrinks may be better than the bound.
    """
    step = System.of(evidence.layout, evidence.pulls(shares)).step(shares)
    of_queries = evidence.layout.per_query(shares)
    return (
        among_all(step.variance, shares, evidence.users, evidence.users),
        among_all(step.query_variance, of_queries, evidence.users, evidence.users),
    )


def among_all(variance: Floats, shares: Floats, users: int, clients: int) -> Floats:
    """The variance as an estimate of the share of these very users, rather than of a population they are drawn from.

    The three groups are the users, so drawing them adds p(1 - p)/users to the error of a population's share but not to
    that of theirs. Only the clients' part of that is taken off: what is expected of listed and of unlisted records draws
    the opt-in users' own counts away from what they are.
    """
    remaining: Floats = (variance - shares * (1 - shares) / users * (clients / users)).clip(min=0.0)
    return remaining
