"""The result: estimates with their errors, the manifest, trends and local search."""

from blender_dp.release.comparison import Change, Comparison
from blender_dp.release.disagreement import Difference, DisagreementReport
from blender_dp.release.estimates import QueryEstimate, RecordEstimate
from blender_dp.release.manifest import Manifest
from blender_dp.release.release import Release, Suggestion
from blender_dp.release.series import Trends, trends_over

__all__ = [
    "Change",
    "Comparison",
    "Difference",
    "DisagreementReport",
    "Manifest",
    "QueryEstimate",
    "RecordEstimate",
    "Release",
    "Suggestion",
    "Trends",
    "trends_over",
]
