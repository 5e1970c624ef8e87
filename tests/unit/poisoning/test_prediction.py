"""The number that a release gives for forged reports is about the number that does it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from blender_dp import Entropy, aol_like
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import PLAIN_COLUMNS
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.poisoning.prediction import poisoning, response_of
from blender_dp.stages.response import Response
from blender_dp_device.channel import Device
from blender_dp_device.records.record import Record

pytestmark = pytest.mark.slow  # makes whole releases

USERS, OPT_IN, TOP = 60_000, 12_000, 5


@cache
def collected():
    """A collection of which the reports are counted, but no release is made yet."""
    rows = aol_like(5, users=USERS)
    collection = Collection(Parameters(epsilon="2", delta="1e-6", max_queries=40))
    engine = DuckDBEngine(ordered=True, portable=True)
    users, _ = engine.bound(
        engine.load(rows.slice(0, OPT_IN).select(["user", "query", "url"]), PLAIN_COLUMNS, "records"), 1, ""
    )
    groups = users.split(collection.parameters.f_o, "key", "discovery")
    listing = collection.make_list(*groups, USERS - OPT_IN, Entropy.seeded("poisoning"), lambda _: None)
    device = Device(collection.published(listing.head_list, listing.design), epsilon="2")
    stream = Entropy.seeded("devices")

    def random_bytes(count: int) -> bytes:
        return stream.words(count // 8).tobytes()

    counts = np.zeros(listing.head_list.cell_count, np.int64)
    for row in rows.slice(OPT_IN).select(["query", "url"]).to_pylist():
        counts[list(device._report(Record(row["query"], row["url"]), random_bytes).cells)] += 1
    return collection, listing, counts


def release_with(forged: int, cell: int):
    """The release if so many reports came besides that all name one cell (and ⋆, and rare queries, if they name more)."""
    collection, listing, honest = collected()
    named = [cell, *listing.head_list.starts[::-1][: listing.design.size - 1]]
    counts = honest.copy()
    counts[named] += forged
    return collection.make_release(listing, counts, USERS - OPT_IN + forged, seeded=True)


def said():
    collection, listing, _ = collected()
    return poisoning(release_with(0, 0), Response.of(collection.channel(listing.head_list, listing.design)), TOP)


def top_records(release):
    best = sorted((row for row in release.records if row.url), key=lambda row: -row.share)[:TOP]
    return [(row.query, row.url) for row in best]


@pytest.mark.parametrize("rank", [0.0, 0.25, 0.5, 0.75, 0.99])
def test_twice_the_predicted_number_brings_a_query_to_the_top_and_a_third_does_not(rank):
    _, listing, _ = collected()
    queries = said().queries
    one = queries[int(rank * len(queries))]
    cell = listing.head_list.starts[listing.head_list.queries.index(one.query)]
    names = [[row.query for row in release_with(forged, cell).trends(TOP)] for forged in (one.forged // 3, 2 * one.forged)]
    assert one.query not in names[0]
    assert one.query in names[1]


@pytest.mark.parametrize("rank", [0.25, 0.5])
def test_slightly_more_than_the_predicted_number_succeeds_and_half_of_it_fails(rank):
    _, listing, _ = collected()
    records = said().records
    one = records[int(rank * len(records))]
    query, url = listing.head_list.position(one.query, one.url)
    cell = listing.head_list.starts[query] + url
    assert (one.query, one.url) not in top_records(release_with(one.forged // 2, cell))
    assert (one.query, one.url) in top_records(release_with(one.forged + one.forged // 10, cell))


def test_the_prediction_covers_every_query_outside_the_top():
    found, release = said(), release_with(0, 0)
    assert found.reports == USERS - OPT_IN
    inside = {row.query for row in release.trends(TOP)}
    assert {one.query for one in found.queries} == {row.query for row in release.queries if row.query} - inside
    costs = [one.forged for one in found.queries]
    assert costs == sorted(costs)
    assert min(costs) >= 1
    assert not {(one.query, one.url) for one in found.records} & set(top_records(release))


def test_the_channel_follows_from_the_release():
    release = release_with(0, 0)
    assert poisoning(release, response_of(release), TOP) == said()


def test_every_row_may_already_be_in_the_top():
    release = release_with(0, 0)
    assert poisoning(release, response_of(release), 1_000_000).queries == ()


def test_single_items_are_predicted(item_release):
    found = poisoning(item_release, response_of(item_release), 1)
    assert len(found.queries) == len(item_release.head_list) - 1 > 0
    assert found.records == ()
