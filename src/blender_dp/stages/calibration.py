"""Stage 2: estimate the list's shares from the calibration users and keep the M likeliest queries.

This is the papers' EstimateOptinProbabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blender_dp.errors import GroupError
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.records.head_list import HeadList
from blender_dp.sampling import Entropy
from blender_dp.stages.layout import Floats, Layout


@dataclass(frozen=True)
class OptInEstimate:
    """The opt-in users' view of the final list: by cell, and by query with ⋆ last.

    The papers' opt-in users do not tell ⟨q, ⋆⟩ from ⟨⋆, ⋆⟩: the former are NaN, the latter holds both.
    """

    head_list: HeadList
    share: Floats
    variance: Floats
    query_share: Floats
    query_variance: Floats
    users: int


def calibrate(
    cell_counts: NDArray[np.int64], head_list: HeadList, mechanism: LaplaceHistogram, max_queries: int, entropy: Entropy
) -> OptInEstimate:
    """Release noisy shares for the counts over `head_list`'s cells, and restrict the list to its top queries."""
    users = int(cell_counts.sum())
    if users < 2:
        raise GroupError(
            "calibration users", f"{users} is too few for a variance", "Bring more opt-in users, or lower f_o; 2 is the least"
        )
    layout = Layout(head_list.url_counts)
    counts = cell_counts.copy()
    counts[-1] += counts[layout.other_url].sum()
    counted = np.ones(counts.size, bool)
    counted[layout.other_url] = False
    share = np.full(counts.size, np.nan)
    share[counted] = mechanism.release(counts[counted], entropy) / users
    return _trimmed(share, head_list, layout, max_queries, users, mechanism.noise.variance)


def _trimmed(
    share: Floats, head_list: HeadList, layout: Layout, max_queries: int, users: int, noise: float
) -> OptInEstimate:
    marginals = layout.per_query(np.nan_to_num(share))[:-1]
    order = np.argsort(-marginals, kind="stable")
    kept = np.sort(order[:max_queries])
    final = head_list.restrict(head_list.queries[i] for i in kept)
    in_final = np.isin(np.repeat(np.arange(layout.counts.size), layout.counts), kept)
    rest = share[-1] + marginals[order[max_queries:]].sum()
    final_share = np.append(share[in_final], rest)
    query_share = np.append(marginals[kept], rest)
    return OptInEstimate(
        head_list=final,
        share=final_share,
        variance=sample_variance(final_share, users, noise),
        query_share=query_share,
        query_variance=sample_variance(query_share, users, noise),  # "naively", the papers say: one noise, not k_q
        users=users,
    )


def sample_variance(share: Floats, users: int, noise: float) -> Floats:
    """Theorem 3.5, with the noise's own variance for 2b². A share outside [0, 1] is clipped *here only*."""
    inside = np.clip(share, 0.0, 1.0)
    return (inside * (1 - inside) + noise / users) / (users - 1)
