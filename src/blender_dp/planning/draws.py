"""Draw the users of a planned collection as counts, in a time that does not depend on the number of users.

Every group's users are drawn from the same shares, query by query. Most queries can neither be listed nor be among the most
popular ones; only the others' users are distributed over records. Large counts are drawn from a normal distribution, small
ones exactly. Nothing here protects anyone: plans are made before there are any data. All randomness comes from seeded
streams, so a plan can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blender_dp.evaluation.draws import binomial, inverted, normal
from blender_dp.evaluation.experiment import Select
from blender_dp.evaluation.groups import Groups, Members
from blender_dp.evaluation.population import Name, Population
from blender_dp.logs.synthetic import uniform
from blender_dp.planning.outline import Records
from blender_dp.planning.rare_listing import RareListing, any_listed
from blender_dp.planning.setting import Setting
from blender_dp.planning.tail import Tail, at
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers

_TABLE = 1000  # counts up to this are tabulated
_LARGE = 30.0  # expected counts from which the normal distribution is good enough


@dataclass(frozen=True, eq=False)
class _Queries:
    """Some queries: their numbers, in ascending order, whether they could be listed, and a row of users for each group."""

    numbers: Integers
    could_be_listed: Flags
    users: Integers

    def only(self, these: Flags) -> _Queries:
        return _Queries(self.numbers[these], self.could_be_listed[these], self.users[:, these])


@dataclass(frozen=True, eq=False)
class Drawn:
    """The users of one planned collection."""

    groups: Groups
    """Of the queries that matter, numbered from 0."""
    ranks: Integers
    """The place of each of these queries in the setting's outline."""
    select: Select | None
    """Selects the records to list; None if the mechanism does, because nothing is decided about rare queries yet."""


def drawn_groups(setting: Setting, seed: str, entropy: Entropy) -> Drawn:
    """Discovery users, calibration users and clients, drawn from the shares of the queries that matter.

    Rare queries are drawn only if they could be listed or are very popular.
    """
    queries = _of_queries(setting, entropy)
    is_popular = most_popular(queries.users.sum(0), setting)
    in_reach = setting.in_reach(queries.numbers, queries.could_be_listed, *queries.users[:2])
    matters = is_popular | (queries.could_be_listed & in_reach)
    queries, is_popular = queries.only(matters), is_popular[matters]
    records = setting.outline.records(queries.numbers, seed)
    discovery = distributed(queries.users[:1], queries.numbers, records, entropy)
    select = None
    if setting.tail is not None:
        is_listed = _listed(setting, setting.tail, queries, records, discovery[0], entropy)
        matters = is_popular | is_listed
        of_records = np.repeat(matters, _sizes(records, queries.numbers))
        queries, discovery = queries.only(matters), discovery[:, of_records]
        records = Records(records.query_of[of_records], records.shares[of_records])
        rare = int(np.searchsorted(queries.numbers, setting.tail.first))
        listed = rare + np.flatnonzero(is_listed[matters][rare:])
        select = RareListing(setting.collection.discovery, setting.of_count, rare, listed).select
    counts = np.vstack([discovery, distributed(queries.users[1:], queries.numbers, records, entropy)])
    held = counts.any(axis=0)
    people = _population(queries.numbers, records, counts.sum(axis=0), setting)
    sizes = setting.sizes
    members = (
        _members(people, size, row[held]) for size, row in ((sizes.discovery, counts[0]), (sizes.calibration, counts[1]))
    )
    return Drawn(Groups(people, *members), queries.numbers, select)


def _of_queries(setting: Setting, entropy: Entropy) -> _Queries:
    """The queries that could matter."""
    tail, sizes = setting.tail, (setting.sizes.discovery, setting.sizes.calibration, setting.sizes.clients)
    common = setting.outline.query_shares[: tail.first if tail else setting.head]
    counts = np.stack([drawn(users, common, entropy) for users in sizes])
    first = _Queries(np.arange(common.size), setting.could_be_listed(counts[0]), counts)
    if tail is None:
        return first
    rare, could_be_listed, of_rare = tail.drawn(entropy)
    # Rare queries are drawn without regard to the common ones.
    of_each = [_at_most(users, row) for users, row in zip(sizes, np.hstack([counts, of_rare]), strict=True)]
    return _Queries(np.append(first.numbers, rare), np.append(first.could_be_listed, could_be_listed), np.stack(of_each))


