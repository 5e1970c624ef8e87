"""Checks of what the papers claim, computed from the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from blender_dp.evaluation.grid import Setting
from blender_dp.evaluation.reproduction.figure import Verdict
from blender_dp.evaluation.reproduction.results import Results

Check = Callable[[Results], Verdict]
_SAME_NDCG = 0.01


def all_below(settings: Mapping[float, Setting], measure: str, limit: float) -> Check:
    """Every mean is below a limit."""

    def check(results: Results) -> Verdict:
        worst = max(results.mean(setting, "blended", measure) for setting in settings.values())
        return Verdict(worst < limit, f"at most {worst:.4f} in profile paper", results.reason)

    return check


def reaches(settings: Mapping[float, Setting], measure: str, limit: float) -> Check:
    """Every mean reaches a limit."""

    def check(results: Results) -> Verdict:
        worst = min(results.mean(setting, "blended", measure) for setting in settings.values())
        return Verdict(worst >= limit, f"at least {worst:.4f} in profile paper", results.reason)

    return check


def list_reached_at(settings: Mapping[float, Setting], length: int, x: float) -> Check:
    """The list gets its full length from about this ε, or share of opt-in users, on (within half a percentage point)."""

    def check(results: Results) -> Verdict:
        full = [at for at, one in sorted(settings.items()) if results.mean(one, "blended", "listed") >= length - 0.5]
        if not full:
            longest = max(results.mean(one, "blended", "listed") for one in settings.values())
            return Verdict(False, f"at most {longest:.0f} queries in profile paper", results.reason)
        first = f"ε {full[0]:g}" if x >= 1 else f"{100 * full[0]:g} %"
        return Verdict(abs(full[0] - x) <= 0.0051, f"from {first} on in profile paper", results.reason)

    return check


def declines(settings: Mapping[float, Setting], measure: str) -> Check:
    """The mean at the largest x is below that at the smallest."""

    def check(results: Results) -> Verdict:
        ends = [results.mean(settings[x], "blended", measure) for x in (min(settings), max(settings))]
        return Verdict(ends[1] < ends[0], f"from {ends[0]:.4f} to {ends[1]:.4f} in profile paper", results.reason)

    return check


def best_at(settings: Mapping[float, Setting], group: str, measure: str, x: float) -> Check:
    """The mean is largest at this x."""

    def check(results: Results) -> Verdict:
        means = {at: results.mean(setting, group, measure) for at, setting in settings.items()}
        best = max(means, key=lambda at: means[at])
        text = f"largest at {best:g} ({means[best]:.4f}; at {x:g}: {means[x]:.4f})"
        return Verdict(best == x, text, results.reason)

    return check


def printed_ndcg(settings: Mapping[float, Setting], printed: Mapping[float, float]) -> Check:
    """Every printed NDCG is within 0.01 of the mean of profile paper."""

    def check(results: Results) -> Verdict:
        gaps = {x: results.mean(settings[x], "blended", "ndcg") - value for x, value in printed.items()}
        off = {x: gap for x, gap in gaps.items() if abs(gap) > _SAME_NDCG}
        texts = ", ".join(f"{results.mean(settings[x], 'blended', 'ndcg'):.3f}" for x in printed)
        far = "" if not off else f"; off by more than {_SAME_NDCG} at ε " + ", ".join(f"{x:g}" for x in off)
        return Verdict(not off, f"{texts} in profile paper{far}", results.reason)

    return check


def never_worse(
    better: Sequence[Setting], worse: Sequence[Setting], groups: tuple[str, str], measure: str, *, larger_is_better: bool
) -> Check:
    """The mean of the first is at least as good as the mean of the second, everywhere."""

    def check(results: Results) -> Verdict:
        sign = 1 if larger_is_better else -1
        pairs = [
            (results.mean(a, groups[0], measure), results.mean(b, groups[1], measure))
            for a, b in zip(better, worse, strict=True)
        ]
        good = sum(sign * (a - b) >= 0 for a, b in pairs)
        return Verdict(good == len(pairs), f"true at {good} of {len(pairs)} settings", results.reason)

    return check


def better_than_worse_group(settings: Sequence[Setting], measure: str, *, larger_is_better: bool) -> Check:
    """The blend is at least as good as the worse of the two groups."""

    def check(results: Results) -> Verdict:
        sign = 1 if larger_is_better else -1
        good = 0
        for setting in settings:
            blended, *alone = (sign * results.mean(setting, group, measure) for group in ("blended", "opt-in", "client"))
            good += blended >= min(alone)
        return Verdict(good == len(settings), f"true at {good} of {len(settings)} settings of profile paper", results.reason)

    return check


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
        "than any real local-only system. The printed line of Qin et al. has another score, based on ranks."
    )
