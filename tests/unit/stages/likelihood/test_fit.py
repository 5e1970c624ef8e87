from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp import HeadList
from blender_dp.stages.discovery import record_cells
from blender_dp.stages.layout import Layout
from blender_dp.stages.likelihood import Evidence, Fit, Measured, Released, Reported, fit
from blender_dp.stages.likelihood.fit import hidden_cells
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import slack_free

LISTS = {
    "records": HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y"), ("c", "z")]),
    "one query": HeadList.of([("a", "x")]),
    "one query of many URLs": HeadList.of(("a", f"u{i:02}") for i in range(40)),
    "single items": HeadList.of((f"app {i}", None) for i in range(7)),
    "one item": HeadList.of([("app", None)]),
    "empty": HeadList.of([]),
}
SCALE = 1e-4


def evidence(
    head_list: HeadList, counts: tuple[np.ndarray, np.ndarray, np.ndarray], users: tuple[int, int, int], size: int = 1
) -> Evidence:
    """Discovery's, calibration's and the clients' counts over the cells, as a collection would have them."""
    layout = Layout(head_list.url_counts)
    known = np.zeros(layout.cell_count, bool)
    known[record_cells(head_list)] = True
    channel = slack_free(head_list, 4, "0.85", size)
    return Evidence(
        layout,
        Released(np.where(known, counts[0], 0.0), known, known, users[0], 0.0, 2.0, threshold=5.0),
        Measured(counts[1], users[1], 0.5),
        Reported(counts[2], users[2], Response.of(channel)),
    )


def noiseless(head_list: HeadList, shares: np.ndarray, users: int, size: int = 1) -> Evidence:
    expected = Response.of(slack_free(head_list, 4, "0.85", size)).expected(shares)
    return evidence(head_list, (users * shares, users * shares, users * expected), (users,) * 3, size)


def some_shares(head_list: HeadList) -> np.ndarray:
    sizes = 1 / np.arange(2.0, 2 + head_list.cell_count)
    sizes[-1] = sizes.sum()
    return sizes / sizes.sum()


def kinds(whole: Evidence) -> list[Evidence]:
    """The evidence with each combination of its kinds removed."""
    names = ("released", "measured", "reported")
    return [
        replace(whole, **{name: None for name, kept in zip(names, chosen, strict=True) if not kept})
        for chosen in product([True, False], repeat=3)
    ]


def assert_distribution(found: Fit, layout: Layout) -> None:
    assert (found.shares >= 0).all()
    assert found.shares.sum() == pytest.approx(1)
    assert found.query_shares == pytest.approx(layout.per_query(found.shares))
    for variance in (found.variance, found.query_variance):
        assert np.isfinite(variance).all()
        assert (variance >= 0).all()


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("size", [1, 2])
def test_without_noise_the_fit_returns_the_shares(name, size):
    """From huge groups, all together and every kind alone; discovery alone cannot see ⟨q, ⋆⟩."""
    head_list = LISTS[name]
    shares = some_shares(head_list)
    whole = noiseless(head_list, shares, 10**12, size)
    for part in kinds(whole):
        found = fit(part, SCALE)
        assert_distribution(found, whole.layout)
        if part.measured is not None or part.reported is not None:
            np.testing.assert_allclose(found.shares, shares, rtol=1e-4)
        elif part.released is not None:
            seen = whole.released.known
            np.testing.assert_allclose(found.shares[seen], shares[seen], rtol=0.05)


def test_only_unlisted_urls_are_hidden_from_discovery():
    assert hidden_cells(Layout(LISTS["records"].url_counts)).nonzero()[0].tolist() == [2, 4, 8]
    assert not hidden_cells(Layout(LISTS["single items"].url_counts)).any()
    assert not hidden_cells(Layout(LISTS["empty"].url_counts)).any()


def test_on_an_empty_list_everything_is_the_star():
    found = fit(noiseless(LISTS["empty"], np.ones(1), 1000), SCALE)
    assert (found.shares, found.variance, found.unlisted) == (pytest.approx([1]), pytest.approx([0]), None)


