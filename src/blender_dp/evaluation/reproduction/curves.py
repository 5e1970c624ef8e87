"""Figures 10 and 12 to 19 of the journal paper, and the figures of the 2017 paper that differ from them."""

from __future__ import annotations

from dataclasses import replace

from blender_dp.evaluation.reproduction.checks import (
    all_below,
    begins_at,
    best_at,
    better_than_worse_group,
    declines,
    never_worse,
    printed_ndcg,
    reaches,
    rival_remark,
    suffices,
)
from blender_dp.evaluation.reproduction.data import Data
from blender_dp.evaluation.reproduction.figure import JOURNAL, USENIX, Claim, Figure, Line, Panel
from blender_dp.evaluation.reproduction.sweeps import group_panels, groups, panels_by_size, profiles

PRINTED_BLENDER = {1.0: 0.974, 2.0: 0.980, 3.0: 0.984, 4.0: 0.987, 5.0: 0.990}
PRINTED_SPLIT = {0.85: 0.990157725}
PRINTED_QIN = {1.0: 0.175, 2.0: 0.295, 3.0: 0.315, 4.0: 0.360, 5.0: 0.385}
RIVALS = {"local hashing, 1,000 candidates": "1000", "local hashing, 100,000 candidates": "100000"}

_SHARES = {
    "AOL": tuple(f"{half / 200}" for half in range(2, 21)),
    "Yandex": ("0.01", "0.015", "0.02", "0.025", "0.03", "0.04", "0.05", "0.06", "0.08", "0.1"),
}
_EPSILONS = ("1", "2", "3", "4", "5", "6")
_TINY = tuple(f"{tenth / 1000}" for tenth in range(1, 11))
_SPLITS = tuple(f"{twentieth / 20}" for twentieth in range(11, 20))


def curves(aol: Data, yandex: Data) -> list[Figure]:
    """All figures with lines."""
    return [
        budget_split(aol),
        against_local(aol),
        over_opt_in("figure-13", "query L1 over the share of opt-in users", "query_l1", aol, yandex),
        over_epsilon("figure-14", "query L1 over ε", "query_l1", aol, yandex, JOURNAL),
        over_opt_in("figure-15", "NDCG over the share of opt-in users", "ndcg", aol, yandex),
        over_epsilon("figure-16", "NDCG over ε", "ndcg", aol, yandex, JOURNAL),
        each_group(yandex),
        tiny_groups(yandex),
        tiny_each_group(yandex),
        over_epsilon(
            "usenix-figure-15", "query L1 over ε, 2.5 % opt-in on Yandex", "query_l1", aol, _usenix(yandex), USENIX
        ),
        over_epsilon("usenix-figure-16", "NDCG over ε, 2.5 % opt-in on Yandex", "ndcg", aol, _usenix(yandex), USENIX),
    ]


def _usenix(yandex: Data) -> Data:
    return replace(yandex, opt_in="0.025")


def budget_split(aol: Data) -> Figure:
    """Figure 10 (11 in the 2017 paper)."""
    lines = groups(aol, "f_c", _SPLITS)
    paper, where = lines[0].settings, f"{JOURNAL}, Section 4.3.1"
    return Figure(
        "figure-10",
        "the clients' budget split",
        f"Figure 10 of {JOURNAL}; Figure 11 of {USENIX}",
        [
            Panel("query L1", "query_l1", "f_c", lines),
            Panel("NDCG", "ndcg", "f_c", [*lines, Line("printed", printed=PRINTED_SPLIT)]),
        ],
        [
            Claim("the more budget for queries, the smaller the L1 of the blend", where, declines(paper, "query_l1")),
            Claim("the more budget for queries, the smaller the L1 of the clients", where,
                  declines(paper, "query_l1", "client")),
            Claim("the clients' NDCG peaks at 0.85", where, best_at(paper, "client", "ndcg", 0.85)),
            Claim("a labelled point, of an unnamed line: NDCG 0.990 at 0.85", f"{JOURNAL}, Figure 10b",
                  printed_ndcg(paper, PRINTED_SPLIT, "f_C")),
        ],
        columns=2,
        log_l1=False,
    )  # fmt: skip


