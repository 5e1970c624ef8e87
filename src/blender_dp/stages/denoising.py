"""Stage 4: remove the channel's bias (the papers' EstimateClientProbabilities)."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.errors import GroupError
from blender_dp.stages.layout import Estimate, Integers
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import AnyChannel


@dataclass(frozen=True)
class ClientEstimate:
    """The clients' view of the list, by cell and by query (⋆ last). Unbiased, so it may be negative."""

    cells: Estimate
    queries: Estimate
    reports: int


def denoise(report_counts: Integers, channel: AnyChannel) -> ClientEstimate:
    """Estimate the shares of cells and queries from how often each cell was reported.

    Theorem 3.6 with the channel's own integers for t and t_q, so the estimate is unbiased for the code that ran. It also
    holds for reports of several queries: t and s are then the probabilities that the true query, and that any given other
    query, is among them.
    """
    n = reports_in(report_counts, channel.size)
    return ClientEstimate(*denoised(report_counts, n, channel), n)


def denoised(report_counts: Integers, n: int, channel: AnyChannel) -> tuple[Estimate, Estimate]:
    """The estimates by cell and by query. If the counts have further axes, those are collections of n reports each."""
    response = Response.of(channel)
    layout, t, s = response.layout, response.query_truth, response.query_lie
    r = report_counts / n
    r_query = layout.per_query(r)
    query_share = (r_query - s) / (t - s)
    query_variance = r_query * (1 - r_query) / ((n - 1) * (t - s) ** 2)
    queries = Estimate(query_share, query_variance)
    if layout.cell_count == layout.counts.size:  # single items, or an empty list: every query is one cell
        return queries, queries

    k = layout.per_cell(layout.counts.astype(float))
    false_url = layout.per_cell(response.false_url)
    a = t * false_url  # another URL of the true query
    d = t * (1 - (k - 1) * false_url) - a
    c = s / k - a
    of_query, of_variance, of_r = (layout.per_cell(x) for x in (query_share, query_variance, r_query))
    share = (r - a * of_query - s / k * (1 - of_query)) / d
    covariance = r * (1 - of_r) / (n * (t - s))
    variance = n / (n - 1) / d**2 * (r * (1 - r) / n + c**2 * of_variance + 2 * c * covariance)
    return Estimate(share, variance), queries


def reports_in(report_counts: Integers, size: int) -> int:
    """The number of reports, each of `size` queries. Refuse fewer than a variance needs."""
    cells = int(report_counts.sum())
    n, remainder = divmod(cells, size)
    if remainder:
        problem = f"{cells} reported cells are not a whole number of reports of {size} cells each"
        raise GroupError("clients", problem, "Pass complete reports, and the size they were made with")
    if n < 2:
        raise GroupError("clients", f"{n} reports are too few for a variance", "Collect more reports; at least 2 are needed")
    return n