@pytest.mark.parametrize("name", ["records", "single items", "one query"])
def test_all_users_may_be_in_one_cell(name):
    head_list = LISTS[name]
    for cell in range(head_list.cell_count):
        shares = np.zeros(head_list.cell_count)
        shares[cell] = 1
        found = fit(noiseless(head_list, shares, 10**6), SCALE)
        assert_distribution(found, Layout(head_list.url_counts))
        assert found.shares[cell] == pytest.approx(1, abs=0.002)


def test_a_cell_that_nobody_reported_is_not_negative():
    """Without a single report, an unbiased estimate would be well below 0."""
    head_list = LISTS["records"]
    whole = noiseless(head_list, some_shares(head_list), 10**5)
    for cell in range(head_list.cell_count - 1):
        reports = whole.reported.counts.copy()
        reports[-1] += reports[cell]
        reports[cell] = 0
        for part in (whole, whole.of_clients()):
            found = fit(replace(part, reported=replace(whole.reported, counts=reports)), SCALE)
            assert_distribution(found, whole.layout)


def test_a_share_at_zero_does_not_distort_the_others():
    """A count far below 0 means that nobody has the item: the others are estimated as if it were not listed."""
    counts = np.array([-12.0, 40, 25, 90, 60])
    held, without = (
        fit(Evidence(Layout([1] * c.size), measured=Measured(c, 200, 20.0)), SCALE) for c in (counts, counts[1:])
    )
    assert held.shares[0] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(held.shares[1:], without.shares, rtol=1e-6)


def test_a_share_at_zero_still_has_a_variance():
    """Its variance is that of a count of 0, noise and all: a share at the edge is not known better than one next to it."""
    counts = np.array([-12.0, 40, 25, 90, 60])
    found = fit(Evidence(Layout([1] * 5), measured=Measured(counts, 200, 20.0)), SCALE)
    assert found.variance[0] == pytest.approx(20 / 200**2, rel=0.2)
    assert found.query_variance[0] == pytest.approx(found.variance[0])


COUNTS = st.lists(st.floats(-40, 200), min_size=10, max_size=10).map(np.array)
REPORTS = st.lists(st.integers(0, 50), min_size=10, max_size=10).map(np.array).filter(lambda x: x.sum() > 1)


@pytest.mark.slow
@given(COUNTS, COUNTS, REPORTS, st.integers(2, 1000))
def test_whatever_is_observed_the_result_is_a_distribution(found, measured, reports, users):
    """Also noise far beyond the group: counts below 0, and more than there are users."""
    whole = evidence(LISTS["records"], (found, measured, reports.astype(float)), (users, users, int(reports.sum())))
    for part in kinds(whole):
        assert_distribution(fit(part, 5 / users), whole.layout)


@pytest.mark.parametrize("name", LISTS)
def test_groups_of_two_are_enough(name):
    head_list = LISTS[name]
    nothing, two = np.zeros(head_list.cell_count), np.zeros(head_list.cell_count)
    two[0] = 2
    for counts in product((nothing, two), (nothing, two), (two,)):
        assert_distribution(fit(evidence(head_list, counts, (2, 2, 2)), 1.0), Layout(head_list.url_counts))


def test_more_evidence_reduces_the_variance():
    head_list = LISTS["records"]
    whole = noiseless(head_list, some_shares(head_list), 10_000)
    everything, *parts = (fit(part, SCALE) for part in kinds(whole)[:-1])
    for part in parts:
        assert (everything.query_variance <= part.query_variance * 1.001).all()


def test_a_low_count_is_not_trusted_more_for_being_low():
    """Variances are those at the estimate: an accidental deviation in calibration does not change its weight."""
    head_list = LISTS["one query"]
    shares = np.array([0.01, 0.0, 0.99])
    whole = noiseless(head_list, shares, 50_000)
    # Few users whose count is two standard errors too low or too high, and many clients with precise evidence.
    low, high = (
        fit(replace(whole, released=None, measured=Measured(1000 * shares + [e, 0, -e], 1000, 0.5)), SCALE).shares[0]
        for e in (-6, 6)
    )
    middle = fit(replace(whole, released=None, measured=Measured(1000 * shares, 1000, 0.5)), SCALE).shares[0]
    assert middle - low == pytest.approx(high - middle, rel=0.1)
