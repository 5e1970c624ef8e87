"""So many forged reports do it, and three quarters of them do not: for every row that is named, in several collections."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from blender_dp import Entropy, aol_like
from blender_dp.engines import DuckDBEngine
from blender_dp.logs import PLAIN_COLUMNS
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection, Listing
from blender_dp.poisoning import forging as module
from blender_dp.poisoning.forging import forging
from blender_dp.poisoning.prediction import Poisoning
from blender_dp.release import Release
from blender_dp_device.channel import Device
from blender_dp_device.records.record import Record

pytestmark = pytest.mark.slow  # makes releases until the smallest attack is found

USERS, OPT_IN = 40_000, 8_000
KINDS = [("2", 5, None), ("4", 5, None), ("4", 10, None), ("2", 3, 3)]


@cache
def collected(epsilon: str, size: int | None) -> tuple[Collection, Listing, np.ndarray]:
    """A collection with real devices' reports, of which no release is made yet."""
    rows = aol_like(5, users=USERS)
    collection = Collection(Parameters(epsilon=epsilon, delta="1e-6", max_queries=40, subset_size=size))
    engine = DuckDBEngine(ordered=True, portable=True)
    users, _ = engine.bound(
        engine.load(rows.slice(0, OPT_IN).select(["user", "query", "url"]), PLAIN_COLUMNS, "records"), 1, ""
    )
    groups = users.split(collection.parameters.f_o, "key", "discovery")
    listing = collection.make_list(*groups, USERS - OPT_IN, Entropy.seeded("forging"), lambda _: None)
    device = Device(collection.published(listing.head_list, listing.design), epsilon=epsilon)
    stream = Entropy.seeded("devices")

    def random_bytes(count: int) -> bytes:
        return stream.words(count // 8).tobytes()

    counts = np.zeros(listing.head_list.cell_count, np.int64)
    for row in rows.slice(OPT_IN).select(["query", "url"]).to_pylist():
        counts[list(device._report(Record(row["query"], row["url"]), random_bytes).cells)] += 1
    return collection, listing, counts


def release_with(epsilon: str, size: int | None, forged: int, query: str, url: str | None) -> Release:
    """The release if so many reports came besides: for this record, and for what is rarest if they name more."""
    collection, listing, honest = collected(epsilon, size)
    place, of_url = listing.head_list.position(query, url) if url else (listing.head_list.queries.index(query), 0)
    starts = list(listing.head_list.starts)
    others = [start for start in starts[::-1] if start != starts[place]]
    counts = honest.copy()
    counts[[starts[place] + of_url, *others[: listing.design.size - 1]]] += forged
    return collection.make_release(listing, counts, USERS - OPT_IN + forged, seeded=True)


def is_in_the_top(release: Release, query: str, url: str | None, top: int) -> bool:
    if url is None:
        return query in [row.query for row in release.trends(top)]
    best = sorted((row for row in release.records if row.url), key=lambda row: -row.share)[:top]
    return (query, url) in [(row.query, row.url) for row in best]


@pytest.mark.parametrize(("epsilon", "top", "size"), KINDS)
def test_the_stated_number_of_forged_reports_succeeds_and_fewer_fail(epsilon: str, top: int, size: int | None) -> None:
    collection, listing, counts = collected(epsilon, size)
    found = forging(collection, listing, counts, top)
    assert found.reports == USERS - OPT_IN
    assert len(found.queries) == len(found.records) == module._TRIED
    for one in (*found.queries, *found.records):
        assert one.forged is not None
        for forged, does in ((one.forged, True), (one.forged * 3 // 4, False), (0, False)):
            release = release_with(epsilon, size, forged, one.query, one.url)
            assert is_in_the_top(release, one.query, one.url, top) == does, (one, forged)
    for level in (found.queries, found.records):
        costs = [one.forged or 0 for one in level]
        assert costs == sorted(costs)


def test_the_search_makes_few_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of 500 queries takes 30 ms: these may be a few dozen."""
    made: list[int] = []
    shares = module._ForgedRelease.shares

    def counting(self: module._ForgedRelease, forged: int, cell: int) -> object:
        made.append(forged)
        return shares(self, forged, cell)

    monkeypatch.setattr(module._ForgedRelease, "shares", counting)
    forging(*collected("4", None))
    assert len(made) < 10 * 2 * module._TRIED


def test_every_row_may_already_be_in_the_top() -> None:
    assert forging(*collected("4", None), 1_000_000) == Poisoning(1_000_000, USERS - OPT_IN, (), ())


def test_an_empty_list_has_no_attacks() -> None:
    collection = Collection(Parameters(epsilon="4", delta="1e-6"))
    engine = DuckDBEngine(ordered=True, portable=True)
    rows = aol_like(5, users=40)
    users, _ = engine.bound(engine.load(rows.select(["user", "query", "url"]), PLAIN_COLUMNS, "records"), 1, "")
    listing = collection.make_list(
        *users.split(collection.parameters.f_o, "key", "x"), 40, Entropy.seeded("e"), lambda _: None
    )
    assert len(listing.head_list) == 0
    assert forging(collection, listing, np.array([40])) == Poisoning(10, 40, (), ())


def test_an_attack_that_no_number_achieves_has_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that stays where it is, whatever comes."""
    honest = module._ForgedRelease.shares
    monkeypatch.setattr(module._ForgedRelease, "shares", lambda self, *_: honest(self, 0, 0))
    found = forging(*collected("4", None))
    assert {one.forged for one in (*found.queries, *found.records)} == {None}
