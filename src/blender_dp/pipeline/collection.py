"""A collection and its two halves: from opt-in users to a list, and from reports to a release.

Neither half depends on where the users come from: a log, all at once, or a collector's storage, over days.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from blender_dp.errors import ParameterError
from blender_dp.mechanisms.discoveries import DISCOVERIES
from blender_dp.mechanisms.laplace_histogram import LaplaceHistogram
from blender_dp.parameters import Parameters
from blender_dp.pipeline.profiles import ESTIMATORS, RANDOMISERS
from blender_dp.privacy.loss import Loss, Model, Promise
from blender_dp.release import Release
from blender_dp.release.assemble import assemble
from blender_dp.release.manifest import Sizes, manifest_of
from blender_dp.sampling import Entropy
from blender_dp.stages import (
    Context,
    Design,
    Discovery,
    Integers,
    best_channel,
    combine_survivors,
    counted_cells,
    sum_counts,
    survivors,
    with_candidates,
)
from blender_dp_device.channel.subset import AnyChannel, channel_of
from blender_dp_device.records.head_list import HeadList
from blender_dp_device.records.reporting_list import ReportingList

if TYPE_CHECKING:  # DuckDB and Ibis are slow to import, and only needed where records are counted
    from blender_dp.engines import Group

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Listing:
    """The result of the opt-in users' half: already private, and everything that the second half needs."""

    calibrated: Any
    """The estimator's own type; it has the final `head_list`."""
    context: Context
    design: Design

    @property
    def head_list(self) -> HeadList:
        """The list that clients report on."""
        head_list: HeadList = self.calibrated.head_list
        return head_list


class Collection:
    """The mechanisms and the estimator that the parameters name, and the two halves of a collection."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = p = parameters
        self.discovery = DISCOVERIES[p.discovery].of(p.epsilon, p.delta, p.m_o)
        self.calibration = LaplaceHistogram.of(p.epsilon, p.m_o)
        self.randomiser = RANDOMISERS[p.randomiser]
        self.estimator = ESTIMATORS[p.estimator]
        self.channel(HeadList.of([]))  # refuse a budget that is too small to split now, not after the list is made
        if p.estimator == "likelihood" and p.m_c != p.m_o:
            problem = f"{p.m_c} records per client and {p.m_o} per opt-in user measure different shares"
            raise ParameterError("m_c", problem, "Use the same number for both, or the estimator 'average'")

    def channel(self, head_list: HeadList, design: Design | None = None) -> AnyChannel:
        """The clients' channel for a head list, with this design or by default with the first possible one."""
        chosen = design or self.randomiser.designs(self.parameters, head_list)[0]
        return channel_of(head_list, self.randomiser.settings(self.parameters, chosen))

    def with_design(self, design: Design) -> Collection:
        """The same collection, in which every list gets this design."""
        fixed = copy(self)
        fixed.parameters = replace(self.parameters, f_c=design.f_c, subset_size=design.size)
        return fixed

    def published(self, head_list: HeadList, design: Design) -> ReportingList:
        """What devices receive: the list with its channel."""
        return ReportingList(head_list, self.randomiser.settings(self.parameters, design))

    def promises(self) -> tuple[Promise, Promise]:
        """The promises to opt-in users and to clients. An opt-in user either discovers (S) or calibrates (T)."""
        opt_in = Loss(self.parameters.epsilon, self.parameters.delta)
        clients = self.randomiser.loss(self.parameters)
        return Promise("opt-in users", Model.CENTRAL, opt_in), Promise("clients", Model.LOCAL, clients)

    def make_list(
        self, discovering: Group, calibrating: Group, clients: int, entropy: Entropy, progress: Progress
    ) -> Listing:
        """Make the head list from the opt-in users, for about this many clients. This spends both groups' budgets."""
        p = self.parameters
        progress(f"discovery: {discovering.users:,} opt-in users make the head list")
        shortlist = self.estimator.shortlist(self._discover(discovering, entropy), p.max_queries)
        progress(f"calibration: {calibrating.users:,} opt-in users estimate its {len(shortlist.head_list):,} queries")
        cells = sum_counts(calibrating.over_records(partial(counted_cells, head_list=shortlist.head_list)))
        calibrated = self.estimator.calibrate(cells, shortlist, self.calibration, p.max_queries, entropy)
        final = shortlist.restrict(calibrated.head_list.queries)
        context = self.context(final, discovering.users, calibrating.users)
        return Listing(calibrated, context, self.design(context, clients))

    def make_release(
        self,
        listing: Listing,
        reports: Integers,
        clients: int,
        *,
        seeded: bool,
        reports_from: Literal["log", "devices"] = "log",
    ) -> Release:
        """Estimate from the list and the counts of the reported cells. This is post-processing: it spends no budget."""
        context, published = listing.context, self.published(listing.head_list, listing.design)
        result = self.estimator.combine(
            listing.calibrated, reports, self.channel(listing.head_list, listing.design), context
        )
        manifest = manifest_of(
            self.parameters,
            self.promises(),
            Sizes(context.discovery_users, context.calibration_users, clients),
            design=listing.design,
            threshold=context.threshold,
            reports=result.client.reports,
            head_list=published,
            seeded=seeded,
            reports_from=reports_from,
        )
        return assemble(manifest, published, result)

    def _discover(self, users: Group, entropy: Entropy) -> Discovery:
        parts = users.over_record_counts(partial(survivors, mechanism=self.discovery, entropy=entropy))
        discovered, candidates = combine_survivors(parts), self.parameters.candidates
        if candidates is None:
            return discovered
        counts = sum_counts(users.over_records(partial(counted_cells, head_list=candidates)))
        return with_candidates(discovered, candidates, counts, self.calibration, entropy)

    def check_levels(self, levels: int) -> None:
        """Refuse candidates of a different kind than the records, before anything is read or spent."""
        candidates = self.parameters.candidates
        if candidates and len(candidates) and candidates.levels != levels:
            kinds = {1: "single items", 2: "queries with URLs"}
            problem = f"they are {kinds[candidates.levels]}, but the records are {kinds[levels]}"
            raise ParameterError("candidates", problem, "Use a list of the same kind")

    def context(self, discovered: Discovery, discovery_users: int, calibration_users: int) -> Context:
        """What is public about the collection once the list is final."""
        noise = self.discovery.noise
        return Context(
            discovery=discovered,
            discovery_users=discovery_users,
            discovery_noise=(noise.mean, noise.variance),
            candidate_variance=self.calibration.noise.variance,
            threshold=self.discovery.tau,
            calibration_users=calibration_users,
            calibration_variance=self.calibration.noise.variance,
            project=self.parameters.project,
            robust=self.parameters.robust,
        )

    def design(self, context: Context, clients: int) -> Design:
        """The design of the clients' channel with the smallest predicted error, if there is a choice."""
        head_list = context.discovery.head_list
        designs = self.randomiser.designs(self.parameters, head_list)
        if len(designs) == 1 or not len(head_list):
            return designs[0]
        channels = [self.channel(head_list, design) for design in designs]
        return designs[best_channel(context, channels, clients)]
