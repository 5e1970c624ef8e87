"""Experiments on counts give what the product gives: the same stages, the same scores."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blender_dp import Blender, Entropy, Truth, score
from blender_dp.evaluation import experiment
from blender_dp.evaluation.experiment import collect
from blender_dp.evaluation.groups import Groups, Split
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.sources import PopulationSource
from blender_dp.release.assemble import assemble
from blender_dp.release.manifest import manifest_of

USERS = 40_000


@pytest.fixture(scope="module")
def groups() -> Groups:
    return Split(PopulationSource("aol", USERS).population(1), 1).groups(0.2, 0.9)


def collected(groups: Groups, **values):
    blender = Blender(epsilon=4, delta="1e-5", max_queries=20, **values)
    return blender.collection, collect(blender.collection, groups, Entropy.seeded(2))


def released(collection, groups, outcome):
    published = collection.published(outcome.listing.head_list, outcome.listing.design)
    manifest = manifest_of(
        collection.parameters, collection.promises(), groups.sizes, design=outcome.listing.design,
        threshold=outcome.listing.context.threshold, reports=outcome.result.client.reports, head_list=published, seeded=True,
    )  # fmt: skip
    return assemble(manifest, published, outcome.result)


@pytest.mark.parametrize("profile", ["paper", "tight"])
def test_the_scores_are_those_of_the_release(groups, profile):
    collection, outcome = collected(groups, profile=profile)
    everyone = groups.population
    truth = Truth(USERS, dict(zip(everyone.names(np.arange(everyone.counts.size)), everyone.counts.tolist(), strict=True)))
    expected = score(released(collection, groups, outcome), truth)
    assert outcome.queries >= 5
    for group in ("opt-in", "blended") if profile == "tight" else ("opt-in", "client", "blended"):
        assert outcome.scores[group].query_l1 == pytest.approx(expected[group].query_l1)
        assert outcome.scores[group].record_l1 == pytest.approx(expected[group].record_l1)
        assert outcome.scores[group].ndcg == pytest.approx(expected[group].ndcg)


def test_the_clients_alone_get_their_best_estimate(groups):
    """In the profile tight it is fitted like the blend, so it is better than the plain inversion of the channel."""
    _, outcome = collected(groups)
    plain = outcome.result.client.queries.share[:-1]
    assert outcome.scores["client"].query_l1 < 0.95 * np.abs(plain - outcome.query_truth[:-1]).sum()


def test_coverage_and_errors_come_from_the_stated_intervals(groups):
    collection, outcome = collected(groups)
    rows = released(collection, groups, outcome).queries[:-1]
    inside = [row.low <= true <= row.high for row, true in zip(rows, outcome.query_truth, strict=False)]
    assert outcome.covered_queries == np.mean(inside) > 0.7
    assert outcome.stated == pytest.approx(sum(row.variance for row in rows))
    assert 0 < outcome.bound < 10 * outcome.stated
    errors = [row.share - true for row, true in zip(rows, outcome.query_truth, strict=False)]
    assert outcome.squared_error == pytest.approx(np.square(errors).sum())


@pytest.mark.parametrize("profile", ["paper", "tight"])
def test_single_items_are_scored_by_their_queries(profile):
    counts = [4000, 2000, 1000, *([1] * 3000)]
    table = pa.table({"query": [f"item {i}" for i in range(len(counts))], "count": counts})
    groups = Split(Population.of_counts(table, 10_000), 1).groups(0.3, 0.9)
    _, outcome = collected(groups, profile=profile)
    assert outcome.queries >= 3
    assert outcome.scores["blended"].record_l1 == outcome.scores["blended"].query_l1
    assert outcome.scores["blended"].ndcg > 0.95


@pytest.mark.parametrize("profile", ["paper", "tight"])
def test_an_empty_list_scores_nothing(profile):
    table = pa.table({"query": [str(i) for i in range(1000)], "url": ["x"] * 1000, "count": [1] * 1000})
    groups = Split(Population.of_counts(table, 1000), 1).groups(0.3, 0.9)
    blender = Blender(epsilon=1, delta="1e-9", max_queries=20, profile=profile)
    outcome = collect(blender.collection, groups, Entropy.seeded(2))
    assert outcome.queries == 0
    assert outcome.scores["blended"].ndcg == 0
    assert np.isnan(outcome.covered_queries)


def test_records_that_cannot_be_chosen_change_nothing(groups, monkeypatch):
    """More than 20 queries exceed the threshold, and only those with the highest counts get names."""
    _, short = collected(groups)
    monkeypatch.setattr(experiment, "_leading", lambda queries, *_: np.ones(queries.size, np.bool_))
    _, whole = collected(groups)
    assert short.listed.head_list == whole.listed.head_list
    assert short.scores == whole.scores
