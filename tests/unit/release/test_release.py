from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from blender_dp import Blender, DocumentError, Entropy, Release, aol_like
from blender_dp.pipeline.audit import Tables
from blender_dp.release.document import json_schema
from blender_dp.release.estimates import interval, intervals, margin
from tests.conftest import ROOT

SCHEMA = Draft202012Validator(json.loads((ROOT / "spec/schemas/release.json").read_text(encoding="utf-8")))


def released(**changes) -> Release:
    blender = Blender(epsilon=4, delta=1e-5, max_queries=10, **changes)
    return blender.run_log(aol_like(2, users=60_000), 0.3, key=b"k", entropy=Entropy.seeded(1))


@pytest.fixture(scope="module")
def release() -> Release:
    return released()


@pytest.fixture(scope="module")
def papers_release() -> Release:
    return released(profile="paper")


def test_trends_are_sorted_and_exclude_the_star(release):
    top = release.trends(5)
    assert len(top) == 5
    assert [row.share for row in top] == sorted((row.share for row in top), reverse=True)
    assert None not in [row.query for row in release.trends(1000)]
    assert len(release.trends(1000)) == len(release.head_list)


def test_search_finds_prefixes_most_popular_first(release):
    found = release.search("  GOO")
    assert found[0].query == "google"
    assert all(s.query.startswith("goo") for s in found)
    assert [s.share for s in found] == sorted((s.share for s in found), reverse=True)
    assert found[0].urls[0][0] == "https://www.google.com/"
    assert [share for _, share in found[0].urls] == sorted((share for _, share in found[0].urls), reverse=True)
    assert release.search("no such thing") == []
    assert len(release.search("", 3)) == 3


def test_every_row_has_its_errors_and_sources(release, papers_release):
    for row in (*release.queries, *release.records, *papers_release.queries, *papers_release.records):
        assert 0 <= row.low <= row.share <= row.high <= 1
        assert row.variance > 0
        assert 0 <= row.opt_in_weight <= 1
        assert (row.opt_in_share is None) == (row.opt_in_variance is None)


def test_only_the_likelihood_estimates_unlisted_urls_from_opt_in_users(release, papers_release):
    for one, measured in ((release, True), (papers_release, False)):
        unlisted = [row for row in one.records if row.query is not None and row.url is None]
        assert len(unlisted) == len(one.head_list)
        assert all((row.opt_in_share is not None) == measured and (row.opt_in_weight > 0) == measured for row in unlisted)


def test_queries_are_the_sums_of_their_records(release):
    """One fit covers both levels; the papers blend the levels separately, so theirs need not agree."""
    for query in release.queries:
        assert query.share == pytest.approx(sum(row.share for row in release.records if row.query == query.query))


def test_the_schema_includes_the_parts(release, papers_release, tmp_path):
    for made in (release, papers_release):
        made.save(tmp_path / "release.json")
        settings = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))["manifest"]["settings"]
        assert settings == made.manifest.to_document()["settings"]
        assert set(settings) == set(json_schema()["$defs"]["Settings"]["required"])


def test_a_file_round_trip_is_exact(release, tmp_path):
    release.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json") == release


def test_a_saved_release_follows_the_schema(release, tmp_path):
    release.save(tmp_path / "release.json")
    document = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    assert not list(SCHEMA.iter_errors(document))
    document["manifest"]["randomness"] = "dice"
    assert list(SCHEMA.iter_errors(document))


def test_a_release_converts_to_an_arrow_table(release):
    table = release.to_arrow()
    assert table.num_rows == len(release.queries) + len(release.records)
    assert table.schema.field("share").type == pa.float64()
    assert not table.schema.field("share").nullable
    assert table.schema.field("opt_in_share").nullable
    first = table.to_pylist()[0]
    assert b"insecure: seeded" in table.schema.metadata[b"blender-dp manifest"]
    assert first["level"] == "query"
    assert first["share"] == release.queries[0].share


