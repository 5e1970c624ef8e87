from __future__ import annotations

import json

import pytest

from blender_dp import Device, HeadList, ParameterError, ReportingList
from blender_dp.mechanisms.two_stage_response.weights import weights
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import SubsetChannel
from tests.conftest import ROOT
from tests.device.channel.test_channel import closed_form, positions
from tests.lists import device_for, reporting

RANDOMISERS = pytest.mark.parametrize("randomiser", ["subset", "two-stage"])
VECTORS, SUBSET_VECTORS = (
    json.loads((ROOT / f"spec/vectors/{name}.json").read_text(encoding="utf-8"))["cases"] for name in ("local_alg", "subset")
)

PERSONAL = json.loads((ROOT / "spec/vectors/personal.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_the_vectors(case):
    listed = ReportingList.from_document(case["head_list"])
    device = Device(listed, epsilon=case["epsilon"], delta=case["delta"], m_c=case["m_c"])
    assert listed.digest == case["head_list_digest"]
    assert str(device.channel.query_step) == case["query_step"]
    assert [str(step) for step in device.channel.url_steps] == case["url_steps"]
    for vector in case["reports"]:
        report = device.answer(vector["query"], vector["url"], bytes.fromhex(vector["bytes"]))
        assert (report.cells, report.head_list) == (tuple(vector["cells"]), listed.digest)


@pytest.mark.parametrize("case", SUBSET_VECTORS, ids=lambda case: case["name"])
def test_the_subset_vectors(case):
    listed = ReportingList.from_document(case["head_list"])
    device = Device(listed, epsilon=case["epsilon"], m_c=case["m_c"])
    assert listed.digest == case["head_list_digest"]
    assert device.channel.size == case["size"]
    assert [str(step) for step in device.channel.url_steps] == case["url_steps"]
    if case["size"] == 1:
        assert str(device.channel.query_step) == case["query_step"]
        rows = [[str(weight) for weight in weights(device.channel, *position)] for position in positions(device.channel)]
        assert rows == case["weights"]
    else:
        assert str(device.channel.truth) == case["truth"]
    for vector in case["reports"]:
        report = device.answer(vector["query"], vector["url"], bytes.fromhex(vector["bytes"]))
        assert (report.cells, report.head_list) == (tuple(vector["cells"]), listed.digest)


def test_the_subset_vectors_have_every_kind_of_case():
    """One and several queries, all but one query reported, single items; and rejected words change what follows."""
    assert {case["size"] for case in SUBSET_VECTORS} >= {1, 2, 3, 4}
    assert any(case["size"] < case["head_list"]["channel"]["subset_size"] for case in SUBSET_VECTORS)
    assert {HeadList.from_document(case["head_list"]).levels for case in SUBSET_VECTORS} == {1, 2}
    longest = [max(len(vector["bytes"]) for vector in case["reports"]) for case in SUBSET_VECTORS if case["size"] == 3]
    assert longest == [2 * 8 * (2 + 2 * 7 + 1)]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_the_vectors_weights_are_probabilities_of_the_code(case):
    listed = ReportingList.from_document(case["head_list"])
    channel = Channel.of(listed.head_list, case["epsilon"], case["delta"], listed.channel.f_c, case["m_c"])
    for (query, url), row in zip(positions(channel), case["weights"], strict=True):
        assert [int(weight) for weight in row] == list(closed_form(channel, query, url).values())
        assert sum(int(weight) for weight in row) == int(case["weights_over"]) == 1 << 128


@RANDOMISERS
def test_a_record_is_canonical_before_it_is_placed(small_list, randomiser):
    device = device_for(small_list, epsilon=60, randomiser=randomiser)  # so large that it reports the truth
    truthful = [
        device.report(q, u).cells for q, u in (("  GOOGLE ", "HTTPS://www.Google.com#x"), ("Yahoo", "unlisted.example"))
    ]
    assert truthful == [(0,), (4,)]


@RANDOMISERS
def test_reports_differ_with_fresh_entropy(small_list, randomiser):
    device = device_for(small_list, epsilon=1, randomiser=randomiser)
    assert len({device.report("google", "https://www.google.com/").cells for _ in range(200)}) > 1  # fails once in 10^60


@RANDOMISERS
def test_a_device_without_a_record_reports_the_star(small_list, randomiser):
    device = device_for(small_list, epsilon=60, randomiser=randomiser)
    nothing = [(None, None), ("google", ""), ("", "x.example")]
    assert [device.report(*record).cells for record in nothing] == [(5,)] * 3


@RANDOMISERS
def test_on_single_items_only_the_query_counts(item_list, randomiser):
    device = device_for(item_list, epsilon=60, randomiser=randomiser)
    records = [(" CAMERA ",), ("camera", None), ("camera", "https://x.example/"), ("camera", "https://x.example/?token=1")]
    assert [device.report(*record).cells for record in records] == [(1,)] * 4
    nothing = [(None,), ("",), ("weather",), ("joe@example.org",), (None, "https://x.example/")]
    assert [device.report(*record).cells for record in nothing] == [(3,)] * 5


@RANDOMISERS
def test_a_record_without_a_url_is_not_listed_on_a_list_with_urls(small_list, randomiser):
    device = device_for(small_list, epsilon=60, randomiser=randomiser)
    assert device.report("google").cells == device.report("google", None).cells == (5,)


def test_the_vectors_have_single_items():
    assert [HeadList.from_document(case["head_list"]).levels for case in VECTORS].count(1) == 2


@RANDOMISERS
@pytest.mark.parametrize("count", [0, 8, 15])
def test_too_few_random_bytes_are_refused(small_list, randomiser, count):
    device = device_for(small_list, epsilon=1, randomiser=randomiser)
    with pytest.raises(ParameterError, match=f"random_bytes: {count} bytes are too few"):
        device.answer("google", "x.example", bytes(count))


def test_a_larger_report_needs_more_random_bytes(small_list):
    """Two words, then a number for each query, one for the place and one for each URL: 7 of 8 bytes if none is rejected."""
    device = device_for(small_list, epsilon=1, subset_size=2)
    assert isinstance(device.channel, SubsetChannel)
    assert len(device.answer("google", "x.example", bytes(7 * 8)).cells) == 2
    with pytest.raises(ParameterError, match="55 bytes are too few"):
        device.answer("google", "x.example", bytes(7 * 8 - 1))
    refused = b"\xff" * 8  # the last word would favour a number below 5, so it is drawn again
    short, long = (bytes(16) + part + bytes(n * 8) for part, n in ((refused, 4), (refused, 7)))
    with pytest.raises(ParameterError, match="too few"):
        device_for(longer(small_list), epsilon=1, subset_size=2).answer("google", "x.example", short)
    assert len(device_for(longer(small_list), epsilon=1, subset_size=2).answer("google", "x", long).cells) == 2


def longer(head_list: HeadList) -> HeadList:
    """Six queries and ⋆: with two of them reported, the first number is drawn below 5, which does not divide 2^64."""
    return HeadList.of([*head_list.records(), *((f"q{i}", "u") for i in range(4))])


def test_a_report_has_cells_of_different_queries_in_order(small_list):
    device = device_for(longer(small_list), epsilon=1, subset_size=3)
    head_list = device.reporting_list.head_list
    starts = [*head_list.starts, head_list.cell_count]
    for _ in range(200):
        cells = device.report("google", "https://www.google.com/").cells
        queries = [max(q for q, start in enumerate(starts) if start <= cell) for cell in cells]
        assert queries == sorted(set(queries))
        assert len(queries) == 3
        assert cells == tuple(sorted(cells))


def test_a_size_beyond_the_list_is_lowered(small_list):
    assert len(device_for(small_list, epsilon=1, subset_size=50).report("google", "x.example").cells) == 2


def test_an_unknown_randomiser_is_refused(small_list):
    with pytest.raises(ParameterError, match="randomiser: 'none' is unknown"):
        device_for(small_list, epsilon=1, randomiser="none")


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0}, {"epsilon": -1}, {"epsilon": 1e-18}, {"f_c": 0}, {"f_c": 2},
        {"f_c": 1e-25}, {"f_c": "0.99999999999"}, {"m_c": 0}, {"m_c": 10**30},
    ],
)  # fmt: skip
@RANDOMISERS
def test_a_device_refuses_what_would_not_be_private(small_list, wrong, randomiser):
    with pytest.raises(ParameterError):
        device_for(small_list, **{"epsilon": 1, "randomiser": randomiser, **wrong})


