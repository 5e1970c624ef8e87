"""What a series of releases says about one query's share: how likely every round's results are, for each possible share.

A round says two independent things: what its clients measure, and what the rest of its evidence adds to that. The rest is
what has to be averaged with the clients' estimate to get the published one, so a single round says exactly what it
published. Part of the error of the rest is new in every round: counting, and noise. The other part lasts: the opt-in users
see only listed URLs and guess how many people have others, and volunteers may differ. A round that does not list the
query says that few enough discovery users had it, or that the query is less visible than the rounds that list it suggest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from blender_dp.release.estimates import QueryEstimate
from blender_dp.release.membership import SELECTION_BIAS, Membership, Spread, spreads_of
from blender_dp.release.normal import Floats
from blender_dp.release.population import sampling_variance
from blender_dp_device.records.head_list import HeadList

if TYPE_CHECKING:
    from blender_dp.release.release import Release

_BIASES = np.array([-4.5, -3.0, -2.0, -1.2, -0.6, 0.0, 0.6, 1.2, 2.0])  # the lasting error in stated standard deviations
_SCALES = np.array([0.1, 0.2, 0.4, 0.7, 1.0, 1.5])  # how large it is in fact, compared with what is stated
_LASTS = 1 / 3  # the part of the unexplained variance that lasts: every round lists other URLs, so not all of it does
_RELATIVE = 0.06  # how much volunteers, or guesses about unlisted URLs, may be wrong in all rounds, relative to a share
_LEAST = 1e-3  # a smaller weight of the rest is none
_NEAR_ZERO = 0.25  # of a standard error: shares below this move by absolute steps, others by relative ones
_REACH = 6.0  # standard errors around all estimates that the grid covers
_SPREAD = 2.5  # standard errors around an estimate, within which its cells are dense
_WINDOW = 4.0  # standard errors around an estimate
_CELLS, _PER_ERROR = 40, 1.5  # of the grid: so many, and more for every standard error in one of the windows
_MORE_CELLS = 800  # at most: usual series have up to 500
_ANYWHERE = 0.2  # the part of the cells that are spread evenly
_FINE = 1500  # points from which the grid is chosen
_UNSEEN = 1e-3  # the grid covers every share that is missing with this probability
_VISIBILITIES = np.array([0.3, 0.7, 1.0])  # of a query in all rounds, compared with those that list it
_LUCKY, _LESS = 1 / 3, 0.08  # how probable the first is if no listed URL had any users, and the second
_OTHER = 0.05  # the probability that a list misses a query for a reason that is not modelled
_ALL = 0.999  # the grid begins below this share, however large the published ones are
_NEVER = 1e-300


@dataclass(frozen=True, eq=False)
class Track:
    """A grid of shares, and the likelihood of every round's results for each share, bias and visibility."""

    query: str
    rows: tuple[QueryEstimate | None, ...]
    """The published estimates, None where the query is not listed."""
    shares: Floats
    offset: float
    """A share moves by steps of log(share + offset): relative ones above the noise, absolute ones below."""
    log_likelihood: Floats
    """By round, visibility, bias and share."""
    log_visibilities: Floats
    """The logarithms of the probabilities of the visibilities."""
    bias_laws: Floats
    """The probability of every bias, for each of several scales of it."""

    @property
    def logs(self) -> Floats:
        """The grid in the logarithms in which a share moves."""
        logs: Floats = np.log(self.shares + self.offset)
        return logs

    @property
    def widths(self) -> Floats:
        """The widths of the cells in these logarithms."""
        return np.gradient(self.logs)


