"""The standard errors that simulated releases state for each query, and how large the errors really are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.evaluation.experiment import Outcome
from blender_dp.planning.expected import Expected
from blender_dp.stages import Floats, Integers

_ENOUGH, _FEWEST = 120, 48  # errors: then their root mean square is known to within 7 %, or 10 % at either end


@dataclass(frozen=True, eq=False)
class StatedErrors:
    """Of the queries that any collection lists, most popular first: a few of a million queries that are equally popular."""

    ranks: Integers
    """The places of these queries in the ranking, from 0."""
    listed: Integers
    """In how many collections each query is listed."""
    mean: Floats
    """Over the collections that list the query."""
    squares: Floats
    """The sum of the squared deviations from the mean, relative to the mean."""
    actual_squares: Floats
    """The sum of the squared actual errors, in units of the stated ones."""

    @classmethod
    def of(cls, stated: Sequence[Floats], actual: Sequence[Floats], ranks: Sequence[Integers]) -> StatedErrors:
        """Collect the `stated` and the `actual` errors of several collections' listed queries, and their `ranks`, from 0."""
        errors, squares = np.concatenate(stated), np.concatenate(actual) ** 2
        queries, which, listed = np.unique(np.concatenate(ranks), return_inverse=True, return_counts=True)
        mean = np.bincount(which, weights=errors) / listed
        spread, ratios = ((errors / mean[which] - 1) ** 2, squares / errors**2)
        return cls(queries, listed, mean, *(np.bincount(which, weights=one).astype(float) for one in (spread, ratios)))

    def actual(self, queries: int) -> Floats:
        """About how large the errors of each of the first queries really are; NaN for one that was never listed."""
        errors = np.full(queries, np.nan)
        first = int(np.searchsorted(self.ranks, queries))
        errors[self.ranks[:first]] = (self.mean * self.calibrations)[:first]
        return errors

    @cached_property
    def calibrations(self) -> Floats:
        """The actual errors of each query, in units of the stated ones: the root mean square.

        A single query has too few errors, so its neighbours in the ranking are added, until there are enough.
        """
        errors = np.append(0, np.cumsum(self.listed))
        middle = (errors[1:] + errors[:-1]) / 2
        # The first queries are the least alike, so that fewer of them are pooled.
        enough = np.clip(np.minimum(middle, errors[-1] - middle), _FEWEST / 2, _ENOUGH / 2)
        enough = np.minimum(enough, errors[-1] / 2)
        middle = np.clip(middle, enough, errors[-1] - enough)
        first = np.searchsorted(errors, middle - enough, side="right") - 1
        last = np.searchsorted(errors, middle + enough)
        sums = np.append(0.0, np.cumsum(self.actual_squares))
        pooled: Floats = np.sqrt((sums[last] - sums[first]) / np.maximum(errors[last] - errors[first], 1))
        return pooled

    def actual_of(self, query: int) -> Expected | None:
        """About how large the error of one query really is; None if the query was never listed."""
        error, place = self.expected(query), int(np.searchsorted(self.ranks, query))
        return error and error.times(float(self.calibrations[place]))

    def expected(self, query: int) -> Expected | None:
        """The error of one query and its range; None if the query was never listed.

        A few collections say little about a range. So the neighbours in the ranking are added, whose shares are similar: up
        to a tenth of the rank away, and further until there are as many degrees of freedom as for a query that is always
        listed.
        """
        place = int(np.searchsorted(self.ranks, query))
        if place == self.ranks.size or self.ranks[place] != query:
            return None
        freedom, squares = self._sums
        most, farthest = int(self.listed.max()) - 1, max(query, int(self.ranks[-1]) - query)
        enough = bisect_left(range(farthest), most, key=lambda reach: int(self._around(freedom, query, reach)))
        reach = max(enough, (query + 1) // 10)
        pooled = int(self._around(freedom, query, reach))
        spread = float(np.sqrt(self._around(squares, query, reach) / max(pooled, 1)))
        mean = float(self.mean[place])
        return Expected.around(mean, int(self.listed[place]), mean * spread, pooled)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The running sums of the degrees of freedom and of the squares."""
        return np.append(0.0, np.cumsum(self.listed - 1)), np.append(0.0, np.cumsum(self.squares))

    def _around(self, sums: Floats, query: int, reach: int) -> float:
        """The sum over all queries that are at most so many places away, from running sums."""
        first, last = np.searchsorted(self.ranks, (query - reach, query + reach + 1))
        return float(sums[last] - sums[first])


def stated(outcome: Outcome) -> Floats:
    """The standard errors that one release states; half a user is as good as none."""
    half = 0.5 / outcome.listing.context.discovery_users
    return np.maximum(np.sqrt(outcome.result.blended.queries.variance[:-1]), half)
