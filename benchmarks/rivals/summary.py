"""Means and standard errors of every row, and who is better than we are at what."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.rivals.runs import Key, Outcome
from benchmarks.rivals.settings import EVERYONE, GIVEN, OURS, RIVALS, SETTINGS, Rival, Setting

_CHANCE = 2.0  # standard errors of a difference that may be chance


@dataclass(frozen=True)
class Mean:
    """A mean over populations with its standard error; costs are a single figure."""

    value: float
    error: float = 0.0


@dataclass(frozen=True)
class Row:
    """One rival in one setting. What a curator sees is not a report, so its size is None; a baseline has no costs."""

    setting: Setting
    rival: Rival
    seeds: int
    ndcg: Mean
    query_l1: Mean
    found: Mean
    rows_per_second: Mean | None
    report_bytes: Mean | None
    peak_bytes: Mean | None


@dataclass(frozen=True)
class Measure:
    """A column of the page."""

    name: str
    of: Callable[[Row], Mean | None]
    more_is_better: bool
    text: Callable[[Mean], str]
    is_given: bool = False
    """Whether rivals that are given the list score fully by construction."""


def _error(digits: int) -> Callable[[Mean], str]:
    return lambda mean: f"{mean.value:.{digits}f} ± {mean.error:.{digits}f}"


MEASURES = (
    Measure("NDCG", lambda row: row.ndcg, True, _error(4)),
    Measure("query L1", lambda row: row.query_l1, False, _error(4)),
    Measure("queries found", lambda row: row.found, True, _error(1), is_given=True),
    Measure("rows/s", lambda row: row.rows_per_second, True, lambda mean: f"{mean.value:,.0f}"),
    Measure("bytes per report", lambda row: row.report_bytes, False, lambda mean: f"{mean.value:,.0f}"),
    Measure("peak memory", lambda row: row.peak_bytes, False, lambda mean: f"{mean.value / 1e6:,.0f} MB"),
)


def summarise(outcomes: Mapping[Key, Sequence[Outcome]]) -> list[Row]:
    """One row per setting and rival, in the order of the settings."""
    found = ((s, r, outcomes.get((s.name, r.name), ())) for s in SETTINGS for r in RIVALS)
    return [_row(setting, rival, runs) for setting, rival, runs in found if runs]


def _row(setting: Setting, rival: Rival, runs: Sequence[Outcome]) -> Row:
    sizes = [run.report_bytes for run in runs if run.report_bytes is not None]
    return Row(
        setting,
        rival,
        len(runs),
        ndcg=_mean([run.scores.ndcg for run in runs]),
        query_l1=_mean([run.scores.query_l1 for run in runs]),
        found=_mean([run.scores.found for run in runs]),
        rows_per_second=None if rival.is_baseline else Mean(max(run.rows / run.seconds for run in runs)),
        report_bytes=Mean(statistics.mean(sizes)) if sizes else None,
        peak_bytes=None if rival.is_baseline else Mean(max(run.peak_bytes for run in runs)),
    )


def _mean(values: Sequence[float]) -> Mean:
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return Mean(statistics.mean(values), error)


@dataclass(frozen=True)
class Win:
    """A rival's row that is better than ours by more than chance."""

    row: Row
    measure: Measure
    theirs: Mean
    ours: Mean


def wins(rows: Sequence[Row]) -> Iterator[Win]:
    """Every rival and baseline that is better than we are, measure by measure, the best one first."""
    for setting in SETTINGS:
        here = [row for row in rows if row.setting == setting]
        ours = next((row for row in here if row.rival == OURS), None)
        if ours is None:
            continue
        for measure in MEASURES:
            better = [Win(row, measure, *_pair(measure, row, ours)) for row in here if _is_better(measure, row, ours)]
            yield from sorted(better, key=lambda win: win.theirs.value, reverse=measure.more_is_better)


def _is_better(measure: Measure, row: Row, ours: Row) -> bool:
    if row.rival.is_ours or (measure.is_given and row.rival.trust == GIVEN):
        return False
    theirs, own = measure.of(row), measure.of(ours)
    if theirs is None or own is None:
        return False
    gap = theirs.value - own.value if measure.more_is_better else own.value - theirs.value
    return gap > chance(theirs, own)


def chance(one: Mean, other: Mean) -> float:
    """The largest difference that may be chance."""
    return _CHANCE * (one.error**2 + other.error**2) ** 0.5


def closest(rows: Sequence[Row], setting: Setting) -> tuple[Row, Row] | None:
    """Our row, and the rival with the smallest query L1 that does not need a curator for everyone."""
    here = [row for row in rows if row.setting == setting]
    ours = [row for row in here if row.rival == OURS]
    others = [row for row in here if not row.rival.is_ours and row.rival.trust != EVERYONE]
    return (ours[0], min(others, key=lambda row: row.query_l1.value)) if ours and others else None


def _pair(measure: Measure, row: Row, ours: Row) -> tuple[Mean, Mean]:
    theirs, own = measure.of(row), measure.of(ours)
    return theirs or Mean(0.0), own or Mean(0.0)
