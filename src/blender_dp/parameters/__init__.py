"""The parameters of a collection: each one is defined once, and every surface reads that definition."""

from blender_dp.parameters.parameter import Parameter
from blender_dp.parameters.parameters import Parameters, definitions
from blender_dp.parameters.profiles import PARTS, PROFILES

__all__ = ["PARTS", "PROFILES", "Parameter", "Parameters", "definitions"]
