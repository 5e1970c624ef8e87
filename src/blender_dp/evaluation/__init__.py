"""How good a release is, where the truth is known."""

from blender_dp.evaluation.metrics import Scores, ndcg, score
from blender_dp.evaluation.truth import Truth

__all__ = ["Scores", "Truth", "ndcg", "score"]
