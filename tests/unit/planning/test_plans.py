from __future__ import annotations

import json

import pytest

from blender_dp import ParameterError
from blender_dp.planning import plan
from tests.unit.planning.shapes import SHAPES


@pytest.fixture(scope="module")
def aol():
    return plan("aol", epsilon=4, delta="1e-5", opt_in="0.05", max_queries=50, runs=4)


def test_the_plan_for_the_papers_setting_is_what_the_benchmarks_measure(aol):
    found = aol.forecast
    assert found.queries.mean == pytest.approx(49.7, rel=0.02)
    assert found.query_l1.mean == pytest.approx(0.0074, rel=0.2)
    assert found.record_l1.mean == pytest.approx(0.0082, rel=0.2)
    assert found.ndcg.mean == pytest.approx(0.993, abs=0.004)
    assert (found.ndcg.low, found.ndcg.high) == pytest.approx((0.99, 1.0), abs=0.01)
    assert found.runs == 4
    assert [rank.rank for rank in found.ranks] == [1, 10, 50]
    assert [rank.listed for rank in found.ranks] == pytest.approx([1, 1, 0.4], abs=0.2)
    errors = [(rank.standard_error, rank.share) for rank in found.ranks if rank.standard_error]  # the last is rarely listed
    assert len(errors) >= 2
    assert all(error.low < error.mean < error.high < share for error, share in errors)
    assert (aol.users, aol.needed_count) == (519_371, 7)


def test_more_trust_buys_better_estimates(aol):
    opt_in, clients, both, everyone = aol.trust
    assert everyone.query_l1.mean < both.query_l1.mean < min(opt_in.query_l1.mean, clients.query_l1.mean)
    assert everyone.ndcg.mean > both.ndcg.mean
    assert everyone.queries >= both.queries


def test_the_risks_and_the_weaknesses_are_in_words(aol):
    assert [text.split(" ")[0] for text in aol.risks] == ["Opt-in", "Clients", "Exposure:"]
    assert aol.warnings == ("delta: 1e-05 is more than a tenth of 1 / 25,969 opt-in users. Use 1e-6 or less if you can.",)


def test_a_plan_is_json(aol):
    document = json.loads(json.dumps(aol.to_document()))
    assert document["parameters"]["epsilon"] == "4"
    assert document["groups"] == {"discovery": 24_671, "calibration": 1_298, "clients": 493_402}
    assert document["forecast"]["ranks"][0]["rank"] == 1
    assert len(document["trust"]) == 4


def test_a_plan_can_be_repeated(aol):
    again = plan("aol", epsilon=4, delta="1e-5", opt_in="0.05", max_queries=50, runs=4)
    assert again == aol


def test_an_empty_list_has_a_plan():
    found = plan("aol", epsilon="0.1", delta="1e-9", opt_in="0.01", users=20_000, max_queries=10, runs=2).forecast
    assert found.queries.mean < 0.01
    assert (found.query_l1.mean, found.ndcg.mean, found.coverage, found.worst_error) == (0, 0, None, None)
    assert found.ranks[0].standard_error is None


def test_the_papers_profile_is_worse(aol):
    paper = plan("aol", epsilon=4, delta="1e-5", opt_in="0.05", max_queries=50, runs=4, profile="paper").forecast
    assert paper.query_l1.mean > 1.5 * aol.forecast.query_l1.mean
    assert (paper.f_c, paper.subset_size) == (0.85, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"opt_in": "0"}, {"opt_in": "2"}, {"users": 0}, {"runs": 0}, {"epsilon": "-1"},
        {"rounds": 0}, {"rounds": 10**9}, {"users": 10**18}, {"users": 10**30}, {"max_queries": 10**9},
    ],
)  # fmt: skip
def test_bad_input_is_refused(wrong):
    with pytest.raises(ParameterError):
        plan(SHAPES["uniform"], **{"epsilon": 4, "delta": "1e-5", "opt_in": "0.05", **wrong})
