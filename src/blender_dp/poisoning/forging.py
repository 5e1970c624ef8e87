"""How many forged reports would bring a query or a record into the top? Found by making the release again with them.

Nobody can tell a forged report from an honest one, but nothing is drawn in a release: with so many forged reports among the
counts it comes out just as it would if somebody had sent them. A forger does best if every report names what he wants to
see, and besides it, where reports name several queries, what is not listed and the rarest queries.

Only the rows that come next after the top are tried, as they are the cheapest. Their numbers are exact to a tenth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.pipeline.collection import Collection, Listing
from blender_dp.poisoning.prediction import Forgery, Poisoning
from blender_dp.stages import Floats, Integers
from blender_dp_device.channel.subset import AnyChannel

_TRIED = 7  # queries, and as many records
_MOST = 10  # times as many forged reports as there are honest ones: whoever has those needs no more
_EXACT = 10  # a number is known to this part of it


def forging(collection: Collection, listing: Listing, counts: Integers, top: int = 10) -> Poisoning:
    """How many forged reports would bring the next queries and records into the top, cheapest first."""
    remade = _Remade(collection, listing, counts, collection.channel(listing.head_list, listing.design))
    head_list, cells = listing.head_list, list(listing.head_list.cells())
    queries = np.arange(len(head_list))
    records = np.array([i for i, cell in enumerate(cells) if cell.url is not None], np.int64)
    by_query = [
        Forgery(head_list.queries[row], None, forged)
        for row, forged in _Level(remade, queries, np.asarray(head_list.starts), 0, top).tried()
    ]
    by_record = [
        Forgery(cells[row].query or "", cells[row].url, forged)
        for row, forged in _Level(remade, records, np.arange(len(cells)), 1, top).tried()
    ]
    return Poisoning(top, remade.reports, tuple(sorted(by_query, key=_cost)), tuple(sorted(by_record, key=_cost)))


@dataclass(frozen=True)
class _Remade:
    """Releases of one collection, with forged reports."""

    collection: Collection
    listing: Listing
    counts: Integers
    channel: AnyChannel

    @property
    def reports(self) -> int:
        return int(self.counts.sum()) // self.listing.design.size

    @cached_property
    def honest(self) -> tuple[Floats, Floats]:
        """What is published of queries and of cells."""
        return self.shares(0, 0)

    def shares(self, forged: int, cell: int) -> tuple[Floats, Floats]:
        """What would be published of queries and of cells, if so many reports came besides that all name this cell."""
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
    """Queries or records: which rows of what is published they are, and the cell that is named for each."""

    remade: _Remade
    rows: Integers
    cells: Integers
    which: int
    top: int

    def tried(self) -> list[tuple[int, int | None]]:
        """The rows that come next after the top, and how many forged reports each of them needs."""
        order = self.rows[np.argsort(-self.remade.honest[self.which][self.rows], kind="stable")]
        return [(row, self._least(row)) for row in order[self.top : self.top + _TRIED].tolist()]

    def _least(self, row: int) -> int | None:
        """The least number that brings a row into the top; None if ten times as many as there are honest ones do not."""
        most, cell = _MOST * self.remade.reports, int(self.cells[row])
        low, below = 0, self._ahead(row, self.remade.honest)
        high = max(1, round(-below * self.remade.reports))  # as many honest users would do it, without opt-in users
        while (above := self._ahead(row, self.remade.shares(high, cell))) < 0:
            if high == most:
                return None
            low, below, high = high, above, min(2 * high, most)
        while high - low > max(1, high // _EXACT):
            # Where a straight line would meet 0, but not so near an end that many steps would follow.
            part = min(max(-below / (above - below), 0.1), 0.9) if above > below else 0.5
            middle = min(max(low + round(part * (high - low)), low + 1), high - 1)
            ahead = self._ahead(row, self.remade.shares(middle, cell))
            if ahead < 0:
                low, below = middle, ahead
            else:
                high, above = middle, ahead
        return high

    def _ahead(self, row: int, published: tuple[Floats, Floats]) -> float:
        """By how much a row is ahead of the last one that it must beat."""
        others = published[self.which][self.rows[self.rows != row]]
        return float(published[self.which][row] - np.partition(others, -self.top)[-self.top])


def _cost(forgery: Forgery) -> tuple[float, str, str]:
    return float("inf") if forgery.forged is None else forgery.forged, forgery.query, forgery.url or ""
