"""What a series of releases says about one query's share: how likely every round's results are, for each possible share.

A round's clients measure the share itself. Its opt-in users measure a share that differs by a bias, the same in every round:
they see only listed URLs and guess the rest, and volunteers may differ. A round that does not list the query says that
few enough discovery users had it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from blender_dp.release.estimates import QueryEstimate
from blender_dp.release.membership import SELECTION_BIAS, Membership, Spread, spreads_of
from blender_dp.release.normal import Floats
from blender_dp_device.records.head_list import HeadList

if TYPE_CHECKING:
    from blender_dp.release.release import Release

_BIASES = np.array([-1.8, -1.2, -0.6, 0.0, 0.6, 1.2, 1.8])  # in standard deviations
# The likelihood's variance of the opt-in users includes what it does not know about unlisted URLs. Part of that is the same
# in every round, and part is new; and even a query whose URLs are all listed is not the same among volunteers.
_LASTING, _NEW, _VOLUNTEERS = 0.45, 0.3, 0.03
_REACH = 6.0  # standard errors around all estimates that the grid covers
_CELL = 0.4  # the width of a grid cell in standard errors, at the largest share
_FEWEST, _MOST = 40, 240  # grid cells
_UNSEEN = 1e-3  # the grid covers every share that is missing with this probability
_OTHER = 0.03  # the probability that a list misses a query for a reason that is not modelled
_NEVER = 1e-300


@dataclass(frozen=True, eq=False)
class Track:
    """A grid of shares, and the likelihood of every round's results for each share and bias."""

    query: str
    rows: tuple[QueryEstimate | None, ...]
    """The published estimates, None where the query is not listed."""
    shares: Floats
    offset: float
    """The grid is even in log(share + offset): about relative steps for shares above the noise, absolute ones below."""
    log_likelihood: Floats
    """By round, bias and share."""
    bias_weights: Floats

    @property
    def logs(self) -> Floats:
        """The grid in the logarithms in which it is even."""
        logs: Floats = np.log(self.shares + self.offset)
        return logs


@dataclass(frozen=True, eq=False)
class _Evidence:
    """One round's estimates of one query, with what is known about their errors."""

    client: float
    client_variance: float
    opt_in: float
    """The opt-in users' estimate, before the correction for being listed; NaN if there is none."""
    opt_in_users: float
    noise: float
    """The variance of the noise on the opt-in users' counts, as a share of their number."""
    stated: float
    """The variance that the release states for the opt-in users."""
    visible: float
    """The part of the query that the opt-in users' estimate covers."""

    @property
    def counting(self) -> float:
        """The variance of the opt-in users' estimate that counting and noise explain."""
        return (max(self.opt_in, 0.0) + self.noise) / self.opt_in_users

    @property
    def unexplained(self) -> float:
        return max(self.stated - self.counting, 0.0)

    @property
    def both(self) -> tuple[float, float]:
        """The average of both groups by their precision, and its standard error."""
        if np.isnan(self.opt_in):
            return self.client, self.client_variance**0.5
        precisions = 1 / self.client_variance, 1 / self.stated
        average = (self.client * precisions[0] + self.opt_in * precisions[1]) / sum(precisions)
        return float(average), sum(precisions) ** -0.5

    def log_likelihood(self, shares: Floats, biases: Floats) -> Floats:
        """By bias and share. The opt-in users' count is Poisson; noise and unknown URLs make it wider."""
        clients: Floats = -0.5 * (self.client - shares) ** 2 / self.client_variance - 0.5 * np.log(self.client_variance)
        if np.isnan(self.opt_in):
            return clients + np.zeros((biases.size, 1))
        wider = 1 + _NEW * self.unexplained / self.counting
        expected = (self.visible * np.clip(shares + biases[:, None], 0.0, 1.0) + self.noise) * self.opt_in_users / wider
        count = max((self.opt_in + self.noise) * self.opt_in_users / wider, 0.0)
        return clients + count * np.log(np.maximum(expected, _NEVER)) - expected


@dataclass(frozen=True, eq=False)
class _Round:
    """One release, by query: its estimates, the listed URLs, and the probability of not being listed."""

    release: Release
    membership: Membership
    rows: Mapping[str, QueryEstimate]
    urls: Mapping[str, Sequence[str | None]]

    @classmethod
    def of(cls, release: Release, lists: Sequence[HeadList]) -> _Round:
        rows = {row.query: row for row in release.queries if row.query is not None}
        urls: dict[str, list[str | None]] = {}
        for query, url in release.head_list.records():
            urls.setdefault(query, []).append(url)
        return cls(release, Membership(release, lists), rows, urls)


