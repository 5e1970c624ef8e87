"""The wire messages: what devices send follows them, and so do a collector's validation and the published schemas."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter, ValidationError

from blender_dp_device.agent.outgoing import UPLOAD_BYTES, report_body, upload_body
from blender_dp_device.digests import document_digest
from blender_dp_device.records.record import Record
from blender_dp_device.wire import messages
from tools.generate import MESSAGES, message_schema

REPORT = {"id": "0" * 32, "head_list": "a" * 64, "cells": [1, 2]}


def accepted(kind: type, message: object) -> bool:
    """Whether a collector accepts a message, whether it reads JSON text or values."""
    results = []
    for validate in (
        lambda: TypeAdapter(kind).validate_python(message),
        lambda: TypeAdapter(kind).validate_json(json.dumps(message)),
    ):
        try:
            validate()
            results.append(True)
        except ValidationError:
            results.append(False)
    assert len(set(results)) == 1
    return results[0]


def test_what_a_device_sends_is_accepted():
    body = report_body(document_digest(b"x"), [3, 70], 100)
    report = TypeAdapter(messages.ReportsMessage).validate_json(body).reports[0]
    assert (report.head_list, report.cells) == (document_digest(b"x"), [3, 70])
    for query, url in (("ä", "https://a.example/"), (None, None)):
        upload = upload_body(Record(query, url), "f" * 64)
        assert len(upload) == UPLOAD_BYTES
        record = TypeAdapter(messages.RecordMessage).validate_json(upload)
        assert (record.query, record.url, record.receipt) == (query, url, "f" * 64)


@pytest.mark.parametrize(
    ("changed", "is_valid"),
    [
        ({}, True),
        ({"cells": [0]}, True),
        ({"cells": [(1 << 32) - 1]}, True),
        ({"cells": [1 << 32]}, False),
        ({"cells": [-1]}, False),
        ({"cells": []}, False),
        ({"cells": [0] * 10_001}, False),
        ({"cells": [True]}, False),
        ({"cells": ["1"]}, False),
        ({"cells": [1.5]}, False),
        ({"cells": 1}, False),
        ({"id": "0" * 31}, False),
        ({"id": "G" * 32}, False),
        ({"id": "0" * 32 + "\n"}, False),
        ({"id": 7}, False),
        ({"head_list": "A" * 64}, False),
        ({"head_list": None}, False),
        ({"more": 1}, False),
    ],
)
def test_reports(changed, is_valid):
    assert accepted(messages.ReportsMessage, {"reports": [{**REPORT, **changed}]}) == is_valid


@pytest.mark.parametrize(
    ("message", "is_valid"),
    [
        ({}, True),
        ({"query": "q", "url": "u", "receipt": "0" * 64, "version": 1}, True),
        ({"query": "\ud800"}, True),
        ({"query": 7}, False),
        ({"url": ["u"]}, False),
        ({"receipt": "0" * 63}, False),
        ({"receipt": 7}, False),
        ({"version": 2}, False),
        ({"version": True}, False),
        ({"version": 1.0}, False),
        ({"version": "1"}, False),
        ({"more": 1}, False),
        ([], False),
    ],
)
def test_records(message, is_valid):
    """A collector reads the text of a record with Python's own parser, which accepts unpaired surrogates."""
    if message == {"query": "\ud800"}:
        assert TypeAdapter(messages.RecordMessage).validate_python(message).query == ""
    else:
        assert accepted(messages.RecordMessage, message) == is_valid


@pytest.mark.parametrize("name", MESSAGES)
def test_every_schema_names_all_fields_and_allows_no_others(name):
    schema = message_schema(name)
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == {*MESSAGES[name].__dataclass_fields__}
    assert schema["description"]
