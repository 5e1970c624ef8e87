"""The chart of a trade-off: the list, the errors and the ranking against the quantity that is varied."""

from __future__ import annotations

from collections.abc import Iterator

from blender_dp.planning import Forecast, Tradeoff
from blender_dp.report.lines import Axis, Point, line_chart
from blender_dp.report.theme import Spec
from blender_dp.report.ticks import PERCENT

_QUERIES, _L1, _NDCG, _ERROR = "Queries listed", "L1 error", "NDCG", "Relative error of one query"
_LOGARITHMIC = {"opt-in", "users", "max-queries"}
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""))


def tradeoff_chart(tradeoff: Tradeoff) -> Spec:
    """Four panels; a band contains 95 % of all collections."""
    points = [point for one in tradeoff.points for point in _points(one.value, one.forecast)]
    values = [one.value for one in tradeoff.points]
    x = Axis(
        tradeoff.label,
        log=tradeoff.over in _LOGARITHMIC,
        ticks=values,
        labels=[_label(tradeoff.over, value) for value in values],
    )
    axes = {
        _QUERIES: Axis("queries", zero=True),
        _L1: Axis("L1 (0 is best)", zero=True),
        _NDCG: Axis("NDCG (1 is best)"),
        _ERROR: Axis("error / share", format=PERCENT, zero=True),
    }
    return line_chart(points, x, axes, columns=2, width=330, height=190)


def _label(over: str, value: float) -> str:
    """A value, with up to four digits."""
    if over == "opt-in":
        return f"{100 * value:.4g}%"
    if over != "users":
        return f"{value:.4g}" if over == "epsilon" else f"{value:,.0f}"
    rounded = float(f"{value:.4g}")
    factor, unit = next(one for one in _UNITS if rounded >= one[0])
    return f"{rounded / factor:g}{unit}"


def _points(x: float, forecast: Forecast) -> Iterator[Point]:
    yield Point(_QUERIES, "queries", x, forecast.queries.mean, forecast.queries.low, forecast.queries.high)
    yield Point(_L1, "query L1", x, forecast.query_l1.mean, forecast.query_l1.low, forecast.query_l1.high)
    yield Point(_L1, "record L1", x, forecast.record_l1.mean, forecast.record_l1.low, forecast.record_l1.high)
    yield Point(_NDCG, "NDCG", x, forecast.ndcg.mean, forecast.ndcg.low, forecast.ndcg.high)
    for rank in forecast.ranks:
        if rank.error is not None and rank.listed >= 0.5:
            relative = rank.error.times(1 / rank.share)
            yield Point(_ERROR, f"rank {rank.rank}", x, relative.mean, relative.low, relative.high)