def against_local(aol: Data) -> Figure:
    """Figure 12."""
    epsilons = _EPSILONS[:5]
    lines = profiles(aol, "epsilon", epsilons, max_queries=10)
    blends = [Line("printed, BLENDER", printed=PRINTED_BLENDER), *lines]
    local = [
        *(Line(label, rival=candidates) for label, candidates in RIVALS.items()),
        Line("printed, Qin et al. (CCS 2016)", printed=PRINTED_QIN),
    ]
    return Figure(
        "figure-12",
        "a list of 10 queries, against local-only work",
        f"Figure 12 of {JOURNAL} and of {USENIX}",
        [
            Panel("AOL, M = 10", "ndcg", "epsilon", [*blends, *local]),
            Panel("AOL, M = 10, without local-only work", "ndcg", "epsilon", blends),
        ],
        [
            Claim(
                "BLENDER's NDCG is 0.974, 0.980, 0.984, 0.987 and 0.990 at ε 1 to 5",
                f"{JOURNAL}, Figure 12",
                printed_ndcg(lines[0].settings, PRINTED_BLENDER, "ε"),
            ),
            Claim(
                "NDCG is above 95 % in the whole range",
                f"{JOURNAL}, Section 4.3.2",
                reaches(lines[0].settings, "ndcg", 0.95),
            ),
        ],
        columns=2,
        remark=lambda results: rival_remark(results, lines[0].settings, lines[1].settings),
    )


def over_opt_in(name: str, title: str, measure: str, aol: Data, yandex: Data) -> Figure:
    """Figures 13 and 15."""
    shares = {data.label: [*_SHARES[data.label]] for data in (aol, yandex)}
    aol_50 = aol.sweep("paper", "opt_in", shares["AOL"], max_queries=50)
    yandex_500 = yandex.sweep("paper", "opt_in", shares["Yandex"], max_queries=500)
    at_1, at_1_5 = (
        {float(size): yandex.setting("paper", opt_in=share, max_queries=size) for size in yandex.sizes[:-1]}
        for share in ("0.01", "0.015")
    )
    text = f"{JOURNAL}, Section 4.3.3"
    claims = {
        "query_l1": [
            Claim("on AOL the line of 50 queries begins at 5 % (here: at most half a point earlier or later)", text,
                  begins_at(aol_50, 50, 0.05)),
            Claim("on AOL the line of 50 queries begins at 4.5 % (here: at most half a point earlier or later)",
                  f"{USENIX}, Section 4.2.3", begins_at(aol_50, 50, 0.045)),
            Claim("on AOL the L1 of 50 queries declines a little up to 10 %", text,
                  declines({x: one for x, one in aol_50.items() if x >= 0.055}, "query_l1")),
            Claim("on Yandex 3 % suffice for 500 queries", text, suffices(yandex_500, 500, 0.03)),
            Claim("on Yandex 2.5 % suffice for 500 queries", f"{USENIX}, Section 4.2.3",
                  suffices(yandex_500, 500, 0.025)),
            Claim("on AOL the L1 of 50 queries stays below 0.016", f"{JOURNAL}, axis of Figure 13a",
                  all_below({x: one for x, one in aol_50.items() if x >= 0.05}, "query_l1", 0.016)),
            Claim("on Yandex the L1 of 500 queries stays below 0.06", f"{JOURNAL}, axis of Figure 13b",
                  all_below({x: one for x, one in yandex_500.items() if x >= 0.03}, "query_l1", 0.06)),
        ],
        "ndcg": [
            Claim("on AOL 5 % give an NDCG above 95 %", text,
                  reaches({x: one for x, one in aol_50.items() if x >= 0.05}, "ndcg", 0.95)),
            Claim("on Yandex 1 % give an NDCG above 95 %, except for the longest list", text,
                  reaches(at_1, "ndcg", 0.95)),
            Claim("on Yandex 1.5 % give an NDCG above 95 %, except for the longest list", f"{USENIX}, Section 4.2.3",
                  reaches(at_1_5, "ndcg", 0.95)),
        ],
    }  # fmt: skip
    number = {"figure-13": "13", "figure-15": "15"}[name]
    usenix = {"13": "13", "15": "14"}[number]
    return Figure(
        name, title, f"Figure {number} of {JOURNAL}; Figure {usenix} of {USENIX}",
        panels_by_size((aol, yandex), measure, "opt_in", shares), claims[measure],
    )  # fmt: skip


