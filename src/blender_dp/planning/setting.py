"""What is planned: the users, how many of them opt in, and the parameters of the collection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial

import numpy as np

from blender_dp.errors import BlenderError, GroupError
from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.planning.calibrated_reach import Reach
from blender_dp.planning.cutoff import on_final_list
from blender_dp.planning.levels import from_rank, level, popular
from blender_dp.planning.listing import LEAST, Length, listing_probabilities
from blender_dp.planning.noisy_counts import Contributions, by_calibration, by_discovery, noisy_counts
from blender_dp.planning.outline import TYPICAL, Outline
from blender_dp.planning.query_listing import QueryListing
from blender_dp.planning.rare_listing import listable
from blender_dp.planning.tail import Tail, at
from blender_dp.release.manifest import Sizes
from blender_dp.stages import Flags, Floats, Integers

_OVERLOOKED, _NONE = 0.005, 0.001  # the part of a list that may be overlooked, and so few queries that they are none
_PROBES, _RUNS = 400, 1200
_URLS = 2  # of a query near the end of a list, each with its own noise
_REACH = 4.0  # standard deviations, of both counts: practically no two queries that far apart change places
_LIFT = 6.0  # standard deviations of the noise on one query's count: it practically never makes up for a larger difference
_EACH = 20_000  # of many more queries than this, some are looked at, and the others are like their neighbours
_ITERATIONS = 4  # until the number of queries and the probability that they are listed agree
_ALIKE = 50  # neighbours, whose URLs differ
_COMMON = 1e-4  # the users of queries with larger shares are drawn together, because they exclude each other


@dataclass(frozen=True, eq=False)
class Setting:
    """A planned collection, and what follows from it without simulation, such as listing probabilities."""

    outline: Outline
    users: int
    opt_in: float
    parameters: Parameters

    @cached_property
    def collection(self) -> Collection:
        """The mechanisms and the estimator."""
        return _collection(self.parameters)

    @cached_property
    def sizes(self) -> Sizes:
        """The number of users in each group, as in `blender-dp run`."""
        opt_in = round(self.users * self.opt_in)
        discovery = round(opt_in * float(self.parameters.f_o))
        sizes = Sizes(discovery, opt_in - discovery, self.users - opt_in)
        for group, size in (
            ("discovery users", discovery),
            ("calibration users", opt_in - discovery),
            ("clients", sizes.clients),
        ):
            if size < 2:
                raise GroupError(group, f"there would be {size}, but at least 2 are needed", "Plan with more users")
        return sizes

    def check(self) -> None:
        """Refuse parameters and numbers of users that a collection would not accept."""
        _ = self.collection, self.sizes

    @property
    def is_valid(self) -> bool:
        """Whether a collection would accept these parameters and this many users."""
        try:
            self.check()
        except BlenderError:
            return False
        return True

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a plan cannot know, if it is for more users than were counted, or if no query can be listed."""
        counted, what = self.outline.users, self.outline.never_listed
        if what and self.outline.is_empty:
            return (f"users: {counted:,} were counted. {what} are never listed, and there are no others.",)
        if self.users <= counted or not what:
            return ()
        why = "because their shares among more users are unknown, so the list may become longer"
        return (f"users: only {counted:,} were counted. {what} are never listed, {why}.",)

    @cached_property
    def of_count(self) -> Floats:
        """The probability that a record is listed, by the number of discovery users who have it."""
        return by_count(self.collection.discovery)

    @cached_property
    def head(self) -> int:
        """The number of queries, from the most popular one, that can be listed or be the most popular in practice."""
        return max(self._on_list, self._popular)

    @cached_property
    def _popular(self) -> int:
        """The number of queries that M others do not practically always exceed in popularity: NDCG ranks them."""
        return popular(self.outline.query_shares, self.users, self.parameters.max_queries, self._below[0], _OVERLOOKED)

    @cached_property
    def _on_list(self) -> int:
        """The number of queries, from the most popular one, that a list can contain for all practical purposes."""
        most, size, m = self._listable, 2 * self.parameters.max_queries, self.parameters.max_queries
        while size < most:  # usually the list is cut off long before queries become too rare to be listed
            listed = self._listed(size)
            certain = _certain(listed)
            if certain[-1] > m:
                return min(self._in_reach(int(np.argmax(certain > m))), most)
            size *= 16
        return most

    @cached_property
    def _listable(self) -> int:
        """The number of queries that are not too rare to be listed."""
        (ranks, below), m = self._below, self.parameters.max_queries
        return min(max(int(ranks[np.argmax(below <= self._overlooked)]), 2 * m), int(self.outline.query_shares.size))

    @cached_property
    def _overlooked(self) -> float:
        """How many listed queries may be missed on average, each time that rare queries are left out."""
        ranks, _ = self._below
        listed = float(self._listing.any_listed(ranks - 1)[:-1] @ np.diff(ranks))
        return max(_OVERLOOKED * min(listed, self.parameters.max_queries), _NONE)

    @cached_property
    def _below(self) -> tuple[Integers, Floats]:
        """Some ranks, and how many of the queries from each of them on are listed on average.

        A query is listed at most about as often as if all of its users had the same URL.
        """
        shares = self.outline.query_shares
        ranks = np.unique(np.geomspace(1, shares.size, _PROBES).astype(np.int64))
        probable = listing_probabilities(shares[ranks - 1], self.sizes.discovery, self.of_count)
        return ranks, from_rank(ranks, probable)

    def _in_reach(self, last: int) -> int:
        """The number of queries whose noisy counts could exceed that of the query with this number."""
        users, noise = self.cutoff
        shares = self.outline.query_shares
        count = users * float(shares[last])
        lowest = max(count - _REACH * np.sqrt(count + noise) + noise, 0.0)
        root = (np.sqrt(_REACH**2 + 4 * lowest) - _REACH) / 2  # of the count and the noise that can just reach it
        return max(int(np.count_nonzero(shares >= (root**2 - noise) / users)), last + 1)

    @cached_property
    def cutoff(self) -> tuple[int, float]:
        """How many users' counts choose the M queries, and the variance of their noise.

        Discovery's counts with the estimator `likelihood`, calibration's with `average`.
        """
        if self.parameters.estimator == "likelihood":
            return self.sizes.discovery, self.collection.discovery.noise.variance
        return self.sizes.calibration, self.collection.calibration.noise.variance

    @cached_property
    def tail(self) -> Tail | None:
        """The many rare queries of a flat shape that could be listed; None for other shapes."""
        shares, sizes, m = self.outline.query_shares[: self.head], self.sizes, self.parameters.max_queries
        common = int(np.count_nonzero(shares > _COMMON))
        if self.head - common <= _EACH:
            return None
        rare, enough = shares[common:], m + _REACH * np.sqrt(m) + _REACH**2
        of_count, lowest = listable(self.of_count), 0.0
        if self.parameters.estimator == "likelihood":
            lowest = max(self._lowest_listed(common, enough) - self._noise_reach, 0.0)
        counts = np.arange(max(of_count.size, int(lowest) + 2))
        total = max(level(rare, self.users, enough), 1.0)
        tail = Tail(common, rare, sizes, np.where(counts >= lowest, at(of_count, counts), 0.0), total)
        reach = self._reach(common, enough) if self.parameters.estimator == "average" else None
        return min(tail, replace(tail, reach=reach), key=lambda one: one.estimated) if reach else tail

    def _reach(self, first: int, queries: float) -> Reach | None:
        """The noisy count of calibration users that so many of the listed queries reach, from this query on."""
        # runs of queries with similar shares; the least popular query of each stands for all of them
        lasts = first - 1 + np.unique(np.geomspace(1, self.head - first, _RUNS).astype(np.int64))
        records, runs = self.outline.records(lasts, TYPICAL), np.diff(lasts, prepend=first - 1).astype(np.float64)
        likely = self._listing.each(records)
        starts = np.searchsorted(records.query_of, lasts)
        means, variance = self.sizes.calibration * records.shares, self.collection.calibration.noise.variance
        return Reach.of(means, likely, starts, runs, variance, queries)

    def _lowest_listed(self, first: int, queries: float) -> float:
        """The number of discovery users that this many listed queries have, from this one on; 0 if fewer are listed."""
        shares, users, needed = self.outline.query_shares[first : self.head], self.sizes.discovery, queries
        for _ in range(_ITERATIONS):
            count = level(shares, users, needed)
            needed = queries / max(self._listed_with(count, first), LEAST)
        return level(shares, users, needed)

    def _listed_with(self, count: float, first: int) -> float:
        """The probability that a query is listed, if so many discovery users have it, from this query on."""
        if self.outline.possible_urls:
            return float(self._listing.any_listed_with(np.array([count / self.sizes.discovery]))[0])
        some = np.unique(np.linspace(first, self.head - 1, _PROBES).astype(np.int64))
        records = self.outline.records(some, TYPICAL)
        within = records.shares / self.outline.query_shares[records.query_of]
        alike = replace(records, shares=count / self.sizes.discovery * within)
        return float(self._listing.any_of(some, alike).mean())

    def could_be_listed(self, discovery: Integers) -> Flags:
        """Which queries could be listed, given how many discovery users have each: hardly one of the others ever is."""
        of_count = self.of_count
        listed = np.bincount(np.minimum(discovery, of_count.size - 1), minlength=of_count.size) * of_count
        return np.asarray(discovery >= np.searchsorted(np.cumsum(listed), self._overlooked))

    def in_reach(self, queries: Integers, could_be_listed: Flags, discovery: Integers, calibration: Integers) -> Flags:
        """Which queries have counts that noise could lift above the count of the M-th query that is listed."""
        counts = discovery if self.parameters.estimator == "likelihood" else calibration
        order = np.argsort(-counts, kind="stable")
        listed = np.where(could_be_listed, self.listed[queries], 0.0)
        above = np.flatnonzero(_certain(listed[order]) > self.parameters.max_queries)
        if not above.size:
            return np.ones(counts.size, np.bool_)
        return np.asarray(counts >= counts[order[above[0]]] - self._noise_reach)

    @property
    def _noise_reach(self) -> float:
        """By how much noise could lift the count of one query above that of another."""
        return float(_LIFT * np.sqrt(_URLS * self.cutoff[1]))

    @cached_property
    def listed(self) -> Floats:
        """The probability that each query has a listed record, before the list is cut off at M queries."""
        return self._listed(self.head)

    @cached_property
    def on_final_list(self) -> Floats:
        """The probability that each query is on the list after it is cut off."""
        shares = self.outline.query_shares[: self.head]
        counts = partial(noisy_counts, self.outline, self._contributions)
        return on_final_list(self.listed, shares, counts, self.parameters.max_queries, self.length.mean)

    def _contributions(self, shares: Floats) -> Contributions:
        """What records contribute to the noisy counts that rank their queries."""
        (users, noise), discovery = self.cutoff, self.sizes.discovery
        if self.parameters.estimator == "likelihood":
            return by_discovery(shares, users, self.of_count, noise)
        return by_calibration(shares, users, discovery, self.of_count, noise)

    def _listed(self, queries: int) -> Floats:
        """The probability that each of the first queries has a listed record; of many rare ones, some are interpolated."""
        if queries <= 2 * _EACH:
            return self._listing.any_listed(np.arange(queries))
        some = np.linspace(_EACH, queries - 1, _EACH).astype(np.int64)
        means = [values.reshape(-1, _ALIKE).mean(axis=1) for values in (some, self._listing.any_listed(some))]
        return np.append(self._first_listed, np.interp(np.arange(_EACH, queries), *means))

    @cached_property
    def _first_listed(self) -> Floats:
        return self._listing.any_listed(np.arange(_EACH))

    @cached_property
    def _listing(self) -> QueryListing:
        return QueryListing(self.outline, self.sizes.discovery, self.of_count)

    @cached_property
    def listed_records(self) -> float:
        """How many records discovery lists on average, before the list is cut off."""
        ranks = self._below[0]
        each = self._listing.how_many(ranks - 1)
        return float((each[1:] + each[:-1]) / 2 @ np.diff(ranks)) + float(each[0] + each[-1]) / 2

    @cached_property
    def length(self) -> Length:
        """The distribution of the number of listed queries."""
        is_cut_off = self.head < self._listable
        return Length.of(self.listed, self.parameters.max_queries, 0.0 if is_cut_off else self._beyond)

    @property
    def _beyond(self) -> float:
        """How many queries that are not looked at are listed on average, if their URLs are like those of the last ones."""
        last = slice(max(self.head - _PROBES, 0), self.head)
        alone = listing_probabilities(self.outline.query_shares[last], self.sizes.discovery, self.of_count)
        like = float(self.listed[last].sum()) / max(float(alone.sum()), LEAST)
        return like * float(np.interp(self.head, *self._below))


def _certain(listed: Floats) -> Floats:
    """How many of the first 1, 2, 3, … queries are practically always listed."""
    certain: Floats = np.cumsum(listed) - _REACH * np.sqrt(np.cumsum(listed * (1 - listed)))
    return certain


@lru_cache(maxsize=64)
def _collection(parameters: Parameters) -> Collection:
    """Cached: the exact tables of noise take longer than anything else in a closed form."""
    return Collection(parameters)
