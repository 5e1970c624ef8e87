"""The accuracy of a release, measured against a known truth."""

from blender_dp.evaluation.metrics import Scores, ndcg, score
from blender_dp.evaluation.truth import Truth

__all__ = ["Scores", "Truth", "ndcg", "score"]
