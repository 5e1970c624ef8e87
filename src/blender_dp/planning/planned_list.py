"""The opt-in users' half of a planned collection: from the number of users who have each query to the list.

Most queries can neither be listed nor be among the most popular ones, and most of those that discovery lists do not remain
on the list. So everything is decided on numbers, and only the queries of the final list get names, and clients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise

import numpy as np

from blender_dp.evaluation.draws import normal
from blender_dp.evaluation.experiment import listing_of
from blender_dp.evaluation.groups import Groups, Listed, Members
from blender_dp.evaluation.population import Name, Population
from blender_dp.logs.synthetic import uniform
from blender_dp.pipeline.collection import Collection, Listing
from blender_dp.planning.calibrated_reach import Reach
from blender_dp.planning.draws import Queries, distributed, drawn_queries, most_popular
from blender_dp.planning.outline import Records
from blender_dp.planning.rare_listing import select_rare
from blender_dp.planning.setting import Setting
from blender_dp.planning.tail import Tail, at
from blender_dp.sampling import Entropy
from blender_dp.stages import (
    Calibrated,
    Discovery,
    Flags,
    Floats,
    Integers,
    Layout,
    largest,
    noisy_shares,
    opt_in_estimate,
    top_queries,
)
from blender_dp_device.records.head_list import HeadList

_FIRST_NAME = 10**9
_Known = tuple[Integers, Integers]
"""The calibration users and the records of every query that could be kept."""


@dataclass(frozen=True, eq=False)
class PlannedList:
    """The list of one planned collection, and its users."""

    groups: Groups
    """Of the listed and of the most popular queries, numbered from 0."""
    ranks: Integers
    """The place of each of these queries in the setting's outline."""
    listing: Listing
    listed: Listed


@dataclass(frozen=True, eq=False)
class _Found:
    """Queries that discovery lists, or could list, with their records."""

    queries: Queries
    records: Records
    users: Integers
    """How many users have each record: a row for each of the first groups."""
    noisy_counts: Floats
    """Discovery's; NaN for records that it does not list."""

    @cached_property
    def sizes(self) -> Integers:
        """The number of records of each query."""
        return np.diff(np.searchsorted(self.records.query_of, self.queries.numbers), append=self.records.query_of.size)

    @cached_property
    def query_of(self) -> Integers:
        """Each record's query, numbered from 0."""
        return np.repeat(np.arange(self.sizes.size), self.sizes)

    @cached_property
    def is_listed(self) -> Flags:
        """Which records are listed."""
        return ~np.isnan(self.noisy_counts)

    @cached_property
    def listed_per_query(self) -> Integers:
        """How many records of each query are listed."""
        return np.bincount(self.query_of[self.is_listed], minlength=self.sizes.size)

    @cached_property
    def calibrated(self) -> Integers:
        """How many calibration users have listed records of each query."""
        listed = self.is_listed
        return np.bincount(self.query_of[listed], self.users[1, listed], self.sizes.size).astype(np.int64)

    def only(self, these: Flags) -> _Found:
        """Some of the queries."""
        of_records = np.repeat(these, self.sizes)
        records = self.records.only(of_records)
        return _Found(self.queries.only(these), records, self.users[:, of_records], self.noisy_counts[of_records])

    def with_users(self, groups: int, entropy: Entropy) -> _Found:
        """The same queries, with the users of so many more groups."""
        done = self.users.shape[0]
        more = distributed(self.queries.users[done : done + groups], self.records, self.sizes, entropy)
        return replace(self, users=np.vstack([self.users, more]))


