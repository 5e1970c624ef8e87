"""Our own rows: one run on one population, in a process of its own like every rival."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.peers.job import Job, bytes_of, finish, timed
from blender_dp import Blender, Columns, Device, Entropy, HeadList, PrivacyWarning, Release
from blender_dp.pipeline.audit import CHANNEL, Tables, audit_tables
from blender_dp.stages import Discovery, Response, cells_of, count_cells, report
from blender_dp.stages.layout import Layout
from blender_dp.stages.likelihood import Evidence, Reported, fit
from blender_dp.stages.likelihood.estimator import scale_of
from blender_dp_device.records.reporting_list import ReportingList

Shares = dict[str, float]
Audit = dict[str, object]

QUERIES = Columns(url=None)


def main() -> None:
    warnings.simplefilter("ignore", PrivacyWarning)  # the settings are the papers'
    job = Job.read()
    table = pq.read_table(job.folder / "everyone.parquet")
    opt_in = len((job.folder / "opt-in.txt").read_text(encoding="utf-8").splitlines())
    if job.method == "clients only":
        listed = pq.read_table(job.folder / "counts.parquet").slice(0, job.max_queries)
        (shares, used), seconds = timed(lambda: clients_only(job, table, listed))
        finish(shares, table.num_rows, seconds, audit=audited(blender_for(job), used, (CHANNEL,)))
        return
    if job.method == "central DP with everyone":
        opt_in = table.num_rows - 2  # a run needs two clients; their reports are not used
    levels = Columns() if job.method in {"tight", "paper"} else QUERIES
    profile = "paper" if job.method == "paper" else "tight"
    blender = blender_for(job, profile)
    release, seconds = timed(lambda: blender.run(table.slice(0, opt_in), table.slice(opt_in), columns=levels))
    size = bytes_of(reports(job, release, table)) if job.method in {"tight", "paper", "tight, queries only"} else None
    audit = audited(blender, release.reporting_list)
    finish(estimates(job, release), table.num_rows, seconds, size, audit=audit)


def blender_for(job: Job, profile: str = "tight") -> Blender:
    """The documented interface, with the promise of this job."""
    return Blender(
        epsilon=job.epsilon, delta=job.delta, max_queries=job.max_queries, profile=profile, allow_weak_privacy=True
    )


def audited(blender: Blender, used: ReportingList, mechanisms: tuple[str, ...] = ()) -> Audit:
    """The exact audit of the integers that a run used: all of them, or those of some mechanisms."""
    tables = Tables.of(blender.parameters, used.head_list, used.channel)
    found = audit_tables(tables, blender.parameters, used.head_list)
    kept = [finding for finding in found if not mechanisms or finding.mechanism in mechanisms]
    return {
        "tables": len(kept),
        "delta": float(max(finding.delta for finding in kept)),
        "holds": all(finding.holds and finding.claim.epsilon <= blender.parameters.epsilon for finding in kept),
    }


def estimates(job: Job, release: Release) -> Shares:
    """The blend, or the opt-in users' estimate alone."""
    blended = job.method in {"tight", "paper", "tight, queries only"}
    rows = [row for row in release.queries if row.query is not None]
    return {row.query: row.share if blended else (row.opt_in_share or 0.0) for row in rows}


def reports(job: Job, release: Release, table: pa.Table) -> list[tuple[int, ...]]:
    """What a thousand devices would send."""
    delta = job.delta if release.reporting_list.channel.delta is not None else None
    device = Device(release.reporting_list, epsilon=job.epsilon, delta=delta)
    rows = table.slice(0, 1000).to_pylist()
    return [device.report(row["query"], row["url"]).cells for row in rows]


def clients_only(job: Job, table: pa.Table, listed: pa.Table) -> tuple[Shares, ReportingList]:
    """Everyone reports on the true list, and the same estimator uses their reports alone."""
    collection = blender_for(job).collection
    order = listed.sort_by("query")
    head_list = HeadList.of((query, None) for query in order["query"].to_pylist())
    known = Discovery(head_list, order["count"].to_numpy().astype(float), np.ones(len(head_list), np.bool_))
    context = collection.context(known, table.num_rows, 0)
    design = collection.design(context, table.num_rows)
    channel = collection.channel(head_list, design)
    sent = report(cells_of(table.to_batches(), head_list), channel, Entropy.system())
    counts = count_cells(sent, head_list.cell_count)
    reported = Reported(counts.astype(float), table.num_rows, Response.of(channel))
    shares = fit(Evidence(Layout(head_list.url_counts), reported=reported), scale_of(context)).query_shares
    return dict(zip(head_list.queries, shares.tolist(), strict=False)), collection.published(head_list, design)


if __name__ == "__main__":
    main()
