"""One collection on counts, with the real stages, and its quality.

There is no engine, and users are drawn instead of chosen by a hash. Everything private, and every estimate, is computed by
the code of the product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import numpy as np

from blender_dp.evaluation.groups import Groups, Listed
from blender_dp.evaluation.metrics import Scores
from blender_dp.evaluation.population import Name
from blender_dp.evaluation.scoring import Scorer
from blender_dp.pipeline.collection import Collection, Listing
from blender_dp.release.estimates import intervals
from blender_dp.release.manifest import Sizes
from blender_dp.sampling import Entropy
from blender_dp.stages import (
    Calibrated,
    Calibration,
    Discovery,
    Flags,
    Floats,
    Integers,
    Likelihood,
    Result,
    Yardsticks,
    simulate,
    with_candidates,
)
from blender_dp_device.channel.subset import AnyChannel
from blender_dp_device.records.head_list import HeadList

Reports = Callable[[Integers, AnyChannel, Entropy], Integers]
"""Simulates the reports of all clients: from how many of them have each cell to how often each cell is reported."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """How good one release is: its estimates, those of each group alone, and the errors that it states.

    The scores, and what they need besides the release, are computed when they are wanted: they take longer than the release.
    """

    listing: Listing
    listed: Listed
    channel: AnyChannel
    reported: Integers
    """How often every cell was reported."""
    result: Result
    truth: Floats
    """The true share of every cell."""
    scorer: Scorer

    @cached_property
    def blended(self) -> Scores:
        """Of the blended estimates."""
        return self._score(self.result.blended.queries.share, self.result.blended.cells.share)

    @cached_property
    def opt_in(self) -> Scores:
        """Of the opt-in users' estimates alone."""
        return self._score(self.result.opt_in.queries.share, self.result.opt_in.cells.share)

    @cached_property
    def client(self) -> Scores:
        """Of the clients' estimates alone, which are the best possible ones if the estimator is `likelihood`."""
        alone = self._yardsticks or self.result.client
        return self._score(alone.queries.share, alone.cells.share)

    @property
    def scores(self) -> dict[str, Scores]:
        """All of them, by group."""
        return {"opt-in": self.opt_in, "client": self.client, "blended": self.blended}

    def _score(self, queries: Floats, cells: Floats) -> Scores:
        return self.scorer.score(np.nan_to_num(queries[:-1]), np.nan_to_num(cells[self.listed.record_cells]))

    @cached_property
    def _yardsticks(self) -> Yardsticks | None:
        if not isinstance(self.listing.calibrated, Calibration):
            return None
        known = self.listing.calibrated, self.result, self.reported, self.channel, self.listing.context
        return Yardsticks.of(*known, self.truth)

    @cached_property
    def query_truth(self) -> Floats:
        """The true share of every query, ⋆ last."""
        return _per_query(self.truth, self.listed)

    @property
    def queries(self) -> int:
        """The number of listed queries."""
        return len(self.listed.head_list)

    @property
    def covered_queries(self) -> float:
        """The share of the listed queries whose 95 % interval contains the truth; NaN if there are none."""
        blended = self.result.blended.queries
        return _covered(blended.share[:-1], blended.variance[:-1], self.query_truth[:-1])

    @property
    def covered_records(self) -> float:
        """The share of the listed records whose 95 % interval contains the truth; NaN if there are none."""
        blended, cells = self.result.blended.cells, self.listed.record_cells
        return _covered(blended.share[cells], blended.variance[cells], self.truth[cells])

    @property
    def squared_error(self) -> float:
        """The sum of the squared errors of the listed queries."""
        return float(((self.result.blended.queries.share - self.query_truth)[:-1] ** 2).sum())

    @property
    def stated(self) -> float:
        """The sum of the variances that the release states for its queries."""
        return float(self.result.blended.queries.variance[:-1].sum())

    @property
    def bound(self) -> float:
        """The smallest possible sum of the queries' variances, by Cramér and Rao; NaN if it is not known."""
        return float(self._yardsticks.query_bounds[:-1].sum()) if self._yardsticks else float("nan")


def collect(collection: Collection, groups: Groups, entropy: Entropy, reports: Reports = simulate) -> Outcome:
    """Run one collection through the product's stages."""
    listing, listed = make_listing(collection, groups, entropy)
    return completed(collection, groups, listing, listed, entropy, reports)