def planned_list(setting: Setting, collection: Collection, seed: str, entropy: Entropy) -> PlannedList:
    """Draw the users and make the list. The `seed` chooses the URLs, where the outline leaves them open."""
    queries = drawn_queries(setting, entropy)
    popular = queries.only(most_popular(queries.users.sum(axis=0), setting))
    found = _discovered(setting, queries, seed, entropy)
    calibrated: Calibrated
    if setting.parameters.estimator == "likelihood":
        most = collection.parameters.max_queries
        totals = np.bincount(found.query_of, np.nan_to_num(found.noisy_counts), found.sizes.size)
        order = np.argsort(uniform(totals.size, entropy))  # of queries with equal counts, names decide, not popularity
        found = _kept(found, order[largest(totals[order], most)]).with_users(2, entropy)
        groups, ranks, listed = _listed(setting, found, popular)
        discovered, cells = _discovery(found, listed), groups.calibration.on(listed)
        calibrated = collection.estimator.calibrate(cells, discovered, collection.calibration, most, entropy)
    else:
        found, shares = _calibrated(setting, collection, found.with_users(1, entropy), entropy)
        found = found.with_users(1, entropy)
        groups, ranks, listed = _listed(setting, found, popular)
        discovered = _discovery(found, listed)
        calibrated = opt_in_estimate(listed.head_list, shares, setting.sizes.calibration, collection.calibration)
    return PlannedList(groups, ranks, listing_of(collection, calibrated, discovered, setting.sizes), listed)


def _discovered(setting: Setting, queries: Queries, seed: str, entropy: Entropy) -> _Found:
    """The queries that discovery lists, except those that the list certainly has no room for."""
    tail, in_reach = setting.tail, setting.in_reach(queries.numbers, queries.could_be_listed, *queries.users[:2])
    could_be = queries.only(queries.could_be_listed & in_reach)
    records = setting.outline.records(could_be.numbers, seed)
    nothing = np.empty((0, records.shares.size), np.int64)
    found = _Found(could_be, records, nothing, np.full(records.shares.size, np.nan))
    if tail and tail.reach:
        drawn = could_be.users[1], np.full(could_be.numbers.size, tail.reach.records)
        found = found.only(_in_reach(tail, tail.reach, found, drawn, (could_be.users[1], found.sizes), entropy))
    found = found.with_users(1, entropy)
    mechanism, counts, sizes = setting.collection.discovery, found.records.if_listable(found.users[0]), found.sizes
    rare = int(np.searchsorted(found.queries.numbers, tail.first)) if tail else sizes.size
    common = int(sizes[:rare].sum())
    held = np.flatnonzero(counts[:common])
    selected = mechanism.selector(entropy).select(counts[held])
    found.noisy_counts[held[selected.rows]] = selected.noisy_counts
    if tail:  # whether rare queries are listed is decided together with their users
        looked_at = at(tail.listable, found.queries.users[0, rare:])
        starts = np.cumsum(sizes[rare:]) - sizes[rare:]
        selected = select_rare(mechanism, setting.of_count, looked_at, counts[common:], starts, entropy)
        found.noisy_counts[common + selected.rows] = selected.noisy_counts
    return found.only(found.listed_per_query > 0)


def _calibrated(setting: Setting, collection: Collection, found: _Found, entropy: Entropy) -> tuple[_Found, Floats]:
    """The queries that calibration keeps, and the noisy shares of their cells."""
    unlisted_urls, users = int(setting.outline.levels == 2), setting.sizes.calibration
    tail, reach = setting.tail, setting.tail.reach if setting.tail else None
    if tail and reach:
        known = found.queries.users[1], found.sizes
        found = found.only(_in_reach(tail, reach, found, known, (found.calibrated, found.listed_per_query), entropy))
    layout = Layout([*(found.listed_per_query + unlisted_urls).tolist(), 1])
    rows = np.flatnonzero(found.is_listed)
    query_of = found.query_of[rows]
    cells = np.arange(rows.size) + unlisted_urls * query_of
    counts = np.zeros(layout.cell_count, np.int64)  # users with other URLs of a query are counted in the last cell anyway
    counts[cells] = found.users[1, rows]
    counts[-1] = users - counts.sum()
    shares = noisy_shares(counts, layout, collection.calibration, entropy)
    if tail and reach:  # the noise of rare queries is not independent of their being drawn
        first = int(np.searchsorted(found.queries.numbers, tail.first))
        place = np.arange(rows.size) - (np.cumsum(found.listed_per_query) - found.listed_per_query)[query_of]
        rare = np.flatnonzero((query_of >= first) & (place < reach.records))
        of_queries = reach.noise(found.calibrated[first:], found.listed_per_query[first:], entropy)
        noise = of_queries[query_of[rare] - first, place[rare]]
        shares[cells[rare]] = (counts[cells[rare]] + noise) / users
    kept, shares = top_queries(shares, layout, collection.parameters.max_queries)
    is_cut_off = found.sizes.size > collection.parameters.max_queries  # then not all listed records were drawn
    others = max(setting.listed_records - rows.size, 0.0) if is_cut_off else 0.0  # the noise of the others counts as well
    if reach:  # all noise has a mean of 0, that of all rare queries together included
        others += rows.size + 1
        shares[-1] = 1 - np.nansum(shares[:-1])
    shares[-1:] += math.sqrt(others * collection.calibration.noise.variance) / users * normal(1, entropy)
    return _kept(found, kept), shares


