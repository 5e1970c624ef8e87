from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from blender_dp import DocumentError, HeadList, ParameterError
from blender_dp_device.records.record import Record
from tests.conftest import ROOT

NAMES = st.text(min_size=1, max_size=5)
RECORDS = st.one_of(st.lists(st.tuples(NAMES, NAMES), max_size=12), st.lists(st.tuples(NAMES, st.none()), max_size=12))
LISTS = RECORDS.map(HeadList.of)
SCHEMA = Draft202012Validator(json.loads((ROOT / "spec/schemas/head-list.json").read_text(encoding="utf-8")))


def test_cells_are_numbered_url_by_url_with_a_star_at_each_end(small_list):
    assert small_list.url_counts == (3, 2, 1)
    assert list(small_list.cells()) == [
        Record("google", "https://www.google.com/"),
        Record("google", "https://www.google.com/2"),
        Record("google", None),
        Record("yahoo", "https://www.yahoo.com/"),
        Record("yahoo", None),
        Record(None, None),
    ]
    assert str(Record("yahoo", None)) == "⟨yahoo, ⋆⟩"


@given(LISTS)
def test_every_cell_is_where_its_record_falls(head_list):
    starts = [sum(head_list.url_counts[:i]) for i in range(len(head_list.url_counts))]
    for cell, record in enumerate(head_list.cells()):
        query, url = head_list.position(record.query, record.url)
        assert starts[query] + url == cell
    assert head_list.cell_count == cell + 1
    assert len(head_list) == len(head_list.queries)


def test_what_is_not_listed_falls_on_a_star(small_list):
    assert small_list.position("bing", "https://www.google.com/") == (2, 0)
    assert small_list.position("google", "https://www.yahoo.com/") == (0, 2)
    assert small_list.position(None, None) == (2, 0)


def test_a_query_that_looks_like_a_star_is_not_a_star():
    head_list = HeadList.of([("⋆", "⋆")])
    assert head_list.position("⋆", "⋆") == (0, 0)
    assert head_list.position("else", "⋆") == (1, 0)


@given(RECORDS)
def test_order_and_repeats_do_not_matter(records):
    assert HeadList.of(records).digest == HeadList.of([*reversed(records), *records]).digest


@given(LISTS)
def test_a_saved_list_is_loaded_unchanged(head_list):
    document = json.loads(json.dumps(head_list.to_document()))
    assert HeadList.from_document(document) == head_list
    assert not list(SCHEMA.iter_errors(document))


def test_single_items_have_one_cell_each(item_list):
    assert item_list.levels == 1
    assert item_list.entries == (("calculator", ()), ("camera", ()), ("maps", ()))
    assert item_list.url_counts == (1, 1, 1, 1)
    assert item_list.starts == (0, 1, 2, 3)
    assert list(item_list.records()) == [("calculator", None), ("camera", None), ("maps", None)]
    assert list(item_list.cells()) == [*item_list.records(), (None, None)]
    assert item_list.restrict(["maps"]).levels == 1


def test_the_query_of_a_single_item_decides_where_it_falls(item_list):
    assert item_list.position("camera", None) == item_list.position("camera", "https://camera.example/") == (1, 0)
    assert item_list.position("weather", None) == item_list.position(None, None) == (3, 0)


@given(LISTS)
def test_a_list_has_one_level_if_no_record_has_a_url(head_list):
    urls = {url for _, url in head_list.records()}
    assert head_list.levels == (1 if urls == {None} else 2)


def test_an_empty_list_has_two_levels(item_list):
    assert HeadList.of([]).levels == item_list.restrict([]).levels == 2


@pytest.mark.parametrize(
    "records", [[("a", None), ("b", "x")], [("a", "x"), ("a", None)], [("a", "")], [("", None)], [("", "x")], [(None, None)]]
)
def test_incomplete_records_are_refused(records):
    with pytest.raises(ParameterError, match="records"):
        HeadList.of(records)


def test_the_schema_refuses_a_mixture():
    queries = [{"query": "a", "urls": ["b"]}, {"query": "b", "urls": []}]
    assert list(SCHEMA.iter_errors({**GOOD, "queries": queries}))
    assert not list(SCHEMA.iter_errors({**GOOD, "queries": queries[:1]}))
    assert not list(SCHEMA.iter_errors({**GOOD, "queries": queries[1:]}))


def test_restricting_keeps_the_order(small_list):
    assert small_list.restrict(["yahoo", "bing"]).queries == ("yahoo",)


def test_a_file_round_trip(small_list, tmp_path):
    small_list.save(tmp_path / "list.json")
    assert HeadList.load(tmp_path / "list.json") == small_list


GOOD = {"schema": "blender-dp/head-list/1", "canonical_version": 1, "queries": [{"query": "a", "urls": ["b", "c"]}]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"schema": "blender-dp/head-list/3"}, "has schema"),
        ({"queries": None}, "needs schema"),
        ({"canonical_version": "1"}, "has canonical form '1'"),
        ({"canonical_version": True}, "has canonical form True"),
        ({"canonical_version": 99}, "has canonical form 99, but this version supports only 1"),
        ({"queries": [{"query": "a"}]}, r"queries\[0\]: needs a query"),
        ({"queries": [{"query": "a", "urls": ["b"]}, {"query": "b", "urls": []}]}, "only some of its queries have URLs"),
        ({"queries": [{"query": "a", "urls": None}]}, "needs a query"),
        ({"queries": [{"query": "", "urls": []}]}, "needs a query"),
        ({"queries": [{"query": "a", "urls": []}, {"query": "a", "urls": []}]}, "repeated"),
        ({"queries": [{"query": "b", "urls": []}, {"query": "a", "urls": []}]}, "unsorted"),
        ({"queries": [{"query": "a", "urls": [1]}]}, "needs a query"),
        ({"queries": [{"query": "\ud800", "urls": ["b"]}]}, "needs a query"),  # JSON can write it, UTF-8 cannot
        ({"queries": [{"query": "a", "urls": ["\udfff"]}]}, "needs a query"),
        ({"queries": [{"query": "", "urls": ["b"]}]}, "needs a query"),
        ({"queries": [{"query": "a", "urls": ["c", "b"]}]}, "unsorted"),
        ({"queries": [{"query": "a", "urls": ["b", "b"]}]}, "repeated"),
        ({"queries": [{"query": "b", "urls": ["b"]}, {"query": "a", "urls": ["b"]}]}, "unsorted"),
    ],
)
def test_anything_else_is_refused_with_the_reason(change, problem):
    with pytest.raises(DocumentError, match=problem):
        HeadList.from_document({**GOOD, **change})


@pytest.mark.parametrize("document", [None, [], 3, "text", {}])
def test_other_json_is_refused(document):
    with pytest.raises(DocumentError):
        HeadList.from_document(document)


def test_missing_and_broken_files_are_refused(tmp_path):
    with pytest.raises(DocumentError, match="cannot be read"):
        HeadList.load(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(DocumentError, match="is not JSON"):
        HeadList.load(tmp_path / "broken.json")
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(DocumentError, match="is not JSON"):
        HeadList.load(tmp_path / "deep.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DocumentError, match="is not JSON"):
        HeadList.load(tmp_path / "binary.json")
