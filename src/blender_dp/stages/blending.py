"""Stage 5: average the two groups' estimates by their variances (the papers' BlendProbabilities)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_dp.stages.calibration import OptInEstimate
from blender_dp.stages.denoising import ClientEstimate
from blender_dp.stages.layout import Estimate, Floats


@dataclass(frozen=True)
class Blended(Estimate):
    """The averages; `weight` is the weight of the opt-in users in each."""

    weight: Floats


@dataclass(frozen=True)
class Blend:
    """The blended estimates by cell and by query (⋆ last)."""

    cells: Blended
    queries: Blended


def blend(opt_in: OptInEstimate, client: ClientEstimate, *, project: bool) -> Blend:
    """Blend both levels; with `project` each is moved to the nearest probability distribution.

    Where only the clients have an estimate (⟨q, ⋆⟩ in profile `paper`) it is used unchanged.
    """
    return Blend(_average(opt_in.cells, client.cells, project), _average(opt_in.queries, client.queries, project))


def optimal_weight(opt_in_variance: Floats, client_variance: Floats) -> Floats:
    """Theorem 3.7: the opt-in weight that minimises the variance of the average."""
    total = opt_in_variance + client_variance
    weight: Floats = np.full_like(total, 0.5)
    np.divide(client_variance, total, out=weight, where=total != 0)
    return weight


def _average(opt_in: Estimate, client: Estimate, project: bool) -> Blended:
    missing = np.isnan(opt_in.share)
    weight = np.where(missing, 0.0, optimal_weight(opt_in.variance, client.variance))
    share = weight * np.where(missing, 0.0, opt_in.share) + (1 - weight) * client.share
    variance = weight**2 * np.where(missing, 0.0, opt_in.variance) + (1 - weight) ** 2 * client.variance
    return Blended(project_to_simplex(share) if project else share, variance, weight)


def project_to_simplex(values: Floats) -> Floats:
    """Return the nearest non-negative vector that sums to 1 (Wang and Carreira-Perpiñán, 2013)."""
    descending = np.sort(values)[::-1]
    excess = np.cumsum(descending) - 1
    last = np.flatnonzero(descending * np.arange(1, values.size + 1) > excess)[-1]
    projected: Floats = np.clip(values - excess[last] / (last + 1), 0.0, None)
    return projected
