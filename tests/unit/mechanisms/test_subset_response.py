from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blender_dp import Entropy
from blender_dp.mechanisms.subset_response import SubsetResponse
from blender_dp.mechanisms.subset_response import mechanism as module
from blender_dp.mechanisms.subset_response.mechanism import _CHUNK, Draws
from blender_dp_device.channel.subset import SubsetChannel, slack_free
from tests.device.channel.test_subset import list_of
from tests.draws import drawn_before

W = 1 << 64
COUNTS = st.one_of(st.lists(st.integers(1, 6), min_size=2, max_size=8), st.integers(2, 8).map(lambda n: [0] * n))


def channel_of(url_counts: list[int], epsilon: Fraction, size: int) -> SubsetChannel:
    channel = slack_free(list_of(url_counts), epsilon, Fraction(7, 10), size)
    assert isinstance(channel, SubsetChannel)
    return channel


def on_devices(channel: SubsetChannel, cells: np.ndarray, draws: Draws, urls: np.ndarray) -> list[list[int]]:
    """Every client's report from the device's code, with the same random numbers."""
    starts = np.concatenate([[0], np.cumsum(channel.url_counts)])
    reports = []
    for i, cell in enumerate(cells.tolist()):
        query = int(np.searchsorted(starts, cell, side="right")) - 1
        numbers = [draws.query[i], draws.url[i], *draws.others[:, i], draws.place[i], *urls[:, i]]
        report = channel.respond(query, cell - int(starts[query]), drawn_before(iter([int(n) for n in numbers])))
        reports.append([int(starts[q]) + u for q, u in report])
    return reports


@pytest.mark.slow
@given(COUNTS, st.sampled_from([Fraction(1, 10), Fraction(4), Fraction(40), Fraction(64)]), st.data())
@settings(max_examples=300)
def test_it_matches_the_device_number_for_number(url_counts, epsilon, data):
    channel = channel_of(url_counts, epsilon, data.draw(st.integers(2, len(url_counts))))
    clients, others = 25, len(channel.url_counts) - 1

    def numbers(bound: int) -> np.ndarray:
        return np.array(data.draw(st.lists(st.integers(0, bound - 1), min_size=clients, max_size=clients)), np.int64)

    def words(bounds: list[int]) -> np.ndarray:
        """Random words, and words around every bound at which a decision changes."""
        near = st.builds(lambda bound, d: min(max(bound + d, 0), W - 1), st.sampled_from(bounds), st.integers(-2, 2))
        drawn = st.lists(st.one_of(near, st.integers(0, W - 1)), min_size=clients, max_size=clients)
        return np.array(data.draw(drawn), np.uint64)

    own = [channel.url_lie_bound(q) for q in range(others + 1)] + list(channel.url_steps)
    draws = Draws(
        words([0, channel.truth, W - 1]),
        words([0, *own, W - 1]),
        np.array([numbers(last + 1) for last in range(others - channel.size, others)]),
        numbers(channel.size),
    )
    cells = numbers(sum(channel.url_counts)).astype(np.int32)
    asked = []

    def urls_below(bounds: np.ndarray, _: Entropy) -> np.ndarray:
        asked.append(np.array([[(7 * row + 3 * column) % bound for column, bound in enumerate(bounds_of_row)]
                               for row, bounds_of_row in enumerate(bounds.tolist())]))  # fmt: skip
        return asked[0].copy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "integers_below_each", urls_below)
        reports = SubsetResponse(channel).decide(cells, draws, Entropy.seeded(0))
    assert reports.tolist() == on_devices(channel, cells, draws, asked[0])


@pytest.mark.parametrize("clients", [0, 1, _CHUNK // 4 - 1, _CHUNK // 4, _CHUNK // 4 + 1])
def test_every_client_reports_the_right_number_of_distinct_queries(entropy, clients):
    channel = channel_of([2, 3, 1], Fraction(2), 2)
    mechanism = SubsetResponse(channel)
    cells = np.zeros(clients, np.int32)
    reports = mechanism.respond(cells, entropy)
    assert reports.shape == (clients, 2)
    assert reports.dtype == np.int32
    assert not cells.any()  # the input is not changed
    assert ((reports >= 0) & (reports < mechanism.cell_count)).all()
    query = np.repeat(np.arange(4), channel.url_counts)[reports]
    assert (query[:, 0] < query[:, 1]).all()  # of distinct queries, and sorted: the order does not reveal the true one


def test_no_two_chunks_share_their_words(monkeypatch, entropy):
    monkeypatch.setattr(module, "_CHUNK", 21 * 5000)
    reports = SubsetResponse(channel_of([3] * 20, Fraction(1), 4)).respond(np.zeros(10_000, np.int32), entropy)
    assert np.count_nonzero((reports[:5000] == reports[5000:]).all(axis=1)) < 50  # a repeat would make all of them equal


def test_the_draws_do_not_depend_on_the_records():
    mechanism = SubsetResponse(channel_of([2, 3, 1, 2], Fraction(2), 2))
    draws = [mechanism.draw(100, Entropy.seeded("draws")) for _ in range(2)]
    assert all(np.array_equal(getattr(draws[0], name), getattr(draws[1], name)) for name in vars(draws[0]))
    assert draws[0].others.shape == (2, 100)
    assert (draws[0].others < np.array([[3], [4]])).all()
    assert draws[0].place.max() == 1


@given(st.integers(2, 12), st.data())
def test_the_other_queries_are_distinct(others, data):
    size = data.draw(st.integers(2, others))
    mechanism = SubsetResponse(channel_of([0] * others, Fraction(1), size))
    chosen = mechanism._others(mechanism.draw(50, Entropy.seeded(f"{others} {size}")).others)
    assert all(len(set(column)) == size for column in chosen.T.tolist())
    assert ((chosen >= 0) & (chosen < others)).all()
