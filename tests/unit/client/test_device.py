from __future__ import annotations

import json

import pytest

from blender_dp import Device, HeadList, ParameterError
from tests.conftest import ROOT
from tests.unit.client.test_channel import closed_form, positions

VECTORS = json.loads((ROOT / "spec/vectors/local_alg.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_the_vectors(case):
    head_list = HeadList.from_document(case["head_list"])
    device = Device(head_list, epsilon=case["epsilon"], delta=case["delta"], f_c=case["f_c"], m_c=case["m_c"])
    assert head_list.digest == case["head_list_digest"]
    assert str(device.channel.query_step) == case["query_step"]
    assert [str(step) for step in device.channel.url_steps] == case["url_steps"]
    for vector in case["reports"]:
        report = device.answer(vector["query"], vector["url"], bytes.fromhex(vector["bytes"]))
        assert (report.cell, report.head_list) == (vector["cell"], head_list.digest)


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_the_vectors_weights_are_probabilities_of_the_code(case):
    head_list = HeadList.from_document(case["head_list"])
    channel = Device(head_list, epsilon=case["epsilon"], delta=case["delta"], f_c=case["f_c"], m_c=case["m_c"]).channel
    for (query, url), row in zip(positions(channel), case["weights"], strict=True):
        assert [int(weight) for weight in row] == list(closed_form(channel, query, url).values())
        assert sum(int(weight) for weight in row) == int(case["weights_over"]) == 1 << 128


def test_a_record_is_canonical_before_it_is_placed(small_list):
    device = Device(small_list, epsilon=60, delta=1e-5)  # so much that it tells the truth
    truthful = [
        device.report(q, u).cell for q, u in (("  GOOGLE ", "HTTPS://www.Google.com#x"), ("Yahoo", "unlisted.example"))
    ]
    assert truthful == [0, 4]


def test_reports_differ_with_fresh_entropy(small_list):
    device = Device(small_list, epsilon=1, delta=1e-5)
    assert len({device.report("google", "https://www.google.com/").cell for _ in range(200)}) > 1  # fails once in 10^60


def test_a_device_without_a_record_reports_the_star(small_list):
    device = Device(small_list, epsilon=60, delta=1e-5)
    assert device.report(None, None).cell == device.report("google", "").cell == device.report("", "x.example").cell == 5


def test_on_single_items_only_the_query_counts(item_list):
    device = Device(item_list, epsilon=60, delta=1e-5)
    records = [(" CAMERA ",), ("camera", None), ("camera", "https://x.example/"), ("camera", "https://x.example/?token=1")]
    assert [device.report(*record).cell for record in records] == [1, 1, 1, 1]
    nothing = [(None,), ("",), ("weather",), ("joe@example.org",), (None, "https://x.example/")]
    assert [device.report(*record).cell for record in nothing] == [3] * 5


def test_a_missing_url_is_no_item_of_a_list_with_urls(small_list):
    device = Device(small_list, epsilon=60, delta=1e-5)
    assert device.report("google").cell == device.report("google", None).cell == 5


def test_the_vectors_have_single_items():
    assert [HeadList.from_document(case["head_list"]).levels for case in VECTORS].count(1) == 2


def test_too_few_random_bytes_are_refused(small_list):
    with pytest.raises(ParameterError, match="random_bytes: there are 0"):
        Device(small_list, epsilon=1, delta=1e-5).answer("google", "x.example", b"")


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0}, {"epsilon": -1}, {"epsilon": 1e-18}, {"delta": 1}, {"delta": 5}, {"f_c": 0}, {"f_c": 2},
        {"f_c": 1e-25}, {"f_c": "0.99999999999"}, {"m_c": 0}, {"m_c": 10**30},
    ],
)  # fmt: skip
def test_a_device_refuses_what_would_not_be_private(small_list, wrong):
    with pytest.raises(ParameterError):
        Device(small_list, **{"epsilon": 1, "delta": 1e-5, **wrong})