@pytest.mark.parametrize("size", [0, -3, 1.5])
def test_a_device_refuses_an_invalid_size(small_list, size):
    with pytest.raises(ParameterError, match="subset_size"):
        device_for(small_list, epsilon=1, subset_size=size)


def test_only_subsets_have_a_size(small_list):
    with pytest.raises(ParameterError, match="subset_size: only the randomiser 'subset' has one"):
        device_for(small_list, epsilon=1, subset_size=3, randomiser="two-stage")


@pytest.mark.parametrize(("query", "url", "personal"), PERSONAL["records"])
@RANDOMISERS
def test_a_record_that_looks_personal_counts_as_no_record_even_if_listed(query, url, personal, randomiser):
    """The list may contain anything."""
    device = device_for(HeadList.of([(query, url), ("z", "https://z.example/")]), epsilon=8, randomiser=randomiser)
    streams = [bytes([7 * i + 1]) * 64 for i in range(32)]
    same = [device.answer(query, url, one) == device.answer(None, None, one) for one in streams]
    assert all(same) is personal


def test_an_item_that_looks_personal_counts_as_no_record_even_if_listed():
    device = device_for(HeadList.of([("joe@example.com", None), ("z", None)]), epsilon=8)
    for one in (bytes([i]) * 64 for i in range(256)):
        assert device.answer("joe@example.com", None, one) == device.answer(None, None, one)


