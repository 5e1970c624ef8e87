from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_dp import ParameterError
from blender_dp.release.series import Trends, trends_over
from tests.rounds import QUERIES, rounds

STEADY: dict[str, float] = {}
JUMP = {"mapquest": 5.0}


@pytest.fixture(scope="module")
def collected():
    """Six rounds in the middle of which one query jumps to five times its share, and another one vanishes."""
    return rounds([STEADY] * 3 + [{**JUMP, "ebay": 0.0}] * 3, opt_in=0.1)


@pytest.fixture(scope="module")
def trends(collected) -> Trends:
    return trends_over([one.release for one in collected], [f"week {n}" for n in range(1, 7)])


def series_of(trends: Trends, query: str):
    return next(one for one in trends.series if one.query == query)


def test_every_query_that_was_ever_listed_has_a_series_the_most_popular_first(collected, trends):
    assert {one.query for one in trends.series} == {q for one in collected for q in one.release.head_list.queries}
    last = [one.points[-1].smoothed for one in trends.series]
    assert last == sorted(last, reverse=True)
    assert [one.query for one in trends.series[:2]] == ["mapquest", "google"]


def test_points_have_the_published_estimates_and_none_where_the_query_is_not_listed(collected, trends):
    for one in trends.series:
        for point, round_ in zip(one.points, collected, strict=True):
            row = next((row for row in round_.release.queries if row.query == one.query), None)
            assert (point.share, point.low, point.high) == ((row.share, row.low, row.high) if row else (None, None, None))
            assert 0 <= point.smoothed_low <= point.smoothed <= point.smoothed_high <= 1


def test_smoothing_reduces_the_error_of_steady_queries(collected, trends):
    errors = np.array([
        (abs(point.share - truth), abs(point.smoothed - truth), point.smoothed_low <= truth <= point.smoothed_high)
        for one in trends.series
        for point, truth in zip(one.points, (round_.shares[one.query] for round_ in collected), strict=True)
        if point.share is not None
    ])  # fmt: skip
    assert errors[:, 1].sum() < 0.75 * errors[:, 0].sum()
    assert errors[:, 2].mean() > 0.9


def test_a_jump_and_a_disappearance_are_followed(collected, trends):
    jump, gone, steady = (series_of(trends, query) for query in ("mapquest", "ebay", "google"))
    true = collected[-1].shares["mapquest"] - collected[0].shares["mapquest"]
    assert jump.change_low < true < jump.change_high
    assert jump.change_low > 0
    assert abs(jump.points[3].smoothed / collected[3].shares["mapquest"] - 1) < 0.15
    assert abs(jump.points[2].smoothed / collected[2].shares["mapquest"] - 1) < 0.35
    assert gone.change_high < 0
    assert gone.points[-1].share is None
    assert gone.points[-1].smoothed < gone.points[0].smoothed / 4
    assert steady.change_low < 0 < steady.change_high


def test_intervals_are_wide_enough_if_no_client_reported_a_query():
    """Or nearly none: at a high ε the published variance of the clients' estimate is then about 0, but it is not exact."""
    covered = []
    for seed in (1, 3):
        collected = rounds([STEADY] * 3, epsilon=30, allow_weak_privacy=True, max_queries=100, seed=seed)
        series = trends_over([one.release for one in collected]).series
        points = [(one.query, point) for one in series for point in one.points if point.share is not None]
        assert min(row.client_variance for one in collected for row in one.release.queries) < 1e-9
        covered += [point.smoothed_low <= collected[0].shares[query] <= point.smoothed_high for query, point in points]
    assert len(covered) == 600
    assert np.mean(covered) > 0.94


@pytest.mark.parametrize(
    "values",
    [
        {"share": 1.0, "low": 1.0, "high": 1.0, "variance": 0.0, "client_share": 1.0, "client_variance": 0.0},
        {"share": 1.0, "low": 1.0, "high": 1.0, "variance": 1e-16},
        {"share": 0.0, "low": 0.0, "high": 0.0, "variance": 0.0},
        {"client_share": 1e12, "client_variance": 0.0},
        {"client_share": -1e12},
        {"variance": 1e300, "client_variance": 1e300},
        {"opt_in_share": 1e12, "opt_in_variance": 1e-300},
        {"opt_in_share": 0.0, "opt_in_variance": 0.0},
    ],
)
@pytest.mark.parametrize("estimator", ["likelihood", "average"])
def test_extreme_estimates_have_finite_trends(estimator, values):
    """Releases can be edited, and one of a log in which everyone has the same record has no variance."""
    releases = [
        replace(
            one.release,
            queries=tuple(replace(row, **values) if row.query == "google" else row for row in one.release.queries),
        )
        for one in rounds([STEADY] * 3, opt_in=0.1, estimator=estimator)
    ]
    for one in trends_over(releases).series:
        numbers = [one.change_low, one.change, one.change_high]
        for point in one.points:
            assert 0 <= point.smoothed_low <= point.smoothed <= point.smoothed_high <= 1
        assert numbers == sorted(numbers)
        assert -1 <= numbers[0] <= numbers[2] <= 1


