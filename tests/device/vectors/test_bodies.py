"""Reports and uploads leave the device byte for byte as spec/vectors says."""

from __future__ import annotations

import pytest

from blender_dp_device.agent import outgoing
from blender_dp_device.agent.outgoing import report_body, upload_body
from blender_dp_device.records.upload import upload_record, usable_records
from tests.device.vectors.files import vectors

BODIES = vectors("bodies")


@pytest.mark.parametrize("case", BODIES["reports"], ids=lambda case: f"{case['cells']} of {case['cell_count']}")
def test_reports(case, monkeypatch):
    monkeypatch.setattr(outgoing, "system_bytes", lambda count: bytes.fromhex(case["id"])[:count])
    assert report_body(case["head_list"], case["cells"], case["cell_count"]) == case["body"]


@pytest.mark.parametrize("case", BODIES["uploads"], ids=lambda case: case["name"])
def test_uploads(case):
    assert upload_body(upload_record(case["query"], case["url"]), case["receipt"]) == case["body"].encode()
    assert len(case["body"].encode()) == outgoing.UPLOAD_BYTES


@pytest.mark.parametrize("case", BODIES["records"], ids=lambda case: case["name"])
def test_records(case):
    usable = usable_records(case["query"], case["url"])
    assert usable[1] == (case["item"], None)
    assert usable[2] == tuple(case["pair"] or (None, None))
