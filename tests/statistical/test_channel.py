"""The shipped code, run as a black box, has the audited channel; false-alarm rate 1e-6 per check."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from blender_dp import Device, HeadList
from blender_dp.client import Channel
from blender_dp.mechanisms.two_stage_response import TwoStageResponse
from tests.statistical.checks import Z, assert_counts
from tests.unit.client.test_channel import closed_form, positions

LIST = HeadList.of([("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y"), ("c", "z")])


def probabilities(channel: Channel, query: int, url: int) -> np.ndarray:
    return np.array([float(Fraction(w, channel.words**2)) for w in closed_form(channel, query, url).values()])


@pytest.mark.parametrize("epsilon", ["0.5", "2", "4"])
def test_many_clients(entropy, epsilon):
    channel = Channel.of(LIST, Fraction(epsilon), Fraction(1, 10**5), Fraction("0.85"))
    mechanism = TwoStageResponse(channel)
    for cell, position in enumerate(positions(channel)):
        reports = mechanism.respond(np.full(300_000, cell, np.int32), entropy)
        assert_counts(np.bincount(reports, minlength=mechanism.cell_count), probabilities(channel, *position))


@pytest.mark.parametrize("randomiser", ["subset", "two-stage"])
def test_one_device_with_real_entropy(randomiser):
    """Not seeded: this is the operating system's generator, so a failure once in a million runs is to be expected."""
    device = Device(LIST, epsilon=2, delta=1e-5, randomiser=randomiser)
    reports = [device.report("c", "y").cells[0] for _ in range(60_000)]
    position = LIST.position("c", "https://y/")
    assert_counts(np.bincount(reports, minlength=LIST.cell_count), probabilities(device.channel, *position))


def test_the_loss_seen_from_outside_stays_below_epsilon(entropy):
    """A lower confidence bound of the worst log-ratio, from reports alone: below ε, and near what the audit says."""
    channel = Channel.of(LIST, Fraction(2), Fraction(1, 10**5), Fraction("0.85"))
    mechanism, n = TwoStageResponse(channel), 2_000_000
    reports = [
        np.bincount(mechanism.respond(np.full(n, cell, np.int32), entropy), minlength=mechanism.cell_count)
        for cell in range(10)
    ]
    worst = max(np.log(a[y] / b[y]) - Z * (1 / a[y] + 1 / b[y]) ** 0.5 for a in reports for b in reports for y in range(10))
    assert 1.7 < worst < 2.0
