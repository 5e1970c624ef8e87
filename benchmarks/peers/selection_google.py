"""Google's library on the opt-in users alone, from Python and through PipelineDP.

A change of one person's record changes the counts of two queries by one, so two partitions per person are declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pipeline_dp
from job import select_queries
from pydp.algorithms.partition_selection import create_partition_strategy

PARTITIONS = 2


def one_release(queries: Sequence[str], epsilon: float, delta: float) -> dict[str, float]:
    """python-dp: noise and threshold in one step, which leaves the counting to us."""
    strategy = create_partition_strategy("laplace", epsilon, delta, PARTITIONS)
    noisy = ((query, strategy.noised_value_if_should_keep(count)) for query, count in Counter(queries).items())
    return {query: count for query, count in noisy if count is not None}


def pipeline(queries: Sequence[str], epsilon: float, delta: float) -> dict[str, float]:
    """PipelineDP's local backend: its accountant splits ε between the choice of the queries and their counts."""
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    parameters = pipeline_dp.AggregateParams(
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        metrics=[pipeline_dp.Metrics.PRIVACY_ID_COUNT],
        max_partitions_contributed=PARTITIONS,
        max_contributions_per_partition=1,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda _: 1
    )
    result = engine.aggregate(list(enumerate(queries)), parameters, extractors)
    accountant.compute_budgets()
    return {query: metrics.privacy_id_count for query, metrics in result}


METHODS = {"python-dp": one_release, "PipelineDP": pipeline}


if __name__ == "__main__":
    select_queries(METHODS)
