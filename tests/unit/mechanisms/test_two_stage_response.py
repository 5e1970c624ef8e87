from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp import Entropy
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from blender_dp.mechanisms.two_stage_response.mechanism import _CHUNK
from blender_dp_device.channel import Channel
from blender_dp_device.records.head_list import HeadList

W = 1 << 64
COUNTS = st.one_of(st.lists(st.integers(1, 6), max_size=6), st.lists(st.just(0), max_size=6))  # 0: single items
EDGES = st.integers(-2, 2)


def channel_of(url_counts: list[int], epsilon: Fraction) -> Channel:
    head_list = HeadList.of((f"q{i}", f"u{j}" if n else None) for i, n in enumerate(url_counts) for j in range(n or 1))
    return Channel.of(head_list, epsilon, Fraction(1, 10**6), Fraction(7, 10))


def one_by_one(channel: Channel, cells: np.ndarray, first: np.ndarray, second: np.ndarray) -> list[int]:
    starts = np.concatenate([[0], np.cumsum(channel.url_counts)])
    reports = []
    for cell, a, b in zip(cells.tolist(), first.tolist(), second.tolist(), strict=True):
        query = int(np.searchsorted(starts, cell, side="right")) - 1
        q, u = channel.respond(query, cell - int(starts[query]), a, b)
        reports.append(int(starts[q]) + u)
    return reports


@pytest.mark.slow
@given(COUNTS, st.sampled_from([Fraction(1, 10), Fraction(4), Fraction(40), Fraction(64)]), st.data())
@settings(max_examples=300)
def test_it_matches_the_device_word_for_word(url_counts, epsilon, data):
    channel = channel_of(url_counts, epsilon)
    size = 40
    # Random words, and words around every bound at which a decision changes.
    bounds = [0, W - 1, channel.query_lie_bound, channel.query_step, W // 2]
    bounds += [channel.url_lie_bound(q) for q in range(len(channel.url_counts))] + [W * i // 5 for i in range(5)]
    near = st.builds(lambda bound, d: min(max(bound + d, 0), W - 1), st.sampled_from(bounds), EDGES)
    words = st.lists(st.one_of(near, st.integers(0, W - 1)), min_size=size, max_size=size)
    first, second = (np.array(data.draw(words), np.uint64) for _ in range(2))
    cells = np.array(
        data.draw(st.lists(st.integers(0, sum(channel.url_counts) - 1), min_size=size, max_size=size)), np.int32
    )
    assert TwoStageResponse(channel).decide(cells, first, second).tolist() == one_by_one(channel, cells, first, second)


@pytest.mark.parametrize("size", [0, 1, _CHUNK - 1, _CHUNK, _CHUNK + 1, 2 * _CHUNK + 17])
def test_every_client_reports_once(entropy, size):
    mechanism = TwoStageResponse(channel_of([2, 3, 1], Fraction(2)))
    cells = np.zeros(size, np.int32)
    reports = mechanism.respond(cells, entropy)
    assert reports.size == size
    assert not cells.any()  # the input is not changed
    assert ((reports >= 0) & (reports < mechanism.cell_count)).all()


def test_no_two_chunks_share_their_words(entropy):
    reports = TwoStageResponse(channel_of([3] * 20, Fraction(1))).respond(np.zeros(2 * _CHUNK, np.int32), entropy)
    assert np.count_nonzero(reports[:_CHUNK] == reports[_CHUNK:]) < _CHUNK / 2  # a repeat would make all of them equal


def test_every_chunk_matches_the_device_word_for_word():
    """Words are drawn chunk by chunk, all first words and then all second words of a chunk."""
    channel, size = channel_of([2, 3, 1], Fraction(2)), _CHUNK + 50
    cells = np.arange(size, dtype=np.int32) % sum(channel.url_counts)
    reports = TwoStageResponse(channel).respond(cells, Entropy.seeded("words"))
    words = Entropy.seeded("words").words(4 * _CHUNK).reshape(2, 2, _CHUNK)
    for chunk, part in enumerate((slice(0, 50), slice(_CHUNK, size))):
        expected = one_by_one(channel, cells[part], words[chunk, 0, :50], words[chunk, 1, :50])
        assert reports[part].tolist() == expected