def test_shares_that_were_not_projected_may_be_outside_0_to_1(release, tmp_path):
    settings = dataclasses.replace(release.manifest.settings, project=False)
    below = dataclasses.replace(release.queries[0], share=-0.01, low=-0.01, high=0.02)
    unprojected = dataclasses.replace(
        release,
        manifest=dataclasses.replace(release.manifest, settings=settings),
        queries=(below, *release.queries[1:]),
    )
    unprojected.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json") == unprojected


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda d: d.update(schema="blender-dp/release/9"), "schema: Input should be"),
        (lambda d: d["manifest"]["settings"].update(epsilon=4.0), r"manifest\.settings\.epsilon: .*not exact text"),
        (lambda d: d["manifest"]["settings"].update(epsilon="8/2"), r"manifest\.settings\.epsilon: .*lowest terms"),
        (lambda d: d["manifest"]["settings"].update(epsilon="9" * 5000), r"manifest\.settings\.epsilon: "),
        (lambda d: d["manifest"].update(threshold="-1"), r"manifest\.threshold: .*lowest terms"),
        (lambda d: d.update(schema="blender-dp/release/1"), r"manifest\.settings\.epsilon: "),
        (lambda d: d.update(schema="blender-dp/release/1", manifest=[]), r"manifest\.settings: "),
        (lambda d: d.pop("queries"), "queries: "),
        (lambda d: d["queries"][0].update(share="much"), r"queries\.0\.share: Input should be a valid number"),
        (lambda d: d["manifest"].pop("groups"), r"manifest\.groups: "),
        (lambda d: d["head_list"].update(queries=3), "needs schema, canonical_version and queries"),
        (lambda d: d["queries"][0].update(share=float("nan")), r"queries\.0\.share: "),
        (lambda d: d["queries"][0].update(variance=-1.0), r"queries\.0\.variance: "),
        (
            lambda d: d["queries"][0].update(share=1e308, variance=1e308),
            r"queries\.0\.share: .*less than or equal to 10{12}",
        ),
        (lambda d: d["queries"][0].update(client_share=-1e13), r"queries\.0\.client_share: .*greater than or equal to"),
        (lambda d: d["queries"][0].update(variance=1e300), r"queries\.0\.variance: .*less than or equal to 10{24}"),
        (lambda d: d["queries"][0].update(share=5.0, low=4.9, high=5.1), r"queries\.0\.share: is not between 0 and 1"),
        (lambda d: d["queries"][0].update(share=-50.0), r"queries\.0\.share: is not between low and high"),
        (lambda d: d["queries"][0].update(low=0.9, high=0.1), r"queries\.0\.share: is not between low and high"),
        (lambda d: d["records"][1].update(low=0.9), r"records\.1\.share: is not between low and high"),
        (lambda d: d["manifest"].update(head_list="0" * 64), "its manifest names another head list"),
        (lambda d: d["manifest"]["settings"].update(f_c="1/2"), "its manifest and its head list name different channels"),
        (lambda d: d["manifest"]["settings"].update(epsilon="2"), "its manifest and its head list name different channels"),
        (lambda d: d["head_list"]["channel"].update(f_c="0.5"), "not an exact number"),
        (lambda d: d["records"].pop(), "its records do not match its head list"),
        (lambda d: d["manifest"].update(discovery_users=0), "manifest: a group has less than 1 or more than"),
        (lambda d: d["manifest"].update(calibration_users=-3), "manifest: a group has less than 1 or more than"),
        (lambda d: d["manifest"]["groups"][1].update(users=10**400), "manifest: a group has less than 1 or more than"),
        (lambda d: d["manifest"]["groups"].pop(), "manifest.groups: not one central group and one local group"),
        (lambda d: d["manifest"]["groups"][0].update(model="secret"), "manifest.groups: not one central group"),
        (lambda d: d["queries"].reverse(), "its queries do not match its head list"),
    ],
)
def test_the_error_for_an_invalid_file_says_where(release, tmp_path, spoil, problem):
    path = tmp_path / "release.json"
    release.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    spoil(document)
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DocumentError, match=problem):
        Release.load(path)


def test_single_items_have_trends_and_suggestions_without_urls(item_release):
    assert [row.query for row in item_release.trends(5)] == ["calculator", "camera", "maps"]
    assert [row.share for row in item_release.trends(3)] == pytest.approx([0.3, 0.24, 0.15], abs=0.03)
    (found,) = item_release.search(" CAM")
    assert (found.query, found.urls) == ("camera", ())
    assert [s.query for s in item_release.search("ca")] == ["calculator", "camera"]


def test_single_items_are_estimated_by_both_groups(item_release):
    assert [(row.query, row.url) for row in item_release.records] == list(item_release.head_list.cells())
    for row in item_release.records:
        assert row.opt_in_share is not None
        assert 0 <= row.low <= row.share <= row.high <= 1


