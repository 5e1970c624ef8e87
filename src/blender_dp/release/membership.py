"""How likely a query of a given share is missing from a release's list: what its absence says about it.

A record is listed if its noisy count among the discovery users exceeds the threshold, or if it is a public candidate. A
query needs one listed record, and if there are more than M queries, only the M most popular ones stay. The mechanism and
its parameters are in the manifest, so all of this follows from what is published, and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from blender_dp.mechanisms.discoveries import DISCOVERIES
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.mechanisms.laplace_threshold import LaplaceThreshold
from blender_dp.mechanisms.listing_by_count import by_count
from blender_dp.mechanisms.truncated_geometric import TruncatedGeometric
from blender_dp.release.normal import Floats, normal_cdf
from blender_dp_device.records.head_list import HeadList

if TYPE_CHECKING:
    from blender_dp.release.release import Release

Spread = Mapping[str | None, float]
"""The part of a query's users who have each of its URLs; unlisted URLs are left out. A single item has the URL None."""

SELECTION_BIAS = 4 / 3
"""By how much the likelihood estimator lowers the noisy count of a listed record: see `stages/likelihood/evidence`."""

_SHARES = np.concatenate([[0.0], np.geomspace(1e-9, 1.0, 600)])
_LAST = 3  # queries at the end of a full list whose average is its end; the lowest estimate alone is too low


class Membership:
    """The probability that a query is missing from one release's list, as a function of its share."""

    def __init__(self, release: Release, known: Iterable[HeadList] = ()) -> None:
        """Read the release's settings; its candidates are looked up among the `known` lists by their digest.

        If the candidates are not known, every record is assumed to need the threshold. That makes absence more likely.
        """
        manifest, settings = release.manifest, release.manifest.settings
        self._epsilon = settings.epsilon
        self._mechanism = _mechanism(settings.discovery, settings.epsilon, settings.delta)
        self._discovery_users = manifest.discovery_users
        self._is_chosen_by_calibration = settings.estimator == "average"
        self._users = manifest.calibration_users if self._is_chosen_by_calibration else manifest.discovery_users
        lists = [one for one in known if one.digest == manifest.candidates]
        self._candidates = frozenset(lists[0].records() if lists else ())
        self._last = self._lowest_rank(release) if len(release.head_list) >= settings.max_queries else None

    def missing(self, query: str, shares: Floats, spread: Spread) -> Floats:
        """The probability that the query is not listed, for each of these shares."""
        unlisted = np.ones_like(shares)
        for url, part in spread.items():
            unlisted = unlisted * (0.0 if self.is_candidate(query, url) else self._unlisted(shares * part))
        if self._last is None:
            return unlisted
        dropped = self._dropped(query, shares, spread, self._last)
        # The counts that have to exceed the threshold also decide the rank, so being unlisted implies a low rank.
        both = 1 - (1 - unlisted) * (1 - dropped) if self._is_chosen_by_calibration else np.maximum(unlisted, dropped)
        return np.asarray(both)

    def largest_missing(self, query: str, probability: float, spread: Spread) -> float:
        """The largest share that is missing with at least this probability."""
        missing = self.missing(query, _SHARES, spread)
        return float(_SHARES[np.flatnonzero(missing >= probability)[-1]]) if missing[0] >= probability else 0.0

    def is_candidate(self, query: str, url: str | None) -> bool:
        """Whether the record was public, so that it needed no threshold."""
        return (query, url) in self._candidates

    def noise(self, query: str, url: str | None) -> float:
        """The variance of the noise on the record's count by which its query is ranked."""
        is_histogram = self._is_chosen_by_calibration or self.is_candidate(query, url)
        return _histogram_variance(self._epsilon) if is_histogram else float(self._mechanism.noise.variance)

    def _unlisted(self, shares: Floats) -> Floats:
        """The probability that a record with each of these shares does not exceed the threshold."""
        return np.interp(shares, _SHARES, self._table)

    def _dropped(self, query: str, shares: Floats, spread: Spread, last: float) -> Floats:
        """The probability that the query's noisy share is below that of the last query of a full list."""
        counted = shares * sum(spread.values())
        noise = sum(self.noise(query, url) for url in spread)
        return normal_cdf((last - counted) / np.sqrt(counted / self._users + noise / self._users**2))

    def _lowest_rank(self, release: Release) -> float:
        """The noisy share by which the last query of a full list was chosen."""
        if self._is_chosen_by_calibration:
            return min(row.opt_in_share or 0.0 for row in release.queries if row.query is not None)
        totals: dict[str, float] = {}
        listed = set(release.head_list.records())
        for row in release.records:
            if row.query is not None and (row.query, row.url) in listed:
                bias = 0.0 if self.is_candidate(row.query, row.url) else SELECTION_BIAS / self._users
                totals[row.query] = totals.get(row.query, 0.0) + (row.opt_in_share or 0.0) + bias
        return float(np.mean(sorted(totals.values())[:_LAST]))

    @cached_property
    def _table(self) -> Floats:
        """For every share of `_SHARES`: the sum over counts of their binomial probability times that of not being listed."""
        missing = self._missing_by_count
        counts = np.arange(missing.size)
        steps = np.log(self._discovery_users - counts[:-1]) - np.log(counts[1:])
        coefficients = np.concatenate([[0.0], np.cumsum(steps)])  # logarithms
        shares = _SHARES[1:-1, None]
        logs = coefficients + counts * np.log(shares) + (self._discovery_users - counts) * np.log1p(-shares)
        return np.concatenate([[1.0], np.minimum(np.exp(logs) @ missing, 1.0), [missing[-1]]])

    @property
    def _missing_by_count(self) -> Floats:
        """For counts of 0, 1, 2, ..., up to one that is practically always listed, or to all discovery users."""
        return 1 - by_count(self._mechanism)[: self._discovery_users + 1]


@cache
def _mechanism(name: str, epsilon: Fraction, delta: Fraction) -> LaplaceThreshold | TruncatedGeometric:
    return DISCOVERIES[name].of(epsilon, delta)


@cache
def _histogram_variance(epsilon: Fraction) -> float:
    return float(LaplaceHistogram.of(epsilon).noise.variance)


def spreads_of(releases: Iterable[Release]) -> dict[str, Spread]:
    """How the users of every listed query spread over its URLs, on average over the releases that list it."""
    totals: dict[str, dict[str | None, float]] = {}
    wholes: dict[str, float] = {}
    for release in releases:
        listed = set(release.head_list.records())
        for row in release.records:
            if row.query is not None:
                share = max(row.share, 0.0)
                wholes[row.query] = wholes.get(row.query, 0.0) + share
                if (row.query, row.url) in listed:
                    urls = totals.setdefault(row.query, {})
                    urls[row.url] = urls.get(row.url, 0.0) + share
    return {query: {url: total / (wholes[query] or 1.0) for url, total in urls.items()} for query, urls in totals.items()}
