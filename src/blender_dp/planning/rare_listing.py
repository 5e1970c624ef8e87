"""Which records of rare queries are listed. It is drawn together with their users, because hardly any query is listed.

A query could be listed with a probability that depends on its number of discovery users and is never too low. Only for the
queries that could be listed, the users are distributed over records. Then it is known how probable it is that one of these
records is listed, and the query is accepted or rejected: together, it is listed exactly as often as by the mechanism.
"""

from __future__ import annotations

import numpy as np

from blender_dp.logs.synthetic import uniform
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.selector import Selection
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.planning.listing import LEAST, any_within, log_missing
from blender_dp.planning.tail import at
from blender_dp.sampling import Entropy
from blender_dp.stages import Flags, Floats, Integers

_AT_ONCE = 1_000_000  # values of noise, most of which may be useless
_LIKELY = 0.1  # listing probabilities from which noise is drawn until the record is listed


def listable(of_count: Floats) -> Floats:
    """The probability that a query could be listed, by its number of users: never too low, however they are distributed.

    Records are listed independently. So -log(1 - p) of a query is the sum over its records, and the sum is at most the
    number of users times the largest value per user.
    """
    counts = np.arange(1, of_count.size)
    per_user = np.maximum.accumulate(-log_missing(of_count[1:]) / counts)
    return np.append(-np.expm1(-np.append(0.0, counts * per_user)), 1.0)


def select_rare(
    mechanism: LaplaceThreshold | TruncatedGeometric,
    of_count: Floats,
    could_be_listed: Floats,
    counts: Integers,
    starts: Integers,
    entropy: Entropy,
) -> Selection:
    """Select from the records of queries that could be listed, each with the probability for which it was looked at.

    `counts` has the discovery users of every record, and `starts` the first record of every query.
    """
    if not starts.size:
        return Selection(np.empty(0, np.int64), np.empty(0))
    of_records, sizes = at(of_count, counts), np.diff(starts, append=counts.size)
    likely = any_within(of_records, starts) / np.maximum(could_be_listed, LEAST)
    is_listed = np.repeat(uniform(starts.size, entropy) < likely, sizes)
    rows = np.flatnonzero(is_listed)
    query_of = np.repeat(np.arange(starts.size), sizes)[rows]
    listed = rows[_given_any(of_records[rows], query_of, entropy)]
    return Selection(listed, _noisy(mechanism, of_count, counts[listed], entropy))


def _noisy(mechanism: LaplaceThreshold | TruncatedGeometric, of_count: Floats, counts: Integers, entropy: Entropy) -> Floats:
    """The noisy counts of records, given that they are listed."""
    noise, threshold = mechanism.noise, mechanism.threshold
    exact = counts * noise.half_steps
    noisy = np.full(counts.size, threshold)
    likely = at(of_count, counts) >= _LIKELY
    while (missing := np.flatnonzero(likely & (noisy <= threshold))).size:
        noisy[missing] = exact[missing] + noise.sample(missing.size, entropy)
    for count in np.unique(counts[~likely]).tolist():
        rows = np.flatnonzero(counts == count)
        rows = rows[np.argsort(uniform(rows.size, entropy))]  # the noise may be sorted
        missing = threshold - count * noise.half_steps
        noisy[rows] = exact[rows] + _above(mechanism, rows.size, missing, float(of_count[count]), entropy)
    return noisy / noise.half_steps


def _above(
    mechanism: LaplaceThreshold | TruncatedGeometric, count: int, threshold: int, probability: float, entropy: Entropy
) -> Integers:
    """Noise above a threshold that it exceeds with this probability: small even below 0, if nearly all noise is negative."""
    noise = mechanism.noise
    if threshold >= 0:
        return noise.above(count, threshold, entropy)
    found = np.empty(0, np.int64)
    while found.size < count:
        more = noise.sample(min(int((count - found.size) / probability) + 1, _AT_ONCE), entropy)
        found = np.append(found, more[more > threshold])
    return found[:count]


def _given_any(probabilities: Floats, query_of: Integers, entropy: Entropy) -> Flags:
    """Draw which records are listed, given that at least one record of each query is."""
    listed = np.zeros(query_of.size, np.bool_)
    starts = np.flatnonzero(np.diff(query_of, prepend=-1))
    sizes = np.diff(starts, append=query_of.size)
    is_missing, any_left = np.ones(starts.size, np.bool_), any_within(probabilities, starts) if starts.size else np.empty(0)
    for step in range(int(sizes.max(initial=0))):  # one record of every query after the other
        going = np.flatnonzero(sizes > step)
        rows = starts[going] + step
        p, missing = probabilities[rows], is_missing[going]
        chance = np.where(missing, p / np.maximum(any_left[going], LEAST), p)
        hit = (uniform(going.size, entropy) < chance) | (missing & (sizes[going] == step + 1))
        listed[rows], is_missing[going] = hit, missing & ~hit
        any_left[going] = np.maximum(any_left[going] - p, 0.0) / np.maximum(1 - p, LEAST)
    return listed