def test_one_round_says_what_it_published(collected):
    """There is nothing to smooth: the smoothed shares are the published ones, but for a small part of their errors."""
    release = collected[0].release
    rows = {row.query: row for row in release.queries}
    series = trends_over([release]).series
    moved = [(one.points[0].smoothed - rows[one.query].share) / rows[one.query].variance ** 0.5 for one in series]
    assert np.abs(moved).mean() < 0.15
    assert max(one.change for one in series) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_smoothing_does_no_harm_where_everything_changes():
    """Every share is multiplied by up to five from round to round; google from 0.1 % of all users to half, and back."""
    rng = np.random.default_rng(3)
    moved = [dict(zip(QUERIES, np.exp(rng.uniform(-0.8, 0.8, len(QUERIES))), strict=True)) for _ in range(5)]
    collected = rounds([change | {"google": (0.05, 25)[number % 2]} for number, change in enumerate(moved)])
    errors = np.array([
        (abs(point.share - truth), abs(point.smoothed - truth))
        for one in trends_over([one.release for one in collected]).series
        for point, truth in zip(one.points, (round_.shares[one.query] for round_ in collected), strict=True)
        if point.share is not None
    ])  # fmt: skip
    assert errors[:, 1].sum() < 1.02 * errors[:, 0].sum()


def test_rounds_of_different_privacy_are_combined_by_their_errors():
    good, bad = (rounds([STEADY], epsilon=epsilon, seed=seed)[0] for epsilon, seed in ((6, 1), (1, 2)))
    google = series_of(trends_over([good.release, bad.release]), "google")
    precise, noisy = google.points
    assert precise.high - precise.low < noisy.high - noisy.low
    assert noisy.smoothed_high - noisy.smoothed_low < noisy.high - noisy.low
    assert abs(noisy.smoothed - bad.shares["google"]) < abs(noisy.share - bad.shares["google"])


@pytest.mark.parametrize("parameters", [{"profile": "paper"}, {"discovery": "laplace"}])
def test_other_profiles_work(parameters):
    both = rounds([STEADY, STEADY], **parameters)
    google = series_of(trends_over([one.release for one in both]), "google")
    assert all(point.smoothed_low < 0.0211 < point.smoothed_high for point in google.points)


def test_single_items_work(item_release):
    other = replace(item_release, queries=tuple(replace(row, share=row.share * 1.001) for row in item_release.queries))
    calculator = trends_over([item_release, other]).series[0]
    assert calculator.query == "calculator"
    assert calculator.points[0].smoothed == pytest.approx(0.3, abs=0.02)


def test_the_order_of_the_releases_is_the_order_of_the_points(collected, trends):
    back = trends_over([one.release for one in reversed(collected)])
    forth, reverse = series_of(trends, "mapquest"), series_of(back, "mapquest")
    assert [point.share for point in reverse.points] == [point.share for point in forth.points][::-1]
    assert reverse.change == pytest.approx(-forth.change, rel=0.05)
    assert back.names == ("1", "2", "3", "4", "5", "6")


def test_the_table_is_tidy(trends):
    table = trends.to_arrow()
    assert table.num_rows == 6 * len(trends.series)
    first = table.slice(0, 1).to_pylist()[0]
    assert (first["query"], first["release"], first["number"]) == (trends.series[0].query, "week 1", 1)
    assert first["smoothed"] == trends.series[0].points[0].smoothed


def test_an_empty_list_has_no_series(collected):
    release = collected[0].release
    empty = replace(release.reporting_list, head_list=release.head_list.restrict([]))
    assert trends_over([replace(release, reporting_list=empty, queries=(), records=())]).series == ()


def test_several_releases_with_empty_lists_are_not_copies_of_one(collected):
    """Two rounds that list nothing have the same contents, and still are two rounds."""
    release = collected[0].release
    nothing = replace(release.reporting_list, head_list=release.head_list.restrict([]))
    manifest = replace(release.manifest, head_list=nothing.digest)
    empty = replace(release, manifest=manifest, reporting_list=nothing, queries=release.queries[-1:], records=())
    trends = trends_over([empty, release, empty])
    assert len(trends.series) == len(release.head_list)
    assert [point.share for point in trends.series[0].points][::2] == [None, None]


def test_the_work_can_be_limited_to_the_most_popular_queries(collected, trends):
    """A query that has vanished counts as popular as it was when it was last listed."""
    limited = trends_over([one.release for one in collected], most=4)
    assert [one.query for one in limited.series[:2]] == ["mapquest", "google"]
    assert len(limited.series) == 4
    assert {one.query for one in limited.series} <= {one.query for one in trends.series}


@pytest.mark.parametrize(("names", "count"), [(["a"], 2), (["a", "b", "c"], 2)])
def test_names_must_fit(collected, names, count):
    with pytest.raises(ParameterError, match="names"):
        trends_over([one.release for one in collected[:count]], names)


def test_no_release_and_the_same_release_twice_are_refused(collected, item_release):
    with pytest.raises(ParameterError, match="there are none"):
        trends_over([])
    with pytest.raises(ParameterError, match="the same"):
        trends_over([collected[0].release, collected[1].release, collected[0].release])
    with pytest.raises(ParameterError, match="single items"):
        trends_over([collected[0].release, item_release])
