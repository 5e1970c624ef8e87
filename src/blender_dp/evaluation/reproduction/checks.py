"""Checks of what the papers claim, computed from the results.

A claim about the L1 of a list is checked where the list has its full length only, as the figures show it; a claim that no
result can decide does not agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from blender_dp.evaluation.grid import Setting
from blender_dp.evaluation.reproduction.figure import Verdict
from blender_dp.evaluation.reproduction.results import Results, reason

Check = Callable[[Results], Verdict]
_SAME_NDCG = 0.01
_STEP = 0.0051  # shares of opt-in users differ by half a percentage point in the papers' grids
_BY_CHANCE = 2.0  # standard errors of a difference


def _verdict(agrees: bool, measured: str, settings: Iterable[Setting]) -> Verdict:
    return Verdict(agrees, measured, reason(setting.source for setting in settings))


def _comparable(settings: Mapping[float, Setting], measure: str, results: Results) -> dict[float, Setting]:
    """The settings whose lists are long enough for this measure."""
    if measure == "ndcg":
        return {x: one for x, one in settings.items() if results.listed(one) > 0}
    return {x: one for x, one in settings.items() if results.has_full_list(one)}


def _undecided(settings: Iterable[Setting]) -> Verdict:
    return _verdict(False, "no list of profile paper is long enough", settings)


def all_below(settings: Mapping[float, Setting], measure: str, limit: float) -> Check:
    """Every mean is below a limit."""

    def check(results: Results) -> Verdict:
        some = _comparable(settings, measure, results)
        if not some:
            return _undecided(settings.values())
        worst = max(results.mean(setting, "blended", measure) for setting in some.values())
        return _verdict(worst < limit, f"at most {worst:.4f} in profile paper", settings.values())

    return check


def reaches(settings: Mapping[float, Setting], measure: str, limit: float) -> Check:
    """Every mean reaches a limit."""

    def check(results: Results) -> Verdict:
        worst = min(results.mean(setting, "blended", measure) for setting in settings.values())
        return _verdict(worst >= limit, f"at least {worst:.4f} in profile paper", settings.values())

    return check


def _first_full(settings: Mapping[float, Setting], length: int, results: Results) -> float | None:
    """The smallest x with a full list."""
    return min((x for x, one in settings.items() if results.listed(one) >= length - 0.5), default=None)


def _from(x: float | None, settings: Mapping[float, Setting], results: Results) -> str:
    if x is None:
        return f"at most {max(map(results.listed, settings.values())):.0f} queries in profile paper"
    return f"from {f'ε {x:g}' if x >= 1 else f'{100 * x:g} %'} on in profile paper"


def begins_at(settings: Mapping[float, Setting], length: int, x: float) -> Check:
    """The list gets its full length from this ε, or this share of opt-in users, on; of shares at most one step off."""

    def check(results: Results) -> Verdict:
        first = _first_full(settings, length, results)
        agrees = first is not None and abs(first - x) <= _STEP
        return _verdict(agrees, _from(first, settings, results), settings.values())

    return check


def suffices(settings: Mapping[float, Setting], length: int, x: float) -> Check:
    """The list gets its full length with this ε, or this share of opt-in users, or less."""

    def check(results: Results) -> Verdict:
        first = _first_full(settings, length, results)
        return _verdict(first is not None and first <= x, _from(first, settings, results), settings.values())

    return check


def declines(settings: Mapping[float, Setting], measure: str, group: str = "blended") -> Check:
    """The mean at the largest x is below that at the smallest."""

    def check(results: Results) -> Verdict:
        some = _comparable(settings, measure, results)
        if len(some) < 2:
            return _undecided(settings.values())
        ends = [results.mean(some[x], group, measure) for x in (min(some), max(some))]
        return _verdict(ends[1] < ends[0], f"from {ends[0]:.4f} to {ends[1]:.4f} in profile paper", settings.values())

    return check


def best_at(settings: Mapping[float, Setting], group: str, measure: str, x: float) -> Check:
    """The mean is largest at this x, or larger elsewhere only by chance."""

    def check(results: Results) -> Verdict:
        values = {at: np.array(results.values(setting, group, measure)) for at, setting in settings.items()}
        best = max(values, key=lambda at: float(values[at].mean()))
        text = f"largest at {best:g} ({values[best].mean():.4f}; at {x:g}: {values[x].mean():.4f})"
        agrees = results.listed(settings[x]) > 0 and not _is_larger(values[best] - values[x])
        return _verdict(agrees, text, settings.values())

    return check


def _is_larger(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> bool:
    """Whether the mean of these differences, one per seed, is larger than chance explains."""
    error = float(differences.std(ddof=1)) / differences.size**0.5 if differences.size > 1 else 0.0
    return float(differences.mean()) > _BY_CHANCE * error


def printed_ndcg(settings: Mapping[float, Setting], printed: Mapping[float, float], axis: str) -> Check:
    """Every printed NDCG is within 0.01 of the mean of profile paper."""

    def check(results: Results) -> Verdict:
        gaps = {x: results.mean(settings[x], "blended", "ndcg") - value for x, value in printed.items()}
        off = {x: gap for x, gap in gaps.items() if abs(gap) > _SAME_NDCG}
        texts = ", ".join(f"{results.mean(settings[x], 'blended', 'ndcg'):.3f}" for x in printed)
        far = "" if not off else f"; off by more than {_SAME_NDCG} at {axis} " + ", ".join(f"{x:g}" for x in off)
        return _verdict(not off, f"{texts} in profile paper{far}", settings.values())

    return check


def never_worse(settings: Sequence[Setting], groups: tuple[str, str], measure: str, *, larger_is_better: bool) -> Check:
    """The mean of the first group is at least as good as that of the second, wherever anything is listed."""

    def check(results: Results) -> Verdict:
        sign = 1 if larger_is_better else -1
        some = [one for one in settings if results.listed(one) > 0]
        good = sum(
            sign * (results.mean(one, groups[0], measure) - results.mean(one, groups[1], measure)) >= 0 for one in some
        )
        return _at_all(good, some, settings)

    return check


def better_than_worse_group(settings: Sequence[Setting], measure: str, *, larger_is_better: bool) -> Check:
    """The blend is at least as good as the worse of the two groups, wherever anything is listed."""

    def check(results: Results) -> Verdict:
        sign = 1 if larger_is_better else -1
        some, good = [one for one in settings if results.listed(one) > 0], 0
        for setting in some:
            blended, *alone = (sign * results.mean(setting, group, measure) for group in ("blended", "opt-in", "client"))
            good += blended >= min(alone)
        return _at_all(good, some, settings)

    return check


def _at_all(good: int, some: Sequence[Setting], settings: Sequence[Setting]) -> Verdict:
    if not some:
        return _undecided(settings)
    return _verdict(good == len(some), f"true at {good} of {len(some)} settings of profile paper", settings)


def rival_remark(results: Results, paper: Mapping[float, Setting], tight: Mapping[float, Setting]) -> str:
    """Where the rival of Figure 12 wins, before anything else is said."""
    texts = []
    for candidates in sorted({name for name, _ in results.rivals}, key=int):
        reached = {x: sum(values) / len(values) for (name, x), values in results.rivals.items() if name == candidates}
        for profile, settings in (("paper", paper), ("tight", tight)):
            ahead = [f"{x:g}" for x in sorted(reached) if reached[x] > results.mean(settings[x], "blended", "ndcg")]
            where = f"at ε {', '.join(ahead)}" if ahead else "nowhere"
            texts.append(f"with {int(candidates):,} candidates it beats profile {profile} {where}")
    return (
        "The rival is optimised local hashing by everyone, without opt-in users: "
        + "; ".join(texts)
        + ". It gets its candidates from an oracle, and is scored by queries alone, without URLs: both make it look better "
        "than any real local-only system. The line of Qin et al. is as printed in Figure 12 of the BLENDER papers; its "
        "score is another one, based on ranks."
    )
