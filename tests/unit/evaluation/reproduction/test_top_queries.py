"""Figure 9: printed and measured values of the same queries."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from blender_dp.evaluation.population import Population
from blender_dp.evaluation.reproduction.data import logs
from blender_dp.evaluation.reproduction.figure import JOURNAL
from blender_dp.evaluation.reproduction.top_queries import top_queries
from blender_dp.evaluation.shapes import shape_of

AOL = logs()[0]
ORDER = ["⋆", "google", "yahoo", "google.com", "myspace.com", "mapquest", "yahoo.com", "www.google.com", "myspace", "ebay"]


def made(seeds: int, users: int = 60_000):
    return top_queries(AOL, "4", JOURNAL, lambda _, seed: Population.of_shape(shape_of("aol", users), seed), seeds)


@pytest.mark.slow
def test_printed_values_stand_beside_those_of_the_same_query():
    rows = made(2).table.to_pylist()
    for column in ("truth", "blended", "opt-in", "client", "client, sum of URLs", "tight, blended"):
        assert [row["query"] for row in rows if row["column"] == column] == ORDER
    values = {(row["column"], row["query"]): row for row in rows}
    assert values["blended", "google.com"]["printed"] == 0.0075
    assert values["truth", "⋆"]["printed"] == 0.9121
    assert values["tight, blended", "google"]["printed"] is None
    truths = [
        population.query_counts[shape_place("yahoo", population)] / population.users
        for population in (Population.of_shape(shape_of("aol", 60_000), seed) for seed in range(2))
    ]
    assert values["truth", "yahoo"]["mean"] == pytest.approx(np.mean(truths))


def shape_place(query: str, population: Population) -> int:
    top = np.argsort(-population.query_counts)[:50]
    names = [name for name, _ in population.names(np.searchsorted(population.query_of, top))]
    return int(top[names.index(query)])


@pytest.mark.slow
def test_errors_are_compared_if_there_are_enough_seeds():
    few, enough = made(2), made(5)
    assert [text for text, _, _ in few.checked] == ["the blend has one regression"]
    assert "5 seeds or more" in few.remark
    assert [text for text, _, _ in enough.checked][:3] == [
        f"the errors of the {column} estimates are as printed" for column in ("blended", "opt-in", "client")
    ]


def test_a_log_with_few_queries_has_a_short_table_without_printed_values():
    table = pa.table({"query": ["a", "b"], "url": ["x", "y"], "count": [3_000, 900]})
    few = top_queries(AOL, "4", JOURNAL, lambda *_: Population.of_counts(table, 4_000), 2)
    assert {row["query"] for row in few.table.to_pylist()} == {"⋆", "a", "b"}
    assert {row["printed"] for row in few.table.to_pylist()} == {None}
    assert "not have all of the papers' queries" in few.remark


def test_a_query_that_is_never_listed_has_no_estimate():
    """Warnings are errors in the tests, also those of numpy about the mean of nothing."""
    table = pa.table({"query": [f"q{i:04}" for i in range(3_000)], "url": ["x"] * 3_000, "count": [1] * 3_000})
    nothing = top_queries(AOL, "4", JOURNAL, lambda *_: Population.of_counts(table, 3_000), 2)
    blended = [row for row in nothing.table.to_pylist() if row["column"] == "blended" and row["query"] != "⋆"]
    assert {(row["mean"], row["seeds"]) for row in blended} == {(None, 0)}
