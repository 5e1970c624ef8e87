"""How probably a query has a listed record, and how many it has on average, from its share or from its records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.planning.listing import LEAST, any_of, any_within, listing_probabilities
from blender_dp.planning.outline import TYPICAL, Outline, PossibleUrls, Records
from blender_dp.stages import Floats, Integers

_APART = 0.04  # the logarithms of the shares for which listing probabilities are computed


@dataclass(frozen=True, eq=False)
class QueryListing:
    """The queries of an outline, if so many discovery users make the list; `of_count` is the mechanism's."""

    outline: Outline
    users: int
    of_count: Floats

    def any_listed(self, queries: Integers) -> Floats:
        """The probability that each query has a listed record."""
        if self.outline.possible_urls:
            return self.any_listed_with(self.outline.query_shares[queries])
        return self.any_of(queries, self.outline.records(queries, TYPICAL))

    def any_listed_with(self, shares: Floats) -> Floats:
        """The probability that queries with these shares have a listed record, whichever URLs they have."""
        probabilities: Floats = np.exp(np.interp(np.log(np.maximum(shares, LEAST)), *self._by_share))
        return probabilities

    def any_of(self, queries: Integers, records: Records) -> Floats:
        """The probability that each query has a listed record, if these are its records."""
        return any_of(self.each(records), np.searchsorted(queries, records.query_of), queries.size)

    def each(self, records: Records) -> Floats:
        """The probability that each record is listed."""
        return records.if_listable(listing_probabilities(records.shares, self.users, self.of_count))

    def how_many(self, queries: Integers) -> Floats:
        """How many listed records each query has on average."""
        urls, shares = self.outline.possible_urls, self.outline.query_shares[queries]
        if urls:
            return np.asarray(np.add.reduceat(self._of_urls(urls, shares), urls.starts, axis=1) @ urls.probabilities)
        records = self.outline.records(queries, TYPICAL)
        return np.bincount(np.searchsorted(queries, records.query_of), self.each(records), queries.size).astype(np.float64)

    @cached_property
    def _by_share(self) -> tuple[Floats, Floats]:
        """The logarithms of some shares, and those of the probabilities that queries with these shares are listed."""
        urls, of_queries = self.outline.possible_urls, self.outline.query_shares
        if urls is None:
            raise RuntimeError(f"the URLs of {self.outline.name} are known")
        lowest, highest = float(of_queries[-1]), float(of_queries[0])
        shares = np.unique(np.geomspace(lowest, highest, 2 + int(np.log(highest / lowest) / _APART)))
        any_listed = any_within(self._of_urls(urls, shares), urls.starts) @ urls.probabilities
        return np.log(shares), np.log(np.maximum(any_listed, LEAST))

    def _of_urls(self, urls: PossibleUrls, shares: Floats) -> Floats:
        """The probability that each possible URL of queries with these shares is listed: a row for each share."""
        of_urls = listing_probabilities(np.outer(shares, urls.shares).ravel(), self.users, self.of_count)
        return of_urls.reshape(shares.size, -1)
