"""The inverse question: which opt-in share, ε, number of users or M gives the result that is wanted?

A search over the same forecasts, then a check with other random numbers. List lengths are in closed form, so values whose
list is too short are ruled out without simulating anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from blender_dp.errors import ParameterError
from blender_dp.planning.crossing import crossing
from blender_dp.planning.forecasts import Forecast, forecast, usual_runs, worst_error
from blender_dp.planning.setting import Setting
from blender_dp.planning.simulation import simulated
from blender_dp.planning.unknowns import Unknown, unknown_of

_CONFIDENCE = 0.9
_SEARCHING = {"queries": 700, "few": 1, "many": 10, "fewest": 1}  # a long list has many errors to average over
_VERIFYING = {"queries": 1500, "few": 2, "many": 20}
_PRECISION, _SIMULATED = 1.05, 1.1  # the ratio of neighbouring values, in closed form and where each has to be simulated
_CAREFUL = 1.6  # the ratio of neighbouring values that are simulated, if a larger value may be worse
_LONGER_LIST = {"epsilon", "opt-in"}  # which make the list longer, but not the number of users who rank it
_SOME = 0.5  # of the most popular queries, on average; if fewer of those wanted are listed, their errors are unknown
_COARSE = 1.25  # the ratio of a value that was confirmed and one that was not, from which a value between them is checked


@dataclass(frozen=True)
class Want:
    """What a result should be like; None: it does not matter."""

    queries: int | None = None
    """List at least this many queries, with a probability of 90 %."""
    ndcg: float | None = None
    """An expected NDCG of at least this."""
    error: float | None = None
    """An error below this, relative to its share, for each of the queries wanted, or for all that are probably listed."""

    def __post_init__(self) -> None:
        if self.queries is None and self.ndcg is None and self.error is None:
            raise ParameterError("want", "no goal is set", "Pass queries, ndcg or error, such as queries=100,ndcg=0.95")
        limits = (("queries", self.queries, math.inf), ("ndcg", self.ndcg, 1.0), ("error", self.error, math.inf))
        for name, value, most in limits:
            if value is not None and (not 0 < value <= most or (name == "queries" and value % 1)):
                fix = "Use positive numbers, a whole one for queries; NDCG is at most 1"
                raise ParameterError("want", f"{name}={value:g} is not possible", fix)
        if self.queries is not None:
            object.__setattr__(self, "queries", int(self.queries))  # 100.0, or an integer of numpy

    def lists_enough(self, setting: Setting) -> bool:
        """Whether the list is long enough, in closed form: an empty one has no errors, but is never wanted."""
        return setting.length.at_least(self.queries or 1) >= _CONFIDENCE

    def is_possible(self, setting: Setting) -> bool:
        """Whether simulations could show that it is met, in closed form: enough queries are listed, and the right ones."""
        if not (setting.is_valid and self.lists_enough(setting)):
            return False
        return None in (self.queries, self.error) or float(setting.on_final_list[: self.queries].sum()) >= _SOME

    def missing(self, setting: Setting, predicted: Forecast) -> tuple[str, ...]:
        """What is not as wanted, in words."""
        reasons = []
        if not self.lists_enough(setting):
            queries = self.queries or 1
            chance = math.floor(100 * setting.length.at_least(queries))  # no number is rounded to what is wanted
            listed = f"{queries:,} queries are" if queries > 1 else "at least one query is"
            reasons.append(f"{listed} listed with a probability of {chance}%, not {_CONFIDENCE:.0%}")
        if self.ndcg is not None and predicted.ndcg.mean < self.ndcg:
            reasons.append(f"the NDCG is {_down(predicted.ndcg.mean, 4):.4f}, not {self.ndcg:g}")
        if self.error is not None and not (predicted.worst_error is not None and predicted.worst_error < self.error):
            worst = "unknown" if predicted.worst_error is None else f"{-_down(-predicted.worst_error, 3):.1%}"
            reasons.append(f"the largest relative error is {worst}, not below {self.error:.1%}")
        return tuple(reasons)


@dataclass(frozen=True)
class Solution:
    """The value that was asked for, with a forecast that other random numbers confirm."""

    solved: str
    label: str
    value: float | None
    """None: no value in the range is enough."""
    tried: float
    """The value of the forecast: the solution, or the last value that was tried."""
    forecast: Forecast
    missing: tuple[str, ...]
    """What is not as wanted at the last value that was tried."""
    setting: Setting

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the plan cannot know."""
        return self.setting.warnings

    def to_document(self) -> dict[str, Any]:
        """Everything as JSON values."""
        return {
            "solved": self.solved,
            "value": self.value,
            "tried": self.tried,
            "missing": list(self.missing),
            "warnings": list(self.warnings),
            "forecast": self.forecast.to_document(),
        }


