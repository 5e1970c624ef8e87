"""A release as a readable page: one self-contained HTML file with plots (extra `plots`)."""

from blender_dp.extras import needs

needs("plots")

from blender_dp.report.page import render
from blender_dp.report.trend_page import render_trends

__all__ = ["render", "render_trends"]
