from __future__ import annotations

import numpy as np
import pytest

from blender_dp import GroupError
from blender_dp.logs.synthetic import url_shares
from blender_dp.parameters import Parameters
from blender_dp.planning.listing import any_of, listing_probabilities
from blender_dp.planning.outline import TYPICAL
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.sources import outline_of
from blender_dp.sampling import Entropy
from tests.unit.planning.shapes import SHAPES, USERS, outline, zipf


def setting(shape="aol", users=519_371, opt_in=0.05, **parameters):
    values = {"epsilon": 4, "delta": "1e-5", **parameters}
    return Setting(outline_of(shape) if isinstance(shape, str) else shape, users, opt_in, Parameters(**values))


def test_the_groups_are_those_of_a_run():
    sizes = setting().sizes
    assert (sizes.discovery, sizes.calibration, sizes.clients) == (24_671, 1_298, 493_402)


def test_a_group_that_is_too_small_is_refused():
    with pytest.raises(GroupError, match="calibration users: there would be 1, but at least 2 are needed"):
        setting(users=400).sizes  # noqa: B018


def test_only_queries_that_can_be_listed_are_looked_at():
    short, long = setting(max_queries=10), setting(max_queries=500)
    assert short.head < 100 < long.head < 30_000
    assert short.length.mean == pytest.approx(10)
    assert long.length.mean == pytest.approx(52.3, rel=0.03)  # as simulated


def test_a_list_that_is_not_full_is_as_long_with_a_larger_maximum():
    flat = SHAPES["thirty flat URLs"]
    some, more = (setting(flat, USERS, 0.15, max_queries=m) for m in (30, 200))
    assert some.length.mean == pytest.approx(more.length.mean, rel=0.01)
    assert some.length.mean == pytest.approx(18.1, rel=0.02)  # as simulated by brute force


def test_more_of_everything_lists_more():
    base = setting(max_queries=500).length.mean
    for other in (
        setting(opt_in=0.06, max_queries=500),
        setting(epsilon=5, max_queries=500),
        setting(users=600_000, max_queries=500),
    ):
        assert other.length.mean > base
    assert setting(profile="paper", max_queries=500).length.mean < base


def test_the_cutoff_uses_the_counts_of_the_estimator():
    assert setting().cutoff[0] == 24_671
    assert setting(profile="paper").cutoff[0] == 1_298


@pytest.mark.parametrize(
    ("shape", "users", "queries", "most"),
    [
        ("zipf:0", 60_000_000, 1_000_000, 5_000),
        (outline("flat", np.full(25_000, 1 / 25_000), 1, 1.0), 1_000_000, 25_000, 30_000),
        (outline("nearly flat", zipf(41_000, 0.1), 2, 1.0), 2_000_000, 41_000, 45_000),
    ],
    ids=["a million", "25,000", "41,000"],
)
@pytest.mark.slow
def test_a_long_list_is_as_long_as_if_every_query_were_looked_at(shape, users, queries, most):
    flat = setting(shape, users, 0.5, delta="1e-9", max_queries=most)
    records = flat.outline.records(np.arange(flat.head), TYPICAL)
    each = any_of(listing_probabilities(records.shares, flat.sizes.discovery, flat.of_count), records.query_of, flat.head)
    assert flat.head == queries
    assert 0.02 * queries < each.sum() < 0.99 * queries
    assert flat.listed.sum() == pytest.approx(each.sum(), rel=0.03)


@pytest.mark.parametrize(("shape", "users", "delta"), [("aol", 519_371, "1e-5"), ("zipf:3", 10**9, "1e-11")])
def test_a_query_of_a_shape_is_listed_as_often_as_with_any_urls_that_it_could_have(shape: str, users: int, delta: str):
    """The seed is fixed; the tolerance is 5.5 standard errors of the mean over 20,000 draws, or less."""
    chosen = setting(shape, users, delta=delta, max_queries=500)
    probable = chosen.listed
    for likely in (0.01, 0.1, 0.5, 0.9):
        query = int(np.argmax(probable < likely))
        share = float(chosen.outline.query_shares[query])
        urls, shares = url_shares(20_000, Entropy.seeded("urls"))
        of_records = listing_probabilities(share * shares, chosen.sizes.discovery, chosen.of_count)
        of_queries = any_of(of_records, np.repeat(np.arange(urls.size), urls), urls.size)
        error = 5.5 * float(of_queries.std()) / np.sqrt(urls.size)
        assert error < 0.015
        assert probable[query] == pytest.approx(of_queries.mean(), abs=error)


def test_queries_that_could_be_the_most_popular_are_looked_at():
    """Ten queries are listed; the next twenty of the true ranking are any of 20,000, which used to be left out."""
    dust = outline("giants and dust", np.append(np.full(10, 0.05), np.full(20_000, 2.5e-5)), 2, 1.0, 30_000)
    chosen = setting(dust, 30_000, 0.15, max_queries=30)
    assert chosen.head > 20_000
    assert chosen.length.mean == pytest.approx(10.03, abs=0.03)
    ndcg = simulated(chosen, 20).expected("ndcg")
    assert ndcg.mean == pytest.approx(0.9943, abs=0.0012)  # by brute force; it used to be 0.9968


@pytest.mark.slow
def test_rare_queries_may_have_many_urls():
    """Beyond 4.9 standard errors a false alarm has a probability below 1e-6."""
    flat = setting(outline("six URLs", np.full(21_500, 1 / 21_500), 6, 0.0), 1_000_000, max_queries=5)
    assert flat.tail is not None
    lengths = [one.queries for one in simulated(flat, 200).outcomes]
    assert 1 < flat.length.mean < 3
    assert np.mean(lengths) == pytest.approx(flat.length.mean, abs=4.9 * np.std(lengths) / np.sqrt(200))
