"""What each kind of trust buys: the same users at the same ε and δ, with other people trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from blender_dp.planning.expected import Expected
from blender_dp.planning.forecasts import usual_runs
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import Simulated, simulated

_CLIENTS = 2  # of a collection in which everyone else opts in
_RUNS = 3  # with everyone's records there is little noise to average over


@dataclass(frozen=True)
class Trust:
    """Who is trusted with what, and the quality that results."""

    kind: str
    meaning: str
    queries: float
    query_l1: Expected
    record_l1: Expected
    ndcg: Expected


def compared(setting: Setting, both: Simulated) -> tuple[Trust, ...]:
    """The opt-in users alone, the clients alone, both groups, and everyone with the curator's full trust."""
    everyone = replace(setting, opt_in=1 - _CLIENTS / setting.users)
    design = both.outcomes[-1].listing.design  # it hardly matters how two clients report
    all_in = simulated(everyone, usual_runs(everyone, few=_RUNS, many=_RUNS, fewest=1), design=design)
    return (
        _trust("opt-in users alone", "the curator sees their records; nobody else reports", setting, both, "opt_in"),
        _trust("clients alone", "nobody is trusted; the list has to be known from elsewhere", setting, both, "client"),
        _trust("both", "this plan", setting, both, "blended"),
        _trust("everyone opts in", "the curator sees every user's record", everyone, all_in, "opt_in"),
    )


def _trust(kind: str, meaning: str, setting: Setting, simulated: Simulated, group: str) -> Trust:
    scores = (simulated.expected(name, group) for name in ("query_l1", "record_l1", "ndcg"))
    return Trust(kind, meaning, setting.length.mean, *scores)
