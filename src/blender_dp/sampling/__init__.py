"""Exact samplers fed by one stream of random words."""

from blender_dp.sampling.stream import Entropy

__all__ = ["Entropy"]