@dataclass(frozen=True, eq=False)
class Tracks(Collection[Track]):
    """The tracks of all queries that are ever listed, sorted by query.

    A track is made whenever it is looked at: those of a year and a long list do not fit into memory together.
    """

    rounds: Sequence[_Round]
    spreads: Mapping[str, Spread]

    def __len__(self) -> int:
        return len(self.spreads)

    def __contains__(self, track: object) -> bool:
        return isinstance(track, Track) and track.query in self.spreads

    def __iter__(self) -> Iterator[Track]:
        return (_track(query, self.rounds, self.spreads[query]) for query in sorted(self.spreads))


def tracks_of(releases: Sequence[Release], most: int | None = None) -> Tracks:
    """The tracks of all queries that are ever listed, or of the `most` popular ones in the last release that lists each."""
    lists, spreads = [release.head_list for release in releases], spreads_of(releases)
    rounds = [_Round.of(release, lists) for release in releases]
    latest = {query: row.share for one in rounds for query, row in one.rows.items()}
    chosen = sorted(spreads, key=lambda query: -latest[query])[:most]
    return Tracks(rounds, {query: spreads[query] for query in chosen})


def _track(query: str, rounds: Sequence[_Round], spread: Spread) -> Track:
    rows = tuple(one.rows.get(query) for one in rounds)
    evidence = [None if row is None else _evidence(row, one, spread) for row, one in zip(rows, rounds, strict=True)]
    seen = [one for one in evidence if one is not None]
    averages = np.array([one.both for one in seen])
    offset = float(averages[:, 1].min())
    unseen = [one.membership.largest_missing(query, _UNSEEN, spread) for one in rounds if query not in one.rows]
    shares = _grid(averages, offset, max(unseen, default=None))
    lasting = _LASTING * np.mean([one.unexplained for one in seen]) ** 0.5
    biases = _BIASES * max(lasting, _VOLUNTEERS * averages[:, 0].mean())
    visible = np.clip(shares + biases[:, None], 0.0, 1.0)
    likelihood = [
        np.log(_OTHER + (1 - _OTHER) * one.membership.missing(query, visible.ravel(), spread).reshape(visible.shape))
        if seen_then is None
        else seen_then.log_likelihood(shares, biases)
        for seen_then, one in zip(evidence, rounds, strict=True)
    ]
    weights = np.exp(-0.5 * _BIASES**2)
    return Track(query, rows, shares, offset, np.array(likelihood), weights / weights.sum())


def _evidence(row: QueryEstimate, one: _Round, spread: Spread) -> _Evidence:
    manifest, membership, query = one.release.manifest, one.membership, row.query or ""
    urls = one.urls[query]
    is_average = manifest.settings.estimator == "average"
    users = manifest.calibration_users if is_average else sum(g.users for g in manifest.groups[:1])
    corrected = 0 if is_average else sum(not membership.is_candidate(query, url) for url in urls)
    noise = sum(membership.noise(query, url) for url in urls) / users
    bias = SELECTION_BIAS * corrected / manifest.discovery_users
    return _Evidence(
        client=row.client_share,
        client_variance=max(row.client_variance, _NEVER),
        opt_in=np.nan if row.opt_in_share is None else row.opt_in_share + bias,
        opt_in_users=users,
        noise=noise,
        stated=max(row.opt_in_variance or 0.0, _NEVER),
        visible=sum(spread.values()) if is_average else 1.0,
    )


def _grid(averages: Floats, offset: float, unseen: float | None) -> Floats:
    """Shares from the smallest to the largest plausible one, even in log(share + offset)."""
    mean, error = averages.T
    low = 0.0 if unseen is not None else max(float((mean - _REACH * error).min()), 0.0)
    high = min(max(float((mean + _REACH * error).max()), unseen or 0.0, _REACH * offset), 1.0)
    first, last = float(np.log(low + offset)), float(np.log(high + offset))
    cells = int(np.clip((last - first) / (_CELL * offset / (high + offset)), _FEWEST, _MOST))
    shares: Floats = np.exp(np.linspace(first, last, cells)) - offset
    shares[0] = low  # not nearly
    return shares