def completed(
    collection: Collection, groups: Groups, listing: Listing, listed: Listed, entropy: Entropy, reports: Reports
) -> Outcome:
    """The clients' half of a collection whose list has been made."""
    channel = collection.channel(listing.head_list, listing.design)
    return estimated(collection, groups, listing, listed, channel, reports(groups.clients_on(listed), channel, entropy))


def estimated(
    collection: Collection, groups: Groups, listing: Listing, listed: Listed, channel: AnyChannel, reported: Integers
) -> Outcome:
    """The last stage of a collection, from its list and the clients' reports to estimates."""
    result = collection.estimator.combine(listing.calibrated, reported, channel, listing.context)
    truth: Floats = groups.everyone_on(listed) / groups.population.users
    scorer = Scorer(groups.population, listed, collection.parameters.max_queries)
    return Outcome(listing, listed, channel, reported, result, truth, scorer)


def make_listing(
    collection: Collection, groups: Groups, entropy: Entropy, candidates: Listed | None = None
) -> tuple[Listing, Listed]:
    """The opt-in users' half: the list, what calibration measured, and the design of the clients' channel."""
    most = collection.parameters.max_queries
    discovered, numbers = discover_on(collection, groups, entropy, candidates)
    shortlist = collection.estimator.shortlist(discovered, most)
    cells = groups.calibration.on(Listed.of(shortlist.head_list, numbers, groups.population))
    calibrated = collection.estimator.calibrate(cells, shortlist, collection.calibration, most, entropy)
    listing = listing_of(collection, calibrated, shortlist, groups.sizes)
    return listing, Listed.of(listing.head_list, numbers, groups.population)


def listing_of(collection: Collection, calibrated: Calibrated, discovered: Discovery, sizes: Sizes) -> Listing:
    """What calibration measured, with the context of the estimates and the design of the clients' channel."""
    final = discovered.restrict(calibrated.head_list.queries)
    context = collection.context(final, sizes.discovery, sizes.calibration)
    return Listing(calibrated, context, collection.design(context, sizes.clients))


def discover_on(
    collection: Collection, groups: Groups, entropy: Entropy, candidates: Listed | None = None
) -> tuple[Discovery, dict[Name, int]]:
    """The list that the discovery users make, and the number of every record on it. Candidates need no threshold."""
    held = groups.discovery
    selection = collection.discovery.selector(entropy).select(held.counts)
    records, noisy = held.records[selection.rows], selection.noisy_counts
    if isinstance(collection.estimator, Likelihood) and candidates is None:  # it keeps only the queries with the most users
        leading = _leading(groups.population.query_of[records], noisy, collection.parameters.max_queries)
        records, noisy = records[leading], noisy[leading]
    names = groups.population.names(records)
    named = sorted(zip(names, noisy.tolist(), records.tolist(), strict=True), key=_order)
    counts = np.array([count for _, count, _ in named], float)
    numbers = {name: record for name, _, record in named}
    found = Discovery(_head_list(numbers), counts, np.zeros(counts.size, np.bool_))
    if candidates is None:
        return found, numbers
    known = dict(zip(candidates.head_list.records(), candidates.records.tolist(), strict=True))
    counted = held.on(candidates)
    return with_candidates(found, candidates.head_list, counted, collection.calibration, entropy), numbers | known


def _head_list(names: Iterable[Name]) -> HeadList:
    """`HeadList.of` for a population's records, which are sorted and need no checks: much faster for long lists."""
    by_query = groupby(names, key=itemgetter(0))
    return HeadList(tuple((query, tuple(url for _, url in rows if url is not None)) for query, rows in by_query))


def _leading(query_of: Integers, noisy_counts: Floats, queries: int) -> Flags:
    """Which records belong to this many queries with the highest noisy counts, or to another one with an equal count."""
    _, of_record = np.unique(query_of, return_inverse=True)
    totals = np.bincount(of_record, weights=noisy_counts)
    if totals.size <= queries:
        return np.ones(query_of.size, np.bool_)
    lowest = np.partition(totals, totals.size - queries)[totals.size - queries]
    return np.asarray(totals[of_record] >= lowest)


def _order(row: tuple[Name, float, int]) -> tuple[str, str]:
    (query, url), _, _ = row
    return query, url or ""


def _per_query(cells: Floats, listed: Listed) -> Floats:
    url_counts = np.array(listed.head_list.url_counts)
    return np.add.reduceat(cells, np.cumsum(url_counts) - url_counts)


def _covered(shares: Floats, variances: Floats, truth: Floats) -> float:
    if not shares.size:
        return float("nan")
    low, high = intervals(shares, variances)
    return float(np.mean((low <= truth) & (truth <= high)))
