"""The standard errors that simulated releases state for each query: their mean, and how much they vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from blender_dp.evaluation.experiment import Outcome
from blender_dp.planning.expected import Expected
from blender_dp.stages import Floats, Integers


@dataclass(frozen=True, eq=False)
class StatedErrors:
    """By query, most popular first, over all collections that list it."""

    listed: Integers
    """In how many collections the query is listed."""
    mean: Floats
    """NaN if the query was never listed."""
    squares: Floats
    """The sum of the squared deviations from the mean, relative to the mean."""

    @classmethod
    def of(cls, stated: Sequence[Floats], ranks: Sequence[Integers], queries: int) -> StatedErrors:
        """Collect the errors of several collections, in which this many queries could be listed.

        Each has the `stated` errors of its listed queries, and their `ranks`, from 0.
        """
        numbers, errors = np.concatenate(ranks), np.concatenate(stated)
        listed = np.bincount(numbers, minlength=queries)
        total = np.bincount(numbers, weights=errors, minlength=queries)
        mean = np.divide(total, listed, out=np.full(queries, np.nan), where=listed > 0)
        squares = np.bincount(numbers, weights=(errors / mean[numbers] - 1) ** 2, minlength=queries).astype(float)
        return cls(listed, mean, squares)

    def expected(self, query: int) -> Expected | None:
        """The error of one query and its range; None if the query was never listed.

        A few collections say little about a range. So the neighbours in the ranking are added, whose shares are similar: up
        to a tenth of the rank away, and further until there are as many degrees of freedom as for a query that is always
        listed.
        """
        if not self.listed[query]:
            return None
        freedom = np.maximum(self.listed - 1, 0)
        around = self._within(freedom, query)
        reach = max(int(np.argmax(around >= freedom.max())), (query + 1) // 10)
        pooled = int(around[reach])
        spread = float(np.sqrt(self._within(self.squares, query)[reach] / max(pooled, 1)))
        mean = float(self.mean[query])
        return Expected.around(mean, int(self.listed[query]), mean * spread, pooled)

    def _within(self, values: Floats | Integers, query: int) -> Floats:
        """The sums over all queries that are at most 0, 1, 2, … places away."""
        size = values.size
        reach = np.arange(max(query, size - 1 - query) + 1)
        sums = np.append(0, np.cumsum(values))
        within: Floats = sums[np.minimum(query + reach + 1, size)] - sums[np.maximum(query - reach, 0)]
        return within


def stated(outcome: Outcome) -> Floats:
    """The standard errors that one release states; half a user is as good as none."""
    half = 0.5 / outcome.listing.context.discovery_users
    return np.maximum(np.sqrt(outcome.result.blended.queries.variance[:-1]), half)