@dataclass(frozen=True, eq=False)
class _Evidence:
    """One round's estimates of one query, as estimates of the population's share, and what is known about their errors."""

    share: float
    variance: float
    client: float
    client_variance: float
    rest: float
    rest_variance: float
    """Infinite if there is no evidence but the clients'."""
    users: float
    """The number of opt-in users."""
    noise: float
    """The variance of the noise on their counts, as a share of their number."""
    visible: float
    """The part of the query that the rest covers."""

    @property
    def floor(self) -> float:
        return max(self.share, 0.0) + self.noise

    @property
    def new(self) -> float:
        """The part of the rest's variance that is new in every round: what counting and noise explain, and some more."""
        counting = min(self.floor / self.users, self.rest_variance)
        return counting + (1 - _LASTS) * (self.rest_variance - counting)

    @property
    def lasting(self) -> float:
        """The standard deviation of the part that lasts."""
        return float((self.rest_variance - self.new + (_RELATIVE * self.share) ** 2) ** 0.5)

    def log_likelihood(self, shares: Floats) -> Floats:
        """By bias and share. The rest is a Poisson count of so many users that its variance is the new one."""
        clients: Floats = -0.5 * (self.client - shares) ** 2 / self.client_variance
        if np.isinf(self.rest_variance):
            return clients + np.zeros((_BIASES.size, 1))
        users = self.floor / self.new
        biased = np.maximum(shares + self.lasting * _BIASES[:, None], 0.0)
        expected = np.maximum(users * (self.visible * biased + self.noise), _NEVER)
        count = max(users * (self.rest + self.noise), 0.0)
        return clients + count * np.log(expected) - expected


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
    estimates = np.array([(one.share, one.variance**0.5) for one in seen])
    offset = _NEAR_ZERO * min(float(estimates[:, 1].min()), 1.0)
    visibilities, log_visibilities = _visibilities(seen, spread)
    unseen = [one.membership.largest_missing(query, _UNSEEN, spread) for one in rounds if query not in one.rows]
    shares = _grid(estimates, offset, unseen)
    lasting = np.mean([one.lasting for one in seen if np.isfinite(one.rest_variance)] or [0.0])
    visible = np.clip(visibilities[:, None, None] * (shares + lasting * _BIASES[:, None]), 0.0, 1.0)
    likelihood = [
        np.log(_OTHER + (1 - _OTHER) * one.membership.missing(query, visible.ravel(), spread).reshape(visible.shape))
        if seen_then is None
        else np.broadcast_to(seen_then.log_likelihood(shares), visible.shape)
        for seen_then, one in zip(evidence, rounds, strict=True)
    ]
    return Track(query, rows, shares, offset, np.array(likelihood), log_visibilities, _bias_laws())


def _bias_laws() -> Floats:
    """The probability of every bias, for each of several scales.

    A query may have many URLs that no list shows, so being much too low is more probable than being much too high.
    """
    scaled = _BIASES / _SCALES[:, None]
    laws = np.gradient(_BIASES) * np.exp(np.where(scaled < 0, scaled, -0.5 * scaled**2))
    normalised: Floats = laws / laws.sum(axis=1, keepdims=True)
    return normalised


def _visibilities(seen: Sequence[_Evidence], spread: Spread) -> tuple[Floats, Floats]:
    """How visible a query may be to a list, compared with the rounds that list it, and the logarithms of probabilities.

    A rare query is listed when one of its URLs happens to have many users. The more users of the query have URLs that are
    not listed, the more URLs were there to be lucky. But luck hardly lifts large counts, which are Poisson.
    """
    whole = sum(spread.values())
    lucky = _LUCKY * max(1 - whole, 0.0)
    count = whole * sum(one.users * max(one.share, 0.0) for one in seen)
    logs = np.log([max(lucky, _NEVER), _LESS, 1 - lucky - _LESS]) + count * (np.log(_VISIBILITIES) + 1 - _VISIBILITIES)
    logs -= np.logaddexp.reduce(logs)
    plausible = logs > np.log(_UNSEEN)
    return _VISIBILITIES[plausible], logs[plausible]


