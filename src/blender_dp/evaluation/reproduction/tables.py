"""Figures 8 and 11, and a list of all tables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from blender_dp.evaluation.population import Population
from blender_dp.evaluation.reproduction.data import Data, Populations
from blender_dp.evaluation.reproduction.figure import JOURNAL, USENIX, TableFigure, Tabulated, Verdict
from blender_dp.evaluation.reproduction.results import reason
from blender_dp.evaluation.reproduction.top_queries import top_queries
from blender_dp.parameters import Parameters
from blender_dp.pipeline.profiles import RANDOMISERS
from blender_dp_device.records.head_list import HeadList

_PRINTED_8 = {
    "AOL": {"users": 519_371, "distinct queries": 4_811_646, "distinct URLs": 1_620_064},
    "Yandex": {"users": 4_970_073, "distinct queries": 13_171_961, "distinct URLs": 12_702_350},
}
_COMMON_11 = {"ε": "4", "m_O": "1", "m_C": "1", "f_O": "0.95", "f_C": "0.85"}
_PRINTED_11 = {
    "AOL": {**_COMMON_11, "δ": "1e-05", "opt-in share": "0.05", "M": "50"},
    "Yandex": {**_COMMON_11, "δ": "1e-07", "opt-in share": "0.03", "M": "500"},
}


def tables(aol: Data, yandex: Data) -> list[TableFigure]:
    """All tables."""
    both = f"Figure 8 of {JOURNAL} and of {USENIX}"
    return [
        TableFigure("figure-8", "statistics of the data", both, lambda *run: statistics((aol, yandex), *run)),
        TableFigure("figure-9", "the top queries of AOL, ε 3", f"Figure 9 of {JOURNAL}",
                    lambda *run: top_queries(aol, "3", JOURNAL, *run)),
        TableFigure("usenix-figure-9", "the top queries of AOL, ε 4", f"Figure 9 of {USENIX}",
                    lambda *run: top_queries(aol, "4", USENIX, *run)),
        TableFigure("figure-11", "default parameters", f"Figure 11 of {JOURNAL}; Figure 10 of {USENIX}, Yandex: 2.5 %",
                    lambda *run: defaults((aol, yandex), *run)),
    ]  # fmt: skip


def statistics(data: Sequence[Data], populations: Populations, _seeds: int) -> Tabulated:
    """Figure 8: sizes of the populations that stand for the papers' logs."""
    rows, checked = [], []
    for one in data:
        population, printed = populations(one, 0), _PRINTED_8[one.label]
        ours = {
            "users": population.users,
            "distinct queries": int(np.count_nonzero(population.query_counts)),
            "distinct URLs": _distinct_urls(population),
        }
        rows += [{"log": one.label, "statistic": name, "printed": printed[name], "here": ours[name]} for name in printed]
        same, why = ours["users"] == printed["users"], reason([one.source])
        text = f"{one.label} has {printed['users']:,} users"
        checked.append((text, f"{JOURNAL}, Figure 8", Verdict(same, f"{ours['users']:,} users", why)))
        fewer = Verdict(
            ours["distinct queries"] == printed["distinct queries"],
            f"{ours['distinct queries']:,} distinct queries",
            "The papers count all records of the log; here every user has one record, as in their experiments.",
        )
        checked.append((f"{one.label} has {printed['distinct queries']:,} distinct queries", f"{JOURNAL}, Figure 8", fewer))
    return Tabulated(pa.Table.from_pylist(rows), checked)


def defaults(data: Sequence[Data], _populations: Populations, _seeds: int) -> Tabulated:
    """Figure 11: the parameters that all figures here use, read from the settings that are run."""
    rows, checked = [], []
    for one in data:
        setting = one.setting("paper")
        ours, printed = _used(setting.parameters, float(setting.opt_in)), _PRINTED_11[one.label]
        rows += [{"log": one.label, "parameter": name, "printed": printed[name], "here": ours[name]} for name in printed]
        differing = [name for name in printed if ours[name] != printed[name]]
        text = "all the same" if not differing else "different: " + ", ".join(differing)
        checked.append((f"the defaults for {one.label}", f"{JOURNAL}, Figure 11", Verdict(not differing, text)))
    return Tabulated(pa.Table.from_pylist(rows), checked)


def _used(p: Parameters, opt_in: float) -> dict[str, str]:
    f_c = RANDOMISERS[p.randomiser].designs(p, HeadList.of([]))[0].f_c
    numbers: dict[str, Fraction | float] = {
        "ε": p.epsilon, "δ": p.delta, "opt-in share": opt_in, "m_O": p.m_o, "m_C": p.m_c, "f_O": p.f_o, "f_C": f_c,
        "M": p.max_queries,
    }  # fmt: skip
    return {name: f"{float(value):g}" for name, value in numbers.items()}


def _distinct_urls(population: Population) -> int:
    """The number of different URLs, in parts, because names take memory."""
    if population.levels == 1:
        return 0
    step, seen = 200_000, set[int]()
    for start in range(0, population.counts.size, step):
        part = np.arange(start, min(start + step, population.counts.size))
        seen.update(hash(url) for _, url in population.names(part))
    return len(seen)
