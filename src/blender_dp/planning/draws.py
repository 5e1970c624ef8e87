"""Draw populations and groups as counts, in a time that does not depend on the number of users.

Only records that could be listed are drawn one by one; everyone else counts as a user without a listed record. Large
counts are drawn from a normal distribution, small ones exactly. Nothing here protects anyone: plans are made before there
are any data. All randomness comes from seeded streams, so a plan can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blender_dp.evaluation.draws import inverted, normal_pairs
from blender_dp.evaluation.groups import Groups, Members
from blender_dp.evaluation.population import Name, Population
from blender_dp.logs.synthetic import uniform
from blender_dp.planning.outline import Records
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats, Integers, Response, simulate
from blender_dp_device.channel.subset import AnyChannel

_LARGE = 30.0  # expected counts from which the normal distribution is good enough
_CERTAIN = 1 - 1e-15  # the largest probability that can be inverted
_REPORTS = 1 << 17  # cells that are really reported; beyond, the deviations of fewer clients are scaled up
_FEWEST = 1 << 12  # clients who report however long their reports are


def population(records: Records, users: int, levels: int, entropy: Entropy) -> Population:
    """Users drawn from these shares."""
    counts = _drawn(np.full(records.shares.size, users), records.shares, users, 1.0, entropy)
    held = np.flatnonzero(counts)
    query_of = records.query_of[held]

    def names(wanted: Integers) -> Sequence[Name]:
        numbers = zip(query_of[wanted].tolist(), wanted.tolist(), strict=True)
        return [(f"query {query:08}", f"url {record:08}" if levels == 2 else None) for query, record in numbers]

    return Population(max(users, int(counts.sum())), query_of, counts[held], names, levels)


def groups(people: Population, discovery: int, calibration: int, entropy: Entropy) -> Groups:
    """Opt-in users drawn without replacement from a population."""
    first = thinned(people.counts, discovery / people.users, people.users, entropy)
    left = people.users - discovery
    second = thinned(people.counts - first, calibration / left, left, entropy)
    return Groups(people, _members(people, discovery, first), _members(people, calibration, second))


def thinned(counts: Integers, share: float, users: int, entropy: Entropy) -> Integers:
    """How many of the users who have each record belong to a group with this share of all users."""
    return _drawn(counts, np.full(counts.size, share), users * share, 1 - share, entropy)


def _drawn(trials: Integers, probability: Floats, users: float, remaining: float, entropy: Entropy) -> Integers:
    """How many of the users who have each record are among the users that are drawn, if a part of all users remains.

    Large counts are normal, with the skewness of a binomial distribution and the covariances of drawing without
    replacement; the users without any of these records are one more cell. Small counts are binomial.
    """
    expected, normals = trials * probability, normal_pairs(trials.size + 1, entropy)[0]
    spread = np.sqrt(remaining * np.append(expected, max(users - float(expected.sum()), 0.0)))
    common = expected / users * float(spread @ normals)
    skew = (normals[:-1] ** 2 - 1) * (1 - 2 * probability) / 6
    drawn = np.rint(expected + spread[:-1] * normals[:-1] - common + skew)
    small = np.flatnonzero(expected < _LARGE)
    drawn[small] = inverted(trials[small], np.minimum(probability[small], _CERTAIN), uniform(small.size, entropy))
    return np.clip(drawn, 0, trials).astype(np.int64)


def _members(people: Population, users: int, counts: Integers) -> Members:
    records = np.flatnonzero(counts)
    per_query = np.bincount(people.query_of, weights=counts).astype(np.int64)
    queries = np.flatnonzero(per_query)
    return Members(users, records, counts[records], queries, per_query[queries])


def reports(clients: Integers, channel: AnyChannel, entropy: Entropy) -> Integers:
    """How often every cell is reported: like `stages.simulate`, but fast for any number of clients.

    Given the clients' cells, the variance of the reports is proportional to the number of clients. So only some clients
    report, their deviation from the expected reports is scaled up, and expected reports of all clients are added.
    """
    users, sample = int(clients.sum()), max(_REPORTS // channel.size, _FEWEST)
    if users <= sample:
        return simulate(clients, channel, entropy)
    some = np.diff(np.rint(np.cumsum(clients) * (sample / users)), prepend=0.0).astype(np.int64)
    response = Response.of(channel)
    deviation = simulate(some, channel, entropy) - sample * response.expected(some / sample)
    drawn = users * response.expected(clients / users) + np.sqrt(users / sample) * deviation
    return _whole(np.maximum(drawn, 0.0), users * channel.size)


def _whole(values: Floats, total: int) -> Integers:
    """Whole numbers with this sum; the largest one takes the difference."""
    whole: Integers = np.rint(values).astype(np.int64)
    whole[np.argmax(whole)] += total - int(whole.sum())
    return whole
