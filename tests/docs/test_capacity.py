"""The capacity page rests on measured figures, and its tool computes what it says."""

from __future__ import annotations

import importlib.util
import shlex

import pytest

from benchmarks.__main__ import BENCHMARKS
from tests.conftest import ROOT

spec = importlib.util.spec_from_file_location("capacity", ROOT / "tools/capacity.py")
CAPACITY = importlib.util.module_from_spec(spec)
spec.loader.exec_module(CAPACITY)
MEASUREMENTS = (ROOT / "docs/measurements.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", CAPACITY.FIGURES)
def test_every_figure_is_in_the_measurements_and_has_a_command(name):
    figure = CAPACITY.FIGURES[name]
    assert figure["quote"] in MEASUREMENTS
    assert figure["value"] > 0
    program, *arguments = shlex.split(figure["command"])
    assert (program, arguments[:2]) == ("python", ["-m", "benchmarks"])
    assert set(arguments[2:]) <= set(BENCHMARKS)


def test_processes_follow_from_the_rates(monkeypatch):
    """86,400,000 devices a day: 1,000/s, and 3,000/s at the peak, at 70 % of the rates."""
    monkeypatch.setattr(CAPACITY, "FIGURES", {"small_responses": {"value": 6_000}})
    assert CAPACITY.processes(86_400_000, 3_000) == pytest.approx((1 + 2 * 3_000 / 6_000) / 0.7)


def test_everything_beyond_a_measurement_is_marked():
    for _, values in [*CAPACITY.collector_rows()[1:], *CAPACITY.log_rows()[1:]]:
        assert all(value.endswith("*") for value in values[1:])
    assert CAPACITY.limits() == sorted(CAPACITY.limits())


def test_a_million_devices_fit_into_what_was_measured():
    rows = dict(CAPACITY.collector_rows())
    assert rows["processes, devices report directly"][0] == "1"
    assert not any(value[0].endswith("*") for value in rows.values())
