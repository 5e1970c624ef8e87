"""Stage 2: estimate the list's shares from the calibration users, and keep only the M most popular queries.

This is the papers' EstimateOptinProbabilities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from blender_dp.errors import GroupError
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.sampling import Entropy
from blender_dp.stages.layout import Estimate, Floats, Integers, Layout, largest
from blender_dp_device.records.head_list import HeadList


@dataclass(frozen=True)
class OptInEstimate:
    """The opt-in users' view of the final list, by cell and by query (⋆ last).

    In the papers, opt-in users do not distinguish ⟨q, ⋆⟩ from ⟨⋆, ⋆⟩: the former are NaN, the latter includes both. In a
    list of single items ⟨q, ⋆⟩ is the item, and is estimated like any record.
    """

    head_list: HeadList
    cells: Estimate
    queries: Estimate


def calibrate(
    cell_counts: Integers, head_list: HeadList, mechanism: LaplaceHistogram, max_queries: int, entropy: Entropy
) -> OptInEstimate:
    """Release noisy shares for the counts over `head_list`'s cells, and restrict the list to its top queries."""
    users = int(cell_counts.sum())
    if users < 2:
        fix = "Add opt-in users, or lower f_o; at least 2 are needed"
        raise GroupError("calibration users", f"{users} is too few for a variance", fix)
    layout = Layout(head_list.url_counts)
    kept, share = top_queries(noisy_shares(cell_counts, layout, mechanism, entropy), layout, max_queries)
    queries = head_list.queries
    return opt_in_estimate(head_list.restrict(queries[i] for i in kept), share, users, mechanism)


def top_queries(share: Floats, layout: Layout, max_queries: int) -> tuple[Integers, Floats]:
    """The queries with the largest shares, and the shares of their cells; the last cell gets what the others had."""
    marginals = layout.per_query(np.nan_to_num(share))[:-1]
    kept = largest(marginals, max_queries)
    rest = share[-1] + np.delete(marginals, kept).sum()
    return kept, np.append(share[np.isin(layout.query_of, kept)], rest)


def opt_in_estimate(head_list: HeadList, share: Floats, users: int, mechanism: LaplaceHistogram) -> OptInEstimate:
    """The noisy shares of a list's cells, and those of its queries, with their variances."""
    noise = mechanism.noise.variance
    return OptInEstimate(
        head_list=head_list,
        cells=_with_variance(share, users, noise),
        # As the papers do "naively": the noise of one count, not of k_q.
        queries=_with_variance(Layout(head_list.url_counts).per_query(np.nan_to_num(share)), users, noise),
    )


def sample_variance(share: Floats, users: int, noise: float) -> Floats:
    """Theorem 3.5, with the actual variance of the noise for 2b². A share outside [0, 1] is clipped *only here*."""
    inside = np.clip(share, 0.0, 1.0)
    return (inside * (1 - inside) + noise / users) / (users - 1)


def noisy_shares(cell_counts: Integers, layout: Layout, mechanism: LaplaceHistogram, entropy: Entropy) -> Floats:
    """Noisy shares of the listed records and of everything else; NaN for ⟨q, ⋆⟩, which is part of everything else.

    If the counts have further axes, those are separate groups of users.
    """
    unlisted_urls = layout.star_cells[layout.counts > 1]  # a query with one cell is a single item, or ⟨⋆, ⋆⟩
    counts = cell_counts.copy()
    counts[..., -1] += counts[..., unlisted_urls].sum(axis=-1)
    counted = np.ones(layout.cell_count, bool)
    counted[unlisted_urls] = False
    listed = counts[..., counted]
    share = np.full(counts.shape, np.nan)
    released = mechanism.release(listed.ravel(), entropy).reshape(listed.shape)
    share[..., counted] = released / cell_counts.sum(axis=-1, keepdims=True)
    return share


def _with_variance(share: Floats, users: int, noise: float) -> Estimate:
    return Estimate(share, sample_variance(share, users, noise))
