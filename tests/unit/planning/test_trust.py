from __future__ import annotations

from blender_dp.parameters import Parameters
from blender_dp.planning import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.trust import compared
from tests.unit.planning.shapes import SHAPES, USERS


def test_every_group_has_its_own_scores():
    setting = Setting(SHAPES["Zipf 1.8"], USERS, 0.15, Parameters(epsilon=4, delta="1e-5", max_queries=10))
    both = simulated(setting, 3)
    opt_in, clients, blended, everyone = compared(setting, both)
    for trust, group in ((opt_in, "opt_in"), (clients, "client"), (blended, "blended")):
        assert (trust.query_l1, trust.ndcg) == (both.expected("query_l1", group), both.expected("ndcg", group))
        assert trust.queries == setting.length.mean
    assert len({one.query_l1.mean for one in (opt_in, clients, blended, everyone)}) == 4
