"""A list names its channel completely, exactly, and in one way only."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from blender_dp import ChannelSettings, DocumentError, HeadList, ParameterError, ReportingList
from blender_dp_device.records.reporting_list import LARGEST
from tests.conftest import ROOT
from tests.lists import reporting

SCHEMA = Draft202012Validator(json.loads((ROOT / "spec/schemas/head-list.json").read_text(encoding="utf-8")))
SMALL = HeadList.of([("a", "https://b.example/"), ("c", "https://d.example/")])

SETTINGS = st.builds(
    lambda two_stage, **rest: ChannelSettings.of(
        **rest, **({"randomiser": "two-stage", "delta": Fraction(1, 10**9)} if two_stage else {"subset_size": 3})
    ),
    two_stage=st.booleans(),
    epsilon=st.fractions(Fraction(1, 100), 60, max_denominator=10**6),
    f_c=st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=10**6),
    m_c=st.integers(1, 9),
)


@given(SETTINGS)
def test_the_document_is_exact_and_follows_the_schema(settings):
    listed = ReportingList(SMALL, settings)
    document = json.loads(json.dumps(listed.to_document()))
    assert ReportingList.from_document(document) == listed
    assert not list(SCHEMA.iter_errors(document))


@given(SETTINGS, SETTINGS)
def test_the_digest_covers_the_channel(one, other):
    assert (ReportingList(SMALL, one).digest == ReportingList(SMALL, other).digest) == (one == other)


def test_the_digest_is_that_of_the_document():
    listed = reporting(SMALL, epsilon="7/3")
    assert listed.to_document()["channel"]["epsilon"] == "7/3"
    text = json.dumps(listed.to_document(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert listed.digest == hashlib.sha256(text.encode()).hexdigest() != SMALL.digest


def test_a_file_round_trip(tmp_path):
    listed = reporting(SMALL, epsilon="7/3", f_c="0.9", subset_size=2, m_c=3)
    listed.save(tmp_path / "list.json")
    assert ReportingList.load(tmp_path / "list.json") == listed
    assert HeadList.load(tmp_path / "list.json") == SMALL  # as candidates


def test_an_old_list_is_read_as_names_only(tmp_path):
    SMALL.save(tmp_path / "old.json")
    assert json.loads((tmp_path / "old.json").read_text(encoding="utf-8"))["schema"] == "blender-dp/head-list/1"
    assert HeadList.load(tmp_path / "old.json") == SMALL
    with pytest.raises(DocumentError, match="does not name its channel"):
        ReportingList.load(tmp_path / "old.json")


@pytest.mark.parametrize(("size", "queries", "expected"), [(1, 5, 1), (3, 5, 3), (5, 5, 5), (9, 5, 5), (4, 0, 1)])
def test_a_report_has_as_many_cells_as_the_list_allows(size, queries, expected):
    names = HeadList.of((f"q{i}", None) for i in range(queries))
    assert reporting(names, epsilon=1, subset_size=size).report_size == expected


GOOD = reporting(SMALL, epsilon=4).to_document()


@pytest.mark.parametrize(
    "change",
    [
        {"channel": None}, {"channel": {}}, {"channel": "subset"}, {"more": 1},
        *({"channel": {**GOOD["channel"], **part}} for part in (
            {"epsilon": 4}, {"epsilon": "4.0"}, {"epsilon": "8/2"}, {"epsilon": "-4"}, {"epsilon": "0"}, {"epsilon": "1e1"},
            {"epsilon": "٤"}, {"epsilon": " 4"}, {"epsilon": "4\n"}, {"epsilon": None}, {"f_c": "1"}, {"f_c": "3/2"},
            {"subset_size": 0}, {"subset_size": 1.0}, {"subset_size": True}, {"subset_size": LARGEST + 1}, {"m_c": 0},
            {"m_c": "1"}, {"randomiser": "none"}, {"randomiser": "two-stage"}, {"delta": "1/2"}, {"delta": None}, {"x": 1},
        )),
        *({"channel": {k: v for k, v in GOOD["channel"].items() if k != name}} for name in GOOD["channel"]),
    ],
)  # fmt: skip
def test_anything_else_is_refused(change):
    document = {**GOOD, **change}
    with pytest.raises(DocumentError):
        ReportingList.from_document(document)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"epsilon": 4, "f_c": "0.85"}, "subset_size"),
        ({"epsilon": 4, "f_c": "0.85", "randomiser": "two-stage"}, "delta"),
        ({"epsilon": 4, "f_c": "0.85", "randomiser": "two-stage", "delta": "1e-5", "subset_size": 2}, "subset_size"),
        ({"epsilon": 4, "f_c": "0.85", "subset_size": 1, "randomiser": "none"}, "randomiser"),
        ({"epsilon": 0, "f_c": "0.85", "subset_size": 1}, "epsilon"),
        ({"epsilon": 4, "f_c": 1, "subset_size": 1}, "f_c"),
        ({"epsilon": 4, "f_c": "0.85", "subset_size": LARGEST + 1}, "subset_size"),
    ],
)
def test_settings_that_are_incomplete_or_wrong_name_the_field(given, field):
    with pytest.raises(ParameterError) as caught:
        ChannelSettings.of(**given)
    assert caught.value.subject == field
