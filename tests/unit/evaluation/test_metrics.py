from __future__ import annotations

import math

import pandas as pd
import pyarrow as pa
import pytest

from blender_dp import Blender, Entropy, Truth, aol_like, score
from blender_dp.evaluation import ndcg
from tests.items import HELD, population

TRUTH = Truth(100, {("a", "x"): 30, ("a", "y"): 10, ("b", "x"): 25, ("c", "x"): 20, ("d", "x"): 15})


def test_truth_counts_users():
    rows = [("a", "x"), ("a", "y"), ("a", "x"), ("b", "x")]
    truth = Truth.of(pa.table({"query": [q for q, _ in rows], "url": [u for _, u in rows]}))
    assert truth.users == 4
    assert truth.queries == {"a": 3, "b": 1}
    assert truth.urls == {"a": {"x": 2, "y": 1}, "b": {"x": 1}}
    assert truth.query_share("a") == 0.75
    assert truth.record_share(("a", "y")) == 0.25
    assert truth.query_share("unknown") == truth.record_share(("a", "z")) == 0


def test_truth_accepts_any_table_and_skips_missing_values():
    rows = [("1", "a", "x"), ("2", None, None), ("3", "b", None)]
    assert Truth.of(rows) == Truth(3, {("a", "x"): 1})
    assert Truth.of(pd.DataFrame({"query": ["a"], "url": ["x"]})) == Truth(1, {("a", "x"): 1})


ROWS = [("1", "a", None), ("2", "a", None), ("3", None, None), ("4", "b", None)]


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        pa.table({"query": ["a", "a", None, "b"]}),
        pa.table({"query": ["a", "a", None, "b"], "url": pa.nulls(4)}),
        pa.table({"query": ["a", "a", None, "b"], "url": pa.nulls(4, pa.string())}),
    ],
    ids=["rows", "no column", "null", "text"],
)
def test_truth_of_single_items(table):
    truth = Truth.of(table)
    assert truth == Truth(4, {("a", None): 2, ("b", None): 1})
    assert truth.queries == {"a": 2, "b": 1}
    assert truth.urls == {}
    assert truth.query_share("a") == truth.record_share(("a", None)) == 0.5


@pytest.mark.parametrize(
    "urls", [{"url": pa.nulls(1000)}, {"url": ["https://x.example/"] * 1000}, {}], ids=["null", "with URLs", "no column"]
)
def test_a_single_item_is_scored_as_its_query(item_release, urls):
    """Even if the truth has URLs and the release does not."""
    truth = Truth.of(pa.table({"query": population(1)["query"], **urls}))
    scores = score(item_release, truth)
    for name, attribute in (("opt-in", "opt_in_share"), ("client", "client_share"), ("blended", "share")):
        rows = [row for row in item_release.queries if row.query is not None]
        query_l1 = sum(abs(getattr(row, attribute) - HELD[row.query] / 1000) for row in rows)
        assert scores[name].query_l1 == scores[name].record_l1 == pytest.approx(query_l1)
        assert scores[name].ndcg == pytest.approx(1)


def test_the_order_of_single_items_counts():
    truth = Truth(100, {("a", None): 40, ("b", None): 25})
    assert ndcg([("a", []), ("b", [])], truth, 2) == pytest.approx(1)
    assert ndcg([("b", []), ("a", [])], truth, 2) < 0.95


def test_an_empty_truth_scores_zero():
    assert ndcg([("a", ["x"])], Truth(0, {}), 3) == 0


def test_the_ideal_ranking_scores_one():
    assert ndcg([("a", ["x", "y"]), ("b", ["x"]), ("c", ["x"])], TRUTH, 3) == pytest.approx(1)


def test_ndcg_by_hand():
    """Two queries in the wrong order, one of them with its URLs in the wrong order."""
    relevance = {"a": 40 / 65, "b": 25 / 65}
    urls_of_a = {"x": 30 / 40, "y": 10 / 40}

    def gain(value: float, place: int) -> float:
        return (2**value - 1) / math.log2(place + 1)

    a_quality = (gain(urls_of_a["y"], 1) + gain(urls_of_a["x"], 2)) / (gain(urls_of_a["x"], 1) + gain(urls_of_a["y"], 2))
    expected = (gain(relevance["b"], 1) + a_quality * gain(relevance["a"], 2)) / (
        gain(relevance["a"], 1) + gain(relevance["b"], 2)
    )
    assert ndcg([("b", ["x"]), ("a", ["y", "x"])], TRUTH, 2) == pytest.approx(expected)


def test_a_short_list_loses_score_for_missing_queries():
    assert ndcg([("a", ["x", "y"])], TRUTH, 1) == pytest.approx(1)
    assert ndcg([("a", ["x", "y"])], TRUTH, 3) < 0.8
    assert ndcg([], TRUTH, 3) == 0


def test_a_listed_query_without_users_adds_no_score():
    assert ndcg([("nobody", ["x"]), ("a", ["x", "y"])], TRUTH, 2) < ndcg([("a", ["x", "y"])], TRUTH, 2)


def test_only_the_first_k_queries_count():
    assert ndcg([("a", ["x", "y"]), ("b", ["x"])], TRUTH, 1) == pytest.approx(1)


@pytest.mark.slow
def test_scores_follow_their_definitions():
    population = aol_like(2, users=60_000)
    truth = Truth.of(population)
    release = Blender(epsilon=4, delta=1e-5, max_queries=10).run_log(population, 0.3, key=b"k", entropy=Entropy.seeded(1))
    scores = score(release, truth)
    assert list(scores) == ["opt-in", "client", "blended"]
    queries = [row for row in release.queries if row.query is not None]
    records = [row for row in release.records if row.query is not None and row.url is not None]
    for name, attribute in (("opt-in", "opt_in_share"), ("client", "client_share"), ("blended", "share")):
        query_l1 = sum(abs(getattr(row, attribute) - truth.queries[row.query] / 60_000) for row in queries)
        record_l1 = sum(abs(getattr(row, attribute) - truth.records[row.query, row.url] / 60_000) for row in records)
        assert scores[name].query_l1 == pytest.approx(query_l1)
        assert scores[name].record_l1 == pytest.approx(record_l1)
        assert 0 < scores[name].ndcg <= 1
