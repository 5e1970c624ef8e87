"""blender-dp aggregate"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blender_dp.cli.options import AsJson, Engine, MaxBad, Memory, given, parameter_options
from blender_dp.cli.output import Steps, print_json, print_table, print_tally
from blender_dp.errors import ParameterError
from blender_dp_device.arithmetic import exact

if TYPE_CHECKING:
    from blender_dp_device.digests import ListDigest
    from blender_dp_device.records.reporting_list import ReportingList


@parameter_options("epsilon", "delta", "f_c", "subset_size", "m_c", "randomiser", given_only=True)
def aggregate(
    reports: Annotated[list[str], typer.Argument(help="The reports: .parquet or .jsonl files, folders, patterns or URIs.")],
    head_list: Annotated[Path, typer.Option(metavar="FILE", help="The head list that the clients reported on.")],
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Number of queries to show.")] = 10,
    out_file: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all estimates (Parquet).")] = None,
    max_bad: MaxBad = "0.01",
    engine: Engine = "duckdb",
    memory: Memory = None,
    as_json: AsJson = False,
    **parameters: Any,  # noqa: ANN401 (an option for each of the parameters above)
) -> None:
    """Estimate the shares of a head list from reports that real clients sent.

    A report contains the digest of its list and the reported cell (columns or keys head_list and cell). A report of
    several queries has one row for each. Reports for another list, or for a cell that this list does not have,
    are counted and left out.

    The list states the channel that the devices used. Only lists of the old schema 1 do not: for those, pass the
    parameters.

    \b
    Examples:
      blender-dp aggregate reports.parquet --head-list release/head-list.json
      blender-dp aggregate 'reports/*.jsonl.gz' --head-list head-list.json --out shares.parquet
      blender-dp aggregate reports.parquet --head-list old.json --epsilon 4 --f-c 0.85 --subset-size 1
    """
    import pyarrow.parquet as pq

    from blender_dp.cli.engine import watched
    from blender_dp.engines.choice import chosen_engine
    from blender_dp.logs import find_reports
    from blender_dp.logs.bad_rows import check_tally, largest_bad_share
    from blender_dp.release.files import write_atomically
    from blender_dp.release.shares import client_shares
    from blender_dp.stages import check_fit, denoise
    from blender_dp_device.channel.subset import channel_of

    listed, digest = _listed(head_list, given(parameters))
    names, max_share = listed.head_list, largest_bad_share(max_bad)
    channel = channel_of(names, listed.channel)
    source, counting = find_reports(reports), chosen_engine(engine, memory)
    with Steps(quiet=as_json).shown() as step, watched(counting, step):
        step("counting the reports")
        counts, tally = counting.report_counts(source, digest, names.cell_count)
        check_tally(tally, max_share, "reports")
        check_fit(counts, channel, names.queries, f"the channel {listed.channel}")
        shares = client_shares(names, denoise(counts, channel))
    if out_file is not None:
        write_atomically(out_file, lambda path: pq.write_table(shares, path))
    queries = [row for row in shares.to_pylist() if row["level"] == "query" and row["query"] is not None]
    best = sorted(queries, key=lambda row: -row["share"])[:top]
    if as_json:
        print_json({"reports": tally.to_document(), "top": best})
        return
    print_tally(tally, "Reports")
    print_table(
        f"Top {len(best)} of {len(names)} listed queries, share of all clients",
        {"query": False, "share": True, "95 % interval": True},
        [[row["query"], f"{row['share']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}"] for row in best],
    )


def _listed(path: Path, values: dict[str, Any]) -> tuple[ReportingList, ListDigest]:
    """The list with its channel, and the digest in its reports. The channel of an old list comes from the options."""
    from blender_dp_device.records.head_list import HeadList, read_json
    from blender_dp_device.records.reporting_list import ChannelSettings, ReportingList, names_channel

    document = read_json(path)
    if names_channel(document):
        listed = ReportingList.from_document(document, str(path))
        for name, value in values.items():
            _check_same(name, value, getattr(listed.channel, name))
        return listed, listed.digest
    head_list = HeadList.from_document(document, str(path))
    if not {"epsilon", "f_c"} <= values.keys():
        problem = f"{path} does not state how devices randomise (it has schema 1)"
        fix = "Pass --epsilon, --f-c and --subset-size, or --randomiser two-stage with --epsilon, --delta and --f-c"
        raise ParameterError("head_list", problem, fix)
    return ReportingList(head_list, ChannelSettings.of(**values)), head_list.digest


def _check_same(name: str, value: str | int, listed: Fraction | int | str | None) -> None:
    """Refuse an option that contradicts the list. δ is ignored for a randomiser that does not use it."""
    number = value if name == "randomiser" else exact(value, name)
    if listed is not None and number != listed:
        raise ParameterError(name, f"the list was made with {listed}, not {value}", "Leave it out: the list states it")
