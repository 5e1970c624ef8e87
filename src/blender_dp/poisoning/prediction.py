"""How many forged reports would change the top of a release? Said beside it, since nobody can tell them from honest ones.

A forger sends what a device would send, but always names the record that he wants to see on top. With m forged reports
beside n others a share x = m / (n + m) is forged, and the clients' estimate c of every row moves to

    c' = c + x·(e - c),

where e is what the estimator makes of forged reports alone: (1 - s) / (t - s) for the wanted query, which is more than 1, as
the estimator takes most reports of a query for lies and undoes that, and -s / (t - s) for the others. (t and s are the
probabilities that the true and another query are reported. For records the response to URLs comes in likewise.) The row's
frequency among the reports, r, moves to r' = (1 - x)·r + x, or (1 - x)·r for the others, and its variance v with it:

    v' = v·(1 - x)·r'(1 - r') / (r(1 - r)).

What is published is about the mean of both groups' estimates, weighted with their precision, in which the opt-in users'
estimate o of variance u counts with the trust τ that the estimator has in it (1, unless it is robust and o contradicts c'):

    (τ·o/u + c'/v') / (τ/u + 1/v').

The number given is the least m for which the wanted row comes past one of the top r. It is an estimate: in trials, what
really did it was mostly within a factor of two of it, once 2.8 times as much. Where a release is made of a likelihood there
is no shorter way to the exact number than to make it anew with every m.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blender_dp.release.estimates import QueryEstimate, RecordEstimate
from blender_dp.release.release import Release
from blender_dp.stages import Estimate, Flags, Floats, Integers, Response, spread, trust
from blender_dp_device.channel.subset import channel_of

_MOST = 10  # times as many forged reports as there are honest ones: whoever has those needs no more
_UNKNOWN = 1e100  # the variance of what is not known
_LEAST = 1e-30
_BELOW_ONE = 1 - float(np.finfo(float).eps)  # the next number would be 1, which leaves nothing to divide by


@dataclass(frozen=True)
class Forgery:
    """A query, or a record if it has a url, that is not in the top, and how many forged reports would bring it there.

    None where ten times as many as there are honest ones would not.
    """

    query: str
    url: str | None
    forged: int | None


@dataclass(frozen=True)
class Poisoning:
    """What it would take to get into the top of a release, cheapest first."""

    top: int
    reports: int
    queries: tuple[Forgery, ...]
    records: tuple[Forgery, ...]


def response_of(release: Release) -> Response:
    """What the clients' channel does, by what the release's list says about it."""
    return Response.of(channel_of(release.head_list, release.reporting_list.channel))


def poisoning(release: Release, response: Response, top: int = 10) -> Poisoning:
    """How many forged reports would bring each query and each record into the top."""
    robust = release.manifest.settings.robust and release.manifest.settings.estimator == "likelihood"
    queries = _Rows.of(release.queries[:-1])
    apart = spread(*_groups(release.queries)) if robust else 0.0
    t, s, layout = response.query_truth, response.query_lie, response.layout
    hit, miss = (1 - s) / (t - s), -s / (t - s)
    at_query = _Attack(
        queries, np.full(len(queries), hit), np.full(len(queries), miss), s + (t - s) * queries.client, robust, apart
    )
    found = at_query.least(top, release.manifest.reports)
    by_query = _named(release.queries[:-1], found)
    by_record: tuple[Forgery, ...] = ()
    if release.head_list.levels == 2 and len(queries):
        listed = np.array([row.url is not None for row in release.records])
        of_query = np.repeat(np.arange(layout.counts.size), layout.counts)[listed]
        base, gain, leak = (layout.per_cell(values)[listed] for values in (response.base, response.gain, response.leak))
        shown = [row for row in release.records if row.url is not None]
        rows = _Rows.of(shown)
        seen = base + gain * rows.client + leak * queries.client[of_query]
        at_record = _Attack(
            rows, (1 - base - leak * hit) / gain, (0 - base - leak * miss) / gain, seen, robust, apart, (at_query, of_query)
        )
        by_record = _named(shown, at_record.least(top, release.manifest.reports))
    return Poisoning(top, release.manifest.reports, by_query, by_record)


@dataclass(frozen=True)
class _Rows:
    share: Floats
    opt_in: Floats
    opt_in_variance: Floats
    client: Floats
    client_variance: Floats

    @classmethod
    def of(cls, rows: Sequence[QueryEstimate]) -> _Rows:
        columns = [
            (
                row.share,
                row.client_share if row.opt_in_share is None else row.opt_in_share,
                _UNKNOWN if row.opt_in_variance is None else max(row.opt_in_variance, _LEAST),
                row.client_share,
                max(row.client_variance, _LEAST),
            )
            for row in rows
        ]
        return cls(*np.array(columns, float).reshape(-1, 5).T)

    def __len__(self) -> int:
        return int(self.share.size)


@dataclass(frozen=True)
class _Attack:
    """Forged reports for each of these rows: what they make of it (`hit`), and of the rows of other queries (`miss`)."""

    rows: _Rows
    hit: Floats
    miss: Floats
    frequency: Floats
    robust: bool
    apart: float
    queries: tuple[_Attack, Integers] | None = None
    """For records: the attack on their queries, and which query each of them has."""

    def least(self, top: int, reports: int) -> list[int | None]:
        """How many forged reports each row needs; 0 for those that are in the top already, None if no number does."""
        if not len(self.rows):
            return []
        best = np.argsort(-self.rows.share, kind="stable")[:top]
        low, high = np.zeros(len(self.rows), np.int64), np.full(len(self.rows), _MOST * reports, np.int64)
        never = ~self._enters(high, reports, best)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            enters = self._enters(middle, reports, best)
            low, high = np.where(enters, low, middle), np.where(enters, middle, high)
        inside = np.isin(np.arange(len(self.rows)), best)
        return [0 if i else None if n else int(m) for i, n, m in zip(inside, never, high, strict=True)]

    def _enters(self, forged: Integers, reports: int, best: Integers) -> Flags:
        x = forged / (reports + forged)
        beaten = np.min([self._share(np.full(x.size, j), x, wanted=False) for j in best], axis=0)
        enters: Flags = self._share(np.arange(x.size), x, wanted=True) >= beaten
        return enters

    def _share(self, index: Integers, x: Floats, *, wanted: bool) -> Floats:
        """What would be published of these rows if a share x of all reports were forged, for them or for another query."""
        rows = self.rows
        before = _mean(rows, index, rows.client[index], rows.client_variance[index], self._trust(index, 0 * x, wanted=False))
        client, variance = self._clients(index, x, wanted=wanted)
        trust = self._trust(index, x, wanted=wanted)
        # What the mean does not explain of the share that was published is kept, as far as opt-in users are believed.
        kept = (rows.share[index] - before) * trust
        published: Floats = _mean(rows, index, client, variance, trust) + kept
        return published

    def _clients(self, index: Integers, x: Floats, *, wanted: bool) -> tuple[Floats, Floats]:
        rows, seen = self.rows, np.clip(self.frequency[index], _LEAST, _BELOW_ONE)
        effect = (self.hit if wanted else self.miss)[index]
        after = (1 - x) * seen + (x if wanted else 0.0)
        variance = rows.client_variance[index] * (1 - x) * after * (1 - after) / (seen * (1 - seen))
        return rows.client[index] + x * (effect - rows.client[index]), np.maximum(variance, _LEAST)

    def _trust(self, index: Integers, x: Floats, *, wanted: bool) -> Floats:
        if not self.robust:
            return np.ones(x.size)
        opt_in = Estimate(self.rows.opt_in[index], self.rows.opt_in_variance[index])
        own = trust(opt_in, Estimate(*self._clients(index, x, wanted=wanted)), self.apart)
        if self.queries is None:
            return own
        of_queries, query_of = self.queries
        return np.minimum(own, of_queries._trust(query_of[index], x, wanted=wanted))


def _mean(rows: _Rows, index: Integers, client: Floats, variance: Floats, trust: Floats) -> Floats:
    """Both groups' estimates, weighted with their precision."""
    precision = trust / rows.opt_in_variance[index]
    mean: Floats = (precision * rows.opt_in[index] + client / variance) / (precision + 1 / variance)
    return mean


def _groups(rows: Sequence[QueryEstimate]) -> tuple[Estimate, Estimate]:
    columns = [
        (
            math.nan if row.opt_in_share is None else row.opt_in_share,
            math.nan if row.opt_in_variance is None else row.opt_in_variance,
            row.client_share,
            row.client_variance,
        )
        for row in rows
    ]
    o_share, o_variance, c_share, c_variance = np.array(columns, float).T
    return Estimate(o_share, o_variance), Estimate(c_share, c_variance)


def _named(rows: Sequence[QueryEstimate], found: list[int | None]) -> tuple[Forgery, ...]:
    urls = [row.url if isinstance(row, RecordEstimate) else None for row in rows]
    made = [Forgery(row.query or "", url, forged) for row, url, forged in zip(rows, urls, found, strict=True) if forged != 0]
    return tuple(sorted(made, key=_cost))


def _cost(forgery: Forgery) -> tuple[float, str, str]:
    return math.inf if forgery.forged is None else forgery.forged, forgery.query, forgery.url or ""
