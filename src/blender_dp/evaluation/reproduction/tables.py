"""Figures 8, 9 and 11, which are tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from blender_dp.evaluation.experiment import Outcome, collect
from blender_dp.evaluation.fast_reports import fast_reports
from blender_dp.evaluation.groups import Split
from blender_dp.evaluation.population import Population
from blender_dp.evaluation.reproduction.figure import JOURNAL, USENIX, Verdict
from blender_dp.evaluation.reproduction.results import Results
from blender_dp.evaluation.reproduction.sweeps import Data
from blender_dp.parameters import Parameters
from blender_dp.pipeline.collection import Collection
from blender_dp.pipeline.profiles import RANDOMISERS
from blender_dp.sampling import Entropy
from blender_dp.stages import Floats
from blender_dp_device.records.head_list import HeadList

Populations = Callable[[Data, int], Population]
"""The population of one of the logs with a seed."""

Checked = tuple[str, str, Verdict]
"""A claim, its source, and whether it holds."""

TableAndClaims = tuple[pa.Table, list[Checked]]
"""The values of a table, and its claims, checked."""

_TOP = 9
_WITHIN = 3.0  # standard deviations over the seeds
_COLUMNS = ("blended", "opt-in", "client")
_PRINTED_8 = {
    "AOL": {"users": 519_371, "distinct queries": 4_811_646, "distinct URLs": 1_620_064},
    "Yandex": {"users": 4_970_073, "distinct queries": 13_171_961, "distinct URLs": 12_702_350},
}
# The nine queries below ⋆: google, yahoo, google.com, myspace.com, mapquest, yahoo.com, www.google.com, myspace, ebay.
_PRINTED_9: Mapping[str, Mapping[str, Sequence[float]]] = {
    JOURNAL: {
        "truth": (0.0211, 0.0067, 0.0066, 0.0055, 0.0055, 0.0048, 0.0044, 0.0034, 0.0030),
        "blended": (0.0211, 0.0081, 0.0075, 0.0046, 0.0062, 0.0047, 0.0038, 0.0030, 0.0030),
        "opt-in": (0.0220, 0.0061, 0.0083, 0.0034, 0.0051, 0.0057, 0.0043, 0.0031, 0.0030),
        "client": (0.0210, 0.0088, 0.0073, 0.0052, 0.0066, 0.0043, 0.0035, 0.0030, 0.0029),
    },
    USENIX: {
        "truth": (0.0213, 0.0067, 0.0067, 0.0057, 0.0054, 0.0043, 0.0034, 0.0033, 0.0028),
        "blended": (0.0216, 0.0070, 0.0056, 0.0052, 0.0051, 0.0043, 0.0004, 0.0034, 0.0026),
        "opt-in": (0.0213, 0.0046, 0.0023, 0.0022, 0.0062, 0.0021, 0.0004, 0.0042, 0.0028),
        "client": (0.0217, 0.0073, 0.0061, 0.0057, 0.0053, 0.0048, 0.0032, 0.0035, 0.0028),
    },
}
_COMMON_11 = {"ε": "4", "m_O": "1", "m_C": "1", "f_O": "0.95", "f_C": "0.85"}
_PRINTED_11 = {
    "AOL": {**_COMMON_11, "δ": "1e-05", "opt-in share": "0.05", "M": "50"},
    "Yandex": {**_COMMON_11, "δ": "1e-07", "opt-in share": "0.03", "M": "500"},
}


@dataclass(frozen=True)
class TableFigure:
    """A table of a paper, and how to reproduce it from the populations of some seeds."""

    name: str
    title: str
    source: str
    make: Callable[[Populations, int, Results], TableAndClaims]


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


def statistics(data: Sequence[Data], populations: Populations, _seeds: int, results: Results) -> TableAndClaims:
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
        same = ours["users"] == printed["users"]
        text = f"{one.label} has {printed['users']:,} users"
        checked.append((text, f"{JOURNAL}, Figure 8", Verdict(same, f"{ours['users']:,} users", results.reason)))
        fewer = Verdict(
            ours["distinct queries"] == printed["distinct queries"],
            f"{ours['distinct queries']:,} distinct queries",
            "The papers count all records of the log; here every user has one record, as in their experiments.",
        )
        checked.append((f"{one.label} has {printed['distinct queries']:,} distinct queries", f"{JOURNAL}, Figure 8", fewer))
    return pa.Table.from_pylist(rows), checked


def top_queries(
    data: Data, epsilon: str, paper: str, populations: Populations, seeds: int, results: Results
) -> TableAndClaims:
    """Figure 9: the estimates of the top queries by each part of profile `paper`, and those of `tight`."""
    estimates: dict[str, list[Floats]] = {name: [] for name in ("truth", *_COLUMNS, "tight, blended")}
    names: Sequence[str] = ()
    for seed in range(seeds):
        population = populations(data, seed)
        groups = Split(population, seed).groups(float(data.setting("paper").opt_in), 0.95)
        top = np.argsort(-population.query_counts, kind="stable")[:_TOP]
        names = names or [population.names(np.searchsorted(population.query_of, top[i : i + 1]))[0][0] for i in range(_TOP)]
        estimates["truth"].append(population.query_counts[top] / population.users)
        for profile in ("paper", "tight"):
            parameters = data.setting(profile, epsilon=epsilon).parameters
            outcome = collect(
                Collection(parameters), groups, Entropy.seeded(f"figure 9 {epsilon} {profile} {seed}"), fast_reports
            )
            for group in _COLUMNS if profile == "paper" else _COLUMNS[:1]:
                column = group if profile == "paper" else f"{profile}, {group}"
                estimates[column].append(_of_queries(outcome, group, top))
    table = _top_table(names, estimates, _PRINTED_9[paper])
    return table, _top_checks(estimates, paper, results)


def _of_queries(outcome: Outcome, group: str, queries: np.ndarray[Any, Any]) -> Floats:
    """A group's estimates of these queries; NaN for one that is not listed."""
    result = outcome.result
    estimate = {"blended": result.blended.queries, "opt-in": result.opt_in.queries, "client": result.client.queries}[group]
    place = {int(number): i for i, number in enumerate(outcome.listed.queries)}
    return np.array([estimate.share[place[int(q)]] if int(q) in place else np.nan for q in queries])