@pytest.mark.parametrize(
    ("listed", "own", "field"),
    [
        ({"epsilon": 4}, {"epsilon": 2}, "epsilon"),
        ({"epsilon": 2}, {"epsilon": 4}, "epsilon"),
        ({"epsilon": "7/3"}, {"epsilon": 7 / 3}, "epsilon"),
        ({"epsilon": 4}, {"epsilon": 4, "m_c": 2}, "m_c"),
        ({"epsilon": 4, "m_c": 3}, {"epsilon": 4}, "m_c"),
        ({"epsilon": 4, "randomiser": "two-stage", "delta": "1e-5"}, {"epsilon": 4}, "delta"),
        ({"epsilon": 4, "randomiser": "two-stage", "delta": "1e-5"}, {"epsilon": 4, "delta": "1e-6"}, "delta"),
    ],
)
def test_a_list_for_another_budget_is_refused(small_list, listed, own, field):
    """f_C and the subset size come from the list; the privacy budget is the device's own."""
    with pytest.raises(ParameterError, match="the list was made for") as caught:
        Device(reporting(small_list, **listed), **own)
    assert caught.value.subject == field


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"epsilon": 4, "delta": 1}, {"epsilon": 4, "delta": 0}])
def test_an_invalid_budget_is_refused(small_list, wrong):
    with pytest.raises(ParameterError):
        Device(reporting(small_list, epsilon=4), **wrong)


def test_a_list_without_a_channel_is_refused(small_list):
    """Nothing is assumed about the channel."""
    with pytest.raises(ParameterError, match="HeadList does not name its channel"):
        Device(small_list, epsilon=4)


def test_reports_of_different_channels_name_different_lists(small_list):
    changes = [{}, {"f_c": "0.9"}, {"subset_size": 2}, {"epsilon": 3}, {"m_c": 2}, {"randomiser": "two-stage"}]
    changes.append({"randomiser": "two-stage", "delta": "1e-6"})
    named = {device_for(small_list, **{"epsilon": 4, **change}).report("google").head_list for change in changes}
    assert len(named) == len(changes)