def solve(setting: Setting, want: Want, solved: str) -> Solution:
    """Find the smallest opt-in share, ε or number of users that is enough; of M the smallest that lists enough queries.

    If no number of queries is wanted, of M the largest that is good enough: a longer list is harder to get right.
    """
    unknown = unknown_of(solved, "solve")
    if unknown.name == "max-queries":
        return _solve_length(setting, want, unknown)
    _check_length(setting, want)
    low = _first_possible(unknown, setting, want)
    if low is None:
        return _outcome(unknown, unknown.highest, unknown.set(setting, unknown.highest), want)
    most = _CAREFUL if _may_get_worse(setting, want, unknown) else math.inf
    value = crossing(lambda one: _shortfall(unknown.set(setting, one), want), low, unknown.highest, _SIMULATED, most)
    return _verified(unknown, setting, want, unknown.rounded(value))


def _may_get_worse(setting: Setting, want: Want, unknown: Unknown) -> bool:
    """Whether more may be less: a longer list has rarer queries, and the papers' average ranks it by few users."""
    ranked_by_few = setting.parameters.estimator == "average" and unknown.name in _LONGER_LIST
    return ranked_by_few or (want.error is not None and want.queries is None)


def _solve_length(setting: Setting, want: Want, unknown: Unknown) -> Solution:
    if want.queries is not None:
        return _outcome(unknown, want.queries, unknown.set(setting, want.queries), want)
    longest = min(unknown.highest, float(setting.outline.query_shares.size))
    # A longer list is worse, so the crossing is looked for from the other end.
    shorter = crossing(lambda one: _shortfall(unknown.set(setting, max(1.0, longest / one)), want), 1.0, longest, _SIMULATED)
    return _verified(unknown, setting, want, unknown.rounded(max(1.0, longest / shorter), up=False), up=False)


def _first_possible(unknown: Unknown, setting: Setting, want: Want) -> float | None:
    """The smallest value that could be enough, to within 5 %; None if there is none. Closed forms are fast."""
    low, high = unknown.lowest, unknown.highest

    if not want.is_possible(unknown.set(setting, high)):
        return None
    while high / low > _PRECISION:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if want.is_possible(unknown.set(setting, middle)) else (middle, high)
    return high


def _shortfall(setting: Setting, want: Want) -> float:
    """How far a result is from what is wanted: 0 or below if it is good enough, logarithmic otherwise."""
    if not want.is_possible(setting):
        return math.inf
    if want.ndcg is None and want.error is None:
        return -math.inf
    results, gaps = simulated(setting, usual_runs(setting, **_SEARCHING)), [-math.inf]
    if want.ndcg is not None:
        gaps.append(math.log(max(1 - results.expected("ndcg").mean, 1e-9) / max(1 - want.ndcg, 1e-9)))
    if want.error is not None:
        error = worst_error(setting, results, want.queries)
        gaps.append(math.inf if error is None else math.log(error / want.error) + 1e-9)
    return max(gaps)


def _verified(unknown: Unknown, setting: Setting, want: Want, value: float, *, up: bool = True) -> Solution:
    """Check a value with other random numbers. If chance had made it look good enough, go on until one is confirmed.

    Each step is twice as far as the last one, up to the end of the range. What a large step has skipped is checked as well.
    """

    def checked(one: float) -> Solution:
        streams.append(f"verification {len(streams)}" if streams else "verification")
        return _outcome(unknown, one, unknown.set(setting, one), want, streams[-1])

    streams: list[str] = []
    solution, failed = checked(value), value
    while solution.missing:
        step = _PRECISION ** (2 ** (len(streams) - 1))
        further = unknown.rounded(solution.tried * step if up else solution.tried / step, up=up)
        if further == solution.tried:
            return solution
        failed, solution = solution.tried, checked(further)
    while max(solution.tried / failed, failed / solution.tried) > _COARSE:
        between = unknown.rounded(math.sqrt(failed * solution.tried), up=up)
        if between in (failed, solution.tried):
            break
        other = checked(between)
        failed, solution = (between, solution) if other.missing else (failed, other)
    return solution


def _outcome(unknown: Unknown, value: float, setting: Setting, want: Want, stream: str = "verification") -> Solution:
    results = simulated(setting, usual_runs(setting, **_VERIFYING), stream)
    predicted = forecast(setting, results, want.queries)
    missing = want.missing(setting, predicted)
    return Solution(unknown.name, unknown.label, None if missing else value, value, predicted, missing, setting)


def _down(value: float, decimals: int) -> float:
    factor = 10.0**decimals
    return math.floor(round(value * factor, 6)) / factor


def _check_length(setting: Setting, want: Want) -> None:
    if want.queries is not None and want.queries > setting.parameters.max_queries:
        problem = f"{setting.parameters.max_queries:,} is less than the {want.queries:,} queries that are wanted"
        raise ParameterError("max_queries", problem, "Raise it, or leave it out")
