"""OpenDP on the opt-in users alone: which queries are frequent, and how frequent, in one release.

A change of one person's record changes the counts of two queries by one, which is what `num_groups=2` and distance 2 mean.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import opendp.prelude as dp
import polars as pl
from job import select_queries

dp.enable_features("contrib")


def stable_keys(queries: Sequence[str], epsilon: float, delta: float) -> dict[str, int]:
    """Through the Polars interface, which chooses the threshold."""
    context = dp.Context.compositor(
        data=pl.LazyFrame({"query": queries}),
        privacy_unit=dp.unit_of(contributions=[dp.polars.Bound(by=["query"], num_groups=2, per_group=1)]),
        privacy_loss=dp.loss_of(epsilon=epsilon, delta=delta),
        split_evenly_over=1,
    )
    released = context.query().group_by("query").agg(dp.len(signed=True)).release().collect()
    return dict(released.iter_rows())


def threshold(queries: Sequence[str], epsilon: float, delta: float) -> dict[str, int]:
    """Through the core library: count every query, then noise and a threshold."""
    domain = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()

    def measurement(at: int) -> dp.Measurement:
        return domain >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=2 / epsilon, threshold=at)

    at = dp.binary_search(lambda t: measurement(t).map(2)[1] <= delta, bounds=(3, 1000))
    return measurement(at)(list(queries))


METHODS = {"stable keys": stable_keys, "laplace_threshold": threshold}


if __name__ == "__main__":
    warnings.simplefilter("ignore", FutureWarning)
    select_queries(METHODS)