def _top_table(
    names: Sequence[str], estimates: Mapping[str, list[Floats]], printed: Mapping[str, Sequence[float]]
) -> pa.Table:
    rows = []
    for column, values in estimates.items():
        mean, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        for i, query in enumerate(names):
            value = printed[column][i] if column in printed else None
            rows.append(
                {"rank": i + 1, "query": query, "column": column, "printed": value, "mean": float(mean[i]),
                 "standard_deviation": float(spread[i]), "seeds": len(values)}
            )  # fmt: skip
    return pa.Table.from_pylist(rows)


def _top_checks(estimates: Mapping[str, list[Floats]], paper: str, results: Results) -> list[Checked]:
    """Whether the printed errors are among those that profile `paper` makes here."""
    printed, checked = _PRINTED_9[paper], []
    truth = np.array(estimates["truth"])
    for column in _COLUMNS:
        errors = np.array(estimates[column]) - truth
        mean, spread = np.nanmean(errors, axis=0), np.nanstd(errors, axis=0)
        theirs = np.array(printed[column]) - np.array(printed["truth"])
        inside = np.abs(theirs - mean) <= _WITHIN * np.maximum(spread, 1e-12)
        outside = ", ".join(str(i + 1) for i in np.flatnonzero(~inside))
        text = f"{int(inside.sum())} of {_TOP} printed errors are within {_WITHIN:g} standard deviations of those here"
        why = f"Outside: rank {outside}. {results.reason}"
        claim = f"the errors of the {column} estimates are as printed"
        checked.append((claim, f"{paper}, Figure 9", Verdict(bool(inside.all()), text, why)))
    here = float(np.mean([_regressions(row) for row in estimates["blended"]]))
    theirs = _regressions(np.array(printed["blended"]))
    text = f"{here:.1f} on average ({theirs} in the printed column)"
    why = f"The paper shows one collection; here is the mean of {len(estimates['blended'])}. {results.reason}"
    checked.append(("the blend has one regression", f"{paper}, Section 4", Verdict(abs(here - 1) <= 0.5, text, why)))
    return checked


def _regressions(estimates: Floats) -> int:
    """The number of queries whose estimate is larger than that of the query before."""
    return int(np.count_nonzero(np.diff(estimates) > 0))


def defaults(data: Sequence[Data], _populations: Populations, _seeds: int, _results: Results) -> TableAndClaims:
    """Figure 11: the parameters that all figures here use, read from the settings that are run."""
    rows, checked = [], []
    for one in data:
        setting = one.setting("paper")
        ours, printed = _used(setting.parameters, float(setting.opt_in)), _PRINTED_11[one.label]
        rows += [{"log": one.label, "parameter": name, "printed": printed[name], "here": ours[name]} for name in printed]
        differing = [name for name in printed if ours[name] != printed[name]]
        text = "all the same" if not differing else "different: " + ", ".join(differing)
        checked.append((f"the defaults for {one.label}", f"{JOURNAL}, Figure 11", Verdict(not differing, text)))
    return pa.Table.from_pylist(rows), checked


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
