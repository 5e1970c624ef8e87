from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from blender_dp import Blender, Entropy, ParameterError, aol_like
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.shapes import shape_of
from blender_dp.parameters import Parameters
from blender_dp.planning import Setting, Want, solve, tradeoff
from blender_dp.planning.outline import Outline
from blender_dp.planning.plans import plan_of
from blender_dp.planning.simulation import simulated
from blender_dp.planning.sources import outline_of
from tests.rounds import rounds

TABLE = pa.table({"query": ["a", "b", "b", "c"], "url": ["x", "y", "z", "x"], "count": [100, 300, 250, 50]})


def test_a_shape_has_records_for_its_top_queries():
    outline = outline_of("aol")
    assert (outline.name, outline.users, outline.levels) == ("aol", 519_371, 2)
    records = outline.records(np.arange(1_000), "seed")
    assert np.bincount(records.query_of, weights=records.shares) == pytest.approx(outline.query_shares[:1_000])
    assert records.query_of.size == pytest.approx(1_000 / 0.3, rel=0.15)  # URLs per query: geometric with mean 1 / 0.3
    again, other = outline.records(np.arange(1_000), "seed"), outline.records(np.arange(1_000), "other")
    assert again.shares.tolist() == records.shares.tolist() != other.shares.tolist()


def test_the_urls_are_like_those_of_the_synthetic_logs():
    shape = shape_of("zipf:1.5", 200_000)
    drawn, planned = Population.of_shape(shape, 3), Outline.of_shape("zipf", shape).records(np.arange(300), "3")
    real = np.array([drawn.counts[drawn.query_of == q].max() / drawn.query_counts[q] for q in range(60)])
    firsts = np.array([planned.shares[planned.query_of == q].max() / shape.query_shares[q] for q in range(300)])
    assert firsts.mean() == pytest.approx(real.mean(), abs=0.1)


def test_counted_users_are_sorted_by_popularity():
    outline = outline_of(Population.of_counts(TABLE, 1_000))
    assert outline.query_shares == pytest.approx([0.55, 0.1, 0.05])
    records = outline.records(np.array([0, 2]), "")
    assert records.query_of.tolist() == [0, 0, 2]
    assert records.shares == pytest.approx([0.3, 0.25, 0.05])
    assert outline_of(outline) is outline


def test_an_unknown_shape_is_refused():
    with pytest.raises(ParameterError, match="neither a shape nor a file"):
        outline_of("nothing")


def planned(outline: Outline, users: int) -> Setting:
    return Setting(outline, users, 0.05, Parameters(epsilon=4, delta="1e-8", max_queries=50))


def test_queries_of_one_user_are_unknown_in_a_larger_population():
    """Each of them used to be listed as soon as enough users were planned, although nobody else may have it."""
    counts = pa.table({"query": ["a", *map(str, range(900))], "url": ["x"] * 901, "count": [100, *[1] * 900]})
    outline = outline_of(Population.of_counts(counts, 1_000))
    assert outline.query_shares.tolist() == [0.1]
    many = planned(outline, 10_000_000)
    assert many.length.mean == pytest.approx(1)
    assert "users: only 1,000 were counted. The 900 queries that only one" in plan_of(many, 1).warnings[-1]
    assert tradeoff(planned(outline, 1_000), "users").warnings == many.warnings
    assert solve(many, Want(queries=2), "opt-in").warnings == many.warnings
    assert planned(outline, 1_000).warnings == ()
    alone = outline_of(Population.of_counts(counts.slice(1), 900))
    for users in (900, 10_000_000):
        nothing = plan_of(planned(alone, users), 1)
        assert nothing.forecast.queries.mean < 1e-6
        assert nothing.forecast.ranks == ()
        assert "The 900 queries that only one of them has are never listed, and there are no others." in nothing.warnings[-1]


def test_a_plan_from_a_release_says_what_it_cannot_know():
    release = rounds([{}], users=40_000)[0].release
    (warning,) = planned(outline_of(release), 50_000).warnings
    assert "only 40,000 were counted. Queries and URLs that the release does not list" in warning
    assert planned(outline_of(release), 40_000).warnings == ()