def test_a_release_of_single_items_survives_its_file_and_follows_the_schema(item_release, tmp_path):
    item_release.save(tmp_path / "release.json")
    assert Release.load(tmp_path / "release.json") == item_release
    assert not list(SCHEMA.iter_errors(json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))))
    table = item_release.to_arrow()
    assert table.num_rows == 8
    assert table["url"].null_count == 8


def test_a_release_cannot_be_changed(release):
    with pytest.raises(dataclasses.FrozenInstanceError):
        release.queries = ()


def test_intervals_stay_within_0_and_1():
    assert interval(0.0, 1e-4) == pytest.approx((0.0, 0.0196), abs=1e-5)
    assert interval(1.0, 1e-4)[1] == 1.0
    assert interval(-0.5, 1e-6) == (-0.5, 0.0)
    assert interval(1.5, 1e-6) == (1.0, 1.5)
    assert interval(-0.001, 1e-4) == pytest.approx((-0.001, 0.0186), abs=1e-4)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 10)), max_size=5))
def test_many_intervals_are_those_of_each_share(rows):
    shares, variances = np.array(rows).reshape(-1, 2).T
    low, high = intervals(shares, variances)
    assert np.stack([low, high], axis=1) == pytest.approx(np.array([interval(*row) for row in rows]).reshape(-1, 2))


@given(st.floats(-3, 3), st.floats(0, 10))
def test_every_share_is_inside_its_interval(share, variance):
    low, high = interval(share, variance)
    assert low <= share <= high
    # Within possible shares it equals the whole normal interval, unless that excludes all of them.
    half = margin(variance)
    if share + half >= 0 and share - half <= 1:
        for possible in (0.0, 0.3, 1.0):
            assert (low <= possible <= high) == (share - half <= possible <= share + half)
    else:
        assert low <= 1
        assert high >= 0


def test_parameters_are_published_as_exact_text(tmp_path):
    """As floats, 7/3 and 1/30000 would be different numbers, and an audit would check different integers."""
    blender = Blender(epsilon="7/3", delta="1/30000", f_o="6/7", f_c="2/3", max_queries=5)
    made = blender.run_log(aol_like(2, users=20_000), 0.3, key=b"k", entropy=Entropy.seeded(1))
    made.save(tmp_path / "release.json")
    manifest = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))["manifest"]
    settings = manifest["settings"]
    assert [settings[name] for name in ("epsilon", "delta", "f_o", "f_c")] == ["7/3", "1/30000", "6/7", "2/3"]
    assert [(group["epsilon"], group["delta"]) for group in manifest["groups"]] == [("7/3", "1/30000"), ("7/3", "0")]
    assert manifest["threshold"] == str(blender.collection.discovery.threshold)
    loaded = Release.load(tmp_path / "release.json")
    assert loaded == made
    tables = Tables.of(loaded.manifest.settings, loaded.head_list)
    assert (tables.discovery, tables.calibration) == (blender.collection.discovery, blender.collection.calibration)
    assert loaded.manifest.settings.epsilon == Fraction(7, 3)
    assert json.loads(loaded.to_arrow().schema.metadata[b"blender-dp manifest"]) == manifest


def test_a_release_of_the_first_schema_is_read_and_written_as_a_new_one(tmp_path):
    old = Path(__file__).with_name("data") / "release-1.json"
    loaded = Release.load(old)
    settings = loaded.manifest.settings
    assert (settings.epsilon, settings.delta, settings.f_c) == (Fraction(5, 2), Fraction(1, 10_000), Fraction(17, 20))
    assert loaded.manifest.threshold == Fraction(8570, 1024)
    loaded.save(tmp_path / "release.json")
    new = json.loads((tmp_path / "release.json").read_text(encoding="utf-8"))
    assert new["schema"] == "blender-dp/release/2"
    assert not list(SCHEMA.iter_errors(new))
    assert Release.load(tmp_path / "release.json") == loaded


def test_the_error_for_an_invalid_file_ends_in_one_full_stop(release, tmp_path):
    path = tmp_path / "release.json"
    release.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["manifest"]["settings"]["epsilon"] = "-4"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DocumentError) as raised:
        Release.load(path)
    assert ".." not in str(raised.value).replace("...", "").removeprefix(str(path))
