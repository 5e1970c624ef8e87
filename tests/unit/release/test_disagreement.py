from __future__ import annotations

import dataclasses

import pytest

from blender_dp import Blender, Entropy, Release, aol_like


@pytest.fixture(scope="module")
def release() -> Release:
    blender = Blender(epsilon=4, delta=1e-5, max_queries=10)
    return blender.run_log(aol_like(2, users=60_000), 0.3, key=b"k", entropy=Entropy.seeded(1))


def moved(rows, name: str, by: float):
    """Raise the opt-in users' share of one query by this many standard errors."""
    return tuple(
        dataclasses.replace(row, opt_in_share=row.client_share + by * (row.opt_in_variance + row.client_variance) ** 0.5)
        if row.query == name
        else row
        for row in rows
    )


def test_groups_of_one_population_agree(release):
    report = release.disagreement()
    assert (report.degrees, len(report.queries)) == (10, 10)
    assert report.p_value > 1e-4
    assert not any(row.is_plain for row in report.queries)
    assert report.chi_square == pytest.approx(sum(row.score**2 for row in report.queries))


def test_a_clear_contradiction_is_marked_and_comes_first(release):
    report = dataclasses.replace(release, queries=moved(release.queries, "yahoo", -9.0)).disagreement()
    first = report.queries[0]
    assert (first.query, first.url, first.is_plain) == ("yahoo", None, True)
    assert first.score == pytest.approx(-9)
    assert first.opt_in_share < first.client_share
    assert report.p_value < 1e-8
    assert [abs(row.score) for row in report.queries] == sorted((abs(row.score) for row in report.queries), reverse=True)


@pytest.mark.parametrize(("score", "plain"), [(3.9, False), (4.1, True), (-4.1, True)])
def test_a_difference_of_four_standard_errors_is_clear(release, score, plain):
    report = dataclasses.replace(release, queries=moved(release.queries, "yahoo", score)).disagreement()
    assert next(row.is_plain for row in report.queries if row.query == "yahoo") == plain


def test_only_listed_records_are_compared_and_never_the_star(release):
    report = release.disagreement()
    assert {(row.query, row.url) for row in report.records} == set(release.head_list.records())
    assert None not in {row.query for row in report.queries}


def test_a_row_that_one_group_does_not_estimate_has_no_score(release):
    silent = tuple(
        dataclasses.replace(row, opt_in_share=None, opt_in_variance=None) if row.query == "google" else row
        for row in release.queries
    )
    report = dataclasses.replace(release, queries=silent).disagreement()
    assert report.degrees == 9
    assert (report.queries[-1].query, report.queries[-1].score, report.queries[-1].is_plain) == ("google", None, False)


def test_single_items_have_queries_only(item_release):
    report = item_release.disagreement()
    assert (report.degrees, report.records) == (3, ())


def test_an_empty_release_shows_no_disagreement():
    rows = [(str(i), f"q{i}", "https://u.example/") for i in range(600)]
    report = Blender(epsilon=4, delta=1e-9).run(rows[:300], rows[300:]).disagreement()
    assert (report.queries, report.records, report.degrees, report.p_value) == ((), (), 0, None)
