"""The estimator of the profile `tight`: one likelihood for everything that was released and reported."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.sampling import Entropy
from blender_dp.stages.blending import Blend, Blended
from blender_dp.stages.calibration import OptInEstimate
from blender_dp.stages.denoising import ClientEstimate, denoise, report_variances
from blender_dp.stages.discovery import Discovery, record_cells
from blender_dp.stages.estimator import Context, Result
from blender_dp.stages.group_comparison import spread, trust
from blender_dp.stages.layout import Estimate, Floats, Integers, Layout, largest
from blender_dp.stages.likelihood.choice import variances_without_opt_in
from blender_dp.stages.likelihood.evidence import Evidence, Measured, Released, Reported
from blender_dp.stages.likelihood.fit import Fit, fit
from blender_dp.stages.likelihood.own_shares import own_shares, own_variances
from blender_dp.stages.response import Response
from blender_dp_device.channel.subset import AnyChannel
from blender_dp_device.records.head_list import HeadList


@dataclass(frozen=True)
class Calibration:
    """The final list and the calibration users' noisy count of every cell, ⟨q, ⋆⟩ included."""

    head_list: HeadList
    noisy_counts: Floats


class Likelihood:
    """Discovery's counts choose the top queries; all evidence about them is then combined in one likelihood."""

    def shortlist(self, discovered: Discovery, max_queries: int) -> Discovery:
        """The queries with the highest noisy counts."""
        entries = discovered.head_list.entries
        query_of = np.repeat(np.arange(len(entries)), [max(len(urls), 1) for _, urls in entries])
        totals = np.bincount(query_of, weights=discovered.noisy_counts)
        return discovered.restrict([entries[number][0] for number in largest(totals, max_queries)])

    def calibrate(
        self, cell_counts: Integers, discovered: Discovery, mechanism: LaplaceHistogram, max_queries: int, entropy: Entropy
    ) -> Calibration:
        """Release a noisy count of every cell."""
        return Calibration(discovered.head_list, mechanism.release(cell_counts, entropy))

    def combine(self, calibrated: Calibration, reports: Integers, channel: AnyChannel, context: Context) -> Result:
        """Fit the shares to all evidence, and to each group's evidence alone.

        With `context.robust` the opt-in users' evidence gets less weight where it clearly contradicts the clients'.
        """
        client = denoise(reports, channel)
        evidence = all_evidence(calibrated, client, reports, channel, context)
        scale = scale_of(context)
        alone = fit(evidence.of_opt_in(), scale)
        opt_in = _opt_in(calibrated.head_list, alone)
        if context.robust:
            evidence = evidence.trusting_opt_in(_trust(opt_in, client, Response.of(channel), evidence))
        return Result(opt_in, client, _blend(fit(evidence, scale), evidence))


def _trust(opt_in: OptInEstimate, client: ClientEstimate, response: Response, evidence: Evidence) -> Floats:
    """The weight of the opt-in users' evidence about each cell: see `group_comparison.trust`.

    Whether the groups differ is tested with the clients' variances at the opt-in users' shares, if those are larger: the
    clients' own estimate of a cell that happens to be in no report would seem to be certain.
    """
    part = evidence.clients / evidence.users
    cells, queries = report_variances(response.expected(opt_in.cells.share), client.reports, response)
    of_cells = Estimate(client.cells.share, np.maximum(client.cells.variance, cells))
    of_queries = Estimate(client.queries.share, np.maximum(client.queries.variance, queries))
    apart = spread(opt_in.queries, of_queries)
    by_query = evidence.layout.per_cell(trust(opt_in.queries, of_queries, apart, part))
    return np.minimum(by_query, trust(opt_in.cells, of_cells, apart, part))


def scale_of(context: Context) -> float:
    """The share of a record at the threshold of being listed."""
    return max(context.threshold, 1.0) / context.discovery_users


def discovery_evidence(context: Context) -> Evidence:
    """What discovery's counts say about its list."""
    discovered = context.discovery
    layout = Layout(discovered.head_list.url_counts)
    cells = record_cells(discovered.head_list)

    def on_cells(values: Floats) -> Floats:
        all_cells = np.zeros(layout.cell_count)
        all_cells[cells] = values
        return all_cells

    mean, variance = context.discovery_noise
    released = Released(
        counts=on_cells(discovered.noisy_counts),
        known=on_cells(np.ones(cells.size)) > 0,
        thresholded=on_cells(np.where(discovered.is_candidate, 0.0, 1.0)) > 0,
        users=context.discovery_users,
        mean=on_cells(np.where(discovered.is_candidate, 0.0, mean)),
        variance=on_cells(np.where(discovered.is_candidate, context.candidate_variance, variance)),
        threshold=context.threshold,
    )
    return Evidence(layout, released)


def all_evidence(
    calibrated: Calibration, client: ClientEstimate, reports: Integers, channel: AnyChannel, context: Context
) -> Evidence:
    """Everything that is known about the final list."""
    return replace(
        discovery_evidence(context),
        measured=Measured(calibrated.noisy_counts, context.calibration_users, context.calibration_variance),
        reported=Reported(reports.astype(float), client.reports, Response.of(channel)),
    )


def _opt_in(head_list: HeadList, alone: Fit) -> OptInEstimate:
    return OptInEstimate(
        head_list,
        Estimate(alone.shares, alone.variance),
        Estimate(alone.query_shares, alone.query_variance),
    )


def _blend(both: Fit, evidence: Evidence) -> Blend:
    """The users' own shares, each with the weight of the opt-in users: how much their evidence reduces its variance."""
    shares, variances = own_shares(both, evidence), own_variances(both, evidence)
    without = variances_without_opt_in(evidence, both)
    return Blend(
        Blended(shares, variances[0], _weight(both.variance, without[0])),
        Blended(evidence.layout.per_query(shares), variances[1], _weight(both.query_variance, without[1])),
    )


def _weight(variance: Floats, without: Floats) -> Floats:
    weight: Floats = 1 - np.clip(variance / np.maximum(without, 1e-300), 0.0, 1.0)
    return weight
