from __future__ import annotations

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from blender_dp.report.text import FONT_SIZE, text_width
from blender_dp.report.ticks import label_ticks, linear_ticks, log_ticks, percent, root_ticks

SHARES = st.floats(1e-6, 1)
PIXELS = st.floats(120, 1200)


def do_not_collide(places: list[float], ticks: list[float]) -> bool:
    """Whether there is some room between every two neighbouring labels."""
    halves = [text_width(percent(tick)) / 2 for tick in ticks]
    labels = list(zip(places, halves, strict=True))
    return all(a + one + 8 <= b - other for (a, one), (b, other) in itertools.pairwise(labels))


@given(SHARES, st.floats(0, 0.5), PIXELS)
def test_labels_of_a_linear_axis_do_not_collide(high, below, pixels):
    low = -below * high
    ticks = linear_ticks(low, high, pixels)
    assert do_not_collide([pixels * (tick - low) / (high - low) for tick in ticks], ticks)
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in ticks)


@given(SHARES, PIXELS)
def test_labels_of_a_root_axis_do_not_collide(high, pixels):
    ticks = root_ticks(high, pixels)
    assert ticks[0] == 0
    assert do_not_collide([pixels * math.sqrt(tick / high) for tick in ticks], ticks)
    assert ticks[-1] <= high


@given(SHARES, st.floats(1.01, 1e4), PIXELS)
def test_labels_of_a_logarithmic_axis_do_not_collide(low, factor, pixels):
    ticks = log_ticks(low, low * factor, pixels)
    places = [pixels * math.log(tick / low) / math.log(factor) for tick in ticks]
    assert all(after - before >= FONT_SIZE + 4 for before, after in itertools.pairwise(places))


def test_ticks_of_a_logarithmic_axis_are_round():
    assert log_ticks(0.0055, 0.018, 180) == [0.006, 0.008, 0.01, 0.015]
    assert log_ticks(0.0008, 0.03, 180) == [0.001, 0.002, 0.005, 0.01, 0.02]
    assert log_ticks(1e-6, 1, 180) == [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1]


def test_ticks_are_round_and_not_too_few():
    assert linear_ticks(0, 0.023, 700) == [0, 0.002, 0.004, 0.006, 0.008, 0.01, 0.012, 0.014, 0.016, 0.018, 0.02, 0.022]
    assert linear_ticks(-0.001, 0.023, 200) == [0, 0.01, 0.02]
    assert linear_ticks(0, 1, 200) == [0, 0.5, 1]
    assert root_ticks(0.022, 400) == [0, 0.0005, 0.002, 0.005, 0.01, 0.02]
    assert [percent(tick) for tick in (0, 0.005, 0.02, -0.001)] == ["0%", "0.5%", "2%", "-0.1%"]


def test_as_many_names_are_shown_as_fit_and_always_the_last():
    names = ["January", "February", "March", "April", "May"]
    assert label_ticks(names, 1000) == [0, 1, 2, 3, 4]
    assert label_ticks(names, 200) == [0, 2, 4]
    assert label_ticks(names, 20) == [4]
    assert label_ticks(["only"], 100) == [0]


def test_a_vertical_axis_has_room_for_more_ticks():
    assert linear_ticks(0, 0.01, 116, vertical=True) == [0, 0.005, 0.01]
    assert len(linear_ticks(0, 1, 300, vertical=True)) > len(linear_ticks(0, 1, 300))
