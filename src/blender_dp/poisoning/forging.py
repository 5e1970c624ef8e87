"""How many forged reports would bring a query or a record into the top? Measured by computing the release again with them.

A forged report cannot be distinguished from an honest one, but computing a release draws no randomness: with forged reports
added to the counts, it is exactly the release that would result if someone had sent them. An attacker does best by naming
the target in every report; where reports name several queries, the rest are ⋆ and the queries at the end of the list.

Only the rows directly below the top are tried, because they are the cheapest. Their numbers are exact to a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.pipeline.collection import Collection, Listing
from blender_dp.poisoning.prediction import Forgery, Poisoning
from blender_dp.stages import Floats, Integers
from blender_dp_device.channel.subset import AnyChannel

_TRIED = 7  # the number of queries tried, and of records
_MAX_FACTOR = 10  # no more than this many forged reports per honest one are tried
_PRECISION = 10  # numbers are exact to one part in ten


def forging(collection: Collection, listing: Listing, counts: Integers, top: int = 10) -> Poisoning:
    """The number of forged reports that would bring each of the next queries and records into the top, cheapest first."""
    release = _ForgedRelease(collection, listing, counts, collection.channel(listing.head_list, listing.design))
    head_list, cells = listing.head_list, list(listing.head_list.cells())
    queries = np.arange(len(head_list))
    records = np.array([i for i, cell in enumerate(cells) if cell.url is not None], np.int64)
    by_query = [
        Forgery(head_list.queries[row], None, forged)
        for row, forged in _Level(release, queries, np.asarray(head_list.starts), 0, top).costs()
    ]
    by_record = [
        Forgery(cells[row].query or "", cells[row].url, forged)
        for row, forged in _Level(release, records, np.arange(len(cells)), 1, top).costs()
    ]
    return Poisoning(top, release.reports, tuple(sorted(by_query, key=_cost)), tuple(sorted(by_record, key=_cost)))


@dataclass(frozen=True)
class _ForgedRelease:
    """The release of one collection, computed again with forged reports."""

    collection: Collection
    listing: Listing
    counts: Integers
    channel: AnyChannel

    @property
    def reports(self) -> int:
        return int(self.counts.sum()) // self.listing.design.size

    @cached_property
    def honest(self) -> tuple[Floats, Floats]:
        """The published shares of queries and of cells."""
        return self.shares(0, 0)

    def shares(self, forged: int, cell: int) -> tuple[Floats, Floats]:
        """The shares of queries and of cells that would be published with this many forged reports for one cell."""
        listing, counts = self.listing, self.counts.copy()
        counts[self._named(cell)] += forged
        blended = self.collection.estimator.combine(listing.calibrated, counts, self.channel, listing.context).blended
        return blended.queries.share, blended.cells.share

    def _named(self, cell: int) -> list[int]:
        starts = [int(start) for start in self.listing.head_list.starts]
        own = max(start for start in starts if start <= cell)
        return [cell, *[start for start in reversed(starts) if start != own][: self.listing.design.size - 1]]


@dataclass(frozen=True)
class _Level:
    """Queries or records: their rows among the published shares, and the cell that a forged report names for each."""

    release: _ForgedRelease
    rows: Integers
    cells: Integers
    which: int
    top: int

    def costs(self) -> list[tuple[int, int | None]]:
        """The rows directly below the top, and the number of forged reports that each of them needs."""
        order = self.rows[np.argsort(-self.release.honest[self.which][self.rows], kind="stable")]
        return [(row, self._least(row)) for row in order[self.top : self.top + _TRIED].tolist()]

    def _least(self, row: int) -> int | None:
        """The smallest number that brings a row into the top; None if ten times the number of honest reports does not."""
        largest, cell = _MAX_FACTOR * self.release.reports, int(self.cells[row])
        low, below = 0, self._ahead(row, self.release.honest)
        high = max(1, round(-below * self.release.reports))  # this many honest reports would do, without opt-in users
        while (above := self._ahead(row, self.release.shares(high, cell))) < 0:
            if high == largest:
                return None
            low, below, high = high, above, min(2 * high, largest)
        while high - low > max(1, high // _PRECISION):
            # Where a straight line would cross 0, but not so close to an end that many more steps would be needed.
            part = min(max(-below / (above - below), 0.1), 0.9) if above > below else 0.5
            middle = min(max(low + round(part * (high - low)), low + 1), high - 1)
            ahead = self._ahead(row, self.release.shares(middle, cell))
            if ahead < 0:
                low, below = middle, ahead
            else:
                high, above = middle, ahead
        return high

    def _ahead(self, row: int, published: tuple[Floats, Floats]) -> float:
        """By how much a row is ahead of the lowest row of the top that it must beat."""
        others = published[self.which][self.rows[self.rows != row]]
        return float(published[self.which][row] - np.partition(others, -self.top)[-self.top])


def _cost(forgery: Forgery) -> tuple[float, str, str]:
    return float("inf") if forgery.forged is None else forgery.forged, forgery.query, forgery.url or ""
