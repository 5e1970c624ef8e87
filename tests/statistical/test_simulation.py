"""Clients simulated one by one and by cell counts: the same distribution; false-alarm rate 1e-6 per check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from blender_dp import HeadList
from blender_dp.mechanisms.channel_odds import query_lie, query_truth
from blender_dp.mechanisms.two_stage_response.weights import weights
from blender_dp.stages.reporting import counted_cells, counted_reports, simulate, sum_counts
from blender_dp.stages.response import Response
from blender_dp_device.channel import Channel
from blender_dp_device.channel.subset import SubsetChannel, slack_free
from tests.statistical.checks import ALARM, assert_counts, assert_share

LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y"), ("c", "z")])
CHANNEL = Channel.of(LIST, Fraction(2), Fraction(1, 10**5), Fraction("0.7"))
CLIENTS = 1_500_000  # more than one batch
CELLS = LIST.cell_count


def clients() -> list[pa.RecordBatch]:
    """Clients of a few kinds, in several batches."""
    kinds = [("a", "x"), ("a", "else"), ("b", "x"), ("c", "z"), (None, None), ("nobody", "x")]
    chosen = [kinds[i % 11 % len(kinds)] for i in range(CLIENTS)]
    table = pa.table({"query": [q for q, _ in chosen], "url": [u for _, u in chosen]})
    return table.to_batches(max_chunksize=200_000)


def test_both_simulations_agree_with_the_channel(entropy):
    batches = clients()
    true = sum_counts([counted_cells(batches, LIST)])
    assert true.sum() == CLIENTS
    one_by_one = sum_counts(
        [counted_reports(batches[:3], LIST, CHANNEL, entropy), counted_reports(batches[3:], LIST, CHANNEL, entropy)]
    )
    by_cells = simulate(true, CHANNEL, entropy)
    assert one_by_one.sum() == by_cells.sum() == CLIENTS
    for reported in (one_by_one, by_cells):
        # A sum of multinomials over the true cells varies less than one multinomial, so χ² errs on the safe side.
        assert_counts(reported, expected(true) / CLIENTS)
    assert stats.chi2_contingency(np.array([one_by_one, by_cells])).pvalue > ALARM


def test_every_true_cell_uses_its_own_row_of_the_channel(entropy):
    """One kind of client at a time, so that a wrong row would be detected."""
    for cell in range(CELLS):
        counts = np.zeros(CELLS, np.int64)
        counts[cell] = 100_000
        assert_counts(simulate(counts, CHANNEL, entropy), expected(counts) / 100_000)


@pytest.mark.parametrize("channel", [CHANNEL, slack_free(LIST, 2, "0.7")], ids=["paper", "tight"])
def test_the_response_that_estimates_invert_is_the_channel(channel):
    """Reports of one cell each: the exact weights of the channel's words, row by row."""
    response = Response.of(channel)
    for cell, row in enumerate(rows_of(channel)):
        np.testing.assert_allclose(response.expected(np.eye(CELLS)[cell]), row, rtol=0, atol=1e-15)


def test_both_simulations_agree_for_reports_of_several_queries(entropy):
    """Every cell's number of reports by itself, since the cells of one report depend on each other (10 checks each)."""
    channel = slack_free(LIST, 2, "0.7", 2)
    batches = clients()
    true = sum_counts([counted_cells(batches, LIST)])
    chances = Response.of(channel).expected(true / CLIENTS)
    for reported in (sum_counts([counted_reports(batches, LIST, channel, entropy)]), simulate(true, channel, entropy)):
        assert reported.sum() == 2 * CLIENTS
        for number, chance in zip(reported.tolist(), chances.tolist(), strict=True):
            assert_share(number, CLIENTS, chance)


def expected(true: np.ndarray) -> np.ndarray:
    return true @ rows_of(CHANNEL)


def rows_of(channel: Channel) -> np.ndarray:
    places = [(query, url) for query, count in enumerate(LIST.url_counts) for url in range(count)]
    return np.array([[float(Fraction(weight, channel.words**2)) for weight in weights(channel, *place)] for place in places])


@pytest.mark.parametrize("size", [2, 3])
def test_both_simulations_agree_for_subsets_of_any_size(entropy, size):
    """Every client reports `size` cells. A cell's number of reports is a sum of independent yes-or-no draws of the clients.

    Such a sum varies less than a binomial of the same mean, so that the exact test errs on the safe side.
    """
    channel = slack_free(LIST, 2, "0.7", size)
    assert isinstance(channel, SubsetChannel)
    batches = clients()
    true = sum_counts([counted_cells(batches, LIST)])
    one_by_one = sum_counts(
        [counted_reports(batches[:3], LIST, channel, entropy), counted_reports(batches[3:], LIST, channel, entropy)]
    )
    by_cells = simulate(true, channel, entropy)
    assert one_by_one.sum() == by_cells.sum() == size * CLIENTS
    frequencies = Response.of(channel).expected(true / CLIENTS)
    for one, other, frequency in zip(one_by_one, by_cells, frequencies, strict=True):
        assert_share(one, CLIENTS, frequency)
        assert_share(other, CLIENTS, frequency)
        assert stats.chi2_contingency([[one, CLIENTS - one], [other, CLIENTS - other]]).pvalue > ALARM


@pytest.mark.parametrize("size", [2, 3])
def test_every_true_cell_uses_its_own_row_for_several_queries(entropy, size):
    """One kind of client at a time; the rows written out from the channel's definition, not taken from the estimator."""
    channel = slack_free(LIST, 2, "0.7", size)
    truth, lie = float(query_truth(channel)), float(query_lie(channel))
    places = [(query, url) for query, count in enumerate(LIST.url_counts) for url in range(count)]
    for cell, (query, url) in enumerate(places):
        counts = np.zeros(CELLS, np.int64)
        counts[cell] = 100_000
        reported = simulate(counts, channel, entropy)
        false = channel.url_steps[query] / channel.words
        honest = 1 - (LIST.url_counts[query] - 1) * false
        for (q, u), number in zip(places, reported, strict=True):
            own = truth * (honest if u == url else false)
            assert_share(number, 100_000, own if q == query else lie / LIST.url_counts[q])
