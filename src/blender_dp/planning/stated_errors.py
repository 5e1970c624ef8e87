"""The standard errors that simulated releases state for each query: their mean, and how much they vary."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from blender_dp.evaluation.experiment import Outcome
from blender_dp.planning.expected import Expected
from blender_dp.stages import Floats, Integers


@dataclass(frozen=True, eq=False)
class StatedErrors:
    """By query, most popular first, up to the last one that any collection lists."""

    listed: Integers
    """In how many collections the query is listed."""
    mean: Floats
    """Over the collections that list the query; NaN if none does."""
    squares: Floats
    """The sum of the squared deviations from the mean, relative to the mean."""

    @classmethod
    def of(cls, stated: Sequence[Floats], ranks: Sequence[Integers]) -> StatedErrors:
        """Collect the `stated` errors of several collections' listed queries, and the `ranks` of these, from 0."""
        numbers, errors = np.concatenate(ranks), np.concatenate(stated)
        listed, total = np.bincount(numbers), np.bincount(numbers, weights=errors)
        mean = np.divide(total, listed, out=np.full(listed.size, np.nan), where=listed > 0)
        return cls(listed, mean, np.bincount(numbers, weights=(errors / mean[numbers] - 1) ** 2).astype(float))

    def means(self, queries: int) -> Floats:
        """The mean for each of the first queries; NaN for one that was never listed."""
        means = np.full(queries, np.nan)
        means[: self.mean.size] = self.mean[:queries]
        return means

    def expected(self, query: int) -> Expected | None:
        """The error of one query and its range; None if the query was never listed.

        A few collections say little about a range. So the neighbours in the ranking are added, whose shares are similar: up
        to a tenth of the rank away, and further until there are as many degrees of freedom as for a query that is always
        listed.
        """
        if query >= self.listed.size or not self.listed[query]:
            return None
        freedom, squares = self._sums
        most, farthest = max(int(self.listed.max()) - 1, 0), max(query, self.listed.size - 1 - query)
        enough = bisect_left(range(farthest), most, key=lambda reach: int(_around(freedom, query, reach)))
        reach = max(enough, (query + 1) // 10)
        pooled = int(_around(freedom, query, reach))
        spread = float(np.sqrt(_around(squares, query, reach) / max(pooled, 1)))
        mean = float(self.mean[query])
        return Expected.around(mean, int(self.listed[query]), mean * spread, pooled)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        """The running sums of the degrees of freedom and of the squares."""
        freedom = np.maximum(self.listed - 1, 0)
        return np.append(0.0, np.cumsum(freedom)), np.append(0.0, np.cumsum(self.squares))


def _around(sums: Floats, query: int, reach: int) -> float:
    """The sum over all queries that are at most so many places away, from running sums."""
    return float(sums[min(query + reach + 1, sums.size - 1)] - sums[max(query - reach, 0)])


def stated(outcome: Outcome) -> Floats:
    """The standard errors that one release states; half a user is as good as none."""
    half = 0.5 / outcome.listing.context.discovery_users
    return np.maximum(np.sqrt(outcome.result.blended.queries.variance[:-1]), half)
