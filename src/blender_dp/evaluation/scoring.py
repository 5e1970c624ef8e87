"""`metrics.score` for counts: the same L1 and NDCG, from arrays instead of names."""

from __future__ import annotations

import numpy as np

from blender_dp.evaluation.groups import Listed
from blender_dp.evaluation.metrics import Scores
from blender_dp.evaluation.population import Population
from blender_dp.stages import Floats, Integers


class Scorer:
    """Scores estimates of one list against the population that it was made from."""

    def __init__(self, population: Population, listed: Listed, max_queries: int) -> None:
        self._listed = listed
        self._users = population.users
        self._top = population.top_queries[:max_queries]
        self._records = population.counts[listed.records]
        self._queries = population.query_counts[listed.queries]
        self._max_queries = max_queries
        self._has_urls = listed.head_list.levels == 2
        self._block = np.repeat(np.arange(listed.queries.size), listed.url_counts)
        if self._has_urls:
            self._url_total, self._url_ideal = _ideal_urls(population, listed)

    def score(self, query_shares: Floats, record_shares: Floats) -> Scores:
        """Score the shares of the listed queries and of the listed records."""
        query_l1 = float(np.abs(query_shares - self._queries / self._users).sum())
        record_l1 = float(np.abs(record_shares - self._records / self._users).sum()) if self._has_urls else query_l1
        return Scores(query_l1, record_l1, self._ndcg(query_shares, record_shares))

    def _ndcg(self, query_shares: Floats, record_shares: Floats) -> float:
        total = int(self._top.sum())
        if not total:  # a plan draws no query at all if none can be listed
            return 0.0
        order = np.argsort(-query_shares, kind="stable")[: self._max_queries]
        quality = self._url_quality(record_shares)[order] if self._has_urls else 1.0
        gains = quality * (np.exp2(self._queries[order] / total) - 1) / _discount(np.arange(order.size))
        ideal = (np.exp2(self._top / total) - 1) / _discount(np.arange(self._top.size))
        return float(gains.sum() / ideal.sum())

    def _url_quality(self, record_shares: Floats) -> Floats:
        """The NDCG of every query's URLs."""
        if not self._block.size:
            return np.empty(0)
        order = np.lexsort((-record_shares, self._block))
        gains = _gains(
            self._records[order], self._url_total[self._block], np.arange(order.size) - self._listed.starts[self._block]
        )
        reached = np.add.reduceat(gains, self._listed.starts)
        quality: Floats = np.divide(reached, self._url_ideal, out=np.zeros(reached.size), where=self._url_ideal > 0)
        return quality


def _ideal_urls(population: Population, listed: Listed) -> tuple[Integers, Floats]:
    """For every listed query: the users of as many of its top URLs as are listed, and the gain of ranking them perfectly."""
    starts = np.searchsorted(population.query_of, listed.queries, side="left")
    sizes = np.searchsorted(population.query_of, listed.queries, side="right") - starts
    ends = np.cumsum(sizes)
    block = np.repeat(np.arange(sizes.size), sizes)
    within = np.arange(block.size) - (ends - sizes)[block]
    counts = population.counts[starts[block] + within]
    order = np.lexsort((-counts, block))  # blocks stay in place, so `within` is now the rank
    best = np.where(within < listed.url_counts[block], counts[order], 0)
    total = np.bincount(block, weights=best, minlength=sizes.size).astype(np.int64)
    ideal: Floats = np.bincount(block, weights=_gains(best, total[block], within), minlength=sizes.size).astype(np.float64)
    return total, ideal


def _gains(counts: Integers, total: Integers, rank: Integers) -> Floats:
    gains: Floats = (np.exp2(counts / np.maximum(total, 1)) - 1) / _discount(rank)
    return gains


def _discount(rank: Integers) -> Floats:
    discount: Floats = np.log2(rank + 2.0)
    return discount
