"""Plans for people."""

from __future__ import annotations

import math
from collections.abc import Iterable

from blender_dp.cli.output import out, print_table, say, warn
from blender_dp.planning import Expected, Forecast, Plan, Setting, Solution, Tradeoff
from blender_dp.privacy.rounding import readable

_LONGEST = 9  # decimals
_NOTHING = 0.05  # queries are shown as 0.0
_NUMBERS = {"query_l1": "query L1", "record_l1": "record L1", "ndcg": "NDCG"}


def print_plan(plan: Plan) -> None:
    """Print a whole plan."""
    sizes, p = plan.sizes, plan.parameters
    say(
        f"{plan.users:,} users like {plan.shape}: {sizes.discovery + sizes.calibration:,} opt in ({sizes.discovery:,} "
        f"discover, {sizes.calibration:,} calibrate), {sizes.clients:,} are clients; ε = {readable(p.epsilon)}, "
        f"δ = {readable(p.delta)}, at most {_queries(p.max_queries)}, profile {p.profile}."
    )
    say(
        f"A record is listed with a probability of 1/2 or more if at least {plan.needed_count:,} discovery users have it "
        f"({shown(100 * plan.needed_count / sizes.discovery, 2)}% of them)."
    )
    say()
    print_forecast(plan.forecast)
    say()
    columns = {"who is trusted": False, "listed": True, "query L1": True, "record L1": True, "NDCG": True}
    rows = [
        [one.kind, f"{one.queries:,.1f}", *_scores((one.query_l1, one.record_l1, one.ndcg), is_empty=one.queries < _NOTHING)]
        for one in plan.trust
    ]
    print_table("What each kind of trust buys, at the same ε and δ", columns, rows)
    for one in plan.trust:
        say(f"{one.kind.capitalize()}: {one.meaning}.")
    say()
    out.print("[bold]What a person risks[/]")
    for text in plan.risks:
        say(text)
    for text in plan.warnings:
        warn(text)


def print_forecast(forecast: Forecast) -> None:
    """Print what is expected, and the errors at some ranks."""
    listed, is_empty = forecast.queries, forecast.coverage is None
    rows = [["queries listed", f"{listed.mean:,.1f}", f"{listed.low:,.1f} to {listed.high:,.1f}"]]
    for name, label in _NUMBERS.items():
        value: Expected = getattr(forecast, name)
        span = "-" if is_empty else f"{shown(value.low, 4)} to {shown(value.high, 4)}"
        rows.append([label, *_scores((value,), is_empty=is_empty), span])
    title = "Expected result (L1: 0 is best; NDCG: 1 is best)"
    print_table(title, {"what": False, "expected": True, "95 % of collections": True}, rows)
    if not forecast.ranks:
        return
    say()
    columns = dict.fromkeys(("rank", "share", "listed", "stated error", "95 % of collections", "actual error"), True)
    lines = [
        [
            f"{rank.rank:,}",
            shown(rank.share),
            f"{rank.listed:.0%}",
            *_stated(rank.standard_error),
            "-" if rank.error is None else f"{shown(100 * rank.error.mean / rank.share, 1)}% of the share",
        ]
        for rank in forecast.ranks
    ]
    print_table("Queries by true rank", columns, lines)
    if forecast.coverage is not None:
        covered = f"95 % intervals contain {100 * forecast.coverage:.0f} % of the true shares."
        say(f"{covered} {forecast.runs} collections were simulated.")


def shown(value: float, decimals: int = 5) -> str:
    """A number with so many decimals, or more if it is small: two digits that are not 0."""
    if value <= 0:
        return "0"
    needed = max(decimals, 1 - math.floor(math.log10(value)))
    return f"{value:.{needed}f}" if needed <= _LONGEST else f"{value:.1e}"


def _value(value: float) -> str:
    return f"{value:,g}" if value < 1e6 else f"{value:,.0f}"


def _queries(number: int) -> str:
    return "1 query" if number == 1 else f"{number:,} queries"


def _scores(values: Iterable[Expected], *, is_empty: bool) -> list[str]:
    """The expected scores of a list; an empty one has none."""
    return ["-" if is_empty else shown(value.mean, 4) for value in values]


def _stated(error: Expected | None) -> tuple[str, str]:
    return ("-", "-") if error is None else (f"±{shown(error.mean)}", f"{shown(error.low)} to {shown(error.high)}")


def print_tradeoff(curve: Tradeoff, setting: Setting) -> None:
    """Print one line per value."""
    columns = {
        curve.label: True,
        "listed": True,
        "query L1": True,
        "record L1": True,
        "NDCG": True,
        "error at rank 1": True,
        "10": True,
    }
    rows = []
    for point in curve.points:
        forecast = point.forecast
        errors = {
            rank.rank: rank.error.mean / rank.share
            for rank in forecast.ranks
            if rank.error is not None and rank.listed >= 0.5
        }
        rows.append(
            [
                _value(point.value),
                f"{forecast.queries.mean:,.1f}",
                *_scores((getattr(forecast, name) for name in _NUMBERS), is_empty=forecast.coverage is None),
                *(f"{shown(100 * errors[rank], 1)}%" if rank in errors else "-" for rank in (1, 10)),
            ]
        )
    p = setting.parameters
    fixed = (
        f"{setting.users:,} users like {setting.outline.name}, opt-in share {setting.opt_in:g}, ε = {readable(p.epsilon)}"
    )
    print_table(
        f"{fixed}, δ = {readable(p.delta)}, at most {_queries(p.max_queries)}, unless varied", columns, rows, fold=False
    )
    for text in curve.warnings:
        warn(text)


def print_solution(solution: Solution) -> None:
    """Print the value, or why there is none."""
    value = _value(solution.tried)
    if solution.value is None:
        say(
            f"No value is enough. At the last one that was tried ({solution.label}: {value}), {'; '.join(solution.missing)}."
        )
    else:
        say(f"{solution.label}: {value} is enough. A check with fresh random numbers confirms it:")
    say()
    print_forecast(solution.forecast)
    for text in solution.warnings:
        warn(text)