def _in_reach(tail: Tail, reach: Reach, found: _Found, before: _Known, now: _Known, entropy: Entropy) -> Flags:
    """Draw which queries calibration could still keep, now that more is known about the rare ones."""
    could_be = uniform(found.sizes.size, entropy) < reach.probable(*now) / reach.probable(*before)
    return np.asarray(could_be | (found.queries.numbers < tail.first))


def _kept(found: _Found, queries: Integers) -> _Found:
    kept = np.zeros(found.sizes.size, np.bool_)
    kept[queries] = True
    return found.only(kept)


def _listed(setting: Setting, found: _Found, popular: Queries) -> tuple[Groups, Integers, Listed]:
    """The users, with the records of the listed queries; of the most popular other ones, only how many users have them."""
    others = popular.only(~np.isin(popular.numbers, found.queries.numbers))
    numbers = np.append(found.records.query_of, others.numbers)
    users = np.hstack([found.users, others.users])
    is_listed = np.append(found.is_listed, np.zeros(others.numbers.size, np.bool_))
    held = np.flatnonzero(users.any(axis=0))
    order = held[np.argsort(numbers[held], kind="stable")]
    ranks, query_of = np.unique(numbers[order], return_inverse=True)
    levels, is_listed = setting.outline.levels, is_listed[order]
    people = Population(setting.users, query_of, users[:, order].sum(axis=0), partial(_names, query_of, levels), levels)
    sizes = (setting.sizes.discovery, setting.sizes.calibration)
    members = (_members(people, size, counts[order]) for size, counts in zip(sizes, users, strict=False))
    records = np.flatnonzero(is_listed)
    head_list = _head_list(found.listed_per_query, query_of[records], records, levels)
    return Groups(people, *members), ranks, Listed(head_list, records, people)


def _head_list(sizes: Integers, queries: Integers, records: Integers, levels: int) -> HeadList:
    """The list of these records, of which every query has so many."""
    ends = np.cumsum(sizes)
    named, urls = _texts(queries[ends - sizes]), _texts(records)
    if levels == 1:
        return HeadList(tuple((query, ()) for query in named))
    parts = pairwise([0, *ends.tolist()])
    return HeadList(tuple((query, tuple(urls[start:end])) for query, (start, end) in zip(named, parts, strict=True)))


def _names(query_of: Integers, levels: int, records: Integers) -> Sequence[Name]:
    urls = _texts(records) if levels == 2 else [None] * records.size
    return list(zip(_texts(query_of[records]), urls, strict=True))


def _texts(numbers: Integers) -> list[str]:
    """Names with equally many digits, so that they sort like the numbers."""
    return list(map(str, (_FIRST_NAME + numbers).tolist()))


def _members(people: Population, users: int, counts: Integers) -> Members:
    records = np.flatnonzero(counts)
    per_query = np.bincount(people.query_of, weights=counts).astype(np.int64)
    queries = np.flatnonzero(per_query)
    return Members(users, records, counts[records], queries, per_query[queries])


def _discovery(found: _Found, listed: Listed) -> Discovery:
    noisy_counts = found.noisy_counts[found.is_listed]
    return Discovery(listed.head_list, noisy_counts, np.zeros(noisy_counts.size, np.bool_))
