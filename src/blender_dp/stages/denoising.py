"""Stage 4: remove the channel's bias (the papers' EstimateClientProbabilities)."""

from __future__ import annotations

from dataclasses import dataclass

from blender_dp.errors import GroupError
from blender_dp.stages.layout import Estimate, Floats, Integers
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
    layout, r = response.layout, report_counts / n
    t, s = response.query_truth, response.query_lie
    query_share = (layout.per_query(r) - s) / (t - s)
    variance, query_variance = report_variances(r, n, response)
    queries = Estimate(query_share, query_variance)
    if layout.cell_count == layout.counts.size:  # single items, or an empty list: every query is one cell
        return queries, queries
    k, a, d = _url_terms(response)
    of_query = layout.per_cell(query_share)
    return Estimate((r - a * of_query - s / k * (1 - of_query)) / d, variance), queries


def report_variances(r: Floats, n: int, response: Response) -> tuple[Floats, Floats]:
    """The variances of these estimates of cells and queries, if each cell is in a part `r` of the n reports."""
    layout, t, s = response.layout, response.query_truth, response.query_lie
    r_query = layout.per_query(r)
    query_variance = r_query * (1 - r_query) / ((n - 1) * (t - s) ** 2)
    if layout.cell_count == layout.counts.size:
        return query_variance, query_variance
    k, a, d = _url_terms(response)
    c = s / k - a
    of_variance, of_r = layout.per_cell(query_variance), layout.per_cell(r_query)
    covariance = r * (1 - of_r) / (n * (t - s))
    return n / (n - 1) / d**2 * (r * (1 - r) / n + c**2 * of_variance + 2 * c * covariance), query_variance


def _url_terms(response: Response) -> tuple[Floats, Floats, Floats]:
    """For every cell: its query's number of cells, the probability of another URL of the true query, and the URL's gain."""
    layout, t = response.layout, response.query_truth
    k = layout.per_cell(layout.counts.astype(float))
    false_url = layout.per_cell(response.false_url)
    a = t * false_url
    return k, a, t * (1 - (k - 1) * false_url) - a


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
