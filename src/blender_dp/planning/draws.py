"""Draw the users of a planned collection as counts, in a time that does not depend on the number of users.

Every group's users are drawn from the same shares, query by query. Most queries can neither be listed nor be among the most
popular ones; only the others' users are distributed over records. Large counts are drawn from a normal distribution, small
ones exactly. Nothing here protects anyone: plans are made before there are any data. All randomness comes from seeded
streams, so a plan can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blender_dp.evaluation.draws import binomial, inverted, normal
from blender_dp.evaluation.groups import Groups, Members
from blender_dp.evaluation.population import Name, Population
from blender_dp.logs.synthetic import uniform
from blender_dp.planning.outline import Records
from blender_dp.planning.setting import Setting
from blender_dp.planning.tail import LARGE
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers


def groups(setting: Setting, seed: str, entropy: Entropy) -> Groups:
    """Discovery users, calibration users and clients, drawn from the shares of the queries that could be listed."""
    sizes = setting.sizes
    queries, of_queries = _of_queries(setting, entropy)
    chosen = setting.could_be_listed(queries, *of_queries[:2]) | _most_popular(of_queries.sum(0), setting)
    records = setting.outline.records(queries[chosen], seed)
    discovery, calibration, clients = distributed(of_queries[:, chosen], queries[chosen], records, entropy)
    people = _population(records, discovery + calibration + clients, setting)
    held = discovery + calibration + clients > 0
    return Groups(
        people,
        _members(people, sizes.discovery, discovery[held]),
        _members(people, sizes.calibration, calibration[held]),
    )


def _of_queries(setting: Setting, entropy: Entropy) -> tuple[Integers, Integers]:
    """The numbers of the queries that could matter, in ascending order, and a row of their users for each group."""
    tail, sizes = setting.tail, (setting.sizes.discovery, setting.sizes.calibration, setting.sizes.clients)
    common = setting.outline.query_shares[: tail.first if tail else setting.head]
    counts = np.stack([drawn(users, common, entropy) for users in sizes])
    if tail is None:
        return np.arange(common.size), counts
    rare, of_rare = tail.drawn(entropy)
    # Rare queries are drawn without regard to the common ones.
    of_each = [_at_most(users, row) for users, row in zip(sizes, np.hstack([counts, of_rare]), strict=True)]
    return np.append(np.arange(common.size), rare), np.stack(of_each)


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
    small = np.flatnonzero(expected < LARGE)
    counts[small] = inverted(np.full(small.size, users), shares[small], uniform(small.size, entropy))
    return _at_most(users, np.clip(counts, 0, users))


def _at_most(users: int, counts: Floats | Integers) -> Integers:
    """Reduce all counts alike if they exceed the users: small ones are drawn without regard to each other."""
    scale = min(users / max(float(counts.sum()), 1.0), 1.0)
    whole: Integers = np.diff(np.rint(np.cumsum(counts) * scale), prepend=0.0).astype(np.int64)
    return whole


def distributed(of_queries: Integers, queries: Integers, records: Records, entropy: Entropy) -> Integers:
    """Distribute each group's users of these queries over the queries' records: a row per group, a column per record."""
    groups, sizes = of_queries.shape[0], np.bincount(records.query_of, minlength=int(queries.max(initial=0)) + 1)[queries]
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


def _most_popular(counts: Integers, setting: Setting) -> Flags:
    """Which queries are among the M most popular ones, with which a ranking is compared."""
    most = setting.parameters.max_queries
    if counts.size <= most:
        return np.ones(counts.size, np.bool_)
    return np.asarray(counts >= np.partition(counts, counts.size - most)[counts.size - most])


def _population(records: Records, counts: Integers, setting: Setting) -> Population:
    held = np.flatnonzero(counts)
    query_of, levels = records.query_of[held], setting.outline.levels

    def names(wanted: Integers) -> Sequence[Name]:
        numbers = zip(query_of[wanted].tolist(), wanted.tolist(), strict=True)
        return [(f"query {query:08}", f"url {record:08}" if levels == 2 else None) for query, record in numbers]

    return Population(setting.users, query_of, counts[held], names, levels)


def _members(people: Population, users: int, counts: Integers) -> Members:
    records = np.flatnonzero(counts)
    per_query = np.bincount(people.query_of, weights=counts).astype(np.int64)
    queries = np.flatnonzero(per_query)
    return Members(users, records, counts[records], queries, per_query[queries])
