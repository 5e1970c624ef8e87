"""Lists, parameters and byte streams with the integers and reports of both randomisers."""

from __future__ import annotations

from typing import Any

from blender_dp.mechanisms.two_stage_response.weights import weights
from blender_dp_device.channel import Channel, Device
from blender_dp_device.channel.subset import SubsetChannel
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList

_LISTS = {
    "two queries": [
        ("google", "https://www.google.com/"),
        ("google", "https://www.google.com/2"),
        ("yahoo", "https://www.yahoo.com/"),
    ],
    "one query": [("maps", "https://maps.example/")],
    "many URLs": [("news", f"https://news.example/{i}") for i in range(7)] + [("weather", "https://weather.example/")],
    "seven queries": [(f"q{i}", f"https://{i}.example/{j}") for i in range(7) for j in range(i % 3 + 1)],
    "empty": [],
    "single items": [("calculator", None), ("google", None), ("maps", None)],
}
_CASES = (
    ("two queries", "4", "1e-5", "0.85", 1),
    ("two queries", "1", "1e-7", "0.5", 1),
    ("two queries", "4", "1e-5", "0.85", 3),
    ("one query", "0.1", "0.000001", "0.9", 1),
    ("many URLs", "2.5", "1e-5", "0.7", 1),
    ("many URLs", "40", "1e-5", "0.85", 1),
    ("empty", "4", "1e-5", "0.85", 1),
    ("single items", "4", "1e-5", "0.85", 1),
    ("single items", "1", "1e-7", "0.5", 2),
)
_SUBSET_CASES = (
    ("two queries", "4", "0.83125", 1, 1),
    ("two queries", "1", "0.8", 2, 1),
    ("two queries", "1", "0.8", 9, 1),
    ("one query", "0.1", "0.9", 3, 1),
    ("many URLs", "2.5", "0.7", 1, 3),
    ("seven queries", "1", "0.75", 3, 1),
    ("seven queries", "4", "0.3", 4, 2),
    ("empty", "4", "0.85", 2, 1),
    ("single items", "4", "0.85", 1, 1),
    ("single items", "1", "0.5", 2, 2),
)
_RECORDS = (
    ("Google", "http://unlisted.example"),
    ("news", "https://news.example/3"),
    ("nobody asked this", "https://x.example/"),
    ("google", ""),
    (None, None),
)
# With one level a URL neither makes a record nor spoils it.
_ITEMS = ((" MAPS ", ""), ("maps", "https://maps.example/?token=1"), ("joe@example.org", None))


def local_alg_vectors() -> dict[str, Any]:
    """Lists, parameters and byte streams with the integers, probabilities and reports that must come out."""
    return {"schema": "blender-dp/vectors/local-alg/2", "cases": [_case(*case) for case in _CASES]}


def _case(name: str, epsilon: str, delta: str, f_c: str, m_c: int) -> dict[str, Any]:
    head_list = HeadList.of(_LISTS[name])
    settings = ChannelSettings.of(randomiser="two-stage", epsilon=epsilon, delta=delta, f_c=f_c, m_c=m_c)
    listed = ReportingList(head_list, settings)
    device = Device(listed, epsilon=epsilon, delta=delta, m_c=m_c)
    channel = Channel.of(head_list, epsilon, delta, f_c, m_c)
    return {
        "name": f"{name}, ε {epsilon}, m_c {m_c}",
        "head_list": listed.to_document(),
        "head_list_digest": listed.digest,
        "epsilon": epsilon,
        "delta": delta,
        "m_c": m_c,
        **_two_stage(channel, head_list),
        "reports": [_report(device, *record, stream) for record in _records(head_list) for stream in _streams(channel)],
    }


def subset_vectors() -> dict[str, Any]:
    """The same for the randomiser "subset"; with one query per report it is LocalAlg with other integers."""
    return {"schema": "blender-dp/vectors/subset/2", "cases": [_subset_case(*case) for case in _SUBSET_CASES]}


