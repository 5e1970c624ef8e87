"""blender-dp aggregate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blender_dp.cli.output import (
    AsJson,
    ClientRecords,
    Delta,
    Engine,
    Epsilon,
    Memory,
    Randomiser,
    Steps,
    print_json,
    print_table,
    print_tally,
)


def aggregate(
    reports: Annotated[list[str], typer.Argument(help="The reports: .parquet or .jsonl files, folders, patterns or URIs.")],
    head_list: Annotated[Path, typer.Option(metavar="FILE", help="The head list that the reports answer.")],
    epsilon: Epsilon,
    delta: Delta,
    f_c: Annotated[str, typer.Option("--f-c", metavar="NUMBER", help="The f_C that the devices used.")] = "0.85",
    subset_size: Annotated[int, typer.Option(metavar="N", min=1, help="How many queries each report tells.")] = 1,
    m_c: ClientRecords = 1,
    randomiser: Randomiser = "subset",
    top: Annotated[int, typer.Option(metavar="N", min=1, help="How many queries to show.")] = 10,
    out_file: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all estimates (Parquet).")] = None,
    max_bad: Annotated[str, typer.Option(metavar="SHARE", help="Stop if more than this share is bad.")] = "0.01",
    engine: Engine = "duckdb",
    memory: Memory = None,
    as_json: AsJson = False,
) -> None:
    """Estimate the shares of a head list from reports that real clients sent.

    A report has the digest of the list it answers and the cell it reports (columns or keys head_list and cell); one that
    tells several queries has a row for each. Reports that answer another list, or no cell of this one, are counted and
    left out.

    \b
    Examples:
      blender-dp aggregate reports.parquet --head-list release/head-list.json --epsilon 4 --delta 1e-5
      blender-dp aggregate 'reports/*.jsonl.gz' --head-list head-list.json --epsilon 4 --delta 1e-5 --out shares.parquet
    """
    import pyarrow.parquet as pq

    from blender_dp.cli.engine import watched
    from blender_dp.cli.files import write_whole
    from blender_dp.engines.choice import chosen_engine
    from blender_dp.logs import find_reports
    from blender_dp.logs.intake import check_tally, most_bad
    from blender_dp.profiles import RANDOMISERS
    from blender_dp.records.head_list import HeadList
    from blender_dp.records.parameters import Parameters
    from blender_dp.release.shares import client_shares
    from blender_dp.stages import denoise

    size = None if randomiser == "two-stage" and subset_size == 1 else subset_size
    p = Parameters.of(epsilon=epsilon, delta=delta, f_c=f_c, subset_size=size, m_c=m_c, randomiser=randomiser)
    answered, most, made = HeadList.load(head_list), most_bad(max_bad), RANDOMISERS[p.randomiser]
    channel = made.channel(p, answered, made.designs(p, answered)[0])
    source, counting = find_reports(reports), chosen_engine(engine, memory)
    with Steps(quiet=as_json).shown() as step, watched(counting, step):
        step("counting the reports")
        counts, tally = counting.report_counts(source, answered.digest, answered.cell_count)
        check_tally(tally, most, "reports")
        shares = client_shares(answered, denoise(counts, channel))
    if out_file is not None:
        write_whole(out_file, lambda path: pq.write_table(shares, path))
    queries = [row for row in shares.to_pylist() if row["level"] == "query" and row["query"] is not None]
    best = sorted(queries, key=lambda row: -row["share"])[:top]
    if as_json:
        print_json({"reports": tally.to_document(), "top": best})
        return
    print_tally(tally, "Reports")
    print_table(
        f"Top {len(best)} of {len(answered)} listed queries, share of all clients",
        {"query": False, "share": True, "95 % interval": True},
        [[row["query"], f"{row['share']:.4f}", f"{row['low']:.4f} to {row['high']:.4f}"] for row in best],
    )
