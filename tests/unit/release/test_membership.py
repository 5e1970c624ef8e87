from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from blender_dp import HeadList, Release
from blender_dp.mechanisms.discoveries import DISCOVERIES
from blender_dp.release.membership import Membership, spreads_of
from tests.rounds import rounds

SHARES = np.geomspace(1e-6, 0.5, 40)


@pytest.fixture(scope="module")
def release() -> Release:
    return rounds([{}])[0].release


def with_settings(release: Release, **values: object) -> Release:
    manifest = release.manifest
    return replace(release, manifest=replace(manifest, settings=replace(manifest.settings, **values)))


@pytest.mark.parametrize("discovery", ["geometric", "laplace"])
@pytest.mark.parametrize("share", [0.0003, 0.001, 0.002])
def test_a_record_is_missing_as_often_as_binomial_counts_are_not_listed(release, discovery, share):
    """Summed exactly over all counts; the table is interpolated, so it may be 3 % off."""
    settings, users = release.manifest.settings, release.manifest.discovery_users
    mechanism = DISCOVERIES[discovery].of(settings.epsilon, settings.delta)
    chance, expected = (1 - share) ** users, 0.0
    for count in range(100):
        expected += chance * (1 - float(mechanism.listing_probability(count)))
        chance *= (users - count) / (count + 1) * share / (1 - share)
    membership = Membership(with_settings(release, discovery=discovery, max_queries=1000))
    assert membership.missing("query", np.array([share]), {"url": 1.0})[0] == pytest.approx(expected, rel=0.03)


def test_a_query_is_missing_if_all_of_its_urls_are(release):
    membership = Membership(with_settings(release, max_queries=1000))
    whole, half = (membership.missing("q", SHARES, {"a": part}) for part in (1.0, 0.5))
    assert np.allclose(membership.missing("q", SHARES, {"a": 0.5, "b": 0.5}), half**2)
    assert (whole <= half).all()
    assert (np.diff(whole) <= 0).all()
    assert whole[0] == pytest.approx(1, abs=0.01)
    assert whole[-1] < 1e-12


def test_a_share_of_0_is_never_listed(release):
    assert Membership(release).missing("q", np.zeros(1), {"a": 1.0})[0] == 1


@pytest.mark.parametrize("estimator", ["likelihood", "average"])
def test_a_full_list_also_misses_queries_that_are_less_popular_than_its_last(release, estimator):
    full, open_ = (
        Membership(with_settings(release, max_queries=n, estimator=estimator)) for n in (len(release.head_list), 1000)
    )
    last = min(row.opt_in_share or 0 for row in release.queries if row.query)
    more, less = (one.missing("q", np.array([last / 2, last, 10 * last]), {"a": 1.0}) for one in (full, open_))
    assert (more >= less).all()
    assert more[0] > 0.6
    assert 0.3 < more[1] < 0.9
    assert more[2] < 0.1


def test_a_candidate_is_missing_only_from_a_full_list(release):
    public = HeadList.of([("q", "a")])
    made = replace(release, manifest=replace(release.manifest, candidates=public.digest))
    open_ = with_settings(made, max_queries=1000)
    assert Membership(open_, [public]).missing("q", SHARES, {"a": 1.0}).max() == 0
    assert Membership(open_, [public]).missing("other", SHARES, {"a": 1.0}).max() > 0.9
    assert Membership(open_).missing("q", SHARES, {"a": 1.0}).max() > 0.9  # the candidates are not known
    full = Membership(with_settings(made, max_queries=len(release.head_list)), [public])
    assert full.missing("q", SHARES, {"a": 1.0}).max() > 0.9


def test_the_largest_missing_share_is_the_inverse(release):
    membership = Membership(with_settings(release, max_queries=1000))
    share = membership.largest_missing("q", 0.025, {"a": 1.0})
    below, above = membership.missing("q", np.array([share, share * 1.05]), {"a": 1.0})
    assert below >= 0.025 > above


def test_the_spread_is_the_share_of_each_listed_url(release):
    spread = spreads_of([release])["google"]
    rows = {row.url: row.share for row in release.records if row.query == "google"}
    assert spread == {url: pytest.approx(share / sum(rows.values())) for url, share in rows.items() if url is not None}
    assert sum(spread.values()) < 1


def test_a_single_item_is_its_own_record(item_release):
    assert spreads_of([item_release, item_release])["calculator"] == {None: 1.0}
