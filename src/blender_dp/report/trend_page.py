"""A page of trends from several releases: the promise, what changed, and a small chart for every popular query."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blender_dp.privacy.rounding import readable
from blender_dp.privacy.statement import seeded_warning
from blender_dp.release import Release
from blender_dp.release.manifest import statements
from blender_dp.release.series import Trends
from blender_dp.report.figure import Draw, drawn
from blender_dp.report.page import page
from blender_dp.report.theme import on_page
from blender_dp.report.trend_panel import trend_panel

_WIDTH = 300


def render_trends(releases: Sequence[Release], trends: Trends, n: int = 12, *, draw: Draw | None = None) -> str:
    """Return a self-contained HTML page of the n most popular queries, from the releases and `trends_over` them.

    It contains published numbers only, so it costs no privacy. It loads nothing and has no script.
    """
    return page(
        "trends.html",
        names=trends.names,
        shown=[(one, on_page((draw or drawn)(trend_panel(trends.names, one, _WIDTH)))) for one in trends.series[:n]],
        comparison=releases[-2].compare(releases[-1]) if len(releases) > 1 else None,
        share=lambda value: "not listed" if value is None else f"{value:.4f}",
        statements=[*statements(releases[-1].manifest), *([_total(releases)] if len(releases) > 1 else [])],
        warning=seeded_warning() if any(release.manifest.is_seeded for release in releases) else None,
    )


def _total(releases: Sequence[Release]) -> str:
    """The losses of someone who participated in every release: they add up, whichever group the person was in."""
    groups = [release.manifest.groups for release in releases]
    epsilon = sum((max(group.epsilon for group in one) for one in groups), Fraction())
    delta = sum((max(group.delta for group in one) for one in groups), Fraction())
    return (
        f"All {len(releases)} releases together: someone who participated in every one has a total privacy loss of at most "
        f"ε = {readable(epsilon)} and δ = {readable(delta)}."
    )
