"""Plans: what a collection would find and cost, before anyone's data are collected.

listing     the probability that a record is listed, and the length of the list: closed forms
simulation  L1, NDCG and errors, from a few collections simulated on counts
forecasts   both together
tradeoffs   forecasts over several values of one quantity
solving     the value of one quantity that gives the result that is wanted
risk        what a person risks, in words
"""

from blender_dp.planning.expected import Expected
from blender_dp.planning.forecasts import Forecast, Rank
from blender_dp.planning.plans import Plan, plan, plan_of, setting_of
from blender_dp.planning.setting import Setting
from blender_dp.planning.solving import Solution, Want, solve
from blender_dp.planning.tradeoffs import Tradeoff, tradeoff
from blender_dp.planning.trust import Trust
from blender_dp.planning.unknowns import UNKNOWNS

__all__ = [
    "UNKNOWNS",
    "Expected",
    "Forecast",
    "Plan",
    "Rank",
    "Setting",
    "Solution",
    "Tradeoff",
    "Trust",
    "Want",
    "plan",
    "plan_of",
    "setting_of",
    "solve",
    "tradeoff",
]
