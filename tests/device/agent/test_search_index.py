"""Exact, prefix and word queries on a device, best first, offline."""

from __future__ import annotations

import sqlite3

import pytest

from blender_dp_device.agent.search_index import SearchIndex
from blender_dp_device.wire.suggestions import Suggester

QUERIES = [
    {"query": "new york times", "share": 0.4, "urls": [["https://nyt.example/", 0.3], ["https://times.example/", 0.1]]},
    {"query": "new york", "share": 0.3, "urls": [["https://ny.example/", 0.3]]},
    {"query": "york", "share": 0.1, "urls": []},
    {"query": '100% "quoted" c++', "share": 0.05, "urls": [["https://q.example/", 0.05]]},
    {"query": "newyork_times", "share": 0.04, "urls": []},
    {"query": "café müller", "share": 0.03, "urls": []},
]


@pytest.fixture
def index(tmp_path) -> SearchIndex:
    return SearchIndex.of(tmp_path / "bundle.db", "d" * 64, QUERIES)


def names(rows) -> list[str]:
    return [row["query"] for row in rows]


def test_what_was_typed_comes_first_and_then_the_best():
    assert names(Suggester(QUERIES).matching(" NEW York ", 10)) == ["new york", "new york times"]
    assert names(Suggester(QUERIES).matching("new", 2)) == ["new york times", "new york"]
    assert Suggester(QUERIES).opensearch( "New York", 10) == [
        "New York", ["new york", "new york times"], ["30.00%", "40.00%"], ["https://ny.example/", "https://nyt.example/"]
    ]  # fmt: skip
    assert Suggester(QUERIES).opensearch("york", 1) == ["york", ["york"], ["10.00%"], [""]]
    assert Suggester([]).opensearch("x", 1) == ["x", [], [], []]


def test_exact(index):
    assert index.exact(" New  York ") == [QUERIES[1]]
    assert index.exact("new") == []


def test_prefix(index):
    assert names(index.prefix("NEW")) == ["new york times", "new york", "newyork_times"]
    assert index.prefix("new york times") == [QUERIES[0]]
    assert names(index.prefix("new", 1)) == ["new york times"]
    assert names(index.prefix("100%")) == [QUERIES[3]["query"]]
    assert index.prefix("_") == index.prefix("%ew") == []


@pytest.mark.parametrize(
    ("typed", "places"),
    [
        ("york", [0, 1, 2]),
        ("times york", [0]),
        ("york tim", [0]),
        ("tim york", []),
        ("Müller", [5]),
        ("quoted", [3]),
        ("", []),
    ],
)
def test_words(index, typed, places):
    assert index.words(typed) == [QUERIES[place] for place in places]


@pytest.mark.parametrize(
    "typed", ['"', "*", "a OR york", "NEAR(", "query:york", "-", "^york", "york AND", "'; DROP TABLE queries", "\0"]
)
def test_what_is_typed_is_not_parsed_as_syntax(index, typed):
    assert set(names(index.words(typed))) <= set(names(QUERIES))
    assert len(index.prefix("")) == 6


def test_the_index_is_built_once_per_bundle(tmp_path, index):
    made = (tmp_path / "bundle.db").stat().st_ino
    assert SearchIndex.of(tmp_path / "bundle.db", "d" * 64, QUERIES) == index
    assert (tmp_path / "bundle.db").stat().st_ino == made
    assert names(SearchIndex.of(tmp_path / "bundle.db", "e" * 64, QUERIES[2:3]).prefix("")) == ["york"]
    (tmp_path / "bundle.db").write_bytes(b"no database at all, " * 99)
    (tmp_path / "bundle.db-partial").write_bytes(b"what a crash has left")
    assert SearchIndex.of(tmp_path / "bundle.db", "e" * 64, QUERIES).exact("york") == [QUERIES[2]]


def test_other_programs_can_use_its_fts5_table(index):
    with sqlite3.connect(index.path) as database:
        found = database.execute("SELECT query FROM words WHERE words MATCH 'york' ORDER BY rowid").fetchall()
    database.close()
    assert len(found) == 3
