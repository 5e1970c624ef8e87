from __future__ import annotations

import numpy as np
import pytest

from blender_dp import Blender, Columns, Entropy, GroupError, ParameterError, aol_like
from blender_dp.evaluation.sources import PopulationSource, population_of_release
from blender_dp.logs import Reading


def named(of):
    return dict(zip(of.names(np.arange(of.counts.size)), of.counts.tolist(), strict=True))


def test_a_shape_differs_from_seed_to_seed():
    source = PopulationSource("aol", 2000)
    assert source.varies
    assert named(source.population(1)) == named(source.population(1)) != named(source.population(2))


def test_a_log_gives_one_canonical_record_per_user(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user,query,url\n1,Google ,http://google.com\n2,google,http://google.com\n3,a,http://b.example\n")
    source = PopulationSource(str(path))
    assert not source.varies
    counted = source.population()
    assert counted.users == 3
    assert sorted(named(counted).values()) == [1, 2]
    assert PopulationSource(str(path), 500).population(1).users == 500


def test_a_log_is_read_with_its_own_columns_and_delimiter(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("who;what\n1;a\n2;a\n3;b\n")
    reading = Reading(user="who", query="what", no_url=True, delimiter=";")
    assert named(PopulationSource(str(path), reading=reading).population()) == {("a", None): 2, ("b", None): 1}


@pytest.mark.parametrize("name", ["logs", "logs/1.csv", "logs/*.csv", "*/?.csv"])
def test_the_fingerprint_changes_with_the_files(tmp_path, name):
    """Otherwise an interrupted evaluation would continue with the results of other files."""
    (tmp_path / "logs").mkdir()
    source, log = PopulationSource(str(tmp_path / name)), tmp_path / "logs/1.csv"
    log.write_text("user,query,url\n")
    before = source.fingerprint()
    assert before == source.fingerprint()
    log.write_text("user,query,url\n1,a,b\n")
    assert source.fingerprint() != before


def test_a_source_from_a_release_has_its_shares_and_unique_records_behind_the_star():
    table = aol_like(1, users=20_000)
    blender = Blender(epsilon=4, delta="1e-5", max_queries=10)
    release = blender.run(table.slice(0, 4000), table.slice(4000), key=b"1", entropy=Entropy.seeded(1))
    counted = population_of_release(release)
    counts = named(counted)
    assert counted.users == 20_000
    for row in release.records:
        if row.url is not None:
            assert abs(counts.get((row.query, row.url), 0) - row.share * 20_000) <= 0.5
    totals = dict.fromkeys(release.head_list.queries, 0)
    for (query, _), count in counts.items():
        if query in totals:
            totals[query] += count
    assert totals[release.trends(1)[0].query] == pytest.approx(release.trends(1)[0].share * 20_000, abs=3)
    assert max(count for (query, _), count in counts.items() if query not in totals) == 1


def test_a_release_of_single_items_gives_single_items(tmp_path):
    rows = [(str(i), f"item {i % 3}") for i in range(3000)]
    release = Blender(epsilon=4, delta="1e-5", max_queries=10).run(
        rows[:1000], rows[1000:], columns=Columns("user", "query", None), key=b"1", entropy=Entropy.seeded(1)
    )
    release.save(tmp_path / "release.json")
    counted = PopulationSource(str(tmp_path)).population()
    assert counted.levels == 1
    assert counted.counts.max() > 800


@pytest.mark.parametrize("name", ["missing.csv", "bing"])
def test_a_source_that_does_not_exist_is_refused(name):
    with pytest.raises(ParameterError, match="neither a shape nor a file"):
        PopulationSource(name).population()


def test_a_log_without_usable_records_is_refused(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("user,query,url\n1,,\n2,,\n")
    with pytest.raises(GroupError, match="usable record"):
        PopulationSource(str(path)).population()
