"""Stage 5: average the two groups' estimates by their variances (the papers' BlendProbabilities)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_dp.stages.calibration import OptInEstimate
from blender_dp.stages.denoising import ClientEstimate
from blender_dp.stages.layout import Floats


@dataclass(frozen=True)
class Blended:
    """Estimates for one set of alternatives, ⋆ last; `weight` is the opt-in users' part in each."""

    share: Floats
    variance: Floats
    weight: Floats


@dataclass(frozen=True)
class Blend:
    """The blended estimates by cell and by query."""

    cells: Blended
    queries: Blended


def blend(opt_in: OptInEstimate, client: ClientEstimate, *, project: bool = True) -> Blend:
    """Blend both levels; with `project` each is moved to the nearest probability distribution.

    Where only the clients have an estimate (⟨q, ⋆⟩ in profile `paper`) it is taken as it is.
    """
    return Blend(
        cells=_average(opt_in.share, opt_in.variance, client.share, client.variance, project),
        queries=_average(
            opt_in.query_share, opt_in.query_variance, client.query_share, client.query_variance, project
        ),
    )


def _average(opt_in: Floats, opt_in_variance: Floats, client: Floats, client_variance: Floats, project: bool) -> Blended:
    weight = optimal_weight(opt_in_variance, client_variance)
    share = np.where(np.isnan(opt_in), client, weight * opt_in + (1 - weight) * client)
    variance = np.where(
        np.isnan(opt_in), client_variance, weight**2 * opt_in_variance + (1 - weight) ** 2 * client_variance
    )
    return Blended(project_to_simplex(share) if project else share, variance, weight)


def optimal_weight(opt_in_variance: Floats, client_variance: Floats) -> Floats:
    """Theorem 3.7: the opt-in weight that makes the average's variance least; 0 where they have no estimate."""
    total = opt_in_variance + client_variance
    return np.nan_to_num(np.divide(client_variance, total, out=np.full_like(total, 0.5), where=total != 0), nan=0.0)


def project_to_simplex(values: Floats) -> Floats:
    """Return the nearest non-negative vector that sums to 1 (Wang and Carreira-Perpiñán, 2013)."""
    descending = np.sort(values)[::-1]
    excess = np.cumsum(descending) - 1
    last = np.flatnonzero(descending * np.arange(1, values.size + 1) > excess)[-1]
    return np.maximum(values - excess[last] / (last + 1), 0.0)
