from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from blender_dp.logs import canonical_columns
from blender_dp.logs.canonical_columns import canonical
from blender_dp_device.records.canonical import canonical_query, canonical_url
from blender_dp_device.records.personal import PRIVATE_NAMES, personal_query, personal_url, usable_record
from tests.conftest import ROOT

pytestmark = pytest.mark.slow  # compares two implementations row by row

PIECES = [
    *" \t\n\r/.-_~@%?&;=:+()[]#", "a", "B", "7", "é", "ß", "\u0301", "\u200d", "\x00", "٣", "٤٥", "–", "http://", "https://",
    "HTTP://", "ftp://", "www.", "example", ".org", "a.example/", "http://a.example", "%40", "%7e", "%2F", "joe@a.example",
    "token=", "utm_x=", "sid=1", "123", "45", "6789", "-45-", "2006", "-03-01", "1111", "abcdefab", "-abcd", "-abcdefabcdef",
    "-a1", "a1b2c3d4e5f6g7h8i9", "abcdefghijklmnopqr", ".local", "localhost", ".home.arpa", "10.0.0.1", "8.8.8.8", "[::1]",
]  # fmt: skip
GLUED = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
TEXT = st.none() | GLUED | st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=20)
URL = TEXT | GLUED.map("http://a.example/".__add__) | GLUED.map("https://a.b-c.example".__add__)
VECTORS = {
    name: json.loads((ROOT / f"spec/vectors/{name}.json").read_text(encoding="utf-8")) for name in ("canonical", "personal")
}
CASES = [
    *((query, url) for vectors in VECTORS.values() for query, url, _ in vectors["records"]),
    *((query, "http://a.example") for query, _ in VECTORS["canonical"]["queries"]),
    *(("query", url) for url, _ in VECTORS["canonical"]["urls"]),
]


def columns(queries: list[str | None], urls: list[str | None], size: int | None = None) -> pa.Table:
    users = [str(i) for i in range(len(queries))]
    table = pa.table({"user": users, "query": pa.array(queries, pa.string()), "url": pa.array(urls, pa.string())})
    return table if size is None else pa.Table.from_batches(table.to_batches(max_chunksize=size), table.schema)


def records(table: pa.Table) -> list[tuple[str | None, str | None]]:
    return list(zip(table["query"].to_pylist(), table["url"].to_pylist(), strict=True))


@settings(max_examples=500)
@given(st.lists(st.tuples(TEXT, URL), max_size=30), st.integers(1, 9))
@example(CASES, 1 << 16)
@example(CASES, 3)
@example([("google", "http://www.google.com"), ("google\n", "http://www.google.com\n")], 9)
def test_columns_and_records_agree_row_by_row(rows, size):
    table = columns([row[0] for row in rows], [row[1] for row in rows], size)
    result = canonical(table)
    assert result.column_names == ["user", "query", "url"]
    assert result["user"].to_pylist() == table["user"].to_pylist()
    assert records(result) == [tuple(usable_record(query, url)) for query, url in rows]


@settings(max_examples=500)
@given(TEXT.filter(lambda text: text is not None), URL.filter(lambda text: text is not None))
def test_plain_strings_are_canonical_and_harmless(query, url):
    """The other test would miss an error in one column if the other column is unusable."""
    if pc.match_substring_regex(query, canonical_columns._PLAIN_QUERY).as_py():
        assert canonical_query(query) == query
        assert not personal_query(query)
    if pc.match_substring_regex(query, canonical_columns._CANONICAL_QUERY).as_py():
        assert canonical_query(query) == query
    if pc.match_substring_regex(url, canonical_columns._PLAIN_URL).as_py():
        assert canonical_url(url) == (url if url.count("/") > 2 else url + "/")
        assert not personal_url(canonical_url(url))


@pytest.mark.parametrize("name", PRIVATE_NAMES)
def test_private_host_names_are_not_plain(name):
    for url in (f"https://a.{name}/", f"https://a.{name}", f"http://{name}", f"http://a.b.{name}/x"):
        assert not pc.match_substring_regex(url, canonical_columns._PLAIN_URL).as_py()


def test_usual_strings_need_no_python_function(monkeypatch):
    for name in ("_usable_query", "_usable_url"):
        monkeypatch.setattr(canonical_columns, name, None)  # calling it is an error
    queries = ["google", "new york times", "mac os x 10.4.11", "c++ & c#!", "olympics 2004", None]
    urls = [
        "http://www.google.com",
        "https://a.example/",
        "http://a.example/2006/03/story-of-us.html",
        "https://a-b.example/x_1",
    ]
    result = canonical(columns(queries, [*urls, *urls[:2]]))
    assert result["url"].to_pylist()[:2] == ["http://www.google.com/", "https://a.example/"]


def test_numbers_need_no_python_function_without_the_filter(monkeypatch):
    for name in ("canonical_query", "canonical_url"):
        monkeypatch.setattr(canonical_columns, name, None)
    rows = columns(["20676842", "7"], ["https://domain5199927.example/70348426", "https://domain3.example/1"])
    assert records(canonical(rows, filtered=False)) == records(rows)


def test_an_empty_table_stays_empty():
    assert canonical(columns([], [])).num_rows == 0
    assert canonical(columns([], [])).schema == columns([], []).schema


def test_each_distinct_string_is_processed_once(monkeypatch):
    seen = []
    monkeypatch.setattr(canonical_columns, "_usable_query", lambda text: seen.append(text) or text.lower())
    canonical(columns(["Google", "maps", "Google", "Maps"] * 5, ["http://a.example"] * 20, 3))
    assert seen == ["Google", "Maps"]


def test_giant_strings_are_dropped_without_processing(monkeypatch):
    monkeypatch.setattr(canonical_columns, "_usable_query", pytest.fail)
    longest, giant = "é" * 4096, "É" + "a" * 8191
    columns = {
        "user": ["u1", "u2", "u3"],
        "query": ["a" * 8192, giant, "a"],
        "url": ["https://x.example/"] * 2 + [longest + "a"],
    }
    assert canonical(pa.table(columns))["query"].to_pylist() == ["a" * 8192, None, None]
