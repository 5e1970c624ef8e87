from __future__ import annotations

import re

import pytest

from blender_dp.parameters import Parameters
from blender_dp.planning import Setting, tradeoff
from blender_dp.report.lines import svg
from blender_dp.report.plan_charts import tradeoff_chart
from tests.unit.planning.shapes import SHAPES, USERS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("over", "values", "labels"),
    [
        ("epsilon", [0.5, 4], ["0.5", "4"]),
        ("users", [51_937, 519_371], ["52k", "520k"]),
        ("opt-in", [0.025, 0.1], ["2.5%", "10%"]),
    ],
)
def test_every_measure_has_a_panel_and_every_value_a_readable_label(over, values, labels):
    setting = Setting(SHAPES["Zipf 1.8"], USERS, 0.1, Parameters(epsilon=4, delta="1e-5", max_queries=10))
    picture = svg(tradeoff_chart(tradeoff(setting, over, values)))
    texts = re.findall(r">([^<>]+)</text>", picture)
    assert {"Queries listed", "L1 error", "NDCG", "Relative error of one query", "rank 1", "rank 10"} <= set(texts)
    assert set(labels) <= set(texts)
