from __future__ import annotations

from dataclasses import replace

import pytest

from blender_dp import ParameterError, Release
from blender_dp.release.comparison import _discoveries
from blender_dp.release.membership import Membership, spreads_of
from tests.rounds import rounds

CHANGES = {"google": 0.8, "mapquest": 3.0, "ebay": 0.0}


@pytest.fixture(scope="module")
def releases() -> tuple[Release, Release]:
    old, new = rounds([{}, CHANGES])
    return old.release, new.release


def without(release: Release, query: str) -> Release:
    """A release of the same settings whose list does not have this query."""
    head_list = release.head_list.restrict(one for one in release.head_list.queries if one != query)
    return replace(
        release,
        reporting_list=replace(release.reporting_list, head_list=head_list),
        queries=tuple(row for row in release.queries if row.query != query),
        records=tuple(row for row in release.records if row.query != query),
    )


def changed(release: Release, query: str, **values: float) -> Release:
    return replace(release, queries=tuple(replace(r, **values) if r.query == query else r for r in release.queries))


def test_real_changes_are_discovered_and_nothing_else(releases):
    comparison = releases[0].compare(releases[1])
    assert {change.query: change.kind for change in comparison.discoveries} == {
        "google": "fallen",
        "mapquest": "risen",
        "ebay": "gone",
    }
    assert comparison.fdr == 0.05


@pytest.mark.parametrize("query", ["google", "mapquest"])
def test_no_interval_has_differences_that_no_two_shares_have(releases, query):
    """With huge variances, of a query on both lists and of one on a single list."""
    for new in (releases[0], without(releases[0], query)):
        old = changed(releases[0], query, variance=25.0)
        for change in (*old.compare(changed(new, "yahoo", variance=1e-8)).changes, *new.compare(old).changes):
            assert -1 <= change.low <= change.high <= 1
            assert change.difference is None or change.low <= change.difference <= change.high


@pytest.mark.parametrize("share", [-3.0, -1e-3, 1.02, 5.0])
def test_every_interval_has_a_difference_that_two_shares_can_have(releases, share):
    """Unbiased estimates may be below 0 or above 1, in edited releases far so."""
    extreme = changed(releases[0], "google", share=share, variance=1e-5)
    for other in (releases[1], without(releases[1], "google")):
        for change in (*extreme.compare(other).changes, *other.compare(extreme).changes):
            assert change.low <= change.high
            assert change.low <= 1
            assert change.high >= -1
            assert change.difference is None or change.low <= change.difference <= change.high


def test_discoveries_come_first_and_the_largest_first(releases):
    kinds = [change.kind == "unchanged" for change in releases[0].compare(releases[1]).changes]
    assert kinds == sorted(kinds)
    sizes = [abs((c.new_share or 0) - (c.old_share or 0)) for c in releases[0].compare(releases[1]).discoveries]
    assert sizes == sorted(sizes, reverse=True)


def test_the_opposite_comparison_has_the_opposite_changes(releases):
    there = {change.query: change for change in releases[0].compare(releases[1]).changes}
    opposite = {"risen": "fallen", "fallen": "risen", "new": "gone", "gone": "new", "unchanged": "unchanged"}
    for back in releases[1].compare(releases[0]).changes:
        change = there[back.query]
        assert (back.kind, back.old_share, back.new_share) == (opposite[change.kind], change.new_share, change.old_share)
        assert (back.low, back.high, back.p_value) == pytest.approx((-change.high, -change.low, change.p_value))


def test_equal_shares_have_not_changed(releases):
    """Only an error differs: the same release twice is refused."""
    comparison = releases[0].compare(changed(releases[0], "google", client_variance=1.0))
    assert {(change.kind, change.difference, change.p_value) for change in comparison.changes} == {("unchanged", 0.0, 1.0)}


def test_a_release_is_not_compared_with_itself(releases):
    with pytest.raises(ParameterError, match="releases: the older release and the newer one are the same"):
        releases[0].compare(releases[0])


def test_a_listed_query_has_the_difference_with_a_normal_interval(releases):
    change = next(c for c in releases[0].compare(releases[1], same_users=True).changes if c.query == "google")
    old, new = (next(r for r in release.queries if r.query == "google") for release in releases)
    half = 1.959964 * (old.variance + new.variance) ** 0.5
    assert change.difference == new.share - old.share
    assert (change.low, change.high) == pytest.approx((change.difference - half, change.difference + half))