def _listed(
    setting: Setting, tail: Tail, queries: _Queries, records: Records, discovery: Integers, entropy: Entropy
) -> Flags:
    """Decide which of the rare queries are listed, given their users. Of the others, those that could be."""
    is_rare = queries.numbers >= tail.first
    of_records, sizes = at(setting.of_count, discovery), _sizes(records, queries.numbers)
    likely = any_listed(of_records, np.cumsum(sizes) - sizes) / np.maximum(at(tail.listable, queries.users[0]), 1e-300)
    return queries.could_be_listed & (~is_rare | (uniform(likely.size, entropy) < likely))


def drawn(users: int, shares: Floats, entropy: Entropy) -> Integers:
    """How many of so many users have each query.

    Large counts are normal, with the skewness of a binomial distribution and the covariances of a multinomial one; the users
    without any of these queries are one more cell. Small counts are binomial.
    """
    expected, normals = users * shares, normal(shares.size + 1, entropy)
    spread = np.sqrt(np.append(expected, max(users - float(expected.sum()), 0.0)))
    common = shares * float(spread @ normals)
    skew = (normals[:-1] ** 2 - 1) * (1 - 2 * shares) / 6
    counts = np.rint(expected + spread[:-1] * normals[:-1] - common + skew)
    small = np.flatnonzero(expected < _LARGE)
    counts[small] = inverted(np.full(small.size, users), shares[small], uniform(small.size, entropy))
    return _at_most(users, np.clip(counts, 0, users))


def _at_most(users: int, counts: Floats | Integers) -> Integers:
    """Reduce all counts alike if they exceed the users: small ones are drawn without regard to each other."""
    scale = min(users / max(float(counts.sum()), 1.0), 1.0)
    whole: Integers = np.diff(np.rint(np.cumsum(counts) * scale), prepend=0.0).astype(np.int64)
    return whole


def distributed(of_queries: Integers, queries: Integers, records: Records, entropy: Entropy) -> Integers:
    """Distribute each group's users of these queries over the queries' records: a row per group, a column per record."""
    groups, sizes = of_queries.shape[0], _sizes(records, queries)
    starts = np.cumsum(sizes) - sizes
    counts, left = np.zeros((groups, records.shares.size), np.int64), of_queries.copy()
    remaining = np.add.reduceat(records.shares, starts) if queries.size else np.empty(0)
    for step in range(int(sizes.max(initial=0))):  # one record of every query after the other
        going = np.flatnonzero(sizes > step)
        share = records.shares[starts[going] + step]
        part = np.where(sizes[going] == step + 1, 1.0, np.minimum(share / remaining[going], 1.0))
        taken = binomial(left[:, going].ravel(), np.tile(part, groups), entropy).reshape(groups, -1)
        counts[:, starts[going] + step] = taken
        left[:, going] -= taken
        remaining[going] = np.maximum(remaining[going] - share, 1e-300)
    return counts


def _sizes(records: Records, queries: Integers) -> Integers:
    """The number of records of each query, if the records are those of these queries."""
    return np.diff(np.searchsorted(records.query_of, queries), append=records.query_of.size)


def most_popular(counts: Integers, setting: Setting) -> Flags:
    """Which queries are among the M most popular ones, with which a ranking is compared."""
    most = setting.parameters.max_queries
    if counts.size <= most:
        return np.ones(counts.size, np.bool_)
    # Nearly all counts may be small and equal, on which `np.partition` is very slow.
    at_least = np.cumsum(np.bincount(np.minimum(counts, _TABLE))[::-1])[::-1]
    lowest = int(np.count_nonzero(at_least >= most)) - 1
    if lowest == _TABLE:
        large = counts[counts >= _TABLE]
        lowest = int(np.partition(large, large.size - most)[large.size - most])
    return np.asarray(counts >= lowest)


def _population(ranks: Integers, records: Records, counts: Integers, setting: Setting) -> Population:
    held = np.flatnonzero(counts)
    query_of, levels = np.searchsorted(ranks, records.query_of[held]), setting.outline.levels

    def names(wanted: Integers) -> Sequence[Name]:
        numbers = zip(ranks[query_of[wanted]].tolist(), wanted.tolist(), strict=True)
        return [(f"query {query:08}", f"url {record:08}" if levels == 2 else None) for query, record in numbers]

    return Population(setting.users, query_of, counts[held], names, levels)


def _members(people: Population, users: int, counts: Integers) -> Members:
    records = np.flatnonzero(counts)
    per_query = np.bincount(people.query_of, weights=counts).astype(np.int64)
    queries = np.flatnonzero(per_query)
    return Members(users, records, counts[records], queries, per_query[queries])