def _evidence(row: QueryEstimate, one: _Round, spread: Spread) -> _Evidence:
    manifest, membership, query = one.release.manifest, one.membership, row.query or ""
    is_average = manifest.settings.estimator == "average"
    opt_in, clients = (sum(group.users for group in groups) for groups in (manifest.groups[:1], manifest.groups[1:]))
    users = manifest.calibration_users if is_average else opt_in
    sampling = 0.0 if is_average else sampling_variance(row, manifest)
    variance = max(row.variance + sampling, _least_variance(row, opt_in + clients))
    client_variance = max(row.client_variance, _least_variance(row, clients))
    if is_average:
        known = row.opt_in_share is not None and row.opt_in_variance is not None
        rest = row.opt_in_share or 0.0
        rest_variance = max(row.opt_in_variance or 0.0, _least_variance(row, users)) if known else np.inf
    else:
        rest, rest_variance = _without_clients(row, variance, client_variance)
        rest += _lowered(row, one)
    return _Evidence(
        share=row.share,
        variance=variance,
        client=row.client_share,
        client_variance=client_variance,
        rest=rest,
        rest_variance=rest_variance,
        users=users,
        noise=sum(membership.noise(query, url) for url in one.urls[query]) / users,
        visible=sum(spread.values()) if is_average else 1.0,
    )


def _least_variance(row: QueryEstimate, users: int) -> float:
    """Nobody knows a share better than by counting these users, even if a published variance is 0, as of a count of 0."""
    share = min(max(row.share, 0.0), 1.0)
    return max(share * (1 - share) / users, 1 / users**2)


def _without_clients(row: QueryEstimate, variance: float, client_variance: float) -> tuple[float, float]:
    """What has to be averaged with the clients' estimate, by precision, to get the published share; and its variance."""
    weight = 1 - variance / client_variance
    if weight < _LEAST:
        return 0.0, np.inf
    return row.client_share + (row.share - row.client_share) / weight, variance / weight


def _lowered(row: QueryEstimate, one: _Round) -> float:
    """By how much the release lowered the rest, because a query is listed for a high count: see `Released` in `stages`.

    The smoother knows the rounds that do not list the query, so it must not be lowered twice. A query needs one record.
    """
    urls, users = one.urls[row.query or ""], one.release.manifest.discovery_users
    needed = [url for url in urls if not one.membership.is_candidate(row.query or "", url)]
    if not needed:
        return 0.0
    expected = users * max(row.share, 0.0) / len(urls)
    return SELECTION_BIAS * (expected + one.membership.noise(row.query or "", needed[0])) / max(expected, 2.0) / users


def _grid(estimates: Floats, offset: float, unseen: Sequence[float]) -> Floats:
    """Shares from the smallest to the largest plausible one, dense around the estimates and where a list misses them.

    A share of 5 % with an error of 0.1 % needs far smaller cells, as parts of it, than one of 0.2 % with the same error.
    """
    mean, error = estimates.T
    low = 0.0 if unseen else min(max(float((mean - _REACH * error).min()), 0.0), _ALL)
    high = min(max(float((mean + _REACH * error).max()), *unseen, _REACH * float(error.min())), 1.0)
    logs = np.linspace(np.log(low + offset), np.log(high + offset), _FINE)
    shares = np.exp(logs) - offset
    shares[0] = low  # the logarithm and its inverse return nearly this, perhaps less than 0
    far = ((shares[:, None] - mean) / (_SPREAD * error)) ** 2
    near = np.exp((far.min(axis=0) - far) / 2) * (shares[:, None] + offset)  # never 0 everywhere, however far all cells are
    below = (shares[:, None] <= np.array(unseen)).astype(float)
    windows = np.hstack([near, below])
    density = (windows / windows.sum(axis=0)).mean(axis=1)
    density = (1 - _ANYWHERE) * density + _ANYWHERE / _FINE
    apart = np.minimum(np.gradient(shares)[:, None] / error, 2 * _WINDOW)  # a cell has a window at most
    apart *= np.abs(shares[:, None] - mean) < _WINDOW * error
    more = min(int(_PER_ERROR * float(apart.max(axis=1).sum())), _MORE_CELLS)
    cells = _CELLS + more + (_CELLS // 2 if unseen else 0)
    before = np.append(0.0, np.cumsum(density[:-1] + density[1:]))
    chosen: Floats = np.exp(np.interp(np.linspace(0, before[-1], cells), before, logs)) - offset
    chosen[0] = low
    return chosen
