from __future__ import annotations

import re
from dataclasses import replace

import pytest

from blender_dp.parameters import Parameters
from blender_dp.planning import Expected, Setting, tradeoff
from blender_dp.report.lines import svg
from blender_dp.report.plan_charts import tradeoff_chart
from tests.unit.planning.shapes import SHAPES, USERS


def texts(picture: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", picture)


def setting() -> Setting:
    return Setting(SHAPES["Zipf 1.8"], USERS, 0.1, Parameters(epsilon=4, delta="1e-5", max_queries=10))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("over", "values", "labels"),
    [
        ("epsilon", [0.5, 2.25, 4.0], ["0.5", "2.25", "4"]),
        ("users", [51_937, 125_000, 999_999, 10_000_000], ["51.94k", "125k", "1M", "10M"]),
        ("opt-in", [0.025, 0.1, 1 / 3], ["2.5%", "10%", "33.33%"]),
        ("max-queries", [5, 10], ["5", "10"]),
    ],
)
def test_every_measure_has_a_panel_and_every_value_a_readable_label(over, values, labels):
    shown = texts(svg(tradeoff_chart(tradeoff(setting(), over, values))))
    assert {"Queries listed", "L1 error", "NDCG", "Relative error of one query", "rank 1", "rank 10"} <= set(shown)
    assert set(labels) <= set(shown)


@pytest.mark.slow
def test_values_that_hardly_differ_have_different_labels():
    """Popular queries of a large collection: every NDCG is nearly 1, and two decimals would make all labels 1.00."""
    points = tradeoff(setting(), "epsilon", [2.0, 4.0]).points
    close = tuple(
        replace(one, forecast=replace(one.forecast, ndcg=Expected(0.9991 + number / 1e4, 0.999, 0.9995)))
        for number, one in enumerate(points)
    )
    shown = texts(svg(tradeoff_chart(replace(tradeoff(setting(), "epsilon", [4.0]), points=close))))
    labels = [text for text in shown if re.fullmatch(r"0\.999\d*", text)]
    assert len(labels) > 3
    assert len(set(labels)) == len(labels)