def test_urls_of_one_user_are_not_listed_in_a_larger_population():
    """Each of them used to count as a URL that many users share."""
    counts = pa.table(
        {"query": ["a"] * 3_001 + ["b"], "url": [*map(str, range(3_001)), "x"], "count": [900, *[1] * 3_000, 800]}
    )
    outline = outline_of(Population.of_counts(counts, 10_000))
    many = planned(outline, 20_000_000)
    assert many.outline.query_shares == pytest.approx([0.39, 0.08])
    records = many.outline.records(np.array([0, 1]), "")
    assert records.shares == pytest.approx([0.09, 0.3, 0.08])
    assert records.is_listable.tolist() == [True, False, True]
    assert many.listed_records == pytest.approx(2)
    assert many.length.mean == pytest.approx(2)
    outcome = simulated(many, 2).outcomes[0]
    assert len(list(outcome.listed.head_list.records())) == 2
    assert outcome.query_truth[:2] == pytest.approx([0.39, 0.08], rel=0.01)
    assert "users: only 10,000 were counted. The 3,000 URLs that only one" in plan_of(many, 1).warnings[-1]


def test_a_query_whose_users_all_have_urls_of_their_own_is_not_listed_in_a_larger_population():
    counts = pa.table({"query": ["a"] * 500 + ["b"], "url": [*map(str, range(500)), "x"], "count": [1] * 500 + [100]})
    many = planned(outline_of(Population.of_counts(counts, 1_000)), 10_000_000)
    for estimator in ("likelihood", "average"):
        changed = replace(many, parameters=replace(many.parameters, estimator=estimator))
        assert changed.length.mean == pytest.approx(1)
        assert changed.on_final_list == pytest.approx([0, 1])
        assert not np.signbit(changed.listed).any()  # would be shown as -0 %
        assert [outcome.queries for outcome in simulated(changed, 3).outcomes] == [1, 1, 1]


def test_queries_and_records_that_nobody_has_are_left_out():
    """A release of profile `paper` often has some, because shares below 0 are raised to 0."""
    table = pa.table({"query": ["a", "b", "c", "c", "d"], "url": ["x", "x", "y", "z", "x"], "count": [100, 1, 3, 2, 1]})
    population = Population.of_counts(table, 1_000)
    nobody = replace(population, counts=np.array([100, 0, 3, 0, 1]))
    outline = outline_of(nobody)
    assert outline.query_shares == pytest.approx([0.1, 0.003])
    assert outline.records(np.arange(2), "").shares == pytest.approx([0.1, 0.003])
    assert planned(outline, 1_000).length.mean < 3


@pytest.mark.parametrize("max_queries", [2, 5])
def test_plans_are_made_for_releases_with_shares_of_0(max_queries):
    """Also for shorter lists than the release's."""
    table = aol_like(1, users=20_000)
    blender = Blender(epsilon=4, delta="1e-5", max_queries=20, profile="paper")
    release = blender.run(table.slice(0, 4000), table.slice(4000), key=b"1", entropy=Entropy.seeded(3))
    assert min(row.share for row in release.records) == 0
    parameters = Parameters(epsilon=4, delta="1e-6", max_queries=max_queries, profile="paper")
    assert plan_of(Setting(outline_of(release), 20_000, 0.2, parameters), 2).forecast.queries.mean <= max_queries


def test_an_empty_release_lists_nothing_however_many_users_are_planned():
    table = aol_like(1, users=2_000)
    release = Blender(epsilon=1, delta="1e-9").run(
        table.slice(0, 200), table.slice(200), key=b"1", entropy=Entropy.seeded(1)
    )
    assert release.head_list.queries == ()
    empty = outline_of(release)
    assert empty.users == 2_000
    assert planned(empty, 2_000_000).length.mean < 1e-6
    assert plan_of(planned(empty, 2_000_000), 2).forecast.queries.mean < 1e-6


def test_a_release_has_its_listed_queries():
    table = aol_like(1, users=20_000)
    blender = Blender(epsilon=4, delta="1e-5", max_queries=10)
    release = blender.run(table.slice(0, 4000), table.slice(4000), key=b"1", entropy=Entropy.seeded(1))
    many = planned(outline_of(release), 20_000_000)
    assert many.length.mean == pytest.approx(len(release.head_list.queries), abs=0.01)
