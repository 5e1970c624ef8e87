"""How good a set of estimated shares is; the same definition for everyone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nlargest

from blender_dp.evaluation import Truth, ndcg


@dataclass(frozen=True)
class Scores:
    """NDCG of the queries, L1 over the listed and the truly most popular ones, and how many of these are listed."""

    ndcg: float
    query_l1: float
    found: int


def score(shares: Mapping[str, float], counts: Mapping[str, int], users: int, max_queries: int) -> Scores:
    """Compare the highest estimated shares with the true ones. A query that is not listed is estimated to be 0."""
    listed = nlargest(max_queries, shares, key=shares.__getitem__)
    popular = nlargest(max_queries, counts, key=counts.__getitem__)
    truth = Truth(users, {(query, None): counts.get(query, 0) for query in {*listed, *popular}})
    estimated = {query: shares[query] for query in listed}
    return Scores(
        ndcg([(query, ()) for query in listed], truth, max_queries),
        sum(abs(estimated.get(query, 0.0) - truth.query_share(query)) for query in {*listed, *popular}),
        len(set(listed) & set(popular)),
    )
