"""How many forged reports would change the top of a release? Shown with it, since they look just like honest ones.

An attacker sends reports as a device would, but always names the record that should reach the top. With m forged reports
added to n others, a share x = m / (n + m) is forged, and the clients' estimate c of every row moves to

    c' = c + x·(e - c),

where e is the estimate from forged reports alone: (1 - s) / (t - s) for the target query, which is more than 1, because the
estimator assumes that many reports of a query are lies and corrects for that, and -s / (t - s) for the others. (t and s are
the probabilities that the true query and that another query is reported. For records, the channel's effect on URLs is
included in the same way.) The row's frequency among the reports, r, moves to r' = (1 - x)·r + x, or (1 - x)·r for the
others, and its variance v changes accordingly:

    v' = v·(1 - x)·r'(1 - r') / (r(1 - r)).

The published share is about the mean of both groups' estimates, weighted by their precision. The opt-in users' estimate o,
of variance u, is also weighted by the estimator's trust τ in it (1, unless the estimator is robust and o contradicts c'):

    (τ·o/u + c'/v') / (τ/u + 1/v').

The result is the smallest m for which the target row overtakes one of the top rows. It is an estimate: in trials, the actual
number was usually within a factor of two of it, and once 2.8 times as large. For the estimator "likelihood" the only way to
the exact number is to compute the release again for every m (`forging.py`).
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

_MAX_FACTOR = 10  # no more than this many forged reports per honest one are considered
_UNKNOWN = 1e100  # the variance of an unknown estimate
_LEAST = 1e-30
_BELOW_ONE = 1 - float(np.finfo(float).eps)  # the next float is 1, and 1 - 1 would be a division by zero


@dataclass(frozen=True)
class Forgery:
    """A query (or a record, if it has a url) outside the top, and the number of forged reports that would bring it there.

    The number is None if ten times the number of honest reports would not.
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
    """The response of the clients' channel that the release's list describes."""
    return Response.of(channel_of(release.head_list, release.reporting_list.channel))


def poisoning(release: Release, response: Response, top: int = 10) -> Poisoning:
    """The number of forged reports that would bring each query and each record into the top."""
    robust = release.manifest.settings.robust and release.manifest.settings.estimator == "likelihood"
    queries = _Rows.of(release.queries[:-1])
    apart = spread(*_groups(release.queries)) if robust else 0.0
    opt_in = release.manifest.groups[0].users / max(release.manifest.reports, 1)
    t, s, layout = response.query_truth, response.query_lie, response.layout
    hit, miss = (1 - s) / (t - s), -s / (t - s)
    at_query = _Attack(
        queries, np.full(len(queries), hit), np.full(len(queries), miss), s + (t - s) * queries.client, robust, apart, opt_in
    )
    by_query = _named(release.queries[:-1], at_query.least(top, release.manifest.reports))
    by_record: tuple[Forgery, ...] = ()
    if release.head_list.levels == 2 and len(queries):
        listed = np.array([row.url is not None for row in release.records])
        of_query = np.repeat(np.arange(layout.counts.size), layout.counts)[listed]
        base, gain, leak = (layout.per_cell(values)[listed] for values in (response.base, response.gain, response.leak))
        records = [row for row in release.records if row.url is not None]
        rows = _Rows.of(records)
        seen = base + gain * rows.client + leak * queries.client[of_query]
        at_record = _Attack(
            rows, (1 - base - leak * hit) / gain, (0 - base - leak * miss) / gain, seen, robust, apart, opt_in,
            (at_query, of_query),
        )  # fmt: skip
        by_record = _named(records, at_record.least(top, release.manifest.reports))
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
    """Forged reports for each of these rows: their estimate of that row (`hit`), and of rows of other queries (`miss`)."""

    rows: _Rows
    hit: Floats
    miss: Floats
    frequency: Floats
    robust: bool
    apart: float
    opt_in: float
    """The number of opt-in users, as a multiple of that of honest reports."""
    queries: tuple[_Attack, Integers] | None = None
    """For records: the attack on their queries, and the query of each record."""

    def least(self, top: int, reports: int) -> list[int | None]:
        """The number of forged reports that each row needs; 0 if it is already in the top, None if no number suffices."""
        if not len(self.rows):
            return []
        best = np.argsort(-self.rows.share, kind="stable")[:top]
        low, high = np.zeros(len(self.rows), np.int64), np.full(len(self.rows), _MAX_FACTOR * reports, np.int64)
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
        """The published shares of these rows if a share x of all reports were forged, for them or for another query."""
        rows = self.rows
        before = _mean(rows, index, rows.client[index], rows.client_variance[index], self._trust(index, 0 * x, wanted=False))
        client, variance = self._clients(index, x, wanted=wanted)
        trust = self._trust(index, x, wanted=wanted)
        # The part of the published share that the mean does not explain remains, scaled by the trust in opt-in users.
        unexplained = (rows.share[index] - before) * trust
        published: Floats = _mean(rows, index, client, variance, trust) + unexplained
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
        own = trust(opt_in, Estimate(*self._clients(index, x, wanted=wanted)), self.apart, 1 / (1 + self.opt_in * (1 - x)))
        if self.queries is None:
            return own
        of_queries, query_of = self.queries
        return np.minimum(own, of_queries._trust(query_of[index], x, wanted=wanted))


def _mean(rows: _Rows, index: Integers, client: Floats, variance: Floats, trust: Floats) -> Floats:
    """The mean of both groups' estimates, weighted by their precision."""
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


def _named(rows: Sequence[QueryEstimate], numbers: list[int | None]) -> tuple[Forgery, ...]:
    urls = [row.url if isinstance(row, RecordEstimate) else None for row in rows]
    outside = [(row, url, forged) for row, url, forged in zip(rows, urls, numbers, strict=True) if forged != 0]
    return tuple(sorted((Forgery(row.query or "", url, forged) for row, url, forged in outside), key=_cost))


def _cost(forgery: Forgery) -> tuple[float, str, str]:
    return math.inf if forgery.forged is None else forgery.forged, forgery.query, forgery.url or ""
