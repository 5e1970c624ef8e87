"""The device accepts and refuses the documents that spec/vectors says, for the reasons that it says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from blender_dp_device.agent.verification import verified_bundle, verified_list, verified_opening
from blender_dp_device.channel import Device
from blender_dp_device.digests import document_digest, list_digest
from blender_dp_device.errors import BlenderError, DocumentError
from blender_dp_device.wire.documents import verified_content
from tests.device.vectors.files import vectors

SIGNATURES, DIGESTS, REJECTIONS = vectors("signatures"), vectors("digests"), vectors("rejections")


@pytest.mark.parametrize("case", SIGNATURES["cases"], ids=lambda case: case["name"])
def test_signatures(case):
    body = case["document"].encode() if "document" in case else bytes.fromhex(case["document_hex"])
    if case["content"] is not None:
        assert verified_content(body, SIGNATURES["kind"], SIGNATURES["key"]) == case["content"]
        return
    with pytest.raises(DocumentError):
        verified_content(body, SIGNATURES["kind"], SIGNATURES["key"])


@pytest.mark.parametrize("case", DIGESTS["lists"], ids=lambda case: case["name"])
def test_digests_of_lists(case):
    assert list_digest(case["list"]) == case["digest"]
    assert document_digest(case["text"].encode()) == case["digest"]


def test_digests_of_documents():
    for case in DIGESTS["documents"]:
        assert document_digest(case["document"].encode()) == case["digest"]


@pytest.mark.parametrize("case", REJECTIONS["cases"], ids=lambda case: f"{case['kind']}: {case['name']}")
def test_rejections(case):
    reason = None
    try:
        verify(case["kind"], verified_content(case["document"].encode(), case["kind"], REJECTIONS["key"]))
    except BlenderError as error:
        reason = error.problem
    assert reason == case["reason"]


def verify(kind, content):
    pinned = {"campaign": REJECTIONS["campaign"], "round_id": REJECTIONS["round_id"], "now": REJECTIONS["now"]}
    epsilon = Fraction(REJECTIONS["epsilon"])
    if kind == "head-list":
        listed = verified_list(content, **pinned, epsilon=epsilon, newest=REJECTIONS["newest"])
        Device(listed.reporting_list, epsilon=epsilon)
    elif kind == "opening":
        verified_opening(content, **pinned, epsilon=epsilon, max_delta=Fraction(REJECTIONS["delta"]))
    else:
        verified_bundle(content, campaign=REJECTIONS["campaign"])