def over_epsilon(name: str, title: str, measure: str, aol: Data, yandex: Data, paper: str) -> Figure:
    """Figures 14 and 16, or 15 and 16 of the 2017 paper, which stops at ε 5."""
    epsilons = _EPSILONS if paper == JOURNAL else _EPSILONS[:5]
    values = {data.label: epsilons for data in (aol, yandex)}
    sweeps = {
        data.label: {size: data.sweep("paper", "epsilon", epsilons, max_queries=size) for size in data.sizes}
        for data in (aol, yandex)
    }
    text = f"{paper}, Section {'4.3.3' if paper == JOURNAL else '4.2.3'}"
    at_1 = {float(size): sweeps["Yandex"][size][1.0] for size in yandex.sizes}
    longest = Claim("on AOL the line of 50 queries begins at ε 3", text, begins_at(sweeps["AOL"][50], 50, 3.0))
    only_usenix = [longest] if paper == USENIX else []
    claims = {
        "query_l1": [
            Claim("on AOL L1 declines with ε (10 queries)", text, declines(sweeps["AOL"][10], "query_l1")),
            Claim("on Yandex L1 declines with ε (10 queries)", text, declines(sweeps["Yandex"][10], "query_l1")),
            Claim("on Yandex L1 is below 0.1 from ε 1 on", text, all_below(at_1, "query_l1", 0.1)),
            *only_usenix,
        ],
        "ndcg": [
            Claim("on Yandex ε 1 gives an NDCG of 95 % and more, except for the two longest lists", text,
                  reaches({x: one for x, one in at_1.items() if x <= 50}, "ndcg", 0.95)),
        ],
    }  # fmt: skip
    number = name.rsplit("-", 1)[1]
    return Figure(
        name, title, f"Figure {number} of {paper}",
        panels_by_size((aol, yandex), measure, "epsilon", values), claims[measure],
    )  # fmt: skip


def each_group(yandex: Data) -> Figure:
    """Figure 17."""
    panels = [
        *group_panels(yandex, "opt_in", _SHARES["Yandex"], 100, "over the opt-in share, ε 4"),
        *group_panels(yandex, "epsilon", _EPSILONS, 100, "over ε, 3 % opt-in"),
    ]
    settings = [one for panel in (panels[0], panels[2]) for one in panel.lines[0].settings.values()]
    text = f"{JOURNAL}, Section 4.3.3"
    return Figure(
        "figure-17", "each group's part, Yandex, 100 queries", f"Figure 17 of {JOURNAL}",
        panels,
        [
            Claim("the blend's L1 is better than the worse group's", text,
                  better_than_worse_group(settings, "query_l1", larger_is_better=False)),
            Claim("the blend's NDCG is better than the worse group's", text,
                  better_than_worse_group(settings, "ndcg", larger_is_better=True)),
            Claim("the blend's L1 is better than the opt-in users'", text,
                  never_worse(settings, ("blended", "opt-in"), "query_l1", larger_is_better=False)),
            Claim("the blend's L1 is better than the clients'", text,
                  never_worse(settings, ("blended", "client"), "query_l1", larger_is_better=False)),
        ],
        columns=2,
    )  # fmt: skip


def tiny_groups(yandex: Data) -> Figure:
    """Figure 18."""
    panels = [
        Panel(f"{name}, M = {size}", measure, "opt_in", profiles(yandex, "opt_in", _TINY, max_queries=size))
        for measure, name in (("query_l1", "query L1"), ("ndcg", "NDCG"))
        for size in (10, 25, 50)
    ]
    largest = {float(size): yandex.setting("paper", opt_in="0.01", max_queries=size) for size in (10, 25, 50)}
    return Figure(
        "figure-18", "tiny opt-in groups, Yandex", f"Figure 18 of {JOURNAL}", panels,
        [Claim("once a list can be made, its NDCG is high (95 % at 1 %)", f"{JOURNAL}, Section 4.3.3",
               reaches(largest, "ndcg", 0.95))],
    )  # fmt: skip


def tiny_each_group(yandex: Data) -> Figure:
    """Figure 19."""
    panels = group_panels(yandex, "opt_in", _TINY, 10, "of each group")
    settings = list(panels[0].lines[0].settings.values())
    text = f"{JOURNAL}, Section 4.3.3"
    return Figure(
        "figure-19", "each group's part in tiny opt-in groups, Yandex, 10 queries", f"Figure 19 of {JOURNAL}",
        panels,
        [
            Claim("the clients' L1 is better than the opt-in users'", text,
                  never_worse(settings, ("client", "opt-in"), "query_l1", larger_is_better=False)),
            Claim("the clients' NDCG is better than the opt-in users'", text,
                  never_worse(settings, ("client", "opt-in"), "ndcg", larger_is_better=True)),
        ],
        columns=2,
    )  # fmt: skip