def test_other_users_make_intervals_wider(releases):
    same, other = (
        {c.query: c.high - c.low for c in releases[0].compare(releases[1], same_users=value).changes}
        for value in (True, False)
    )
    assert all(same[query] < other[query] for query in same)
    google = next(row for row in releases[0].queries if row.query == "google")
    added = (other["google"] ** 2 - same["google"] ** 2) / (2 * 1.959964) ** 2
    assert added == pytest.approx(google.share * (1 + 0.8) * 0.98 / 100_000, rel=0.1)  # of both rounds


def test_a_popular_query_that_is_missing_is_gone_and_a_rare_one_may_be_noise(releases):
    old = releases[0]
    popular, rare = (row.query for row in (old.trends(1)[0], old.trends(100)[-1]))
    for query, kind in ((popular, "gone"), (rare, "unchanged")):
        change = next(c for c in old.compare(without(old, query)).changes if c.query == query)
        assert (change.kind, change.new_share, change.difference) == (kind, None, None)
        assert change.p_value == min(1, 2 * change.chance_missing)
        row = next(row for row in old.queries if row.query == query)
        half = 1.959964 * (row.variance + row.share * (1 - row.share) / 100_000) ** 0.5
        unseen = Membership(without(old, query)).largest_missing(query, 0.025, spreads_of([old])[query])
        assert (change.low, change.high) == pytest.approx((-row.share - half, unseen - row.share + half))
    assert change.high > 0  # it may even have risen
    back = next(c for c in without(old, popular).compare(old).changes if c.query == popular)
    assert (back.kind, back.old_share) == ("new", None)


def test_of_the_papers_estimates_those_of_the_clients_are_compared():
    old, new = (one.release for one in rounds([{}, {}], profile="paper"))
    change = next(c for c in old.compare(new).changes if c.query == "google")
    rows = [next(row for row in release.queries if row.query == "google") for release in (old, new)]
    assert [change.old_share, change.new_share] == [row.client_share for row in rows]
    assert change.high - change.low == pytest.approx(2 * 1.959964 * sum(row.client_variance for row in rows) ** 0.5)


def test_a_lower_rate_never_has_more_discoveries(releases):
    counts = [len(releases[0].compare(releases[1], fdr=fdr).discoveries) for fdr in (0.5, 0.05, 1e-6, 1e-300)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


@pytest.mark.parametrize(
    ("p_values", "fdr", "count"),
    [([], 0.05, 0), ([0.05], 0.05, 1), ([0.051], 0.05, 0), ([0.01, 0.04, 0.9], 0.05, 1), ([0.04, 0.04, 0.05], 0.05, 3)],
)
def test_benjamini_and_hochberg(p_values, fdr, count):
    assert _discoveries(p_values, fdr) == count


@pytest.mark.parametrize("fdr", [0, 1, -0.1, float("nan")])
def test_a_rate_outside_0_and_1_is_refused(releases, fdr):
    with pytest.raises(ParameterError, match="fdr"):
        releases[0].compare(releases[1], fdr=fdr)


def test_releases_of_different_kinds_are_refused(releases, item_release):
    with pytest.raises(ParameterError, match="single items"):
        releases[0].compare(item_release)


@pytest.mark.parametrize("field", ["canonical_version", "m_c"])
def test_releases_that_measure_different_things_are_refused(releases, field):
    manifest = releases[1].manifest
    other = (
        replace(manifest, settings=replace(manifest.settings, m_c=2))
        if field == "m_c"
        else replace(manifest, canonical_version=0)
    )
    with pytest.raises(ParameterError, match=field):
        releases[0].compare(replace(releases[1], manifest=other))


def test_the_table_has_every_change(releases):
    comparison = releases[0].compare(releases[1])
    table = comparison.to_arrow()
    assert table["query"].to_pylist() == [change.query for change in comparison.changes]
    assert table["chance_missing"].to_pylist() == [change.chance_missing for change in comparison.changes]


def test_estimates_without_error_are_compared_exactly(releases):
    google = next(row for row in releases[0].queries if row.query == "google")
    exact = changed(releases[0], "google", variance=0.0)
    other = changed(exact, "google", share=google.share * 2)
    same = changed(exact, "google", client_variance=1.0)
    compared = (exact.compare(same, same_users=True), exact.compare(other, same_users=True))
    assert [next(c.p_value for c in one.changes if c.query == "google") for one in compared] == [1.0, 0.0]
