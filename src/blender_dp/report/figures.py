"""Redraw the papers' figures, and put them on one page with what agrees and what does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from blender_dp.evaluation.reproduction.figure import TITLES, X_TITLES, Figure
from blender_dp.evaluation.reproduction.finished import Finished
from blender_dp.evaluation.reproduction.results import is_full
from blender_dp.report.figure import Draw
from blender_dp.report.lines import Axis, Point, line_chart
from blender_dp.report.page import page
from blender_dp.report.panels import panels
from blender_dp.report.table_chart import table_chart
from blender_dp.report.theme import Spec
from blender_dp.report.ticks import PERCENT

_X_FORMATS = {"opt_in": PERCENT, "epsilon": "d", "f_c": ".2f"}
_COLUMNS_9 = ("truth", "blended", "opt-in", "client")  # of Figure 9, each with a panel


def chart_of(finished: Finished) -> Spec:
    """The chart of a figure."""
    if isinstance(finished.figure, Figure):
        return _curves(finished.figure, finished.table.to_pylist())
    if "rank" in finished.table.column_names:
        return _top(finished.table.to_pylist())
    return table_chart(finished.table)


def page_of(figures: Sequence[Finished], *, draw: Draw | None = None) -> str:
    """One self-contained page: every figure with its pictures or its table, and its verdicts."""
    is_private = any(one.is_private for one in figures)
    return page("figures.html", sections=[_section(one, draw) for one in figures], is_private=is_private)


def _section(one: Finished, draw: Draw | None) -> dict[str, Any]:
    chart = chart_of(one)
    return {
        "name": one.figure.name,
        "title": one.figure.title,
        "source": one.figure.source,
        "seeds": one.seeds,
        "population": one.population,
        "remark": one.remark,
        "picture": panels(chart, draw) if "concat" in chart else None,
        "table": None if isinstance(one.figure, Figure) else one.table.to_pylist(),
        "agrees": [claim for claim in one.checked if claim[2].agrees],
        "differs": [claim for claim in one.checked if not claim[2].agrees],
    }


def _curves(figure: Figure, rows: Sequence[dict[str, Any]]) -> Spec:
    shown = [row for row in rows if not _is_short(row)]
    points = [Point(row["panel"], row["line"], row["x"], row["mean"], row["low"], row["high"]) for row in shown]
    printed = {row["line"] for row in rows if row["line"].startswith("printed")}
    drawn = [panel for panel in figure.panels if any(row["panel"] == panel.title for row in shown)]
    y = {panel.title: _y(panel.measure, figure) for panel in drawn}
    x = {panel.title: Axis(X_TITLES[panel.x], _X_FORMATS[panel.x], ticks=_ticks(panel.x, rows)) for panel in figure.panels}
    size = (380, 240) if figure.columns < 3 else (250, 180)
    return line_chart(points, x, y, columns=figure.columns, width=size[0], height=size[1], marks_only=printed)


def _y(measure: str, figure: Figure) -> Axis:
    return Axis(TITLES[measure], top=1.0) if measure == "ndcg" else Axis(TITLES[measure], log=figure.log_l1)


def _is_short(row: dict[str, Any]) -> bool:
    """Whether a list is too short for its L1 to be compared."""
    return row["measure"] != "ndcg" and row["listed"] is not None and not is_full(row["listed"], row["max_queries"])


def _ticks(x: str, rows: Sequence[dict[str, Any]]) -> list[float] | None:
    """Every ε, every other of the tiny shares, and every other percent; otherwise Vega chooses."""
    values = sorted({row["x"] for row in rows if row["x_axis"] == x})
    if x == "opt_in" and values[-1] <= 0.01:
        return values[1::2]
    if x == "opt_in":
        return [percent / 100 for percent in range(2, 11, 2)]
    return values if x == "epsilon" else None


def _top(rows: Sequence[dict[str, Any]]) -> Spec:
    """Figure 9: for every column, the printed values and those here; ⋆ is so large that it has no place in a chart."""
    points = []
    for row in rows:
        panel = row["column"].removeprefix("tight, ")
        if not row["rank"] or panel not in _COLUMNS_9:
            continue
        name = "tight" if row["column"].startswith("tight") else "truth" if panel == "truth" else "paper"
        if row["mean"] is not None:
            points.append(Point(panel, name, row["rank"], row["mean"], row["low"], row["high"]))
        if row["printed"] is not None:
            points.append(Point(panel, "printed", row["rank"], row["printed"]))
    ranks = sorted({row["rank"] for row in rows if row["rank"]})
    drawn = {point.panel for point in points}
    y = {panel: Axis("share of all users", PERCENT, zero=True) for panel in _COLUMNS_9 if panel in drawn}
    return line_chart(points, Axis("number in the table", "d", ticks=ranks), y, columns=2, width=320, marks_only={"printed"})
