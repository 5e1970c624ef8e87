"""Draw the users of a planned collection as counts, in a time that does not depend on the number of users.

Every group's users are drawn from the same shares, query by query. Large counts are drawn from a normal distribution, small
ones exactly. Nothing here protects anyone: plans are made before there are any data. All randomness comes from seeded
streams, so a plan can be repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_dp.evaluation.draws import binomial, inverted, normal
from blender_dp.logs.synthetic import uniform
from blender_dp.planning.listing import LEAST
from blender_dp.planning.outline import Records
from blender_dp.planning.setting import Setting
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers

_TABLE = 1000  # counts up to this are tabulated
_LARGE = 30.0  # expected counts from which the normal distribution is good enough


@dataclass(frozen=True, eq=False)
class Queries:
    """Some queries: their numbers, in ascending order, whether they could be listed, and a row of users for each group."""

    numbers: Integers
    could_be_listed: Flags
    users: Integers

    def only(self, these: Flags) -> Queries:
        """Some of them."""
        return Queries(self.numbers[these], self.could_be_listed[these], self.users[:, these])


def drawn_queries(setting: Setting, entropy: Entropy) -> Queries:
    """The users of all queries that could matter: discovery users, calibration users and clients."""
    tail, sizes = setting.tail, (setting.sizes.discovery, setting.sizes.calibration, setting.sizes.clients)
    common = setting.outline.query_shares[: tail.first if tail else setting.head]
    counts = np.stack([drawn(users, common, entropy) for users in sizes])
    first = Queries(np.arange(common.size), setting.could_be_listed(counts[0]), counts)
    if tail is None:
        return first
    rare, could_be_listed, of_rare = tail.drawn(entropy)
    # Rare queries are drawn without regard to the common ones.
    of_each = [_at_most(users, row) for users, row in zip(sizes, np.hstack([counts, of_rare]), strict=True)]
    return Queries(np.append(first.numbers, rare), np.append(first.could_be_listed, could_be_listed), np.stack(of_each))


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


def distributed(of_queries: Integers, records: Records, sizes: Integers, entropy: Entropy) -> Integers:
    """Distribute each group's users of some queries over their records: a row per group, a column per record.

    `sizes` has the number of records of every query.
    """
    starts, users = np.cumsum(sizes) - sizes, of_queries
    counts = np.zeros((users.shape[0], records.shares.size), np.int64)
    sums = np.append(0.0, np.cumsum(records.shares))
    while sizes.size:  # every query's users are divided between the two halves of its records, until there is one record
        single, several = sizes == 1, (sizes > 1) & users.any(axis=0)
        counts[:, starts[single]] = users[:, single]
        starts, sizes, users = starts[several], sizes[several], users[:, several]
        half = sizes // 2
        whole, first = sums[starts + sizes] - sums[starts], sums[starts + half] - sums[starts]
        part = np.clip(first / np.maximum(whole, LEAST), 0.0, 1.0)
        divided = binomial(users.ravel(), np.tile(part, users.shape[0]), entropy).reshape(users.shape)
        starts, sizes = np.append(starts, starts + half), np.append(half, sizes - half)
        users = np.hstack([divided, users - divided])
    return counts


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
