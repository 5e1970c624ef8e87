"""Means and standard errors of every row, and who is better than we are at what, population by population."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from scipy.stats import t

from benchmarks.rivals.runs import Key, Outcome
from benchmarks.rivals.settings import EVERYONE, GIVEN, OURS, RIVALS, SETTINGS, Rival, Setting

CONFIDENCE = 0.95
"""A difference may be chance if zero is in its confidence interval at this level."""


@dataclass(frozen=True)
class Mean:
    """A mean over populations with its standard error; costs are a single figure."""

    value: float
    error: float = 0.0
    margin: float = 0.0
    """Half of the confidence interval."""


@dataclass(frozen=True)
class Row:
    """One rival in one setting, with its run on every population."""

    setting: Setting
    rival: Rival
    runs: Sequence[Outcome]

    @property
    def seeds(self) -> int:
        """The number of populations."""
        return len(self.runs)


@dataclass(frozen=True)
class Measure:
    """A column of the page. What a curator sees is not a report, so its size is None; a baseline has no costs."""

    name: str
    value: Callable[[Outcome], float | None]
    more_is_better: bool
    text: Callable[[Mean], str]
    pooled: Callable[[Sequence[float]], float] | None = None
    """The single figure of a cost; without it, populations have values that are averaged and compared in pairs."""
    is_given: bool = False
    """Whether rivals that are given the list score fully by construction."""

    def each(self, row: Row) -> dict[int, float]:
        """The value on every population."""
        if self.pooled and row.rival.is_baseline:
            return {}
        return {run.seed: value for run in row.runs if (value := self.value(run)) is not None}

    def of(self, row: Row) -> Mean | None:
        """The figure of a row; None if it has none."""
        values = list(self.each(row).values())
        if not values:
            return None
        return Mean(self.pooled(values)) if self.pooled else mean_of(values)


def _error(digits: int) -> Callable[[Mean], str]:
    return lambda mean: f"{mean.value:.{digits}f} ± {mean.error:.{digits}f}"


QUERY_L1 = Measure("query L1", lambda run: run.scores.query_l1, False, _error(4))
MEASURES = (
    Measure("NDCG", lambda run: run.scores.ndcg, True, _error(4)),
    QUERY_L1,
    Measure("queries found", lambda run: run.scores.found, True, _error(1), is_given=True),
    Measure("rows/s", lambda run: run.rows / run.seconds, True, lambda mean: f"{mean.value:,.0f}", max),
    Measure("bytes per report", lambda run: run.report_bytes, False, lambda mean: f"{mean.value:,.0f}", statistics.mean),
    Measure("peak memory", lambda run: run.peak_bytes, False, lambda mean: f"{mean.value / 1e6:,.0f} MB", max),
)


def summarise(outcomes: Mapping[Key, Sequence[Outcome]]) -> list[Row]:
    """One row per setting and rival, in the order of the settings."""
    found = ((s, r, outcomes.get((s.name, r.name), ())) for s in SETTINGS for r in RIVALS)
    return [Row(setting, rival, runs) for setting, rival, runs in found if runs]


def mean_of(values: Sequence[float]) -> Mean:
    """The mean, its standard error and, by Student's t distribution, its confidence interval; one value has none."""
    if len(values) < 2:
        return Mean(values[0], 0.0, math.inf)
    error = statistics.stdev(values) / len(values) ** 0.5
    return Mean(statistics.mean(values), error, error * float(t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)))


@dataclass(frozen=True)
class Comparison:
    """A rival's row and ours: how much better the rival is, population by population, on those that both have."""

    measure: Measure
    row: Row
    ours: Row

    @cached_property
    def advantage(self) -> Mean | None:
        """The mean of the paired differences, positive if the rival is better; None if one side has no figure."""
        theirs, own = self.measure.each(self.row), self.measure.each(self.ours)
        sign = 1 if self.measure.more_is_better else -1
        if self.measure.pooled:
            pair = self.measure.of(self.row), self.measure.of(self.ours)
            return Mean(sign * (pair[0].value - pair[1].value)) if pair[0] and pair[1] else None
        common = sorted(theirs.keys() & own.keys())
        return mean_of([sign * (theirs[seed] - own[seed]) for seed in common]) if common else None

    @property
    def rival_wins(self) -> bool:
        """Whether the rival is better by more than chance."""
        return self.advantage is not None and self.advantage.value > self.advantage.margin

    @property
    def we_win(self) -> bool:
        """Whether we are better by more than chance."""
        return self.advantage is not None and -self.advantage.value > self.advantage.margin


def wins(rows: Sequence[Row]) -> Iterator[Comparison]:
    """Every rival and baseline that is better than we are, measure by measure, the best one first."""
    for setting in SETTINGS:
        here = [row for row in rows if row.setting == setting]
        ours = next((row for row in here if row.rival == OURS), None)
        if ours is None:
            continue
        for measure in MEASURES:
            compared = [Comparison(measure, row, ours) for row in here if _competes(measure, row)]
            better = [comparison for comparison in compared if comparison.rival_wins]
            yield from sorted(better, key=_figure, reverse=measure.more_is_better)


def _competes(measure: Measure, row: Row) -> bool:
    return not row.rival.is_ours and not (measure.is_given and row.rival.trust == GIVEN)


def _figure(comparison: Comparison) -> float:
    mean = comparison.measure.of(comparison.row)
    return mean.value if mean else 0.0


def closest(rows: Sequence[Row], setting: Setting) -> Comparison | None:
    """The query L1 of the best rival that does not need a curator for everyone, compared with ours."""
    here = [row for row in rows if row.setting == setting]
    ours = [row for row in here if row.rival == OURS]
    others = [row for row in here if not row.rival.is_ours and row.rival.trust != EVERYONE]
    compared = [Comparison(QUERY_L1, row, ours[0]) for row in others] if ours else []
    known = [comparison for comparison in compared if comparison.advantage]
    return max(known, key=lambda comparison: comparison.advantage.value if comparison.advantage else 0.0, default=None)


def ratio(comparison: Comparison) -> float:
    """Our figure relative to the rival's, on the populations that both have."""
    theirs, own = comparison.measure.each(comparison.row), comparison.measure.each(comparison.ours)
    common = theirs.keys() & own.keys()
    return sum(own[seed] for seed in common) / sum(theirs[seed] for seed in common)
