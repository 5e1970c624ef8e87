"""A release as a readable page: one self-contained HTML file with plots (extra `plots`)."""

from blender_dp.extras import needs

needs("plots")

from blender_dp.report.page import render

__all__ = ["render"]
