"""Records that fit into an upload, and what is sent for the others."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp_device.records.upload import NO_RECORD, RECORD_BYTES, record_json, upload_record

URL = "https://a.example/"
ROOM = RECORD_BYTES - len(json.dumps(["", URL]))


@given(st.none() | st.text(), st.none() | st.text())
def test_any_record_fits_or_is_no_record(query, url):
    record = upload_record(query, url)
    assert len(record_json(record)) <= RECORD_BYTES
    assert json.loads(record_json(record)) == list(record)


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ("x" * ROOM, True),
        ("x" * (ROOM + 1), False),
        ("ä" * (ROOM // 2), True),
        ("ä" * (ROOM // 2 + 1), False),
        ('"' * (ROOM // 2), True),
        ('"' * (ROOM // 2 + 1), False),
        ("🦊" * (ROOM // 4 + 1), False),
        ("ﷺ" * 100, False),  # 18 characters each in canonical form
        ("x" + " " * 4_000, True),  # one character in canonical form
        ("x" + " " * 9_000, False),  # too long to be parsed
        ("x" * 10_000_000, False),
        ("x" + "\u3000" * 3_000, False),  # bytes count, not characters: those that become many more have several
        ("\ud800" * 9_000 + "x", True),  # what cannot be written as UTF-8 counts for nothing
    ],
)
def test_which_records_fit(query, fits):
    record = upload_record(query, URL)
    assert (record != NO_RECORD) == fits
    assert len(record_json(record)) <= RECORD_BYTES


@pytest.mark.parametrize(("query", "url"), [("joe@example.com", URL), ("query", None), (None, URL), ("", ""), (None, None)])
def test_an_unusable_record_is_no_record(query, url):
    assert upload_record(query, url) == NO_RECORD
