"""The five stages, each a pure function of plain values; `Blender` puts them together."""

from blender_dp.stages.blending import Blend, blend
from blender_dp.stages.calibration import OptInEstimate, calibrate
from blender_dp.stages.denoising import ClientEstimate, denoise
from blender_dp.stages.discovery import Discovery, discover
from blender_dp.stages.reporting import cells_of, count_cells, report

__all__ = [
    "Blend",
    "ClientEstimate",
    "Discovery",
    "OptInEstimate",
    "blend",
    "calibrate",
    "cells_of",
    "count_cells",
    "denoise",
    "discover",
    "report",
]