def _subset_case(name: str, epsilon: str, f_c: str, size: int, m_c: int) -> dict[str, Any]:
    head_list = HeadList.of(_LISTS[name])
    listed = ReportingList(head_list, ChannelSettings.of(epsilon=epsilon, f_c=f_c, subset_size=size, m_c=m_c))
    device = Device(listed, epsilon=epsilon, m_c=m_c)
    channel = device.channel
    single = isinstance(channel, Channel)
    integers = _two_stage(channel, head_list) if single else _subset(channel)
    streams = _streams(channel) if single else _subset_streams(channel)
    records = [*list(head_list.records())[::5], *_RECORDS[2:3]] if len(head_list) > 3 else _records(head_list)
    return {
        "name": f"{name}, ε {epsilon}, f_c {f_c}, size {size}, m_c {m_c}",
        "head_list": listed.to_document(),
        "head_list_digest": listed.digest,
        "epsilon": epsilon,
        "m_c": m_c,
        "size": channel.size,
        **integers,
        "reports": [_report(device, *record, stream) for record in records for stream in streams],
    }


def _two_stage(channel: Channel, head_list: HeadList) -> dict[str, Any]:
    return {
        "query_step": str(channel.query_step),
        "url_steps": [str(step) for step in channel.url_steps],
        "weights_over": str(channel.words**2),
        "weights": [[str(w) for w in weights(channel, *head_list.position(*cell))] for cell in head_list.cells()],
    }


def _subset(channel: SubsetChannel) -> dict[str, Any]:
    return {"truth": str(channel.truth), "url_steps": [str(step) for step in channel.url_steps]}


def _records(head_list: HeadList) -> list[tuple[str | None, str | None]]:
    return [*head_list.records(), *_RECORDS, *(_ITEMS if head_list.levels == 1 else ())]


def _report(device: Device, query: str | None, url: str | None, stream: bytes) -> dict[str, Any]:
    report = device.answer(query, url, stream)
    return {"query": query, "url": url, "bytes": stream.hex(), "cells": list(report.cells)}


def _streams(channel: Channel) -> list[bytes]:
    """Words at the edges of every decision, where an implementation would go wrong."""
    bound, last = channel.query_lie_bound, channel.words - 1
    firsts = {0, channel.query_step, max(bound - 1, 0), min(bound, last), last}
    bounds = {channel.url_lie_bound(q) for q in range(len(channel.url_counts))}
    seconds = {0, channel.words // 3, last} | {min(max(b - d, 0), last) for b in bounds for d in (0, 1)}
    pairs = {(a, b) for a in firsts for b in (0, last)} | {(last, b) for b in seconds}
    return [a.to_bytes(8, "little") + b.to_bytes(8, "little") for a, b in sorted(pairs)]


def _subset_streams(channel: SubsetChannel) -> list[bytes]:
    """Edges of the two words; choices that collide in Floyd's algorithm; every place; words that are refused."""
    last, size, others = channel.words - 1, channel.size, len(channel.url_counts) - 1
    bounds = sorted({channel.url_lie_bound(q) for q in range(others + 1)} - {0})
    edges = [(0, 0), (0, last), (channel.truth - 1, last), (channel.truth, last), (last, 0)]
    edges += [(0, bound - d) for bound in bounds for d in (1, 0)]
    tails = [[0] * (2 * size + 1), [last // 2] * (2 * size + 1), [last // 3 * i % last for i in range(2 * size + 1)]]
    places = [[*[0] * size, place * (channel.words // size), *[last // 2] * size] for place in range(size)]
    streams = [[*edge, *tails[i % 3]] for i, edge in enumerate(edges)] + [[0, last, *tail] for tail in tails + places]
    # The last word is refused wherever the bound does not divide 2^64; then the next one is taken.
    streams.append([0, last, *(word for number in tails[1] for word in (last, number))])
    return [b"".join(word.to_bytes(8, "little") for word in [*words, 0]) for words in streams]  # one more than needed
