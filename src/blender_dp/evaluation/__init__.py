"""The accuracy of a release, measured against a known truth, and experiments that predict it.

metrics, truth              score a release
population, groups          counts of records, and who opts in
experiment                  one collection on counts, with the real stages
grid, cells, runs, summary  many of them, in several processes            -> `evaluate.evaluate`
"""

from blender_dp.evaluation.metrics import Scores, ndcg, score
from blender_dp.evaluation.truth import Truth

__all__ = ["Scores", "Truth", "ndcg", "score"]
