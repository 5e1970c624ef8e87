"""The clients' reports from counts, in milliseconds for millions of clients.

`stages.simulate` draws for every client. Clients with the same cell are interchangeable, so here only totals are drawn,
with the same means and covariances: binomial counts for what a client says about its own query, and normal numbers for
the sum of all the other queries that are reported. With few clients, `simulate` is as fast, and does the work.
"""

from __future__ import annotations

import numpy as np

from blender_dp.evaluation.draws import binomial, normal, spread
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats, Integers, Response, largest, simulate
from blender_dp_device.channel.subset import AnyChannel

_FEW = 100_000  # reported cells that are drawn one by one
_ROWS = 64  # queries whose clients' other queries are drawn on their own; fewer if the list is long
_NUMBERS = 64_000  # that are drawn for them


def fast_reports(counts: Integers, channel: AnyChannel, entropy: Entropy) -> Integers:
    """How often every cell is reported, given the number of clients in every cell."""
    if counts.size == 1:  # an empty list
        return counts.copy()
    response = Response.of(channel)
    if int(counts.sum()) * response.size <= _FEW:
        return simulate(counts, channel, entropy)
    layout = response.layout
    included = binomial(counts, np.full(counts.size, response.query_truth), entropy)
    of_queries, clients = (np.add.reduceat(values, layout.starts) for values in (included, counts))
    own = _own_urls(included, response, entropy)
    others = _other_queries(of_queries, clients - of_queries, response.size, entropy)
    return own + spread(others, layout.counts, entropy)


def _own_urls(included: Integers, response: Response, entropy: Entropy) -> Integers:
    """The reported cells of the clients' own queries: mostly the true URL, otherwise a uniform other one."""
    layout = response.layout
    urls = np.repeat(layout.counts, layout.counts)
    truthful = binomial(included, 1 - (urls - 1) * layout.per_cell(response.false_url), entropy)
    lies = spread(included - truthful, urls - 1, entropy)  # for every cell, over the other cells of its query
    source = np.repeat(np.arange(urls.size), urls - 1)
    first = np.cumsum(urls - 1) - (urls - 1)
    place = np.arange(source.size) - first[source]
    start = np.repeat(layout.starts, layout.counts)
    place += place >= (np.arange(urls.size) - start)[source]
    return truthful + np.bincount(start[source] + place, weights=lies, minlength=urls.size).astype(np.int64)


def _other_queries(with_own: Integers, without: Integers, size: int, entropy: Entropy) -> Integers:
    """How often each query is reported by clients who have another one, given how many reports contain the own one.

    A uniform choice of w among K others contains each with probability w / K, and two of them are negatively correlated
    so that the sum is always w. The sum over many clients is normal; deviations from the mean of a row have that covariance.
    """
    queries = with_own.size
    others = queries - 1
    shares = np.array([(size - 1) / others, size / others])
    users = np.stack([with_own, without], axis=1)
    mean = users @ shares
    scale = np.sqrt(users @ (shares * (1 - shares)) * others / max(others - 1, 1))
    reported: Floats = (mean.sum() - mean + _deviations(scale, entropy)).clip(min=0.0)
    total = int(with_own.sum()) * (size - 1) + int(without.sum()) * size
    sums = np.cumsum(reported) * (total / max(float(reported.sum()), 1.0))  # counts near 0 may have lost their lower part
    whole: Integers = np.minimum(np.rint(sums), total).astype(np.int64)
    whole[-1] = total
    return np.diff(whole, prepend=0)


def _deviations(scale: Floats, entropy: Entropy) -> Floats:
    """The sum over all queries of normal numbers for every other query, of this scale and with a sum of 0.

    The clients of the most popular queries get numbers of their own. Those of all other queries share them, as normal
    numbers conditioned on their sum: the error is about one part in the length of the list, for queries that are small.
    """
    queries = scale.size
    rows = largest(scale, min(_ROWS, max(_NUMBERS // queries, 1)))
    numbers, own = normal(rows.size * queries, entropy).reshape(-1, queries), (np.arange(rows.size), rows)
    numbers[own] = 0.0
    numbers -= numbers.sum(axis=1, keepdims=True) / (queries - 1)
    numbers[own] = 0.0
    deviations: Floats = scale[rows] @ numbers
    squares = scale**2
    squares[rows] = 0.0
    if squares.any():
        variance = squares.sum() - squares
        shared = np.sqrt(variance) * normal(queries, entropy)
        deviations += shared - variance / variance.sum() * shared.sum()
    return deviations
