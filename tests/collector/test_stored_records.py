"""Stored records: all of one length, and readable again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.vault import read_record
from blender_dp.errors import DocumentError
from blender_dp_device.records.record import Record
from blender_dp_device.records.upload import NO_RECORD, upload_record

URL = "https://a.example/"


@given(st.none() | st.text(), st.none() | st.text())
def test_every_stored_record_has_the_same_length(query, url):
    record, key = upload_record(query, url), vault.new_key()
    sealed = vault.seal_record(key, "place", record)
    assert len(sealed) == len(vault.seal_record(key, "place", NO_RECORD))
    assert vault.unseal_record(key, "place", sealed) == record


def test_a_record_of_an_earlier_version():
    """It has an empty string for no query, and different padding."""
    assert read_record(b'["", null]    ') == NO_RECORD
    assert read_record('["ä", "https://a.example/"]'.encode() + b" " * 200) == Record("ä", URL)


@pytest.mark.parametrize("text", [b"", b"x", b"[]", b"7", b"[1, 2, 3]", b"\xff"])
def test_a_damaged_record_is_refused(text):
    with pytest.raises(DocumentError, match="record"):
        read_record(text)
