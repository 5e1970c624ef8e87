"""One likelihood for all evidence: discovery's counts, calibration's cells and the clients' reports."""

from blender_dp.stages.likelihood.evidence import Evidence, Measured, Released, Reported
from blender_dp.stages.likelihood.fit import Fit, fit

__all__ = ["Evidence", "Fit", "Measured", "Released", "Reported", "fit"]
